// What the page shows; the list of files is in documents.js. Sentences come from the template.
import { mayGoBack, open as isOpen } from "./turns.js";

const root = document.querySelector("[data-interview]");
const words = JSON.parse(root.querySelector("[data-words]").dataset.words);

export const settings = {
  base: root.dataset.base, live: root.dataset.view === "live", video: root.dataset.video === "yes", worklet: root.dataset.worklet, detector: root.dataset.detector,
  language: document.querySelector('[data-text="question"]')?.lang || "en",
  state: root.dataset.state ? JSON.parse(root.dataset.state) : null,
  token: document.querySelector("meta[name=csrf-token]")?.content ?? "",
};

const CAMERA = `parley-camera ${settings.base}`;
try { if (sessionStorage.getItem(CAMERA) === "off") settings.video = false; } catch { /* a browser that keeps nothing */ }

export const part = (name) => document.querySelector(`[data-part="${name}"]`);
export const control = (name) => document.querySelector(`[data-do="${name}"]`);

// Buttons of the talk that cannot be used now stay in place and keep the focus, so they are told apart by attribute.
export function on(name, action) {
  control(name)?.addEventListener("click", (event) => { if (event.currentTarget.getAttribute("aria-disabled") !== "true") action(event); });
}

function able(name, yes) {
  control(name).setAttribute("aria-disabled", String(!yes));
}

const number = new Intl.NumberFormat(document.documentElement.lang);

export function word(key, values = {}) {
  const written = (value) => (typeof value === "number" ? number.format(value) : value);
  return Object.entries(values).reduce((text, [name, value]) => text.replace(`{${name}}`, () => written(value)), words[key]);
}

export function write(name, text) {
  const element = document.querySelector(`[data-text="${name}"]`);
  if (!element) return;
  if (element.textContent !== text) element.textContent = text;
  if (["heard", "again", "before", "script-question"].includes(name)) element.hidden = !text;
}

export function say(name, key, values) {
  write(name, key ? word(key, values) : "");
}

export function show(name, yes = true) {
  const element = part(name);
  if (element) element.hidden = !yes;
}

export function level(dbfs) {
  const amount = Math.max(0, Math.min(1, (dbfs + 60) / 50));
  for (const meter of document.querySelectorAll("[data-level]")) meter.style.setProperty("--level", amount.toFixed(2));
}

// One line of the checks: state is good, warn, bad or busy.
export function checked(name, state, key) {
  const line = document.querySelector(`[data-check="${name}"]`);
  if (!line) return;
  line.dataset.state = state;
  if (key) say(`check-${name}`, key);
}

export function proven(yes) {
  for (const meter of document.querySelectorAll(".level")) meter.classList.toggle("works", yes);
  checked("microphone", yes ? "good" : "busy", null);
}

export function practising(yes) {
  control("practice").querySelector("span").textContent = word(yes ? "practice-stop" : "practice-again");
  control("practice").classList.toggle("recording", yes);
}

export function practised(url) {
  const player = part("practice-sound");
  if (!player) return;
  player.hidden = !url;
  if (url) player.src = url;
  else player.removeAttribute("src");
}

const PHONE = window.matchMedia("(max-width: 40rem)");

// One of the two steps before the talk.
export function step(at, { focus = true } = {}) {
  const invitation = part("invitation");
  invitation.dataset.at = at;
  control("next").disabled = false;
  if (!focus) {
    if (PHONE.matches) part("intro-video")?.removeAttribute("open"); // one press away there
    return;
  }
  window.scrollTo(0, 0);
  invitation.querySelector(`.step-of[data-step="${at}"]`).focus({ preventScroll: true });
}

export const currentStep = () => Number(part("invitation").dataset.at);

export function openTalk() {
  for (const name of ["invitation", "resume", "resume-asked"]) show(name, false);
  show("talk");
  window.scrollTo(0, 0);
}

const LONG_THOUGHT = 4000; // ms, after which the page says that it takes longer
const thought = { timer: null, long: false };
function ponder(thinking) {
  if (thinking && thought.timer === null) thought.timer = setTimeout(() => { thought.long = true; say("phase", "thinking-long"); }, LONG_THOUGHT);
  if (thinking) return;
  clearTimeout(thought.timer);
  Object.assign(thought, { timer: null, long: false });
}

