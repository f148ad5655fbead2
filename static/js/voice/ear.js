// Listens with the best judge there is: loudness while the trained detector loads, the detector once it is ready, and
// loudness again where it fails or falls behind. A detector that is ready waits until no one speaks.
import { EnergyEndpoint, SpeechEndpoint } from "./endpoint.js";
import { WINDOW } from "./silero.js";

const BEHIND = 16000 / 2; // samples: a detector that is half a second late is no help

// A detector in a worker: { post(message), onChance(chance, sample), onReady(), onError() }.
export function startDetector(address) {
  const worker = new Worker(new URL("./silero-worker.js", import.meta.url), { type: "module" });
  const detector = { post: (message, moved) => worker.postMessage(message, moved), end: () => worker.terminate() };
  worker.onmessage = ({ data }) => (data.ready ? detector.onReady() : detector.onChance(data.chance, data.sample));
  worker.onerror = (event) => { event.preventDefault(); detector.onError(); };
  detector.post({ address: new URL(address, location.href).href });
  return detector;
}

export class Ear {
  // onChange(change): see endpoint.js. detector: as startDetector gives it, or null.
  constructor(onChange, detector = null) {
    this.onChange = onChange;
    this.energy = new EnergyEndpoint();
    this.speech = new SpeechEndpoint();
    this.judge = this.energy;
    this.window = new Int16Array(WINDOW);
    this.filled = 0;
    this.newest = 0;
    this.ready = this.held = false;
    if (detector) this.use(detector);
  }

  // A detector that comes later, because it would take a thin line from the first question.
  use(detector) {
    this.detector = detector;
    detector.onReady = () => { this.ready = true; };
    detector.onChance = (chance, sample) => this.#judged(chance, sample);
    detector.onError = () => this.#lose();
  }

  // Whether the rest of a detector that is on its way waits.
  hold(yes) {
    if (!this.detector || this.ready || yes === this.held) return;
    this.held = yes;
    this.detector.post({ hold: yes });
  }

  #lose() {
    this.detector?.end();
    this.detector = null;
    this.ready = false;
    this.#choose();
  }

  get trained() {
    return this.judge === this.speech;
  }

  // pcm: Int16Array at 16 kHz; level: its loudness in dBFS; sample: the place of its end
  push(pcm, level, sample) {
    this.newest = sample;
    if (this.ready) this.#collect(pcm, sample);
    const change = this.energy.push(level, sample);
    this.#tell(this.energy, change);
  }

  #collect(pcm, sample) {
    for (let taken = 0; taken < pcm.length;) {
      const part = pcm.subarray(taken, taken + WINDOW - this.filled);
      this.window.set(part, this.filled);
      this.filled += part.length;
      taken += part.length;
      if (this.filled < WINDOW) break;
      const window = this.window;
      this.window = new Int16Array(WINDOW);
      this.filled = 0;
      this.detector.post({ window, sample: sample - pcm.length + taken }, [window.buffer]);
    }
  }

  #judged(chance, sample) {
    if (!this.detector) return;
    if (this.newest - sample > BEHIND) {
      this.#lose();
      return;
    }
    this.#tell(this.speech, this.speech.push(chance, sample));
  }

  #tell(judge, change) {
    if (judge === this.judge && change) this.onChange(change);
    this.#choose();
  }

  #choose() {
    const better = this.ready ? this.speech : this.energy;
    if (this.judge !== better && (!this.ready || (!this.judge.speaking && !better.speaking))) {
      const was = this.judge;
      this.judge = better;
      if (was.speaking && !better.speaking) this.#carryOn(was, better);
    }
  }

  // The detector was lost in the middle of an answer: loudness goes on from there.
  #carryOn(was, better) {
    better.reset();
    Object.assign(better, { speaking: true, started: was.started, lastSpeech: this.newest, hesitations: was.hesitations, longest: was.longest, spoken: was.spoken });
  }

  agentSpeaks(yes, isHeard = yes) {
    this.energy.agentSpeaks(yes, isHeard);
    this.speech.agentSpeaks(yes, isHeard);
  }

  wait(ms) {
    this.judge.wait(ms);
  }

  reset() {
    this.energy.reset();
    this.speech.reset();
  }

  get longest() {
    return this.judge.longest;
  }

  get waits() {
    return this.judge.asked !== null;
  }

  get quietSince() {
    return this.judge.quietSince;
  }

  // Whether someone speaks right now, not only within the same answer.
  get talks() {
    return this.judge.speaking && this.judge.quietSince === null;
  }

  get stirs() {
    return this.judge.stirs;
  }

  close() {
    this.detector?.end();
    this.detector = null;
    this.ready = false;
  }
}
