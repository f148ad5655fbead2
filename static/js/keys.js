// The list of shortcuts: "?" opens and closes it on every page of the platform, unless single keys are turned off or the
// user is typing. A page with its own list (triage, the player) uses the key for that one.
import { singleKeys } from "./remember.js";

export const TYPING = "input:not([type=checkbox], [type=radio], [type=button], [type=submit]), textarea, select, [contenteditable]";

// Whether a key press opens the list: pure, so that it can be tested without a page.
export function asks(event, on) {
  if (!on || event.key !== "?" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  return !event.target?.closest?.(TYPING);
}

export default function keys(sheet) {
  const choice = sheet.querySelector("input[type=checkbox]");
  singleKeys(choice);
  choice.closest("[hidden]").hidden = false;
  document.addEventListener("keydown", (event) => {
    if (!asks(event, choice.checked) || document.getElementById("player-keys")) return;
    event.preventDefault();
    sheet.togglePopover();
  });
}
