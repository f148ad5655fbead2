// A page without a browser's clock, sound card and network. Our own modules run as they are; what they stand on is played:
// time passes in frames of 20 ms, requests are handed out to the test and answered by the real application, the
// microphone hears what the candidate says. The same script gives the same talk.
import { Candidate } from "./candidate.js";

const FRAME = 320; // samples at 16 kHz
const MS = 20;
const PIECE = 2000; // ms of the recording in one chunk
const REFUSED_AFTER = 30; // ms in which a request without a network fails
const STORED_AFTER = 50; // … and in which the browser has stored a chunk
const [RARELY, OFTEN] = [20000, 8000]; // ms between two drops of a line that has them
const [SHORT, LONG] = [500, 5000]; // ms that a drop lasts

class Clock {
  constructor() {
    Object.assign(this, { now: 0, last: 0, due: new Map() });
  }

  timer(done, ms = 0, every = null) {
    const id = (this.last += 1);
    this.due.set(id, { at: this.now + Math.max(0, ms), done, every });
    return id;
  }

  on(ms) {
    this.now += ms;
    for (;;) {
      const ready = [...this.due].filter(([, { at }]) => at <= this.now).sort(([one, a], [other, b]) => a.at - b.at || one - other)[0];
      if (!ready) return;
      const [id, { at, done, every }] = ready;
      if (every === null) this.due.delete(id);
      else this.due.set(id, { at: at + every, done, every });
      done();
    }
  }
}

