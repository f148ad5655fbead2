// Whether the voice came to rest: at the end of a statement it sinks well below its usual pitch, before a pause inside a
// sentence it stays up. Knows no words, so it works where no recogniser hears the language. Pure.
const RATE = 16000;
const [LOWEST, HIGHEST] = [60, 400]; // Hz
const WINDOW = 640; // samples: 40 ms, in which the deepest voice swings twice
const VOICED = 0.5; // how alike one swing and the next are, at least
const QUIET = 60; // standard deviation in 16-bit steps, under which nothing is a voice
const KEPT = 500; // voiced frames that tell the usual pitch: ten seconds
const [KNOWN, TAIL, LEAST, REACH] = [25, 4, 3, 8000]; // frames to know a voice by; of its last word at most and at least; samples in which they lie
const FALL = -2.5; // semitones below the usual pitch
const TONAL = new Set(["zh", "th", "vi", "nb", "ja"]); // their words have melodies of their own

export class Melody {
  constructor() {
    this.window = new Float32Array(WINDOW);
    this.voiced = []; // { sample, pitch }
  }

  // Something to listen to the melody of this language with, or null.
  static of(language) {
    return TONAL.has(language.split("-")[0]) ? null : new Melody();
  }

  // pcm: Int16Array of at most 40 ms; sample: the place of its end
  push(pcm, sample) {
    this.window.copyWithin(0, pcm.length);
    this.window.set(pcm, WINDOW - pcm.length);
    const pitch = pitchOf(this.window);
    if (!pitch) return;
    this.voiced.push({ sample, pitch });
    if (this.voiced.length > KEPT) this.voiced.shift();
  }

  // Whether the voice that fell silent at this sample had come to rest; not so where it is not known yet, and null where
  // its last word had no voice to tell by.
  falls(to) {
    const last = this.voiced.filter(({ sample }) => to - REACH < sample && sample <= to + WINDOW).slice(-TAIL);
    if (this.voiced.length < KNOWN) return false;
    if (last.length < LEAST) return null;
    return 12 * Math.log2(middle(last) / middle(this.voiced)) < FALL;
  }
}

function middle(frames) {
  const ordered = frames.map(({ pitch }) => pitch).sort((one, other) => one - other);
  return ordered[Math.floor(ordered.length / 2)];
}

// Hz, or 0 where no voice swings. By autocorrelation; a swing that fits several times into the best one is the true one.
export function pitchOf(samples) {
  const centred = withoutMean(samples);
  const [shortest, longest] = [Math.round(RATE / HIGHEST), Math.round(RATE / LOWEST)];
  const power = likeness(centred, 0);
  if (power < QUIET * QUIET) return 0;
  const like = new Float32Array(longest + 1);
  let best = shortest;
  for (let lag = shortest; lag <= longest; lag += 1) {
    like[lag] = likeness(centred, lag) / power;
    if (like[lag] > like[best]) best = lag;
  }
  if (like[best] < VOICED) return 0;
  const parts = [6, 5, 4, 3, 2].map((times) => part(like, best, times, shortest));
  return RATE / (parts.find((lag) => lag !== null) ?? best);
}

function part(like, best, times, shortest) {
  const near = Math.round(best / times);
  if (near - 2 < shortest) return null;
  const found = [-2, -1, 0, 1, 2].map((step) => near + step).reduce((one, other) => (like[other] > like[one] ? other : one));
  return like[found] > 0.88 * like[best] ? found : null;
}

function likeness(samples, lag) {
  let sum = 0;
  for (let at = lag; at < samples.length; at += 1) sum += samples[at] * samples[at - lag];
  return sum / (samples.length - lag);
}

function withoutMean(samples) {
  const mean = samples.reduce((sum, one) => sum + one, 0) / samples.length;
  return samples.map((one) => one - mean);
}
