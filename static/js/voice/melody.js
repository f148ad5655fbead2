// Whether the voice came to rest: at the end of a statement it sinks well below its usual pitch, before a pause inside a
// sentence it stays up. And whether it is much softer than usual: someone has turned away to speak with another person.
// Knows no words, so it works where no recogniser hears the language. Pure.
const RATE = 16000;
const [LOWEST, HIGHEST] = [50, 400]; // Hz: a voice that comes to rest creaks far below its usual pitch
const WINDOW = 800; // samples: 50 ms, in which the deepest voice swings twice
const VOICED = 0.5; // how alike one swing and the next are, at least
const NEARLY = 0.85; // of the best likeness: a shorter swing that is so good is the true one
const QUIET = 60; // standard deviation in 16-bit steps, under which nothing is a voice
const KEPT = 500; // voiced frames that tell the usual pitch: ten seconds
const [KNOWN, TAIL, LEAST] = [40, 4, 3]; // frames to know a voice by; of its last word at most and at least
const [REACH, FADES] = [8000, 1600]; // samples before and after the end of the speech in which they lie: a voice that creaks is heard longer than it is taken for speech
const FALL = -3; // semitones from the usual pitch
const ABOVE = 9; // semitones over it, where no voice ends: half of the true swing was found
const [DULL, CREAKS] = [0.3, 0.4]; // a voice without a pitch creaks: sharper than this it is breath, quieter than this share of the voice it is the room
const SOFT = 8; // dB below the usual loudness: for a second, a voice is as much as 6 dB louder or softer without turning away
const LOUDER = 0.85; // the share of voiced frames below the one that tells how loud a voice is: the softest drown in the room
const HEARD = 15; // voiced frames that tell it
const TONAL = new Set(["zh", "th", "vi", "no", "ja"]); // their words have melodies of their own

export class Melody {
  // isTonal: in this language the melody does not tell whether a voice has come to rest
  constructor({ isTonal = false } = {}) {
    this.isTonal = isTonal;
    this.window = new Float32Array(WINDOW);
    this.voiced = []; // { sample, pitch, loudness }
    this.dull = []; // the same of sounds like a voice that swings without a pitch
  }

  static of(language) {
    return new Melody({ isTonal: TONAL.has(language.split("-")[0]) });
  }

  // Samples are counted from the start again: the voice is known, and nothing of it lies before a sample to come.
  restart() {
    for (const one of [...this.voiced, ...this.dull]) one.sample = -Infinity;
    return this;
  }

  // pcm: Int16Array of at most 40 ms; sample: the place of its end
  push(pcm, sample) {
    this.window.copyWithin(0, pcm.length);
    this.window.set(pcm, WINDOW - pcm.length);
    const centred = withoutMean(this.window);
    const pitch = swingOf(centred);
    const { loudness, sharpness } = strengthOf(centred);
    if (!pitch && sharpness > DULL) return;
    const kept = pitch ? this.voiced : this.dull;
    kept.push({ sample, pitch, loudness });
    if (kept.length > KEPT) kept.shift();
  }

  // Whether the voice since this sample is much softer than before it; not so where either is hardly known.
  isSoft(from) {
    const [before, since] = [this.voiced.filter(({ sample }) => sample < from), this.voiced.filter(({ sample }) => sample >= from)];
    if (before.length < KNOWN || since.length < HEARD) return false;
    const [usual, now] = [before, since].map((frames) => ranked(frames.map(({ loudness }) => loudness), LOUDER));
    return 20 * Math.log10(usual / now) > SOFT;
  }

  // Whether the voice that fell silent at this sample had come to rest; not so where it is not known yet, and null where
  // its last word had no voice to tell by.
  falls(to) {
    if (this.isTonal) return null;
    if (this.voiced.length < KNOWN) return false;
    const usual = middle(this.voiced.map(({ pitch }) => pitch));
    const quiet = CREAKS * middle(this.voiced.map(({ loudness }) => loudness));
    const creaks = this.dull.filter(({ loudness }) => loudness > quiet);
    const word = [...this.voiced, ...creaks].filter(({ sample }) => to - REACH < sample && sample <= to + FADES);
    const heights = word.sort((one, other) => one.sample - other.sample).map(({ pitch }) => 12 * Math.log2(pitch / usual)); // of a creak: -Infinity
    const last = heights.filter((height) => height < ABOVE).slice(-TAIL);
    return last.length < LEAST ? null : middle(last) < FALL;
  }
}

// The lower one where there are two in the middle.
const middle = (numbers) => ranked(numbers, 0.5);

// The number that this share of the others lies below.
function ranked(numbers, share) {
  const ordered = [...numbers].sort((one, other) => one - other);
  return ordered[Math.floor((ordered.length - 1) * share)];
}

// Hz, or 0 where no voice swings. By autocorrelation: the shortest swing that is nearly as good as the best. Only peaks are
// swings: hiss and deep noise are alike at the shortest lag too, but more so at a shorter one.
export const pitchOf = (samples) => swingOf(withoutMean(samples));

function swingOf(centred) {
  const [shortest, longest] = [Math.round(RATE / HIGHEST), Math.round(RATE / LOWEST)];
  const power = powers(centred);
  if (power.at(-1) < QUIET * QUIET * centred.length) return 0;
  const like = Array.from({ length: longest - shortest + 1 }, (_, place) => likeness(centred, power, shortest + place));
  const isPeak = (one, place) => 0 < place && place < like.length - 1 && one > like[place - 1] && one >= like[place + 1];
  const best = like.reduce((most, one, place) => (isPeak(one, place) ? Math.max(most, one) : most), 0);
  if (best < VOICED) return 0;
  return RATE / (shortest + like.findIndex((one, place) => one > NEARLY * best && isPeak(one, place)));
}

// loudness: root mean square in 16-bit steps; sharpness: how much of the sound changes from one sample to the next, 0 to 4.
function strengthOf(centred) {
  const power = centred.reduce((sum, one) => sum + one * one, 0);
  const change = centred.reduce((sum, one, at) => sum + (at ? (one - centred[at - 1]) ** 2 : 0), 0);
  return { loudness: Math.sqrt(power / centred.length), sharpness: change / (power + 1e-9) };
}

// How alike the sound and the same sound so much later are, up to 1, whichever is louder.
function likeness(samples, power, lag) {
  let sum = 0;
  for (let at = lag; at < samples.length; at += 1) sum += samples[at] * samples[at - lag];
  return sum / Math.sqrt(power[samples.length - lag] * (power[samples.length] - power[lag]) + 1e-9);
}

// The sum of squares before each place, and of all.
function powers(samples) {
  const sums = new Float64Array(samples.length + 1);
  samples.forEach((one, at) => { sums[at + 1] = sums[at] + one * one; });
  return sums;
}

function withoutMean(samples) {
  const mean = samples.reduce((sum, one) => sum + one, 0) / samples.length;
  return samples.map((one) => one - mean);
}
