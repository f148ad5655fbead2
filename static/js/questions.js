// The questions in the flow editor: added, removed and reordered without reloading the page, by drag (mouse, pen,
// touch), by arrow keys on the handle, or by buttons. Without this module the buttons ask the server.
export default function questions(box) {
  const list = box.querySelector("ol");
  const more = box.querySelector("[name=more]");
  const note = box.querySelector("[data-note]");
  const most = Number(box.dataset.most);
  const items = () => [...list.children];
  const at = (item) => items().indexOf(item);
  const text = (item) => item.querySelector("textarea");
  const limit = document.getElementById("time_limit_minutes");
  let grip = null;

  list.classList.add("can-drag");
  box.querySelector("#questions-grip-help").hidden = false;
  for (const handle of list.querySelectorAll(".grip")) handle.hidden = false;

  function say(words, ...others) {
    note.replaceChildren(document.createTextNode(`${words} The flow is not saved yet. `), ...others);
  }

  // Updates names, labels and buttons to the question's current position.
  function number() {
    items().forEach((item, place) => {
      const named = (name) => name.replace(/questions-\d+/g, `questions-${place}`);
      for (const element of item.querySelectorAll('[id^="questions-"]')) element.id = named(element.id);
      text(item).name = text(item).id;
      for (const name of ["aria-describedby", "for"]) {
        for (const element of item.querySelectorAll(`[${name}^="questions-"]:not(.grip)`)) element.setAttribute(name, named(element.getAttribute(name)));
      }
      item.querySelector("label").textContent = `Question ${place + 1}`;
      item.querySelector(".grip").setAttribute("aria-label", `Move question ${place + 1}`);
      for (const button of item.querySelectorAll("[name=arrange]")) {
        const [what] = button.value.split(" ");
        button.value = `${what} ${place}`;
        button.setAttribute("aria-label", what === "remove" ? `Remove question ${place + 1}` : `Move question ${place + 1} ${what}`);
        button.disabled = (what === "up" && place === 0) || (what === "down" && place === list.children.length - 1);
      }
      const keep = item.querySelector("[name=keep]");
      keep.value = place;
      keep.setAttribute("aria-label", `Save question ${place + 1} to bank`);
    });
    more.hidden = list.children.length >= most;
    count();
  }

  function count() {
    const asked = items().filter((item) => text(item).value.trim()).length;
    box.querySelector("[data-count]").textContent = asked;
    box.querySelector("[data-none]").hidden = asked > 0;
    estimate(asked);
  }

  // The server says how long each number of questions takes; the limit can make it shorter.
  function estimate(asked) {
    const place = document.getElementById("estimate");
    if (!place) return;
    place.hidden = asked === 0;
    const typed = Number(limit?.value);
    const longest = Number.isInteger(typed) && typed >= 1 && typed <= 120 ? typed : Number(place.dataset.most);
    place.querySelector("[data-minutes]").textContent = Math.min(longest, JSON.parse(place.dataset.likely)[asked]);
  }

  function move(item, to, focus) {
    const from = at(item);
    if (to === from || to < 0 || to >= list.children.length) return;
    list.insertBefore(item, items()[to > from ? to + 1 : to] ?? null);
    number();
    const wanted = focus?.disabled ? item.querySelector("[name=arrange]:not(:disabled)") : focus;
    wanted?.focus();
    say(`Question ${from + 1} is now question ${to + 1}.`);
  }

  function remove(item) {
    const place = at(item);
    const had = text(item).value.trim();
    if (list.children.length === 1) text(item).value = "";
    else item.remove();
    number();
    text(items()[Math.min(place, list.children.length - 1)]).focus();
    if (!had) return say(`Question ${place + 1} was removed.`);
    const undo = Object.assign(document.createElement("button"), { type: "button", className: "button button-small", textContent: "Undo" });
    undo.addEventListener("click", () => {
      text(item).value = had;
      if (!item.isConnected) list.insertBefore(item, items()[place] ?? null);
      number();
      text(item).focus();
      say(`Question ${at(item) + 1} is back.`);
    });
    return say(`Question ${place + 1} was removed.`, undo);
  }

  function add() {
    const item = items().at(-1).cloneNode(true);
    for (const flaw of item.querySelectorAll(".error")) flaw.remove();
    Object.assign(text(item), { value: "", defaultValue: "", autofocus: false });
    item.querySelector("[name=keep]").classList.remove("is-kept");
    for (const name of ["aria-invalid", "aria-describedby"]) text(item).removeAttribute(name);
    list.append(item);
    number();
    text(item).focus();
  }

  // bank.js adds questions of the bank, and says what the server answered.
  box.addEventListener("bank:add", ({ detail }) => {
    const free = () => items().find((item) => !text(item).value.trim());
    if (!free() && list.children.length < most) add();
    const item = free();
    detail.place = item ? at(item) + 1 : 0;
    if (!item) return;
    text(item).value = detail.text;
    text(item).dispatchEvent(new Event("input", { bubbles: true }));
  });
  box.addEventListener("bank:say", ({ detail }) => { note.textContent = detail; });

  list.addEventListener("input", count);
  limit?.addEventListener("input", count);
  list.addEventListener("click", (event) => {
    const button = event.target.closest("[name=arrange]");
    if (!button) return;
    event.preventDefault();
    const item = button.closest("li");
    const [what] = button.value.split(" ");
    if (what === "remove") remove(item);
    else move(item, at(item) + (what === "up" ? -1 : 1), button);
  });
  more.addEventListener("click", (event) => { event.preventDefault(); add(); });

  list.addEventListener("keydown", (event) => {
    const handle = event.target.closest(".grip");
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!handle) return;
    if (event.key === "Escape" && grip) drop({ back: true });
    if (!step || grip) return;
    event.preventDefault();
    move(handle.closest("li"), at(handle.closest("li")) + step, handle);
  });

  // The question follows the pointer from place to place; Escape puts it back.
  list.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest(".grip");
    if (!handle || event.button !== 0) return;
    const item = handle.closest("li");
    grip = { item, handle, from: at(item), id: event.pointerId };
    handle.setPointerCapture(event.pointerId);
    item.classList.add("dragged");
  });
  list.addEventListener("pointermove", (event) => {
    if (!grip || event.pointerId !== grip.id) return;
    follow(event.clientY);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    list.addEventListener(end, (event) => { if (grip && event.pointerId === grip.id) drop({ back: end === "pointercancel" }); });
  }

  // Past the middle of a neighbour, it changes places. The dragged item stays in the document to keep the pointer.
  function follow(y) {
    const middle = (item) => { const { top, bottom } = item.getBoundingClientRect(); return (top + bottom) / 2; };
    for (;;) {
      const { previousElementSibling: before, nextElementSibling: after } = grip.item;
      if (before && y < middle(before)) list.insertBefore(before, after);
      else if (after && y > middle(after)) list.insertBefore(after, grip.item);
      else break;
    }
    number();
  }

  function drop({ back }) {
    const { item, handle, from } = grip;
    grip = null;
    item.classList.remove("dragged");
    if (back) list.insertBefore(item, items().filter((one) => one !== item)[from] ?? null);
    number();
    handle.focus();
    if (at(item) !== from) say(`Question ${from + 1} is now question ${at(item) + 1}.`);
  }

  number();
}
