// Additions to the player: the waveform becomes a slider, the speed is remembered, and there are shortcuts, which can be
// turned off and never act while the user is typing. Without this module the browser's own player does everything.

import { remember, remembered, singleKeys } from "./remember.js";

const STEP = 5;
const LEAP = 10;
const FAR = 30;
const KEEP_SPEED = "parley-speed";

const KEYS = { " ": "toggle", k: "toggle", arrowleft: -STEP, arrowright: STEP, j: -LEAP, l: LEAP, "?": "help" };
const SLIDES = { ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP, PageDown: -FAR, PageUp: FAR };

// What a key means to the player: "toggle", "help", seconds to move, or null.
export function meaning(event, on) {
  if (!on || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return null;
  const within = (selector) => Boolean(event.target?.closest?.(selector));
  if (within("input, textarea, select, audio, video, [contenteditable], [role=slider]")) return null;
  if (within("[popover]:popover-open") && event.key !== "?") return null;
  if (event.key === " " && within("button, a, summary, label")) return null; // there the space bar activates the control
  return KEYS[event.key.toLowerCase()] ?? null;
}

export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds || 0));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

// The current chapter, or null.
export function chapterAt(chapters, time) {
  return chapters.filter((one) => one.at <= time).at(-1) ?? null;
}

export default function listen(box) {
  const media = box.querySelector("audio, video");
  const wave = box.querySelector("[data-wave]");
  if (!media || !wave) return;
  const length = () => (Number.isFinite(media.duration) && media.duration) || Number(wave.dataset.seconds);

  function seek(time) {
    media.currentTime = Math.min(Math.max(0, time), Math.max(0, length() - 0.05));
  }

  slider(media, wave, { length, seek });
  speed(media, box.querySelector("#speed"));
  box.querySelector("[data-listening]").hidden = false;
  const help = box.querySelector("#player-keys");
  const choice = box.querySelector("#player-single-keys");
  singleKeys(choice);
  document.addEventListener("keydown", (event) => {
    const meant = meaning(event, choice.checked);
    if (meant === null || meant === "help" && document.getElementById("key-sheet")) return; // which names these keys, too
    event.preventDefault();
    if (meant === "help") help.togglePopover();
    else if (meant !== "toggle") seek(media.currentTime + meant);
    else if (media.paused) media.play()?.catch(() => {}); // the browser requires a press on its own button first
    else media.pause();
  });
}

function speed(media, choice) {
  const known = remembered(KEEP_SPEED);
  if ([...choice.options].some((one) => one.value === known)) choice.value = known;
  const set = () => { media.defaultPlaybackRate = media.playbackRate = Number(choice.value); };
  choice.addEventListener("change", () => {
    set();
    remember(KEEP_SPEED, choice.value);
  });
  set();
}

function slider(media, wave, { length, seek }) {
  const heard = wave.querySelector("[data-heard]");
  const now = wave.querySelector("[data-now]");
  const chapters = [...wave.querySelectorAll("[data-chapter]")]
    .map((one) => ({ at: Number(one.dataset.chapter), title: one.dataset.title })).sort((a, b) => a.at - b.at);
  let shown = -1;

  wave.setAttribute("role", "slider");
  wave.setAttribute("aria-label", "Position in the recording");
  wave.setAttribute("aria-valuemin", "0");
  wave.tabIndex = 0;

  function update() {
    const at = length() ? (media.currentTime / length()) * 400 : 0;
    heard.setAttribute("width", at.toFixed(2));
    now.setAttribute("x1", at.toFixed(2));
    now.setAttribute("x2", at.toFixed(2));
    const second = Math.floor(media.currentTime);
    if (second === shown) return;
    shown = second;
    const chapter = chapterAt(chapters, media.currentTime);
    wave.setAttribute("aria-valuemax", String(Math.floor(length())));
    wave.setAttribute("aria-valuenow", String(second));
    wave.setAttribute("aria-valuetext", `${clock(second)} of ${clock(length())}${chapter ? `, ${chapter.title}` : ""}`);
  }

  function seekTo(event) {
    const place = wave.getBoundingClientRect();
    seek(((event.clientX - place.left) / place.width) * length());
  }

  wave.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    wave.setPointerCapture(event.pointerId);
    seekTo(event);
  });
  wave.addEventListener("pointermove", (event) => { if (wave.hasPointerCapture(event.pointerId)) seekTo(event); });
  wave.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in SLIDES) seek(media.currentTime + SLIDES[event.key]);
    else if (event.key === "Home") seek(0);
    else if (event.key === "End") seek(length());
    else if (event.key === " ") media.paused ? media.play()?.catch(() => {}) : media.pause();
    else return;
    event.preventDefault();
  });
  for (const name of ["timeupdate", "seeking", "seeked", "loadedmetadata", "durationchange"]) media.addEventListener(name, update);
  update();
}
