// The bands of a packet of 20 ms that reaches up to 8 kHz, and how Opus counts bits: eighths of them (RFC 6716, section 4.3). Pure.
import { length } from "./range-encoder.js";

export const LM = 3; // a packet has 2 ** LM blocks of 2.5 ms, and a band as many times its width in lines
const EDGES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 34, 40];
export const BANDS = EDGES.length - 1;
export const LINES = EDGES[BANDS] << LM;
export const WIDTHS = Array.from({ length: BANDS }, (_, band) => EDGES[band + 1] - EDGES[band]);
export const LOG_WIDTHS = WIDTHS.map((width) => eighths(width));

// Of all bands before this one.
export const widthBefore = (band) => EDGES[band];
export const linesOf = (lines, band) => lines.subarray(EDGES[band] << LM, EDGES[band + 1] << LM);
export const sum = (values) => values.reduce((all, value) => all + value, 0);

// The bits that tell this many values apart, in eighths, rounded up as decoders do it. value: below 2 ** 32.
export function eighths(value) {
  const bits = length(value);
  let result = (bits - 1) * 8;
  if (value === 2 ** (bits - 1)) return result;
  let fraction = bits > 16 ? Math.floor((value - 1) / 2 ** (bits - 16)) + 1 : value * 2 ** (16 - bits); // 2 ** 16 is twice
  for (let part = 8; part >= 1; part /= 2) {
    if (fraction >= 65536) {
      result += part;
      fraction = Math.floor((fraction + 1) / 2);
    }
    fraction = Math.floor((fraction * fraction + 32767) / 32768);
  }
  return result + (fraction > 32768 ? 1 : 0);
}
