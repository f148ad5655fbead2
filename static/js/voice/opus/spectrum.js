// The spectrum of a packet: 320 lines up to 8 kHz of the modified discrete cosine transform of 20 ms and 2.5 ms more, with the
// emphasis and the window of Opus (RFC 6716, section 4.3.7). Opus counts at 48 kHz. Pure.
import { LINES } from "./bands.js";

export const FRAME = 320; // samples of a packet at 16 kHz
export const AHEAD = 40; // samples after it that the transform needs
export const TIMES = 3;
const SIZE = TIMES * FRAME;
const OVERLAP = TIMES * AHEAD;
const EMPHASIS = 0.85;
const HALF = SIZE / 2;
const SCALE = TIMES / HALF;
const SILENT = (SIZE - OVERLAP) / 2; // samples before and after the sound, in a block of two packets
const WINDOW = Float64Array.from({ length: OVERLAP }, (_, at) => Math.sin((Math.PI / 2) * Math.sin((Math.PI / 2) * ((at + 0.5) / OVERLAP)) ** 2));
// Two of three samples at 48 kHz are 0 and one of these is not after the emphasis, so a third of the places stay empty.
const PLACES = Array.from({ length: SIZE }, (_, place) => place).filter((place) => folds(place).some((n) => n >= 0 && n < SIZE + OVERLAP && n % TIMES < 2));
let cosines = null; // of each place, for each line

// Which two samples come to lie on each other in this place.
function folds(place) {
  return [place < HALF ? 3 * HALF + place : place - HALF, 3 * HALF - 1 - place].map((n) => n - SILENT);
}

function folded(sound) {
  return Float64Array.from(PLACES, (place) => {
    const [one, other] = folds(place).map((n) => sound[n] ?? 0);
    return (place < HALF ? -one : one) - other;
  });
}

// samples: Int16Array at 16 kHz; at: where the packet begins.
export function spectrum(samples, at) {
  const sound = new Float64Array(SIZE + OVERLAP);
  for (let n = 0; n < sound.length; n += TIMES) {
    sound[n] = samples[at + n / TIMES];
    sound[n + 1] = -EMPHASIS * sound[n];
  }
  for (let n = 0; n < OVERLAP; n += 1) {
    sound[n] *= WINDOW[n];
    sound[SIZE + n] *= WINDOW[OVERLAP - 1 - n];
  }
  cosines ??= Float32Array.from({ length: PLACES.length * LINES }, (_, cell) => {
    const [place, line] = [PLACES[Math.floor(cell / LINES)], cell % LINES];
    return SCALE * Math.cos((Math.PI / SIZE) * (place + 0.5) * (line + 0.5));
  });
  const lines = new Float64Array(LINES);
  folded(sound).forEach((value, place) => {
    for (let line = 0, cell = place * LINES; line < LINES; line += 1, cell += 1) lines[line] += value * cosines[cell];
  });
  return lines;
}
