// Brings every chunk to the server: kept until it is acknowledged, sent in order, one request at a time per track, tried
// again without a limit; what had to wait for a request goes together. Knows no page and no database.
const REMEMBERED = 80; // acknowledged chunks that could still be asked for again
const MOST = 10; // chunks of a bundle …
const LARGEST = 1024 * 1024; // … and bytes

export class Outbox {
  // send(chunk) resolves with the server's {missing} or throws an error with a status; bundle(chunks) the same for several
  // of a run, and {refused} ({number, error} each); store: see store.js
  constructor(send, store, { bundle = null, onChange = () => {}, onStop = () => {} } = {}) {
    Object.assign(this, { send, store, bundle, onChange, onStop });
    this.queues = { voice: [], mix: [] };
    this.busy = { voice: false, mix: false };
    this.recent = new Map();
    this.held = new Map();
    this.waiters = [];
    this.refused = [];
    this.stopped = false;
  }

  // What an earlier page could not send any more goes first.
  async restore() {
    for (const chunk of await this.store.waiting()) this.#queue(chunk);
  }

  add(chunk) {
    const stored = this.held.get(name(chunk)) ?? this.store.keep({ ...chunk });
    this.held.delete(name(chunk));
    chunk.kept = stored.then((order) => { chunk.order = order; }, () => {});
    this.#queue(chunk);
  }

  // A chunk that may have to be sent later: only a page that comes after this one sends it by itself.
  hold(chunk) {
    if (!this.held.has(name(chunk))) this.held.set(name(chunk), this.store.keep({ ...chunk }).catch(() => null));
  }

  // What was held and not added is not wanted.
  release() {
    for (const stored of this.held.values()) stored.then((order) => this.#drop(order));
    this.held.clear();
  }

  get pending() {
    return this.queues.voice.length + this.queues.mix.length;
  }

  // Resolves once nothing (of this track) waits any more.
  empty(track = null) {
    const idle = () => this.stopped || (track ? !this.queues[track].length : !this.pending);
    if (idle()) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push({ idle, resolve }));
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
    this.#wake(chunk.track);
  }

  #wake(track) {
    if (this.busy[track] || this.stopped || !this.queues[track].length) return;
    this.busy[track] = true;
    this.#drain(track).finally(() => { this.busy[track] = false; this.#wake(track); });
  }

  async #drain(track) {
    const queue = this.queues[track];
    let alone = false;
    while (queue.length && !this.stopped) {
      const chunks = alone || !this.bundle ? [queue[0]] : together(queue);
      let answer;
      try {
        answer = await (chunks[1] ? this.bundle(chunks) : this.send(chunks[0]));
      } catch (error) {
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
        if (refusal && this.#stays(chunk, refusal.error)) continue;
        queue.splice(queue.indexOf(chunk), 1);
        this.#remember(chunk);
        await this.#forget(chunk);
      }
      const before = answer?.missing?.filter((number) => number < chunks.at(-1).number);
      if (track === "mix" && before?.length) this.again(chunks[0].segment, track, before);
      this.#changed();
    }
  }

  #stays(chunk, error) {
    if (this.stopped || this.#ends(error)) return true;
    chunk.tries = (chunk.tries ?? 0) + 1;
    if (error.status === 422 && chunk.tries < 3) return true; // bytes that were damaged on the way are sent again
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

// The chunks of one run that have waited longest, and not too much.
function together([first, ...rest]) {
  const chunks = [first];
  let bytes = first.bytes.length;
  for (const chunk of rest.slice(0, MOST - 1)) {
    bytes += chunk.bytes.length;
    if (bytes > LARGEST || chunk.segment !== first.segment) break;
    chunks.push(chunk);
  }
  return chunks;
}

export async function hash(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
