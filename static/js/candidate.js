// The page of one candidate: each control names the key that presses it, and a rejection asks for its reason. Without this
// module everything is a button, a link or a form.
import { isSingle } from "./keys.js";
import { reasonFirst } from "./triage.js";

export default function candidate(page) {
  document.addEventListener("keydown", (event) => {
    if (!isSingle(event, document.getElementById("use-keys")?.checked ?? true)) return;
    if (document.querySelector("dialog[open], .dialog:popover-open")) return;
    const control = [...page.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key);
    if (!control) return;
    event.preventDefault();
    control.click();
  });
  page.addEventListener("click", (event) => {
    const link = event.target.closest("[data-focus]");
    if (!link) return;
    // After the jump to the link's target, which shows its tab.
    requestAnimationFrame(() => page.querySelector(link.dataset.focus)?.focus());
  });
  page.classList.add("has-keys");
  drop(page.querySelector("[data-drop]"));
  const form = page.querySelector("[data-decide]");
  const dialog = page.querySelector("#reason-dialog");
  if (form && dialog) reasonFirst(form, dialog);
}

// Escape and a click elsewhere close what was opened.
function drop(box) {
  if (!box) return;
  document.addEventListener("click", (event) => { if (!box.contains(event.target)) box.open = false; });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !box.open) return;
    box.open = false;
    box.querySelector("summary").focus();
  });
}
