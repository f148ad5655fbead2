// Where speech begins, pauses and ends. Two judges of single frames stand behind the same calls (push, agentSpeaks, wait,
// reset): EnergyEndpoint by loudness over the room's floor, SpeechEndpoint by a trained detector's chance of speech.
//
// push() gives null or one of
//   { type: "speech", from }  someone began to speak at this sample
//   { type: "lasting", from, to } and has gone on for so long, until this sample, that it is more than a cough or "mm-hm"; again each time it has gone on for as long
//   { type: "lull", to }      silent for a moment since this sample: time to ask whether the answer sounds complete
//   { type: "silence", to }   silent for as long as patience goes: the answer is over
export const DEFAULTS = {
  onset: 120, // ms of speech within a little more than that, which make a beginning
  lasting: 1000, // ms of speech that are more than a cough or a long "mm-hm"
  pause: 200, // ms of silence until the lull is reported
  patience: 1000, // ms of silence that end an answer, unless wait() says otherwise …
  perHesitation: 150, // … and this many more after each pause inside it …
  patienceMost: 1500, // … up to this
};
const HESITATION = 350; // ms of silence that count as a pause inside the answer
export const SAMPLES_PER_MS = 16;

class Endpoint {
  constructor(frame, options) {
    this.frame = frame; // samples
    this.options = { ...DEFAULTS, ...options };
    this.agent = this.agentIsHeard = false;
    this.reset();
  }

  // While the agent thinks or speaks a beginning takes a surer sound, so that its own echo does not stop it. isHeard: whether
  // there is something to stop.
  agentSpeaks(yes, isHeard = yes) {
    this.agent = yes;
    this.agentIsHeard = isHeard;
  }

  reset() {
    this.speaking = false;
    this.recent = []; // speech or not, of the last frames
    this.lastSpeech = null;
    this.hesitations = 0;
    this.longest = 0; // ms of the longest pause after which speech went on
    this.started = null;
    this.spoken = 0; // frames of speech since the beginning
    this.told = false;
    this.asked = null; // patience for this pause alone, in ms
  }

  get patience() {
    const { patience, perHesitation, patienceMost } = this.options;
    return this.asked ?? Math.min(patienceMost, patience + this.hesitations * perHesitation);
  }

  // How long this pause may last, in ms; the next word ends the wish. Infinity waits for the next word.
  wait(ms) {
    this.asked = ms;
  }

  // The last speech before the pause that has been reported, while it lasts; else null.
  get quietSince() {
    return this.speaking && this.told ? this.lastSpeech : null;
  }

  // Whether someone might just be beginning to speak.
  get stirs() {
    return this.recent.slice(-3).some((one) => one.loud);
  }

  // certain: this frame and one more make a beginning
  hear(loud, sample, certain = false) {
    return this.speaking ? this.#during(loud, sample) : this.#before(loud, sample, certain);
  }

  #before(loud, sample, certain) {
    const needed = Math.max(2, Math.round((this.options.onset * SAMPLES_PER_MS) / this.frame));
    this.recent.push({ loud, sample });
    if (this.recent.length > Math.ceil(needed * 1.6)) this.recent.shift();
    const heard = this.recent.filter((one) => one.loud);
    if (!loud || heard.length < (certain ? 2 : needed)) return null;
    const from = Math.max(0, heard[0].sample - this.frame);
    this.reset();
    Object.assign(this, { speaking: true, started: from, lastSpeech: sample, spoken: heard.length });
    return { type: "speech", from };
  }

  #during(loud, sample) {
    const quiet = (sample - this.lastSpeech) / SAMPLES_PER_MS;
    if (loud) return this.#goesOn(quiet, sample);
    if (quiet >= this.patience) {
      const to = this.lastSpeech;
      this.reset();
      return { type: "silence", to };
    }
    if (this.told || quiet < this.options.pause) return null;
    this.told = true;
    return { type: "lull", to: this.lastSpeech };
  }

  #goesOn(quiet, sample) {
    if (quiet > HESITATION) this.hesitations += 1;
    this.longest = Math.max(this.longest, quiet);
    this.lastSpeech = sample;
    this.spoken += 1;
    this.told = false;
    this.asked = null;
    const limit = this.options.lasting * SAMPLES_PER_MS;
    const over = (this.spoken * this.frame) % limit; // samples of speech since it was last so long
    return over < this.frame ? { type: "lasting", from: this.started, to: sample } : null;
  }
}

const PARTS = 12; // the floor looks back this many parts …
const PART = 15; // … of this many frames: 3.6 s
const FLOOR_LEAST = -68; // dBFS; digital silence must not make breathing loud

// The floor of the room is the least loud moment of the last seconds (minimum statistics), so that steady noise does not
// hold the turn.
export class EnergyEndpoint extends Endpoint {
  constructor(options = {}) {
    // above, below: dB over the floor that begin speech and keep it going; least: dBFS under which nothing is speech
    super(320, { above: 10, below: 6, least: -52, ...options });
    this.minima = [];
    this.part = { frames: 0, least: Infinity };
    this.smooth = null;
  }

  get floor() {
    const known = this.part.frames >= 5 || !this.minima.length ? [...this.minima, this.part.least] : this.minima;
    return Math.max(FLOOR_LEAST, Math.min(...known));
  }

  // level: dBFS of the 20 ms that end at this sample
  push(level, sample) {
    this.#learn(level);
    const over = level - this.floor;
    const { above, below, least } = this.options;
    return this.hear(level > least && over > (this.speaking ? below : above + (this.agent ? 3 : 0)), sample);
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
}

export class SpeechEndpoint extends Endpoint {
  constructor(options = {}) {
    // Chances that begin speech (also while the agent speaks), that stop the agent a frame sooner, and that keep it going.
    // It hears no silence between two words, so a pause is reported soon; four frames hold the end of the last word.
    super(512, { onset: 96, pause: 128, begins: 0.5, overAgent: 0.6, certain: 0.9, keeps: 0.35, ...options });
  }

  // chance: of speech, 0 to 1, in the 32 ms that end at this sample
  push(chance, sample) {
    const { begins, overAgent, certain, keeps } = this.options;
    return this.hear(chance >= (this.speaking ? keeps : this.agent ? overAgent : begins), sample, this.agentIsHeard && chance >= certain);
  }
}
