// Plays the agent's replies through the page's own sound graph, so that the recording holds what was heard, and knows to
// the hundredth of a second how much of each was heard.
import { pace, slowedBuffer } from "./slower.js";

const AHEAD = 0.02; // seconds until what is played begins, so that it begins exactly then
const REPEATED = 0.3; // seconds said again after a pause, so that no word is lost in it
const LIKELY = 0.04; // seconds; 37 ms were measured in Firefox 153 with PulseAudio

// Seconds from the sound graph to the loudspeaker. Firefox must not be asked: reading its outputLatency can wait for the thread
// that plays the sound while that thread waits for the page. The page then stays frozen: in four talks of ten on a busy machine.
export function lagOf(context, browser = navigator.userAgent) {
  return browser.includes("Firefox/") ? LIKELY : context.outputLatency || context.baseLatency || 0;
}

export class Player {
  // clock(): seconds on the recorder's run, or null while nothing is recorded
  constructor(context, outputs, clock) {
    Object.assign(this, { context, outputs, clock, source: null, playing: null, halted: false, last: null });
  }

  async decode(bytes) {
    return this.context.decodeAudioData(bytes);
  }

  // A reply is about to come: until its first sample sounds, nothing of it has been heard.
  expect(segment) {
    this.stop();
    this.last = { segment, started: round(this.clock() ?? 0), seconds: 0, whole: false, latency_ms: null };
  }

  // Resolves when the reply has been heard to its end or was stopped. onSound(): its first sample is heard now.
  play(buffer, { segment, speechEnd = null, onSound = () => {} }) {
    const { halted } = this;
    this.stop();
    const { rate } = pace;
    const sounding = rate === 1 ? buffer : slowedBuffer(this.context, buffer, rate);
    this.halted = halted; // a piece that comes while the agent pauses waits as well
    this.last = {
      segment, started: round((this.clock() ?? 0) + AHEAD), seconds: 0, whole: false, ...(rate === 1 ? {} : { rate }),
      latency_ms: speechEnd === null ? null : Math.max(0, Math.round(performance.now() + 1000 * this.ahead - speechEnd)),
    };
    return new Promise((resolve) => {
      this.playing = { buffer: sounding, resolve, onSound };
      this.offset = 0;
      if (!halted) this.#sound(0);
    });
  }

  // From this second of the buffer on.
  #sound(offset) {
    const source = this.context.createBufferSource();
    source.buffer = this.playing.buffer;
    for (const output of this.outputs) source.connect(output);
    this.source = source;
    this.offset = offset;
    this.begins = this.context.currentTime + AHEAD;
    source.onended = () => { if (this.source === source) this.#end(true); };
    source.start(this.begins, offset);
    this.playing.onSound();
    this.playing.onSound = () => {};
  }

  // Falls silent now, and keeps its place.
  pause() {
    this.halted = true;
    if (!this.source) return;
    const { source } = this;
    this.offset = this.#heard();
    this.source = null;
    source.stop();
    this.last = { ...this.last, seconds: round(this.offset) };
  }

  // Goes on a little before the place where it paused. What follows is placed on the clock of the run from here.
  resume() {
    this.halted = false;
    if (this.source || !this.playing) return;
    this.#sound(Math.max(0, this.offset - REPEATED));
    this.last = { ...this.last, started: round(Math.max(0, (this.clock() ?? 0) + AHEAD - this.offset)) };
  }

  // Falls silent now; the tail already handed to the loudspeaker is a few hundredths.
  stop() {
    this.halted = false;
    if (!this.playing) return;
    const { source } = this;
    this.#end(false);
    source?.stop();
  }

  // Seconds until what is played now is heard.
  get ahead() {
    return AHEAD + lagOf(this.context);
  }

  // What the server gets about the reply that was played last: how much was heard.
  report() {
    return this.last && this.last.segment !== null ? this.last : null;
  }

  #heard() {
    if (!this.source) return this.offset;
    const since = Math.max(0, this.context.currentTime - this.begins - lagOf(this.context));
    return Math.min(this.playing.buffer.duration, this.offset + since);
  }

  #end(whole) {
    const { buffer, resolve } = this.playing;
    this.last = { ...this.last, seconds: round(whole ? buffer.duration : this.#heard()), whole };
    this.source = null;
    this.playing = null;
    resolve();
  }
}

const round = (seconds) => Math.round(seconds * 1000) / 1000;
