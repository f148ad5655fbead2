// A button that opens the browser's print dialog; without scripts the text next to it says where that is.
export default function print(box) {
  const button = box.querySelector("button");
  button.hidden = false;
  box.querySelector("[data-without]").hidden = true;
  button.addEventListener("click", () => window.print());
}