// Small and fast, the same numbers for the same seed (mulberry32).
function chance(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// --- what a browser offers ------------------------------------------------------------------------------------------

class Track {
  constructor() {
    Object.assign(this, { kind: "audio", label: "", enabled: true, muted: false, readyState: "live", onended: null });
  }

  addEventListener() {}

  getSettings() { return {}; }

  stop() { this.readyState = "ended"; }
}

class Stream {
  constructor(tracks = [new Track()]) {
    this.tracks = tracks;
  }

  getAudioTracks() { return this.tracks; }

  getVideoTracks() { return []; }

  getTracks() { return this.tracks; }
}

class Source {
  constructor(card) {
    Object.assign(this, { card, onended: null });
  }

  connect() {}

  start(at, offset) {
    Object.assign(this, { from: at, offset, until: at + this.buffer.duration - offset });
    this.card.sources.add(this);
  }

  stop() {
    if (!this.card.sources.delete(this)) return;
    const seconds = Math.max(0, Math.min(this.card.currentTime, this.until) - this.from);
    this.card.world.heard.push({ url: this.buffer.url, from: this.offset, to: this.offset + seconds });
    this.onended?.();
  }
}

class Card {
  constructor() {
    Object.assign(this, { world, sources: new Set(), state: "running", outputLatency: 0, sampleRate: 48000, destination: {}, node: null, stream: null });
    this.audioWorklet = { async addModule() {} };
    world.cards.add(this);
  }

  addEventListener() {}

  get currentTime() { return world.clock.now / 1000; }

  get sounds() { return [...this.sources].some((one) => one.from <= this.currentTime); }

  async resume() {}

  async close() { this.end(); }

  end() {
    this.state = "closed";
    for (const one of [...this.sources]) one.stop();
    world.cards.delete(this);
  }

  // A page that is gone hears of nothing any more.
  vanish() {
    for (const source of this.sources) source.onended = null;
    this.end();
  }

  createMediaStreamDestination() { return { stream: new Stream() }; }

  createMediaStreamSource(stream) {
    this.stream = stream;
    return { connect() {}, disconnect() {} };
  }

  createBufferSource() { return new Source(this); }

  async decodeAudioData({ seconds, url }) { return { duration: seconds, url }; }

  pass() {
    for (const one of [...this.sources]) if (one.until <= this.currentTime) one.stop();
  }
}

class Worklet {
  constructor(card) {
    this.port = { onmessage: null };
    card.node = this;
  }
}

class Recorder {
  static isTypeSupported() { return true; }

  constructor(stream, { mimeType }) {
    Object.assign(this, { state: "inactive", mimeType });
  }

  start() {
    this.state = "recording";
    this.timer = world.clock.timer(() => this.#hand(), PIECE, PIECE);
    queueMicrotask(() => this.onstart?.());
  }

  #hand() {
    this.ondataavailable?.({ data: { arrayBuffer: async () => Uint8Array.from({ length: 16 }, (_, n) => n).buffer } });
  }

  stop() {
    this.state = "inactive";
    world.clock.due.delete(this.timer);
    this.#hand();
    queueMicrotask(() => this.onstop?.());
  }
}

// The detector's worker: it hears a voice wherever somebody makes a sound.
class Detector {
  constructor() { this.ended = false; }

  postMessage({ window: samples, sample }) {
    const data = samples ? { chance: samples.some((one) => one !== 0) ? 0.97 : 0.02, sample } : { ready: true };
    queueMicrotask(() => { if (!this.ended) this.onmessage({ data }); });
  }

  terminate() { this.ended = true; }
}

// What IndexedDB keeps through a reload.
class Kept {
  constructor() {
    Object.assign(this, { durable: true, chunks: new Map(), all: new Map(), last: 0 });
  }

  // As a browser's database: a page that is left meanwhile has stored nothing.
  async keep(chunk) {
    await new Promise((stored) => { world.clock.timer(stored, STORED_AFTER); });
    const run = this.all.get(chunk.segment) ?? { segment: chunk.segment, mix: -1, voice: -1 };
    run[chunk.track] = Math.max(run[chunk.track], chunk.number);
    this.all.set(chunk.segment, run);
    this.chunks.set((this.last += 1), { ...chunk, order: this.last });
    return this.last;
  }

  async drop(order) { this.chunks.delete(order); }

  async waiting() { return [...this.chunks.values()]; }

  async runs() { return [...this.all.values()]; }

  async clear() { this.chunks.clear(); this.all.clear(); }
}

const channel = new MessageChannel();
const settle = () => new Promise((resolve) => { channel.port1.onmessage = resolve; channel.port2.postMessage(null); }); // all promises that can go on have

// --- the world ------------------------------------------------------------------------------------------------------

let world = null;
let pageHtml = null;
const words = (bytes) => Array.from(new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2)).filter((_, at) => at % FRAME === 0);
const packed = (body, type) => {
  if (body === undefined || typeof body === "string") return { text: body ?? null };
  const parts = body instanceof Parts ? body.parts : [body];
  return { chunks: parts.map((bytes) => (type === "application/octet-stream" ? { voice: words(bytes) } : { mix: bytes.length })) };
};

class Parts { // a Blob that is read at once
  constructor(parts) { this.parts = parts; }
}

function install() {
  Object.assign(window, {
    AudioContext: Card, AudioWorkletNode: Worklet, MediaRecorder: Recorder, MediaStream: Stream, Worker: Detector, Blob: Parts,
    setTimeout: (done, ms) => world.clock.timer(done, ms), setInterval: (done, ms) => world.clock.timer(done, ms, ms),
    clearTimeout: (id) => world.clock.due.delete(id), clearInterval: (id) => world.clock.due.delete(id),
    fetch: (url, options) => world.request(String(url), options),
    onunhandledrejection: ({ reason }) => world.errors.push(String(reason?.stack ?? reason)),
    onerror: (message) => world.errors.push(String(message)),
  });
  performance.now = () => world.clock.now;
  crypto.subtle.digest = async () => new ArrayBuffer(32); // the test works the hashes out
  Object.defineProperty(navigator, "onLine", { get: () => !world.offline });
}

