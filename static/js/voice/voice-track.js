// The candidate's own track: 16 kHz samples counted from the start of the recorder's run, cut into chunks of 8,000.
// Only chunks of answers are handed out (with one before, so that no first word is lost). Pure.
export const CHUNK = 8000;
export const LEAD = 640; // samples before each chunk that lie in the same buffer: an encoder needs a start
const KEPT = 2 * 5 * 61; // chunks that wait in memory: a little more than the longest answer

export class VoiceTrack {
  constructor(hand, hold = () => {}) {
    this.hand = hand; // (number, Int16Array of 8,000, see LEAD) => void
    this.hold = hold; // the same, for chunks that may be handed out later
    this.samples = 0;
    this.before = null;
    this.current = empty();
    this.waiting = new Map();
    this.next = null; // number of the first chunk not yet handed out, null while no one answers
    this.first = null;
    this.last = -1; // highest number handed out in this run
    this.closed = -1; // … and of answers that are over
    this.oldest = Infinity; // lowest handed out since then, of what was given up
    this.held = Infinity; // number of the first chunk that is held, Infinity while none is
  }

  push(frame) {
    let taken = 0;
    while (taken < frame.length) {
      const place = this.samples % CHUNK;
      const part = frame.subarray(taken, taken + CHUNK - place);
      this.current.set(part, place);
      this.samples += part.length;
      taken += part.length;
      if (this.samples % CHUNK === 0) this.#complete(this.samples / CHUNK - 1);
    }
  }

  // An answer began at this sample: hand out what is there already, then everything that comes.
  open(from) {
    const kept = this.waiting.size ? Math.min(...this.waiting.keys()) : Math.floor(this.samples / CHUNK);
    this.first = Math.max(Math.floor(from / CHUNK) - 1, this.closed + 1, Math.min(kept, this.oldest), 0);
    this.next = Math.max(this.first, this.last + 1);
    this.held = Infinity;
    this.#flush();
  }

  // What there is of the chunk that is not whole yet: { number, pcm, filled: with silence, see LEAD }.
  get begun() {
    const filled = empty(this.before);
    filled.set(this.current.subarray(0, this.samples % CHUNK));
    return { number: Math.floor(this.samples / CHUNK), pcm: filled.slice(0, this.samples % CHUNK), filled };
  }

  // … if it belongs to an answer, or may be handed out later; else null.
  get rest() {
    const { begun } = this;
    return begun.pcm.length && begun.number >= Math.min(this.next ?? Infinity, this.held) ? begun : null;
  }

  // Someone speaks while it is open whose answer that is: hold what would be handed out from this sample on.
  keep(from) {
    this.held = Math.max(Math.floor(from / CHUNK) - 1, this.closed + 1, 0);
    for (const [number, chunk] of this.waiting) if (number >= this.held) this.hold(number, chunk);
  }

  // The answer ended at this sample. Its last chunk is filled with silence if it is not full yet.
  close(to) {
    const running = Math.floor(this.samples / CHUNK);
    const last = Math.max(this.first, Math.min(Math.floor(Math.max(0, to - 1) / CHUNK), running));
    if (this.last < last) {
      this.#out(last, last === running ? this.begun.filled : empty());
    }
    const range = { first: this.first, last };
    this.closed = last;
    this.oldest = Infinity;
    this.next = this.first = null;
    return range;
  }

  // An answer that is given up: nothing more is handed out.
  drop() {
    this.next = this.first = null;
    this.held = Infinity;
  }

  #complete(number) {
    const chunk = this.current;
    this.before = chunk;
    this.current = empty(chunk);
    if (number <= this.last) return; // its beginning was the padded end of an answer
    this.waiting.set(number, chunk);
    if (number >= this.held) this.hold(number, chunk);
    if (this.waiting.size > KEPT) this.waiting.delete(this.waiting.keys().next().value);
    if (this.next !== null) this.#flush();
  }

  #flush() {
    while (this.waiting.has(this.next)) {
      this.#out(this.next, this.waiting.get(this.next));
      this.next += 1;
    }
  }

  #out(number, chunk) {
    this.last = number;
    if (number > this.closed) this.oldest = Math.min(this.oldest, number);
    for (const old of this.waiting.keys()) if (old <= number) this.waiting.delete(old);
    this.hand(number, chunk);
  }
}

// A chunk after this one, with the end of that one before it in its buffer.
function empty(before = null) {
  const all = new Int16Array(LEAD + CHUNK);
  if (before) all.set(before.subarray(CHUNK - LEAD));
  return new Int16Array(all.buffer, 2 * LEAD);
}
