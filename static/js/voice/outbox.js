// Brings every chunk to the server: kept until it is acknowledged, sent in order, one request at a time per track, tried
// again without a limit; what had to wait for a request goes together. What a reply depends on goes first: the recorder's
// chunks wait for the voice's, and on a thin line for the reply. Knows no page and no database.
const REMEMBERED = 80; // acknowledged chunks that could still be asked for again
const MOST = 10; // chunks of a bundle …
const LARGEST = 1024 * 1024; // … and bytes
const THIN = 400; // ms that a request with a piece of the voice takes on a thin line
const SMALL = 8 * 1024; // bytes of a recorder's chunk that may go between two pieces there: sound without a picture …
const FEW = 13 * 1024; // … and of four of them
const LATEST = 4000; // ms that the recorder's chunks wait for company
const [AT_ONCE, IN_ALL] = [3, 8]; // times that a chunk is sent which something on the way refuses or damages

export class Outbox {
  // send(chunk) resolves with the server's {missing} or throws an error with a status; bundle(chunks) the same for several
  // of a run, and {refused} ({number, error} each); both get a signal that ends the request. store: see store.js
  // company: how many chunks of a track wait for each other while nothing depends on them
  constructor(send, store, { bundle = null, onChange = () => {}, onStop = () => {}, company = { voice: 1, mix: 1 } } = {}) {
    Object.assign(this, { send, store, bundle, onChange, onStop, company, pressure: "none", thin: false, flight: null, timer: null });
    this.queues = { voice: [], mix: [] };
    this.busy = { voice: false, mix: false };
    this.sent = { voice: 0, mix: 0 }; // chunks in the request that is under way
    this.recent = new Map();
    this.held = new Map();
    this.unkept = new Map(); // the voice's chunks that neither the store nor the server has: a page that is left takes them with it
    this.waiters = [];
    this.refused = [];
    this.stopped = false;
  }

  // What an earlier page could not send any more goes first.
  async restore() {
    for (const chunk of await this.store.waiting()) this.#queue(chunk);
  }

  // chunk: { segment, track, number, bytes, type }. Where its bytes are still being made, `coding` resolves when they are
  // there; `others` make them in other forms, should the server not be able to read this one.
  add(chunk) {
    const stored = this.held.get(name(chunk)) ?? this.#keep(chunk);
    this.held.delete(name(chunk));
    chunk.kept = stored.then((order) => { chunk.order = order; }, () => {});
    this.#queue(chunk);
  }

  // A chunk that may have to be sent later: only a page that comes after this one sends it by itself.
  hold(chunk) {
    if (!this.held.has(name(chunk))) this.held.set(name(chunk), this.#keep(chunk).catch(() => null));
  }

  async #keep(chunk) {
    if (chunk.track === "voice") this.unkept.set(name(chunk), chunk);
    await chunk.coding;
    const { segment, track, number, bytes, type } = chunk;
    const order = await this.store.keep({ segment, track, number, bytes, type });
    if (this.store.durable) this.unkept.delete(name(chunk));
    return order;
  }

  // Whether the server gets, or got, this chunk from this page.
  has(chunk) {
    return this.recent.has(name(chunk)) || this.queues[chunk.track].some((queued) => name(queued) === name(chunk));
  }

