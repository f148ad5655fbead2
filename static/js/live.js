// Says what is new since the page was opened, in a note with a button. Nothing on the page moves until someone presses it.
// The server is asked every 10 s while the tab is visible and in use, less and less often after 5 minutes without a key, a
// touch or a movement of the pointer, and never while the tab is hidden. Where the page shows progress (data-live-fresh),
// its parts with data-live are replaced instead.
import { fetchedPage } from "./fetched_page.js";

const FAST = 10_000;
const SLOW = 60_000;
const IDLE = 5 * 60_000;
const MINUTE = 60_000;
const SIGNS = ["keydown", "pointerdown", "pointermove", "touchstart", "wheel"];

// How long to wait for the next question, in ms, when the tab has been without a sign of use for `idle` ms. A page whose
// work takes seconds asks more often (data-live-every).
export function pause(idle, fast = FAST) {
  return idle < IDLE ? fast : Math.min(SLOW, FAST * 2 ** (1 + Math.floor((idle - IDLE) / MINUTE)));
}

export default function live(page) {
  const note = document.createElement("p");
  note.className = "live-note";
  note.setAttribute("role", "status");
  const fast = Number(page.dataset.liveEvery) || FAST;
  document.body.append(note);
  let [used, asked, tag, timer, over] = [Date.now(), Date.now(), "", 0, false];

  for (const sign of SIGNS) addEventListener(sign, act, { passive: true });
  document.addEventListener("visibilitychange", () => { used = Date.now(); plan(); });
  plan();

  // After a rest the wait for the next question is counted from the last one, so what came meanwhile is said at once.
  function act() {
    const wasIdle = Date.now() - used >= IDLE;
    used = Date.now();
    if (wasIdle) plan();
  }

  function plan() {
    clearTimeout(timer);
    timer = 0;
    if (over || document.hidden) return;
    timer = setTimeout(ask, Math.max(0, asked + pause(Date.now() - used, fast) - Date.now()));
  }

  async function ask() {
    asked = Date.now();
    const headers = { Accept: "application/json", ...(tag && { "If-None-Match": tag }) };
    const response = await fetch(page.dataset.liveUrl, { headers, cache: "no-store" }).catch(() => null);
    // Signed out, or no longer there: this page says so as soon as it is used.
    over = Boolean(response) && (response.redirected || response.status >= 400 && response.status < 500 && response.status !== 429);
    if (response?.ok && !over) {
      tag = response.headers.get("ETag") ?? "";
      const { news } = await response.json().catch(() => ({ news: "" }));
      await ("liveFresh" in page.dataset ? news && refresh() : say(news));
    }
    plan();
  }

  async function refresh() {
    const fresh = await fetchedPage(location.href).catch(() => null);
    const main = fresh?.getElementById(page.id);
    if (!main) return;
    let isWhole = true;
    for (const part of page.querySelectorAll("[data-live]")) {
      const other = main.querySelector(`[data-live="${part.dataset.live}"]`);
      if (part.contains(document.activeElement)) isWhole = false;
      else if (other) part.replaceChildren(...other.childNodes);
    }
    // A page without an address is the last one. It is asked for again until the part with the focus shows it, too.
    if (main.dataset.liveUrl) page.dataset.liveUrl = main.dataset.liveUrl;
    else over = isWhole;
  }

  function say(news) {
    if (!news) return note.replaceChildren();
    if (note.firstChild?.textContent === news) return;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "button button-small", textContent: "Reload page" });
    button.addEventListener("click", () => location.reload());
    const words = document.createElement("span");
    words.textContent = news;
    note.replaceChildren(words, button);
  }
}
