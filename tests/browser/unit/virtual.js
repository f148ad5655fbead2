// A talk on a virtual clock: the real Talk with turns, ear, silences, player and reply; scripted are the candidate's voice
// and presses, the server, and the sound card. One step is a frame of 20 ms.
const FRAME = 320;

// Small and fast, the same numbers for the same seed (mulberry32).
export function chance(seed) {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    random, between: (low, high) => low + (high - low) * random(), one: (all) => all[Math.floor(random() * all.length)],
  };
}

// Virtual time in ms, with what was put off until then.
class Clock {
  constructor() {
    this.now = 0;
    this.due = [];
    this.last = 0;
  }

  after(ms) {
    return new Promise((resolve) => { this.timer(resolve, ms); });
  }

  timer(resolve, ms) {
    const id = (this.last += 1);
    this.due.push({ id, at: this.now + Math.max(0, ms), resolve });
    return id;
  }

  forget(id) {
    this.due = this.due.filter((one) => one.id !== id);
  }

  async on(ms) {
    this.now += ms;
    const ready = this.due.filter((each) => each.at <= this.now);
    this.due = this.due.filter((each) => each.at > this.now);
    for (const one of ready) one.resolve();
    for (let n = 0; n < 12; n += 1) await null; // promises that wait for each other
  }
}

class Source {
  constructor(context) {
    Object.assign(this, { context, onended: null, until: Infinity });
  }

  connect() {}

  start(at, offset) {
    Object.assign(this, { from: at, until: at + this.buffer.duration - offset });
    this.context.sources.add(this);
  }

  stop() {
    if (this.context.sources.delete(this)) this.onended?.();
  }
}

class Context {
  constructor(clock) {
    Object.assign(this, { clock, sources: new Set(), outputLatency: 0, state: "running" });
  }

  addEventListener() {}

  get currentTime() { return this.clock.now / 1000; }

  createBufferSource() { return new Source(this); }

  async decodeAudioData(seconds) { return { duration: seconds }; }

  get sounds() { return [...this.sources].some((one) => one.from <= this.currentTime); }

  pass() {
    for (const one of [...this.sources]) if (one.until <= this.currentTime) one.stop();
  }
}

// The detector's worker, which knows what is really said.
function detectorOf(world) {
  return class {
    constructor() { queueMicrotask(() => this.onmessage?.({ data: { ready: true } })); }

    postMessage({ window: samples, sample }) {
      if (samples) this.onmessage({ data: { chance: world.voice ? 0.97 : 0.02, sample } });
    }

    terminate() {}
  };
}

const REFUSES = new Error("no network");

// What the server says, when; ``script`` decides: { latency(), patience(), counts(), seconds() }.
function serverOf(world, script) {
  const { clock, turns } = world;
  const prompt = (turn) => ({
    turn, text: `Question ${turn}?`, question: `Question ${turn}?`, kind: "question", expects: "answer", audio_url: `/${turn}`,
    audio_urls: [`/${turn}`, `/${turn}/1`], parts: [], question_index: 0, question_count: 9, patience_ms: script.patience(),
  });
  return {
    async sound() {
      await clock.after(script.latency() / 4);
      return script.seconds();
    },
    async post(path, body) {
      if (path === "segments") return { segment: (world.segment += 1) };
      if (path === "pause" || path === "time") return { elapsed_seconds: 0 };
      if (path.endsWith("/silence")) {
        const counts = script.counts(world.lastCall);
        await clock.after(script.latency());
        if (script.refuses()) throw REFUSES;
        return { text: "words", patience_ms: script.patience(), counts };
      }
      turns.push({ at: clock.now, ...body });
      await clock.after(script.latency());
      const next = prompt(turns.length);
      if (body.unfinished) Object.assign(next, { kind: "kept", text: "", audio_url: null, audio_urls: [] });
      return next;
    },
    async get() { throw REFUSES; },
  };
}

function soundOf(world, Player) {
  const context = new Context(world.clock);
  const sound = {
    type: "audio/webm", started: null, onFrame: () => {}, context,
    stream: { getAudioTracks: () => [{ onended: null, addEventListener() {}, getSettings: () => ({}) }], getVideoTracks: () => [], getTracks: () => [] },
    async record() { sound.started ??= context.currentTime; },
    async rest() { sound.player.stop(); sound.started = null; },
    async close() {},
  };
  sound.player = new Player(context, [], () => (sound.started === null ? null : context.currentTime - sound.started));
  return sound;
}

// Opens a talk; ``world.frame(voice)`` lets 20 ms pass with or without a voice.
export async function open(modules, script) {
  const { Talk, Player } = modules;
  const clock = new Clock();
  const world = { clock, turns: [], segment: 0, voice: false, lastCall: null };
  const before = { Worker: window.Worker, setTimeout: window.setTimeout, clearTimeout: window.clearTimeout };
  performance.now = () => clock.now;
  window.Worker = detectorOf(world);
  window.setTimeout = (done, ms) => clock.timer(done, ms);
  window.clearTimeout = (id) => clock.forget(id);
  world.close = () => { Object.assign(window, before); delete performance.now; };
  world.sound = soundOf(world, Player);
  const outbox = { add() {}, hold() {}, release() {}, async empty() { await clock.after(15); }, async underWay() { await clock.after(15); return false; }, again: () => [], stop() {}, press() {}, pending: 0, store: { durable: true } };
  const allowance = { take() {}, tick() {} };
  world.talk = new Talk({ protocol: serverOf(world, script), outbox, sound: world.sound, server: { turn: 1, prompt: null }, allowance });
  const begun = world.talk.begin();
  await clock.on(0);
  await begun;
  world.frame = async (voice, kind = null) => {
    world.voice = voice;
    if (voice) world.lastCall = kind;
    world.sound.context.pass();
    if (world.sound.started !== null) world.sound.onFrame(new Int16Array(FRAME), voice ? -25 : -65);
    await clock.on(20);
    world.audible = world.sound.context.sounds;
  };
  return world;
}
