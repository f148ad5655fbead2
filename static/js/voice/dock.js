// The bar with everything that can be pressed during the talk. Each press does one thing, once; none ends the interview
// by accident.
import { hear, wake } from "./pausing.js";
import { offer } from "./slower.js";
import * as view from "./view.js";

const KEYS = { KeyF: "finished", KeyR: "repeat", KeyS: "skip", KeyT: "write", KeyL: "think", KeyP: "pause", KeyC: "captions", KeyH: "help" };

export function dock(current) {
  const talk = () => current();
  const failing = (promise) => promise.catch((error) => talk().fails(error));
  view.on("finished", () => talk().happens({ type: "finished", at: talk().at }));
  view.on("think", () => talk().happens({ type: "think", at: talk().at }));
  for (const kind of ["repeat", "skip"]) view.on(kind, () => talk().happens({ type: "ask", kind, at: talk().at }));
  view.on("again", () => talk().happens({ type: "again" }));
  view.on("write", () => failing(change(talk())));
  view.on("pause", () => (talk().state.phase === "paused" ? failing(wake(talk())) : talk().happens({ type: "pause", at: talk().at })));
  view.on("go-on", () => failing(wake(talk())));
  view.on("captions", () => view.captions(view.part("talk").dataset.captions === "off"));
  view.captions(remembered());
  offer(view.control("slower"));
  time(talk, failing);
  dialogs(talk, failing);
  writing(talk);
  keys(talk);
}

async function change(talk) {
  if (talk.writing && (talk.sound?.gone ?? true) && !(await hear(talk))) return;
  talk.write(!talk.writing);
}

function remembered() {
  try { return localStorage.getItem("parley-captions") !== "off"; } catch { return true; }
}

function time(talk, failing) {
  view.on("more-time", () => failing(talk().allowance.more()));
  view.on("more-time-now", () => failing(talk().allowance.more().then((added) => {
    if (added || !talk().allowance.left) view.say("more-time", added ? "time-added" : "time-most");
  })));
  view.on("time-enough", () => { talk().allowance.dismiss(); view.focusQuestion(); });
}

function dialogs(talk, failing) {
  const [end, help] = [view.part("end-dialog"), view.part("help-dialog")];
  view.on("end", () => end.showModal());
  view.on("stay", () => end.close());
  view.on("end-yes", (event) => {
    if (event.detail > 1) return; // the second half of a double click
    end.close();
    failing(wake(talk(), { deaf: true }).then(() => talk().happens({ type: "ask", kind: "end", at: talk().at })));
  });
  view.on("help", () => { view.say("more-time"); help.showModal(); });
  for (const name of ["help-close", "different"]) view.on(name, () => help.close());
}

function writing(talk) {
  const [form, box] = [view.part("writing"), document.getElementById("answer")];
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = box.value;
    if (view.control("send").getAttribute("aria-disabled") === "true") return;
    if (text.trim()) talk().happens({ type: "typed", text });
    else view.say("phase", "empty");
  });
}

// A key that is held down presses a button once; shortcuts need two modifiers, so no one hits them while typing.
function keys(talk) {
  view.part("talk").addEventListener("keydown", (event) => {
    if (event.repeat && event.target.closest("button") && ["Enter", " "].includes(event.key)) event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const name = event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey ? KEYS[event.code] : null;
    if (!name || event.repeat || !talk() || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    const button = view.control(name);
    if (button && !button.hidden) button.click();
  });
}
