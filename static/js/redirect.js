// Takes the candidate to the address that the flow names, after a countdown that they can see and stop (WCAG 2.2.1). Anything
// they do on the page stops it for good, a reload or sent feedback included: people who read or rate are not rushed.
export default function redirect(box) {
  const [line, stay] = [box.querySelector("[data-countdown]"), box.querySelector("button")];
  const stopped = `parley-stay:${location.pathname}`;
  if (remembered(stopped)) return;
  let left = Number(box.dataset.seconds);
  const show = () => { line.querySelector("span").textContent = left; };
  const timer = setInterval(() => {
    left -= 1;
    show();
    if (left <= 0) { clearInterval(timer); location.assign(box.dataset.url); }
  }, 1000);
  show();
  line.hidden = stay.hidden = false;
  // What is gone keeps its place: a press on a link below moves the focus first, and nothing may move under the pointer then.
  const stop = () => {
    clearInterval(timer);
    remember(stopped);
    for (const gone of [line, stay]) gone.classList.add("settled");
  };
  stay.addEventListener("click", stop);
  // The button stays until its click has come: hidden under the finger it would not get one.
  const acted = ({ target }) => { if (target !== stay) stop(); };
  for (const act of ["keydown", "pointerdown", "touchstart", "wheel", "scroll", "input"]) {
    addEventListener(act, acted, { passive: true, capture: true });
  }
  // A screen reader's cursor moves the focus without any of these.
  document.addEventListener("focusin", (event) => { if (!box.contains(event.target)) stop(); });
}

// If the browser stores nothing (storage blocked), the countdown can still be stopped on the page itself.
function remembered(name) {
  try { return sessionStorage.getItem(name) !== null; } catch { return false; }
}

function remember(name) {
  try { sessionStorage.setItem(name, "1"); } catch { /* blocked */ }
}
