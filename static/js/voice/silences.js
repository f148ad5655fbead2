// Asks the server what a silence means, as soon as the sound that holds the last words has arrived there, and holds a
// reply until the answer has been over for long enough. Where the answer may be over soon, the question brings the sound
// along that is not a whole chunk yet. Driven by the microphone's frames, not by timers.
import { Patience } from "./patience.js";
import { CHUNK } from "./voice-track.js";

const TAIL = 1600; // samples after the last speech that belong to its last word
const UNANSWERED = 3000; // ms after which a call is taken for nothing: without a network the agent goes on
const MISSES = 3; // questions in a row about a chunk that is not whole, without an answer, after which no more are asked
const LATE = 1500; // ms beyond which a held reply is let go even where no frames come any more

export class Silences {
  // ear, track, melody: as talk.js has them; ask(chunks): the server's judgement of { first_chunk, last_chunk, interrupts, softly, continues, begun };
  // looks: whether the words of what hears there are worth waiting for; early(): whether sound may go along with the question; continues(): whether this is more of an answer that was taken for whole
  constructor({ ear, track, ask, melody, patience = new Patience(), now = () => performance.now(), looks = true, early = () => true, continues = () => false }) {
    Object.assign(this, { ear, track, ask, melody, falls: null, now, patience, looks, early, continues, misses: 0, waiting: null, held: null });
  }

  // A silence inside an answer began: how long it may last is heard from the melody, then asked of the server.
  lull(to) {
    this.falls = this.melody.falls(to);
    this.patience.paused(this.continues() ? Infinity : this.ear.longest);
    this.#wait(null, this.looks);
    const pause = { to, chunk: Math.floor((to + TAIL - 1) / CHUNK), interrupts: false };
    const { begun } = this.track;
    this.waiting = null;
    if (this.misses < MISSES && this.falls !== false && begun.number === pause.chunk && this.early()) this.#judge(pause, begun);
    else this.waiting = pause;
  }

  // A call over the agent's words ended: resolves with whether it counts (null: no one knows). Soft words to someone else
  // do so only if they are known to mean the agent; early ones go on with an answer, however soft they are.
  call({ from, to, early }) {
    const softly = !early && this.melody.isSoft(from);
    return new Promise((done) => {
      const resolve = (counts) => done(softly ? Boolean(counts) : counts);
      this.waiting = { to, chunk: Math.floor((to + TAIL - 1) / CHUNK), interrupts: true, softly, resolve };
      setTimeout(() => resolve(null), UNANSWERED);
    });
  }

  // Each frame: what waited for sound or time goes on.
  frame() {
    const { waiting, held } = this;
    if (waiting && this.track.samples >= (waiting.chunk + 1) * CHUNK) {
      this.waiting = null;
      this.#judge(waiting);
    }
    if (held && (held.over() || (this.now() >= held.until && !this.ear.stirs))) this.release();
  }

  // begun: what there is of the last chunk, where it is not whole, as VoiceTrack has it
  async #judge(silence, begun = null) {
    const { to, chunk, interrupts, softly, resolve } = silence;
    const first = this.track.first;
    if (first === null || (!interrupts && this.ear.quietSince !== to)) {
      resolve?.(null);
      return;
    }
    const judged = await this.ask({ first_chunk: Math.min(first, chunk), last_chunk: chunk, interrupts, ...(softly && { softly }), ...(this.continues() && { continues: true }), ...(begun && { begun }) }).catch(() => null);
    resolve?.(judged?.counts ?? null);
    const tells = typeof judged?.text === "string";
    const stale = this.ear.quietSince !== to; // then a newer question may have replaced this one
    if (begun && (tells || !stale)) this.misses = tells ? 0 : this.misses + 1; // what hears there needs whole chunks, or is too slow
    if (interrupts || stale) return;
    // What mishears last words has the sound early, so that it is done sooner; its words count once the chunk is whole.
    if (begun && !(tells && this.looks)) this.waiting = silence;
    else this.#wait(judged?.patience_ms ? judged : null);
  }

  // looks: the words may be known in a moment
  #wait(judged, looks = false) {
    const ms = this.patience.send(judged, this.falls, looks);
    if (ms !== null) this.ear.wait(ms);
  }

  // Resolves when the answer that ended at this moment (performance.now) has been over for long enough, or over() says
  // that there is no need to wait any more.
  hold(ended, judged, over) {
    const until = ended === null ? 0 : ended + this.patience.speak(judged, this.falls);
    if (this.now() >= until && !this.ear.stirs) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.release(), until - this.now() + LATE);
      this.held = { until, over, done: () => { clearTimeout(timer); resolve(); } };
    });
  }

  // Nothing is held any longer.
  release() {
    const { held } = this;
    this.held = null;
    held?.done();
  }
}
