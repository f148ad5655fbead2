// The pipeline's board: cards are dragged (mouse, pen, touch), or moved by key or menu, without reloading the page. Moves
// by other members update the counts, and filters replace the lanes (people.js). Without this module every card still has its menu.
import { ask } from "./reasons.js";

const LATELY = 15000; // ms between two reads of the counts
const HOLD = 350; // ms: a longer touch drags, a shorter one scrolls
const SLACK = 6; // pixels the mouse may move during a click

export default function board(box) {
  const lanes = () => [...box.querySelectorAll(".lane")]; // read each time: a filter replaces them
  const note = box.querySelector("[data-note]");
  const laneOf = (card) => card.closest(".lane");
  const named = (status) => lanes().find((lane) => lane.dataset.status === status);
  const title = (lane) => lane.querySelector("h2").firstChild.textContent.trim();
  if (!("moves" in box.dataset)) return watch();

  function say(words, ...more) {
    note.replaceChildren(document.createTextNode(words), ...more);
  }

  function count(lane, by) {
    const shown = lane.querySelector("[data-count]");
    shown.textContent = Number(shown.textContent) + by;
    lane.querySelector(".lane-empty").hidden = lane.querySelectorAll(".lane-card").length > 0;
  }

  // Puts the card into its column and updates its menu.
  function place(card, to) {
    const from = laneOf(card);
    if (from === to) return;
    to.querySelector(".lane-cards").prepend(card);
    count(from, -1);
    count(to, 1);
    card.querySelector('[name="from"]').value = to.dataset.status;
    for (const button of card.querySelectorAll('[name="status"]')) button.hidden = button.value === to.dataset.status;
  }

  async function move(card, to, { undo = false } = {}) {
    const from = laneOf(card);
    if (!to || to === from || card.classList.contains("moving")) return;
    const form = card.querySelector("form");
    const had = card.contains(document.activeElement) ? document.activeElement : null;
    const given = undo ? {} : await ask(to.dataset.status, `Move ${card.dataset.name} to ${title(to)}`);
    if (!given) return say(`${card.dataset.name} was not moved.`);
    const body = new URLSearchParams(new FormData(form));
    body.set("status", to.dataset.status);
    for (const [name, value] of Object.entries(undo ? { undo: "yes" } : given)) if (value) body.set(name, value);
    card.classList.add("moving");
    place(card, to);
    had?.focus();
    try {
      const told = await send(form.action, body);
      if (undo) say(`${card.dataset.name} is back in ${title(to)}.`);
      else say(`${card.dataset.name} is now in ${title(to)}.`, back(card, from), offer(told.message));
    } catch (error) {
      place(card, from);
      say(error.message, error.stale ? again() : "");
    }
    card.classList.remove("moving");
  }

  function back(card, from) {
    return action("Undo", () => move(card, from, { undo: true }));
  }

  // A rejection is offered a message, which is written on a page of its own.
  function offer(address) {
    if (!address) return "";
    return Object.assign(document.createElement("a"), { href: address, className: "button button-small button-quiet", textContent: "Write a rejection message" });
  }

  function again() {
    return action("Reload the board", () => location.reload());
  }

  function action(words, does) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "button button-small", textContent: words });
    button.addEventListener("click", does);
    return button;
  }

  box.addEventListener("submit", (event) => {
    const card = event.target.closest(".lane-card");
    if (!card) return;
    event.preventDefault();
    card.querySelector("[popover]").hidePopover();
    card.querySelector(".mover").focus();
    move(card, named(event.submitter.value));
  });

  box.addEventListener("keydown", (event) => {
    const card = event.target.closest(".lane-card");
    if (!card) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !event.shiftKey) return;
    event.preventDefault();
    const towards = getComputedStyle(box).direction === "rtl" ? -step : step;
    move(card, lanes()[lanes().indexOf(laneOf(card)) + towards]);
  });

  drag(box, { over: (lane) => lanes().forEach((one) => one.classList.toggle("target", one === lane)), drop: move });
  watch();

  // Updates the counts after moves by other members. Cards stay where they are; a button reloads the board.
  function watch() {
    setInterval(async () => {
      if (document.hidden) return;
      const source = box.querySelector("[data-counts]").dataset.counts;
      const told = await fetch(source, { headers: { Accept: "application/json" } }).then((answer) => (answer.ok ? answer.json() : null), () => null);
      if (!told || box.querySelector(".moving") || source !== box.querySelector("[data-counts]").dataset.counts) return;
      let others = false;
      for (const lane of lanes()) {
        const shown = lane.querySelector("[data-count]");
        const now = told.counts[lane.dataset.status] ?? 0;
        if (Number(shown.textContent) !== now) others = true;
        shown.textContent = now;
      }
      if (others) say("Someone else moved candidates. ", again());
    }, LATELY);
  }
}

