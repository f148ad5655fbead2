// Copies the value of a read-only field and confirms it on the button, so that screen readers announce it too.
export default function copy(box) {
  const [field, button] = [box.querySelector("input, textarea"), box.querySelector("button")];
  if (!navigator.clipboard) return; // http on another host: the field stays selectable by hand
  const words = button.querySelector("span");
  const before = words.textContent;
  words.setAttribute("aria-live", "polite");
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(field.value);
    words.textContent = "Copied";
    setTimeout(() => { words.textContent = before; }, 2000);
  });
}
