// The energy of each band: steps of 6 dB, then finer ones (RFC 6716, section 4.3.2). A packet's do not build on those of the packet
// before, so that it decodes alone. Pure.
import { BANDS, WIDTHS, linesOf } from "./bands.js";

export const MOST_FINE = 8; // bits
const MEANS = [6.4375, 6.25, 5.75, 5.3125, 5.0625, 4.8125, 4.5, 4.375, 4.875, 4.6875, 4.5625, 4.4375, 4.875, 4.625, 4.3125, 4.5, 4.375];
const CARRIED = 0.85; // of a band's step, to the next band
const SOFTEST = 0.001;
// How probable it is that a step is 0, and how slowly larger ones get rarer.
const STEPS = [
  [22, 178], [63, 114], [74, 82], [84, 83], [92, 82], [103, 62], [96, 72], [96, 67], [101, 73], [107, 72], [113, 55], [118, 52], [125, 52], [118, 52],
  [117, 55], [135, 49], [137, 39],
];

// Writes the steps of all bands, and scales the lines of each to length 1. Gives what is left of each energy, -0.5 to 0.5.
export function coarse(lines, coder) {
  let before = 0;
  return WIDTHS.map((_, band) => {
    const part = linesOf(lines, band);
    const length = Math.hypot(SOFTEST, ...part);
    for (let line = 0; line < part.length; line += 1) part[line] /= length;
    const wanted = Math.log2(length) - MEANS[band] - before;
    const step = laplace(Math.round(wanted), STEPS[band], coder);
    before += CARRIED * step;
    return wanted - step;
  });
}

// Gives the value that was written: one that is too rare becomes a smaller one.
function laplace(value, [zero, slope], coder) {
  if (value === 0) {
    coder.binary(0, zero << 7, 15);
    return 0;
  }
  const [wanted, isNegative] = [Math.abs(value), value < 0];
  let low = zero << 7;
  let size = ((32768 - 32 - low) * (16384 - (slope << 6))) >> 15;
  let at = 1;
  for (; size > 0 && at < wanted; at += 1) {
    low += 2 * size + 2;
    size = (2 * size * (slope << 6)) >> 15;
  }
  if (size === 0) {
    const more = Math.min(wanted - at, ((32768 - low + (isNegative ? 1 : 0)) >> 1) - 1);
    low += 2 * more + (isNegative ? 0 : 1);
    at += more;
  } else if (!isNegative) {
    low += size + 1;
  }
  coder.binary(low, Math.min(low + size + 1, 32768), 15);
  return isNegative ? -at : at;
}

// fine: bits of each band. Changes left.
export function finer(left, fine, coder) {
  fine.forEach((bits, band) => {
    if (!bits) return;
    const step = Math.max(0, Math.min(2 ** bits - 1, Math.floor((left[band] + 0.5) * 2 ** bits)));
    coder.bits(step, bits);
    left[band] -= (step + 0.5) / 2 ** bits - 0.5;
  });
}

// Writes a bit more for as many bands as there are bits, those first that got fewer than they should have.
export function finest(left, { fine, isServed }, coder) {
  let free = 8 * coder.size - coder.whole();
  for (const later of [false, true]) {
    for (let band = 0; band < BANDS && free > 0; band += 1) {
      if (fine[band] >= MOST_FINE || isServed[band] !== later) continue;
      coder.bits(left[band] < 0 ? 0 : 1, 1);
      free -= 1;
    }
  }
}
