// The list of shortcuts, and "g" followed by a letter, which opens the page that the list names. "?" opens and closes the list on
// every page of the platform but triage, which has its own, unless single keys are turned off or the user is typing.
import { singleKeys } from "./remember.js";

export const TYPING = "input:not([type=checkbox], [type=radio], [type=button], [type=submit]), textarea, select, [contenteditable]";
const PATIENCE = 2000; // ms between "g" and the letter

// Whether a key press is a single key that the page may act on: pure, so that it can be tested without a page.
export function isSingle(event, on) {
  if (!on || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  return !event.target?.closest?.(TYPING);
}

export function asks(event, on) {
  return event.key === "?" && isSingle(event, on);
}

export default function keys(sheet) {
  const choice = sheet.querySelector("input[type=checkbox]");
  let since = -Infinity;
  singleKeys(choice);
  choice.closest("[hidden]").hidden = false;
  document.addEventListener("keydown", (event) => {
    if (!asks(event, choice.checked)) return;
    event.preventDefault();
    sheet.togglePopover();
  });
  // First of all listeners: the letter after "g" must never do what it does alone.
  window.addEventListener("keydown", (event) => {
    if (!isSingle(event, choice.checked) || event.key.length > 1 || document.querySelector("dialog[open]")) return;
    if (event.timeStamp - since < PATIENCE) {
      since = -Infinity;
      event.preventDefault();
      event.stopImmediatePropagation();
      const link = [...sheet.querySelectorAll("[data-go]")].find((one) => one.dataset.go === event.key);
      if (link) location.assign(link.href);
    } else if (event.key === "g") since = event.timeStamp;
  }, { capture: true });
}
