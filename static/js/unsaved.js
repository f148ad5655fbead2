// Warns before you leave a form with unsaved changes, compared with what the server sent: an undone change does not
// count; a form that came back with errors (data-unsaved) has changes from the start.
export function differs(form) {
  return "unsaved" in form.dataset || JSON.stringify(values(form, true)) !== JSON.stringify(values(form, false));
}

// Names and values in the order of the page: as they are now, or as the server sent them.
function values(form, now) {
  const found = [];
  for (const control of form.elements) {
    const { type, name } = control;
    if (!name || type === "submit" || type === "button") continue;
    if (type === "checkbox" || type === "radio") {
      if (now ? control.checked : control.defaultChecked) found.push([name, control.value]);
    } else if (control.options) {
      const chosen = [...control.options].filter((option) => (now ? option.selected : option.defaultSelected));
      if (!chosen.length && !control.multiple && control.options.length) chosen.push(control.options[0]); // as browsers do
      found.push([name, chosen.map((option) => option.value)]);
    } else found.push([name, now ? control.value : control.defaultValue]);
  }
  return found;
}

export default function unsaved(form) {
  // Reordered texts keep their values, so their order counts too.
  const texts = () => [...form.elements].filter((control) => control.type === "textarea");
  const sent = texts();
  const moved = () => texts().some((text, place) => sent[place] !== text) || texts().length !== sent.length;
  let sending = false;
  form.addEventListener("submit", (event) => { sending = !event.defaultPrevented; });
  addEventListener("pageshow", () => { sending = false; });
  addEventListener("beforeunload", (event) => {
    if (!sending && (differs(form) || moved())) event.preventDefault();
  });
}
