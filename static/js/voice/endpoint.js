// Where speech begins and ends, from the loudness of frames of 20 ms. The floor of the room is the least loud moment
// of the last seconds (minimum statistics), so that steady noise does not hold the turn. Pure, and behind a small
// interface (push, agentSpeaks, reset), so that a trained detector can take its place.
const FRAME = 320;
const PARTS = 12; // the floor looks back this many parts …
const PART = 15; // … of so many frames: 3.6 s
const FLOOR_LEAST = -68; // dBFS; digital silence must not make breathing loud

const DEFAULTS = {
  above: 10, // dB over the floor that begin speech
  below: 6, // dB over the floor that keep it going
  least: -52, // dBFS under which nothing is speech
  onset: 120, // ms of speech within 200 ms that make a beginning
  interruption: 250, // ms of speech that stop the agent
  patience: 900, // ms of silence that end an answer …
  perHesitation: 150, // … and so many more after each pause inside it …
  patienceMost: 1500, // … up to this
};

export class EnergyEndpoint {
  constructor(options = {}) {
    this.options = { ...DEFAULTS, ...options };
    this.minima = [];
    this.part = { frames: 0, least: Infinity };
    this.smooth = null;
    this.agent = false;
    this.reset();
  }

  // While the agent speaks a beginning takes longer, so that a cough or its own echo does not stop it.
  agentSpeaks(yes) {
    this.agent = yes;
  }

  reset() {
    this.speaking = false;
    this.recent = []; // speech or not, of the last frames
    this.lastSpeech = null;
    this.hesitations = 0;
    this.started = null;
  }

  get floor() {
    const known = this.part.frames >= 5 || !this.minima.length ? [...this.minima, this.part.least] : this.minima;
    return Math.max(FLOOR_LEAST, Math.min(...known));
  }

  get patience() {
    const { patience, perHesitation, patienceMost } = this.options;
    return Math.min(patienceMost, patience + this.hesitations * perHesitation);
  }

  // level: dBFS of the frame that ends at this sample. Gives null, {type: "speech", from} or {type: "silence", to}.
  push(level, sample) {
    this.#learn(level);
    const over = level - this.floor;
    const loud = level > this.options.least && over > (this.speaking ? this.options.below : this.options.above + (this.agent ? 3 : 0));
    return this.speaking ? this.#during(loud, sample) : this.#before(loud, sample);
  }

  #learn(level) {
    this.smooth = this.smooth === null ? level : this.smooth + 0.25 * (level - this.smooth);
    this.part.least = Math.min(this.part.least, this.smooth);
    this.part.frames += 1;
    if (this.part.frames < PART) return;
    this.minima.push(this.part.least);
    if (this.minima.length > PARTS) this.minima.shift();
    this.part = { frames: 0, least: Infinity };
  }

  #before(loud, sample) {
    const needed = (this.agent ? this.options.interruption : this.options.onset) / 20;
    this.recent.push({ loud, sample });
    if (this.recent.length > Math.ceil(needed * 1.6)) this.recent.shift();
    const heard = this.recent.filter((frame) => frame.loud);
    if (!loud || heard.length < needed) return null;
    const from = Math.max(0, heard[0].sample - FRAME);
    this.reset();
    Object.assign(this, { speaking: true, started: from, lastSpeech: sample });
    return { type: "speech", from };
  }

  #during(loud, sample) {
    const quiet = (sample - this.lastSpeech) / 16;
    if (loud) {
      if (quiet > 350) this.hesitations += 1;
      this.lastSpeech = sample;
      return null;
    }
    if (quiet < this.patience) return null;
    const to = this.lastSpeech;
    this.reset();
    return { type: "silence", to };
  }
}