  // What was held and not added is not wanted.
  release() {
    for (const [key, stored] of this.held) {
      this.unkept.delete(key);
      stored.then((order) => this.#drop(order));
    }
    this.held.clear();
  }

  get pending() {
    return this.queues.voice.length + this.queues.mix.length;
  }

  // Seconds of the interview that are not with the server yet.
  get behind() {
    return Math.max(this.queues.mix.length, this.queues.voice.length / 2);
  }

  // Resolves once nothing (of this track) waits any more.
  empty(track = null) {
    const idle = () => this.stopped || (track ? !this.queues[track].length : !this.pending);
    if (idle()) return Promise.resolve();
    const emptied = new Promise((resolve) => this.waiters.push({ track, idle, resolve }));
    this.#wakeAll();
    return emptied;
  }

  // Resolves once everything queued on this track is in a request: true if that request is still running, false if it
  // has arrived.
  underWay(track) {
    const idle = () => this.stopped || this.queues[track].length <= this.sent[track];
    const found = () => !this.stopped && this.sent[track] > 0;
    if (idle()) return Promise.resolve(found());
    const sent = new Promise((resolve) => this.waiters.push({ track, idle, resolve: () => resolve(found()) }));
    this.#wakeAll();
    return sent;
  }

  // What depends on the line now: "none", "speaking" (a candidate who goes on), "reply" (what is sent decides when the
  // agent speaks).
  press(pressure) {
    if (pressure === this.pressure) return;
    this.pressure = pressure;
    this.#makeWay();
    this.#wakeAll();
  }

  // The server misses these numbers: queue those that are still known. Gives the numbers that are not.
  again(segment, track, numbers) {
    const queued = new Set(this.queues[track].filter((chunk) => chunk.segment === segment).map((chunk) => chunk.number));
    const lost = [];
    for (const number of numbers) {
      if (queued.has(number)) continue;
      const chunk = this.recent.get(name({ segment, track, number }));
      if (chunk) this.#queue(chunk); else lost.push(number);
    }
    return lost;
  }

  stop() {
    this.stopped = true;
    this.#changed();
  }

  #queue(chunk) {
    this.queues[chunk.track].push(chunk);
    this.#changed();
    if (chunk.track === "voice") this.#makeWay();
    this.#wake(chunk.track);
  }