export async function prepare(html) {
  pageHtml = new DOMParser().parseFromString(html, "text/html");
  for (const script of pageHtml.querySelectorAll("script, link")) script.remove();
  document.body.replaceChildren(...document.importNode(pageHtml.body, true).children);
  const names = ["talk", "player", "pausing", "outbox", "protocol", "sender", "coder", "allowance", "sound", "comeback", "view", "dock"];
  const loaded = await Promise.all(names.map((name) => import(`/static/js/voice/${name}.js`)));
  modules = Object.assign({}, ...loaded.filter((_, at) => !["view", "dock"].includes(names[at])));
  Object.assign(modules, { view: loaded[names.indexOf("view")], dock: loaded[names.indexOf("dock")].dock });
  install();
}

let modules = null;

export class World {
  // given: { base, token, state, moves, reserve, weather: { seed, latency: [least, most], detector, falls, drops }, longest }
  constructor(given) {
    Object.assign(this, given, { clock: new Clock(), cards: new Set(), requests: [], flying: new Map(), last: 0, offline: false, busy: null, store: new Kept() });
    Object.assign(this, { heard: [], runs: {}, errors: [], over: null, talk: null, loads: 0, log: [], shown: new Set() });
    this.dice = chance(this.weather.seed);
    this.storm = chance(this.weather.seed + 1);
    Object.assign(this, { drops: 0, dropsAt: this.weather.drops ? this.#between(SHORT, RARELY) : Infinity });
    this.candidate = new Candidate(this, given);
    world = this;
  }

  // --- the network

  request(url, { method = "GET", body, headers = {} } = {}) {
    return new Promise((resolve, reject) => {
      if (this.offline) {
        this.clock.timer(() => reject(new TypeError("no network")), REFUSED_AFTER);
        return;
      }
      const id = (this.last += 1);
      const busy = this.busy?.turns && /\/turns\/\d+$/.test(url) && JSON.parse(body).kind === "answer" ? this.busy.seconds : 0;
      if (busy) this.busy.turns -= 1;
      this.requests.push({ id, url, method, type: headers["Content-Type"] ?? null, listed: headers["X-Chunks"] ?? null, busy, ...packed(body, headers["Content-Type"]) });
      this.flying.set(id, { resolve, reject, life: this.loads });
    });
  }

  #answered({ id, url, status, json, seconds, spent }) {
    const [least, most] = this.weather.latency;
    const one = this.flying.get(id);
    if (/\/finish$/.test(url) && status === 200) this.over = "finished";
    this.clock.timer(() => {
      if (!this.flying.delete(id)) return; // the network went away meanwhile, or the page did
      one.resolve({
        status, ok: status >= 200 && status < 300, headers: { get: () => null },
        json: async () => json, arrayBuffer: async () => ({ seconds, url }),
      });
    }, least + (most - least) * this.dice() + spent);
  }

  disconnect(ms) {
    this.offline = true;
    for (const [id, { reject }] of this.flying) { this.flying.delete(id); reject(new TypeError("no network")); }
    const { loads } = this;
    this.clock.timer(() => { if (loads === this.loads) this.connect(); }, ms);
  }

  #between(least, most) {
    return least + (most - least) * this.storm();
  }

