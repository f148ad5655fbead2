// Puts the browser's color picker beside a text field with a color; either changes the other.
export default function color(box) {
  const text = box.querySelector("input");
  const picker = Object.assign(document.createElement("input"), { type: "color", className: "color-picker" });
  picker.setAttribute("aria-label", `Choose the ${box.querySelector("label").firstChild.textContent.trim().toLowerCase()}`);
  const follow = () => { if (/^#[0-9a-f]{6}$/i.test(text.value.trim())) picker.value = text.value.trim(); };
  picker.value = text.placeholder;
  follow();
  text.addEventListener("input", follow);
  picker.addEventListener("input", () => { text.value = picker.value; });
  text.after(picker);
}