  #wakeAll() {
    this.#wake("voice");
    this.#wake("mix");
  }

  #wake(track) {
    if (this.busy[track] || this.stopped || !this.queues[track].length) return;
    if (!this.#may(track)) return this.#later(track);
    this.busy[track] = true;
    this.#drain(track).finally(() => { this.busy[track] = false; this.#wakeAll(); });
  }

  // Whether the track's first chunk goes now.
  #may(track) {
    const queue = this.queues[track];
    if (!queue.length || this.stopped) return false;
    if (track === "voice") return this.pressure !== "speaking" || queue.length >= this.company.voice || this.#awaited("voice");
    if (this.busy.voice || this.#may("voice")) return false;
    if (this.thin && this.pressure === "reply") return false;
    if (this.#between && queue[0].bytes.length > SMALL) return false;
    return queue.length >= this.company.mix || queue[0].late || this.#awaited("mix");
  }

  // Someone speaks on a thin line: what goes now goes between two pieces of the voice.
  get #between() {
    return this.thin && this.pressure === "speaking";
  }

  #awaited(track) {
    return this.waiters.some((one) => !one.track || one.track === track);
  }

  #later(track) {
    if (track !== "mix" || this.timer !== null) return;
    const [chunk] = this.queues.mix;
    this.timer = setTimeout(() => { this.timer = null; chunk.late = true; this.#wakeAll(); }, LATEST);
  }

  // On a thin line a reply does not wait for the recorder's request that is under way, nor a piece of the voice for a
  // picture: it is given up, and sent again later.
  #makeWay() {
    const { flight, pressure } = this;
    const hinders = flight && (pressure === "reply" || (pressure === "speaking" && flight.bytes > FEW));
    if (this.thin && hinders && performance.now() - flight.since > THIN) flight.control.abort();
  }

  async #drain(track) {
    const queue = this.queues[track];
    let alone = false;
    while (this.#may(track)) {
      for (const chunk of queue.slice(0, MOST)) if (!chunk.bytes) await chunk.coding;
      const most = track === "mix" && this.#between ? FEW : LARGEST;
      const chunks = alone || !this.bundle ? [queue[0]] : together(queue, most);
      const control = new AbortController();
      this.sent[track] = chunks.length;
      this.#changed();
      let answer;
      try {
        if (track === "mix") this.flight = { control, since: performance.now(), bytes: chunks.reduce((sum, { bytes }) => sum + bytes.length, 0) };
        answer = await this.#timed(track, () => (chunks[1] ? this.bundle(chunks, control.signal) : this.send(chunks[0], control.signal)));
      } catch (error) {
        if (control.signal.aborted) return;
        alone = chunks.length > 1; // a bundle is tried once, then its first chunk alone
        if (alone) {
          if (this.#ends(error)) return;
          if ([404, 405, 413].includes(error.status)) this.bundle = null; // no one there takes bundles
          continue;
        }
        answer = { refused: [{ number: chunks[0].number, error }] };
      }
      alone = false;
      for (const chunk of chunks) {
        const refusal = answer?.refused?.find(({ number }) => number === chunk.number);
        if (refusal && (await this.#stays(chunk, refusal.error))) continue;
        queue.splice(queue.indexOf(chunk), 1);
        if (!refusal || mayPass(chunk, refusal.error)) this.#remember(chunk); // the server will say that it is missing
        else this.recent.delete(name(chunk));
        await this.#forget(chunk);
      }
      const before = answer?.missing?.filter((number) => number < chunks.at(-1).number);
      if (track === "mix" && before?.length) this.again(chunks[0].segment, track, before);
      this.#changed();
    }
  }

  async #timed(track, request) {
    const since = performance.now();
    try {
      return await request();
    } finally {
      this.sent[track] = 0;
      if (track === "mix") this.flight = null;
      else this.thin = performance.now() - since > THIN;
    }
  }

  async #stays(chunk, error) {
    if (this.stopped || this.#ends(error)) return true;
    chunk.tries = (chunk.tries ?? 0) + 1;
    if (error.status === 422 && error.data?.field === "body" && chunk.others?.length) {
      chunk.bytes = await chunk.others.shift()();
      return true;
    }
    if ([413, 422].includes(error.status) && chunk.tries < AT_ONCE) return true; // what was damaged, or refused, on the way is sent again
    this.refused.push({ segment: chunk.segment, track: chunk.track, number: chunk.number, status: error.status });
    return false;
  }

  // Taken over or finished: nothing of this page is wanted any more. Other refusals concern one chunk only.
  #ends(error) {
    if (error.status === 403 || (error.status === 409 && error.reason !== "other hash")) {
      this.stop();
      this.onStop(error);
      return true;
    }
    return false;
  }

  async #forget(chunk) {
    this.unkept.delete(name(chunk)); // the one that was held may be another object
    await chunk.kept;
    await this.#drop(chunk.order);
  }

  async #drop(order) {
    if (order !== undefined && order !== null) await this.store.drop(order).catch(() => {});
  }

  #remember(chunk) {
    this.recent.set(name(chunk), chunk);
    if (this.recent.size > REMEMBERED) this.recent.delete(this.recent.keys().next().value);
  }

  #changed() {
    this.onChange(this.pending);
    this.waiters = this.waiters.filter(({ idle, resolve }) => {
      if (!idle()) return true;
      resolve();
      return false;
    });
  }
}

const name = ({ segment, track, number }) => `${segment}/${track}/${number}`;
const mayPass = (chunk, error) => chunk.tries < IN_ALL && (error.status === 413 || error.data?.field === "X-Content-SHA256");

// The chunks of one run that have waited longest, and not too much.
function together([first, ...rest], most) {
  const chunks = [first];
  let bytes = first.bytes.length;
  for (const chunk of rest.slice(0, MOST - 1)) {
    if (!chunk.bytes) break; // came while others were being made
    bytes += chunk.bytes.length;
    if (bytes > most || chunk.segment !== first.segment) break;
    chunks.push(chunk);
  }
  return chunks;
}

export async function hash(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