  // A line that breaks every now and then: what is on its way is lost in both directions.
  #drop() {
    if (this.clock.now < this.dropsAt) return;
    const lasts = this.#between(SHORT, LONG);
    this.dropsAt = this.clock.now + lasts + this.#between(OFTEN, RARELY);
    if (this.offline) return; // it is away already
    this.drops += 1;
    this.disconnect(lasts);
  }

  connect() {
    this.offline = false;
    window.dispatchEvent(new Event("online"));
  }

  // --- the page

  async load(state, spoken) {
    const { Protocol, Outbox, Talk, Allowance, Sound, sender, plain, view, dock } = modules;
    document.body.replaceChildren(...document.importNode(pageHtml.body, true).children);
    Object.assign(view.settings, { base: this.base, live: true, token: this.token, worklet: "", detector: this.weather.detector ? "/detector" : "", state });
    const protocol = new Protocol(this.base, this.token, view.link);
    const server = state ?? await protocol.get("state");
    if (server.stage === "finished") { this.over = "finished"; return; }
    const sound = spoken ? await Sound.open(new Stream(), { worklet: "", video: false, onFrame() {} }) : null;
    const { send, bundle } = sender(protocol, (text) => talk.hears(text));
    const outbox = new Outbox(send, this.store, { bundle, company: { voice: 2, mix: 4 }, onStop: (error) => talk.fails(error) });
    const coder = { code: async (pcm) => plain(pcm), lose() {} }; // each word is a number in the samples, which no codec keeps
    const talk = new Talk({ protocol, outbox, sound, server, coder, allowance: new Allowance(protocol, server, { show: view }) });
    const { falls } = this.weather;
    talk.melody = { push() {}, restart() {}, isSoft: () => this.candidate.kind === "side talk", falls: () => this.candidate.falls ?? falls };
    await outbox.restore();
    dock(() => talk);
    window.setInterval(() => talk.allowance.tick(), 1000);
    window.setInterval(() => protocol.call("POST", "heartbeat", { body: "{}", type: "application/json", tries: 1 }).catch(() => {}), 30000);
    Object.assign(this, { talk, view });
    await talk.begin().catch((error) => talk.fails(error));
  }

  // Everything that lives in the page is gone; what was sent has been sent.
  reload(away) {
    if (this.talk) modules.keepRest(this.base, this.talk); // as page.js does when it is left
    this.unload();
    this.clock.timer(() => this.load(null, true), away);
  }

  unload() {
    this.loads += 1;
    for (const card of [...this.cards]) card.vanish();
    this.clock.due.clear();
    this.flying.clear();
    this.requests = this.requests.slice(); // those are on their way
    this.talk = null;
    this.offline = false;
  }

  // --- time

  get audible() { return [...this.cards].some((card) => card.sounds); }

  // The sound card that the talk listens with, if it does.
  get ear() {
    const { sound } = this.talk ?? {};
    const track = sound?.stream.getAudioTracks()[0];
    return sound && sound.started !== null && track.enabled && track.readyState === "live" ? sound : null;
  }

  async #frame() {
    this.clock.on(MS);
    this.#drop();
    for (const card of this.cards) card.pass();
    await settle();
    const heard = this.candidate.frame();
    const { ear } = this;
    const level = heard.loud ? -25 : -65;
    for (const { node, stream } of this.cards) {
      const pcm = new Int16Array(FRAME);
      if (stream?.getAudioTracks()[0].enabled) pcm[0] = heard.id; // which word it is, for the recogniser
      node?.port.onmessage?.({ data: { pcm, level } });
    }
    await settle();
    if (this.talk?.track) this.runs[this.talk.segment] = this.talk.at / 16000;
    this.candidate.note(heard, ear);
    const { mode, phase, prompt } = this.talk?.state ?? {};
    if (mode === "text" && prompt && (phase === "listening" || phase === "thinking")) this.shown.add(prompt.turn); // it can be read
    if (this.errors.length) this.over = "error";
    else if (this.talk?.state.phase === "stopped") this.over = "stopped";
    else if (this.clock.now > this.longest) this.over = "stuck";
  }

  // Lets time pass until the application is asked for something, or the talk is over.
  async go(answers = null) {
    if (!answers) this.load(this.state, true);
    for (const answer of answers ?? []) this.#answered(answer);
    await settle();
    while (!this.requests.length && !this.over) await this.#frame();
    const requests = this.requests.splice(0);
    return { now: this.clock.now, requests, over: this.over };
  }

  // What happened, for the checks.
  get report() {
    for (const card of [...this.cards]) card.end();
    const { heard, runs, errors, over, log, drops } = this;
    return { heard, runs, errors, over, log, drops, shown: [...this.shown], seconds: this.clock.now / 1000, words: this.candidate.said, loads: this.loads, phase: this.talk?.state.phase ?? null };
  }
}
