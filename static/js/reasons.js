// Reasons for decisions: the select beside a status offers only what fits it, and a dialog asks for the reason of a move
// that is made by key or by dragging. Without this module the select offers all reasons in groups.

// The meaning of a status that decides, else undefined.
export function meaningOf(element, status) {
  return JSON.parse(element.dataset.reasons)[status];
}

export default function reasons(form) {
  const status = form.querySelector('[name="status"]');
  const field = form.querySelector("[data-reasons]");
  if (!status || !field) return;
  const select = field.querySelector("select");
  const groups = [...select.querySelectorAll("optgroup")];

  function update() {
    const meaning = meaningOf(field, status.value);
    field.hidden = !meaning;
    for (const group of groups) group.hidden = group.disabled = group.dataset.meaning !== meaning;
    if (select.selectedOptions[0]?.closest("optgroup")?.disabled) select.value = "";
  }

  status.addEventListener("change", update);
  update();
}

// Asks for the reason of a move to `status`: { reason, note }, or null if it was cancelled. Without a dialog, or for a
// status that decides nothing, it does not ask. `note: false` leaves out the field for a note.
export function ask(status, title, { note = true } = {}) {
  const dialog = document.querySelector("#reason-dialog");
  const meaning = dialog && meaningOf(dialog, status);
  if (!meaning) return Promise.resolve({ reason: "", note: "" });
  dialog.querySelector("[data-title]").textContent = title;
  dialog.querySelector("[data-note-field]").hidden = !note;
  const text = dialog.querySelector("textarea");
  text.value = "";
  let list;
  for (const one of dialog.querySelectorAll("[data-meaning]")) {
    one.hidden = one.dataset.meaning !== meaning;
    if (!one.hidden) list = one;
  }
  dialog.dataset.cancelled = "yes"; // until a button decides: Escape closes it too
  dialog.returnValue = "";
  dialog.showModal();
  list?.querySelector("button")?.focus();

  return new Promise((resolve) => {
    const quiet = new AbortController();
    const on = (target, event, does) => target.addEventListener(event, does, { signal: quiet.signal });
    on(dialog, "submit", () => { delete dialog.dataset.cancelled; });
    on(dialog.querySelector("[data-cancel]"), "click", () => dialog.close());
    on(dialog, "keydown", (event) => {
      event.stopPropagation(); // the page's own keys wait
      const button = picked(event, list, dialog);
      if (!button) return;
      event.preventDefault();
      button.click();
    });
    on(dialog, "close", () => {
      quiet.abort();
      resolve("cancelled" in dialog.dataset ? null : { reason: dialog.returnValue, note: note ? text.value.trim() : "" });
    });
  });
}

// The button that a digit presses, or undefined.
function picked(event, list, dialog) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea")) return undefined;
  if (event.key === "0") return dialog.querySelector('button[value=""]') ?? undefined;
  return /^[1-9]$/.test(event.key) ? list?.querySelectorAll("button")[Number(event.key) - 1] : undefined;
}
