// Triage by keyboard: each control shows the key that activates it. Plays the best evidence, clip after clip. Shortcuts
// can be turned off and never act while the user is typing; without scripts everything is a button or a link.
import { ask, meaningOf } from "./reasons.js";
import { singleKeys } from "./remember.js";

// The element that a key activates, or null: pure, so that it can be tested without a page.
export function meant(event, controls, on) {
  if (!on || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  const { target } = event;
  if (target?.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable], video, audio, [popover]:popover-open")) return null;
  return controls.find((one) => one.dataset.key === event.key.toLowerCase()) ?? null;
}

export default function triage(box) {
  const controls = () => [...document.querySelectorAll("[data-key]")];
  const note = box.querySelector("#note");
  const choice = box.querySelector("#single-keys");
  singleKeys(choice);
  box.querySelector("[data-keys]").hidden = false;
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target === note) note.blur();
    const control = meant(event, controls(), choice.checked);
    if (!control) return;
    event.preventDefault();
    if (control === note) note.focus();
    else control.click();
  });
  const form = box.querySelector(".decide");
  if (form) reasonFirst(form, box.querySelector("#reason-dialog"));
  const media = box.querySelector(".reel audio, .reel video");
  if (media) reel(box, media);
}

// A rejection asks for its reason before it is sent, unless one was chosen in the form; where the organization requires
// reasons, every decision asks.
export function reasonFirst(form, dialog) {
  const select = form.querySelector('[name="reason"]');
  form.addEventListener("submit", async (event) => {
    const { submitter } = event;
    const meaning = submitter?.dataset.title ? meaningOf(dialog, submitter.value) : undefined;
    if (!meaning || select.value || "asked" in form.dataset) return;
    if (meaning !== "rejected" && !("required" in dialog.dataset)) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // nothing is being sent yet
    const given = await ask(submitter.value, submitter.dataset.title, { note: false });
    if (!given) return;
    select.value = given.reason;
    form.dataset.asked = "yes";
    form.requestSubmit(submitter);
    delete form.dataset.asked;
  }, true);
}

function reel(box, media) {
  const clips = [...box.querySelectorAll("[data-clip]")];
  const button = box.querySelector("[data-reel]");
  const text = button.querySelector("span");
  let at = -1; // the clip that is playing, -1: none
  let all = false; // whether the next one follows

  if (!clips.length) return;
  button.hidden = false;
  for (const clip of clips) {
    clip.querySelector("[data-plain]").hidden = true;
    const play = clip.querySelector("[data-play]");
    play.hidden = false;
    play.addEventListener("click", () => { all = false; begin(clips.indexOf(clip)); });
  }

  function begin(place) {
    at = place;
    for (const clip of clips) clip.classList.toggle("now", clip === clips[at]);
    text.textContent = at < 0 ? "Play" : "Stop";
    if (at < 0) return media.pause();
    media.currentTime = Number(clips[at].dataset.start);
    return media.play()?.catch(() => begin(-1)); // the browser requires a press on its own button first
  }

  function check() {
    if (at < 0 || media.currentTime < Number(clips[at].dataset.end)) return;
    begin(all && at + 1 < clips.length ? at + 1 : -1);
  }

  button.addEventListener("click", () => {
    all = true;
    begin(at < 0 ? 0 : -1);
  });
  media.addEventListener("timeupdate", check);
  media.addEventListener("ended", () => { if (at >= 0) begin(-1); });
  media.addEventListener("pause", () => { if (at >= 0 && !media.ended && !media.seeking) begin(-1); });
}