// The talk in one of its phases: what can be pressed, what is read out.
export function phase(state, { writing, sound, taken = null }) {
  const talk = part("talk");
  ponder(state.phase === "thinking" && !state.pausing && !state.think);
  const shown = thought.long ? "thinking-long" : state.phase === "interrupted" ? "answering" : state.phase === "paused" && taken ? taken : state.phase;
  talk.dataset.phase = state.phase;
  talk.dataset.mode = writing ? "text" : "voice";
  const open = isOpen(state);
  const [thinking, paused, lingering] = ["thinking", "paused", "lingering"].map((name) => state.phase === name);
  say("phase", state.pausing ? "pausing" : state.think ? "take-time" : shown === "listening" && writing ? taken ?? "reading" : words[shown] ? shown : null);
  for (const name of ["repeat", "skip", "send"]) able(name, open);
  able("finished", open || lingering);
  goBack(state);
  able("think", !writing && Boolean(open || (thinking && state.former)));
  control("think").setAttribute("aria-pressed", String(state.think));
  able("end", open || paused);
  able("write", open || thinking || paused);
  able("pause", open || thinking || paused);
  label("write", writing ? "speak" : "type");
  label("pause", paused || state.pausing ? "go-on" : "pause");
  main(paused ? "go-on" : writing && !lingering ? "send" : "finished");
  show("writing", writing && !paused && !lingering);
  show("meter", Boolean(sound) && !writing && !paused && !lingering);
}

// The last answer, as long as it may be given again.
function goBack(state) {
  const offered = mayGoBack(state);
  const focused = !offered && part("again").contains(document.activeElement);
  show("again", offered);
  if (offered) write("again", state.prompt.last_answer);
  if (focused) focusQuestion();
}

function label(name, key) {
  control(name).querySelector("span").textContent = word(key);
}

// One button in the main place; the focus goes along.
function main(name) {
  const all = ["finished", "go-on", "send"].map(control);
  const focused = all.includes(document.activeElement);
  for (const button of all) button.hidden = button !== control(name);
  if (focused) control(name).focus({ preventScroll: true });
}

// Captions are remembered in this browser; the open question is always shown.
export function captions(yes) {
  part("talk").dataset.captions = yes ? "on" : "off";
  control("captions").setAttribute("aria-pressed", String(yes));
  try { localStorage.setItem("parley-captions", yes ? "on" : "off"); } catch { /* a browser that keeps nothing */ }
}

export function mirror(sound) {
  const self = part("self");
  if (!self || !sound?.stream.getVideoTracks().length) return;
  self.querySelector("video").srcObject = new MediaStream(sound.stream.getVideoTracks());
  self.hidden = false;
}

export function prompt(prompt, { spoken }) {
  const parts = prompt.parts ?? [];
  const main = parts.findLast((one) => one.kind === "question" || one.kind === "follow_up");
  const question = document.querySelector('[data-text="question"]');
  const open = prompt.expects === "answer" && prompt.question; // "I did not hear you": the question stays on the page
  const asked = main ? main.text : open || prompt.text;
  const above = open && prompt.script_question !== asked ? prompt.script_question : null; // of a follow-up
  const others = parts.filter((one) => one !== main && one.text !== above).map((one) => one.text).join("\n");
  write("before", main || open ? others : "");
  write("script-question", above ?? "");
  write("question", asked);
  question.classList.toggle("long", question.textContent.length > 160);
  question.setAttribute("aria-live", spoken ? "off" : "polite"); // a screen reader would talk over the agent
  if (prompt.heard) write("heard", typeof prompt.last_answer === "string" ? "" : prompt.heard.text ?? "");
  toGo.questions = prompt.minutes_left ?? null;
  sayToGo();
  const at = prompt.question_index;
  if (prompt.kind === "outro" || prompt.expects === "finish") say("progress", "closing");
  else if (Number.isInteger(at)) say("progress", "progress", { n: at + 1, m: prompt.question_count });
}

export function focusQuestion() {
  document.querySelector('[data-text="question"]').focus({ preventScroll: true });
}

