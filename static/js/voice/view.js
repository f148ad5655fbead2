// What the page shows. The one place of the interview that touches the document; sentences come from the template.
const root = document.querySelector("[data-interview]");
const words = JSON.parse(root.querySelector("[data-words]").dataset.words);

export const settings = {
  base: root.dataset.base, live: root.dataset.view === "live", video: root.dataset.video === "yes", worklet: root.dataset.worklet, detector: root.dataset.detector,
  state: root.dataset.state ? JSON.parse(root.dataset.state) : null,
  token: document.querySelector("meta[name=csrf-token]")?.content ?? "",
};

export const part = (name) => document.querySelector(`[data-part="${name}"]`);
export const control = (name) => document.querySelector(`[data-do="${name}"]`);

export function on(name, action) {
  control(name)?.addEventListener("click", action);
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
  if (element.dataset.text === "heard" || element.dataset.text === "before") element.hidden = !text;
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

export function openTalk() {
  for (const name of ["invitation", "resume", "resume-asked"]) show(name, false);
  show("talk");
  window.scrollTo(0, 0);
  show("progress");
}

// The talk in one of its phases: what can be pressed, what is read out.
export function phase(state, { writing, sound }) {
  const talk = part("talk");
  talk.dataset.phase = state.phase;
  const open = ["speaking", "listening", "answering"].includes(state.phase) && state.prompt?.expects === "answer";
  say("phase", state.phase === "listening" && writing ? "reading" : words[state.phase] ? state.phase : null);
  for (const name of ["repeat", "skip", "end"]) control(name).disabled = !open;
  control("finished").hidden = writing;
  control("finished").disabled = !open;
  control("write").hidden = !sound;
  control("write").disabled = !open;
  control("write").setAttribute("aria-pressed", String(writing));
  control("write").querySelector("span").textContent = word(writing ? "speak" : "type");
  show("writing", writing);
  show("meter", Boolean(sound) && !writing);
  part("writing").querySelector("button").disabled = !open;
}

export function prompt(prompt, { spoken }) {
  const parts = prompt.parts ?? [];
  const main = parts.findLast((one) => one.kind === "question" || one.kind === "follow_up");
  const question = document.querySelector('[data-text="question"]');
  const open = prompt.expects === "answer" && prompt.question; // "I did not hear you": the question stays on the page
  const others = parts.filter((one) => one !== main).map((one) => one.text).join("\n");
  write("before", main || open ? others : "");
  write("question", main ? main.text : open || prompt.text);
  question.classList.toggle("long", question.textContent.length > 160);
  question.setAttribute("aria-live", spoken ? "off" : "polite"); // a screen reader would talk over the agent
  if (prompt.heard) write("heard", prompt.heard.text ?? "");
  const at = prompt.question_index;
  if (prompt.kind === "outro" || prompt.expects === "finish") say("progress", "closing");
  else if (Number.isInteger(at)) say("progress", "progress", { n: at + 1, m: prompt.question_count });
}

export function focusQuestion() {
  document.querySelector('[data-text="question"]').focus({ preventScroll: true });
}

export function time(seconds, limit) {
  const clock = (all) => `${Math.floor(all / 60)}:${String(Math.floor(all % 60)).padStart(2, "0")}`;
  write("time", limit ? word("time", { used: clock(seconds), limit: clock(limit) }) : clock(seconds));
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

export function saving(left) {
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
  for (const name of ["invitation", "resume", "talk", "saving", "progress"]) show(name, false);
  say("stopped-title", `${key}-title`);
  say("stopped-text", key);
  show("stopped");
  part("stopped").querySelector("h2").focus();
}
