// Suggests names after "@" in a note: arrow keys choose, Enter or Tab inserts, Escape closes. The name in the text is
// what counts, so without this module typing the name does the same.

const MOST = 6;

// What is being typed after the last "@" before the caret: its start and its letters; null if there is none.
export function typedName(text, caret) {
  const at = text.lastIndexOf("@", caret - 1);
  if (at < 0 || (at > 0 && /[\w@.+-]/.test(text[at - 1]))) return null;
  const letters = text.slice(at + 1, caret);
  return letters.length > 60 || /[\n@]/.test(letters) ? null : { at, letters };
}

// Those of `people` in which a word begins with `letters`; none after a complete name and a space.
export function fitting(people, letters) {
  const wanted = letters.toLocaleLowerCase();
  if (people.some((name) => wanted.startsWith(`${name.toLocaleLowerCase()} `))) return [];
  const words = (name) => [name, ...name.split(/[\s.@-]+/).map((_, i, all) => all.slice(i).join(" "))];
  return people.filter((name) => words(name).some((word) => word.toLocaleLowerCase().startsWith(wanted))).slice(0, MOST);
}

export default function mentions(box) {
  const people = JSON.parse(box.dataset.people);
  const field = box.querySelector("textarea");
  if (!people.length) return;
  const list = document.createElement("ul");
  list.id = `${field.id}-people`;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "People");
  list.hidden = true;
  const picker = document.createElement("div");
  picker.className = "picker";
  picker.append(list);
  field.after(picker);
  const told = document.createElement("p");
  told.className = "visually-hidden";
  told.setAttribute("role", "status");
  box.append(told);
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);
  let chosen = 0;
  let closed = null; // the "@" at which Escape was pressed

  function close() {
    list.hidden = true;
    field.removeAttribute("aria-activedescendant");
  }

  function choose(index) {
    const options = [...list.children];
    chosen = (index + options.length) % options.length;
    options.forEach((option, i) => option.setAttribute("aria-selected", String(i === chosen)));
    field.setAttribute("aria-activedescendant", options[chosen].id);
  }

  function offer() {
    const typed = typedName(field.value, field.selectionStart);
    if (typed === null || typed.at !== closed) closed = null;
    const names = typed && closed === null ? fitting(people, typed.letters) : [];
    if (!names.length) {
      close();
      return;
    }
    list.replaceChildren(...names.map((name, i) => {
      const option = document.createElement("li");
      option.id = `${list.id}-${i}`;
      option.setAttribute("role", "option");
      option.textContent = name;
      return option;
    }));
    if (list.hidden) told.textContent = `${names.length} ${names.length === 1 ? "name" : "names"}; use the arrow keys to choose, Enter to insert.`;
    list.hidden = false;
    choose(0);
  }

  function take(name) {
    const typed = typedName(field.value, field.selectionStart);
    if (typed) field.setRangeText(`@${name} `, typed.at, field.selectionStart, "end");
    close();
    field.focus();
  }

  field.addEventListener("input", offer);
  field.addEventListener("click", offer);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (list.hidden || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) take(list.children[chosen].textContent);
    else if (event.key === "Escape") {
      closed = typedName(field.value, field.selectionStart)?.at ?? null;
      close();
    } else return;
    event.preventDefault();
  });
  list.addEventListener("pointerdown", (event) => {
    const option = event.target.closest("[role=option]");
    event.preventDefault(); // the field keeps the focus
    if (option) take(option.textContent);
  });
}