// The answer's box, unless the candidate is busy with something else.
export function focusAnswer() {
  const [active, box] = [document.activeElement, document.getElementById("answer")];
  const free = !active || active === document.body || active.matches('[data-text="question"]') || part("writing").contains(active) || active === control("send");
  if (free && !document.querySelector("dialog[open]")) box.focus({ preventScroll: true });
}

// The box is emptied of what was sent, not of what was typed since.
export function sent(text) {
  const box = document.getElementById("answer");
  if (text !== undefined && box.value.trim() === text) box.value = "";
}

const ROUND = 5; // minutes: no one can know it better
const toGo = { questions: null, most: Infinity }; // minutes: for the questions that are left, and what the limit leaves

// About how long it still takes: never more than the limit leaves. A countdown of the limit would make people hurry.
function sayToGo() {
  say("time", toGo.questions === null ? null : `to-go-${Math.min(toGo.questions, toGo.most)}`);
}

export function time(seconds, limit) {
  toGo.most = limit ? ROUND * Math.floor(Math.max(0, limit - seconds) / 60 / ROUND) : Infinity;
  sayToGo();
}

// "soon", "over" or null; ``more``: whether more time can still be had.
export function timeNote(note, { more }) {
  if (part("time-note").hidden === !note && part("time-note").dataset.note === (note ?? "")) return;
  const focused = part("time-note").contains(document.activeElement);
  part("time-note").dataset.note = note ?? "";
  show("time-note", Boolean(note));
  say("time-note", note && `time-${note}`);
  control("more-time").hidden = !more;
  part("time-note").querySelector(".buttons").hidden = note === "added";
  if (note !== "soon" && note !== "over" && focused) focusQuestion();
}

// The camera stays off in this tab, also after a reload.
export function withoutCamera() {
  settings.video = false;
  try { sessionStorage.setItem(CAMERA, "off"); } catch { /* asked again after a reload */ }
  for (const name of ["preview", "camera-field"]) show(name, false);
}

const [FAR_BEHIND, CAUGHT_UP, STEP] = [10, 5, 5]; // seconds
let behind = 0;

// seconds of the interview that are not with the server yet: said from some seconds on, and in steps, so that a screen
// reader does not count aloud
export function lag(seconds) {
  const told = seconds >= FAR_BEHIND || (behind && seconds > CAUGHT_UP) ? Math.max(STEP, Math.round(seconds / STEP) * STEP) : 0;
  if (told === behind) return;
  behind = told;
  const note = document.createElement("div");
  note.className = "notice notice-info";
  note.textContent = told ? word("behind", { n: told }) : "";
  part("behind")?.replaceChildren(...(told ? [note] : []));
}

let connected = true;
export function link(up) {
  if (up === connected) return;
  connected = up;
  const box = part("connection");
  const note = document.createElement("div");
  note.className = `notice notice-${up ? "good" : "warn"}`;
  note.textContent = word(up ? "back" : "lost");
  box.replaceChildren(note);
  if (up) setTimeout(() => { if (connected) box.replaceChildren(); }, 3000);
}

// The CV that the end waits for, in the place of the talk. Resolves with what the next attempt says.
export function cv(state) {
  const first = part("cv").hidden;
  say("cv", first && state === "missing" ? null : `cv-${state}`);
  if (first) {
    for (const name of ["talk", "saving"]) show(name, false);
    show("cv");
    part("cv-files").append(part("documents"));
    part("cv").querySelector("h2").focus();
  }
  return new Promise((resolve) => {
    control("cv-added").onclick = () => resolve({});
    control("no-cv").onclick = () => resolve({ no_cv: true });
    if (state === "reading") setTimeout(resolve, 1500, {});
  });
}

export function saving(left) {
  if (part("cv")?.hidden === false) return;
  if (part("saving").hidden) {
    show("saving");
    part("saving").querySelector("h2").focus();
  }
  const bar = part("saving").querySelector("progress");
  bar.max = Math.max(bar.max > 1 ? bar.max : 0, left, 1);
  bar.value = bar.max - left;
  say("saving", left ? "saving" : "saved", { n: left });
}

export function stopped(key) {
  for (const name of ["invitation", "resume", "talk", "saving"]) show(name, false);
  say("stopped-title", `${key}-title`);
  say("stopped-text", key);
  show("stopped");
  part("stopped").querySelector("h2").focus();
}