// The server's answer, or an error with its message; `stale` if someone else moved the candidate in the meantime.
async function send(action, body) {
  const answer = await fetch(action, { method: "POST", body, headers: { Accept: "application/json" } }).catch(() => null);
  if (!answer) throw new Error("The server could not be reached. Nothing was moved.");
  if (answer.redirected) throw new Error("You were signed out. Nothing was moved. Reload the page.");
  const told = await answer.json().catch(() => ({}));
  if (answer.ok) return told;
  throw Object.assign(new Error(told.message ?? "This candidate could not be moved. Reload the page."), { stale: answer.status === 409 });
}

// One gesture for mouse, pen and touch, from the board's pointer events.
function drag(box, { over, drop }) {
  let grip = null;
  let dragged = false;
  box.addEventListener("click", (event) => { if (dragged) event.preventDefault(); }, true);
  box.classList.add("can-drag");

  const laneAt = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest(".lane") ?? null;

  function lift(event) {
    const { card } = grip;
    grip.ghost = card.cloneNode(true);
    grip.ghost.classList.add("drag-ghost");
    grip.ghost.removeAttribute("data-card");
    for (const part of grip.ghost.querySelectorAll("button, [popover]")) part.remove();
    grip.ghost.setAttribute("aria-hidden", "true");
    box.append(grip.ghost);
    card.classList.add("moving");
    follow(event);
  }

  function follow(event) {
    Object.assign(grip.ghost.style, { left: `${event.clientX - 30}px`, top: `${event.clientY - 20}px` });
    grip.lane = laneAt(event);
    over(grip.lane);
    const lanes = box.querySelector(".board");
    const edge = lanes.getBoundingClientRect();
    if (event.clientX > edge.right - 40) lanes.scrollLeft += 16;
    if (event.clientX < edge.left + 40) lanes.scrollLeft -= 16;
  }

  function end(event, dropped) {
    if (!grip) return;
    clearTimeout(grip.timer);
    const { card, ghost, lane } = grip;
    grip = null;
    if (!ghost) return;
    ghost.remove();
    card.classList.remove("moving");
    over(null);
    if (dropped && lane) drop(card, lane);
    dragged = true; // the click that ends a drag must not open a page
    setTimeout(() => { dragged = false; }, 0);
  }

  box.addEventListener("pointerdown", (event) => {
    const card = event.target.closest(".lane-card");
    if (!card || event.button !== 0 || event.target.closest("button, [popover]")) return;
    grip = { card, x: event.clientX, y: event.clientY, touch: event.pointerType === "touch" };
    if (grip.touch) grip.timer = setTimeout(() => lift(event), HOLD);
  });
  addEventListener("pointermove", (event) => {
    if (!grip) return;
    const far = Math.hypot(event.clientX - grip.x, event.clientY - grip.y) > SLACK;
    if (!grip.ghost && far && grip.touch) return end(event, false); // it scrolls
    if (!grip.ghost && far) lift(event);
    if (grip.ghost) follow(event);
  });
  addEventListener("pointerup", (event) => end(event, true));
  addEventListener("pointercancel", (event) => end(event, false));
  box.addEventListener("touchmove", (event) => { if (grip?.ghost) event.preventDefault(); }, { passive: false });
  box.addEventListener("dragstart", (event) => event.preventDefault());
  addEventListener("keydown", (event) => { if (event.key === "Escape") end(event, false); });
}
