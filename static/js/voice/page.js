// The candidate's page: invitation, checks, talk, end. Puts the other modules together.
import { Allowance } from "./allowance.js";
import { Check } from "./check.js";
import { Coder, startOpus } from "./coder.js";
import { forgetRest, keepRest } from "./comeback.js";
import { different } from "./different.js";
import { dock } from "./dock.js";
import { documents } from "./documents.js";
import { stayLit } from "./interruptions.js";
import { Outbox } from "./outbox.js";
import { Practice } from "./practice.js";
import { Protocol, Refused } from "./protocol.js";
import { sender } from "./sender.js";
import { steps } from "./steps.js";
import { openStore } from "./store.js";
import { Talk } from "./talk.js";
import * as view from "./view.js";

const { settings } = view;
const protocol = new Protocol(settings.base, settings.token, view.link);
const check = new Check(() => ready());
const form = view.part("start-form");
const practice = form && new Practice(() => check.sound?.stream);
let talk = null;

const chosen = () => form?.elements.mode.value ?? settings.state?.mode ?? "voice";

function ready() {
  if (!form) return;
  const agreed = form.elements.consent.checked;
  const spoken = chosen() === "voice";
  view.show("check", spoken);
  const hint = !agreed ? "agree-first" : spoken && !check.sound ? "check-first" : spoken && !check.heard ? "silent-first" : "all-set";
  view.say("start", hint);
  view.control("start").disabled = hint !== "all-set";
  view.control("check").disabled = !agreed;
  view.control("sound").disabled = !check.sound;
  view.show("practice", Boolean(spoken && check.heard));
}

function speaker() {
  view.on("sound", () => {
    check.chime();
    view.say("check-speaker", "did-you-hear");
    view.show("speaker-answer");
  });
  for (const [name, state] of [["heard-it", "good"], ["not-heard", "warn"]]) {
    view.on(name, () => view.checked("speaker", state, name));
  }
}

async function open(server, sound) {
  const store = await openStore(settings.base);
  const { send, bundle } = sender(protocol, (words) => talk.hears(words));
  const coder = new Coder(sound && startOpus());
  const together = { get voice() { return coder.isNative ? 2 : 4; }, mix: 4 };
  const company = store.durable ? together : undefined; // what lives in this page alone goes at once
  const outbox = new Outbox(send, store, { bundle, company, onStop: (error) => talk.fails(error) });
  talk = new Talk({ protocol, outbox, sound, server, coder, melody: check.melody, allowance: new Allowance(protocol, server, { show: view }) });
  await outbox.restore();
  documents(protocol, server.documents, server.uploads);
  if (!store.durable && sound) view.say("document", "no-memory");
  keepAlive();
  view.mirror(sound);
  different(protocol, (choice, limit) => {
    if (choice === "more_time") talk.allowance.limit = limit;
    if (choice === "writing" && !talk.writing) talk.write(true);
  });
  await talk.begin().catch((error) => talk.fails(error));
}

function keepAlive() {
  setInterval(() => { talk.allowance.tick(); view.lag(talk.outbox.behind); }, 1000);
  setInterval(() => protocol.call("POST", "heartbeat", { body: "{}", type: "application/json", tries: 1 }).catch((error) => {
    if (error instanceof Refused) talk.fails(error);
  }), 30000);
  stayLit(); // a phone that goes dark would end the recording
}

async function start(event) {
  event.preventDefault();
  const fields = Object.fromEntries(new FormData(form));
  delete fields.csrf_token;
  view.control("start").disabled = true;
  practice.forget();
  try {
    const server = await protocol.post("start", fields, { tries: 8 });
    const spoken = fields.mode === "voice";
    if (!spoken) await check.sound?.close();
    await open(server, spoken ? check.sound : null);
  } catch (error) {
    const stale = error.data?.field === "consent_version"; // the text has changed since: steps.js shows it again
    if (stale || (error.status < 500 && error.status !== 422)) return location.reload(); // taken, closed, finished: the server has a page for each
    view.write("start", error instanceof Refused ? error.message : view.word("unreachable"));
    document.getElementById(error.data?.field)?.focus();
    view.control("start").disabled = false;
  }
}

let resumed = false;

async function resume(spoken) {
  for (const name of ["resume", "resume-text"]) view.control(name).disabled = true;
  if (spoken && !(await check.begin())) {
    for (const name of ["resume", "resume-text"]) view.control(name).disabled = false;
    return;
  }
  if (spoken && !check.heard && settings.state.turn <= 1) return waits(); // not even the first question was asked yet
  await comeBack(spoken);
}

// A microphone that hears nothing reaches no question after a reload either.
function waits() {
  view.control("resume-text").disabled = false;
  check.onChange = () => { if (check.heard) comeBack(true); };
}

async function comeBack(spoken) {
  if (resumed) return;
  resumed = true;
  if (!spoken) await check.sound?.close();
  const server = await protocol.get("state").catch(() => null);
  if (!server || server.stage === "finished") return location.reload();
  await open(server, spoken ? check.sound : null);
}

window.addEventListener("beforeunload", (event) => {
  if (talk && !talk.outbox.store.durable && talk.outbox.pending) event.preventDefault();
});
window.addEventListener("pagehide", () => { if (talk) keepRest(settings.base, talk); });
window.addEventListener("pageshow", ({ persisted }) => { if (persisted) forgetRest(settings.base); });
dock(() => talk);
if (form) {
  form.addEventListener("submit", start);
  form.addEventListener("change", ready);
  view.on("check", () => check.begin());
  view.on("camera-off", () => check.withoutCamera());
  view.on("write-instead", () => { form.elements.mode.value = "text"; ready(); });
  speaker();
  document.querySelector("details:target")?.setAttribute("open", "");
  steps(form, ready);
} else {
  view.on("resume", () => resume(true));
  view.on("resume-text", () => resume(false));
  view.control("resume").hidden = settings.state.mode === "text";
  for (const name of ["resume", "resume-text"]) view.control(name).disabled = false;
}
