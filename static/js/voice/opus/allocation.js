// How many bits each band gets (RFC 6716, section 4.3.3), in eighths. Decoders compute the same, so all must be as they do it. Pure.
import { BANDS, LM, LOG_WIDTHS, WIDTHS, sum, widthBefore } from "./bands.js";
import { MOST_FINE } from "./energies.js";

const BIT = 8;
const FINE_OFFSET = 21;
const CAPS = [193, 193, 193, 193, 193, 193, 193, 193, 193, 193, 193, 193, 194, 194, 194, 184, 184].map((cap, band) => ((cap + 64) * (WIDTHS[band] << LM)) >> 2);
const LEVELS = [ // 1/32 bits for each line
  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  [90, 80, 75, 69, 63, 56, 49, 40, 34, 29, 20, 18, 10, 0, 0, 0, 0],
  [110, 100, 90, 84, 78, 71, 65, 58, 51, 45, 39, 32, 26, 20, 12, 0, 0],
  [118, 110, 103, 93, 86, 80, 75, 70, 65, 59, 53, 47, 40, 31, 23, 15, 4],
  [126, 119, 112, 104, 95, 89, 83, 78, 72, 66, 60, 54, 47, 39, 32, 25, 17],
  [134, 127, 120, 114, 103, 97, 91, 85, 78, 72, 66, 60, 54, 47, 41, 35, 29],
  [144, 137, 130, 124, 113, 107, 101, 95, 88, 82, 76, 70, 64, 57, 51, 45, 39],
  [152, 145, 138, 132, 123, 117, 111, 105, 98, 92, 86, 80, 74, 67, 61, 55, 49],
  [162, 155, 148, 142, 133, 127, 121, 115, 108, 102, 96, 90, 84, 77, 71, 65, 59],
  [172, 165, 158, 152, 143, 137, 131, 125, 118, 112, 106, 100, 94, 87, 81, 75, 69],
  [200, 200, 200, 200, 200, 200, 200, 200, 198, 193, 188, 183, 178, 173, 168, 163, 158],
];
const THRESHOLDS = WIDTHS.map((width) => Math.max(BIT, (3 * width * BIT << LM) >> 4));
const TILTS = WIDTHS.map((width, band) => (-LM * width * (BANDS - band - 1) * (BIT << LM)) >> 6);

// What this level of the table wants; after the last level, all that a band can use.
function level(number) {
  return WIDTHS.map((width, band) => {
    const bits = number < LEVELS.length ? (width * LEVELS[number][band] << LM) >> 2 : CAPS[band];
    return bits > 0 ? Math.max(0, bits + TILTS[band]) : 0;
  });
}

// A band without lines has a bit for its energy, or nothing.
const few = (bits) => (bits >= BIT ? BIT : 0);

// What bands get of what is wanted: after the last one that is worth it, none has lines.
function granted(wanted) {
  let last = BANDS - 1;
  while (last >= 0 && wanted[last] < THRESHOLDS[last]) last -= 1;
  return wanted.map((bits, band) => Math.min(band <= last ? bits : few(bits), CAPS[band]));
}

// As many levels as there is room for, and a part of the next one.
function wantedOf(room) {
  const fits = (wanted) => sum(granted(wanted)) <= room;
  let [low, high] = [1, LEVELS.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (fits(level(middle))) low = middle + 1;
    else high = middle - 1;
  }
  const [base, next] = [level(low - 1), level(low)];
  const between = (part) => base.map((bits, band) => bits + ((part * Math.max(0, next[band] - bits)) >> 6));
  let part = 0;
  for (let more = 32; more; more >>= 1) if (fits(between(part + more))) part += more;
  return between(part);
}

// room: for all bands. Writes which bands have lines. Gives how many those are, the bits for the lines of each band (pulses) and
// for its energy (fine, whole bits), whether its energy got what it should have (isServed), and what is left (balance).
export function allocated(room, coder) {
  let free = room - BIT; // it says that no further band is left out
  const bits = granted(wantedOf(free));
  let coded = BANDS;
  for (; coded > 1; coded -= 1) {
    const [last, left] = [coded - 1, free - sum(bits)];
    const width = widthBefore(coded);
    const each = Math.floor(left / width);
    const here = bits[last] + each * WIDTHS[last] + Math.max(0, left - each * width - widthBefore(last));
    if (here >= Math.max(THRESHOLDS[last], 2 * BIT)) {
      coder.bit(1, 1);
      break;
    }
    bits[last] = few(here);
  }
  if (coded === 1) free += BIT;
  spread(bits, free - sum(bits), coded);
  return { coded, ...split(bits, coded) };
}

function spread(bits, rest, coded) {
  const each = Math.floor(rest / widthBefore(coded));
  let left = rest - each * widthBefore(coded);
  for (let band = 0; band < coded; band += 1) {
    const more = Math.min(left, WIDTHS[band]);
    bits[band] += each * WIDTHS[band] + more;
    left -= more;
  }
}

// Divides the bits of each band between its energy and its lines.
function split(bits, coded) {
  const [pulses, fine, isServed] = [[], [], []];
  let balance = 0;
  bits.forEach((wanted, band) => {
    if (band >= coded) {
      pulses[band] = 0;
      fine[band] = wanted >> 3;
      isServed[band] = fine[band] < 1;
      return;
    }
    const before = balance;
    const all = Math.min(wanted + before, CAPS[band]);
    balance = wanted + before - all;
    const size = WIDTHS[band] << LM;
    const shifted = all + energyOffset(size, LOG_WIDTHS[band] + (LM << 3), all);
    fine[band] = Math.min(Math.floor(Math.max(0, shifted + (size << 2)) / size) >> 3, all >> 3, MOST_FINE);
    isServed[band] = fine[band] * size * BIT >= shifted;
    pulses[band] = all - fine[band] * BIT;
    if (balance > 0) {
      const extra = Math.min(balance >> 3, MOST_FINE - fine[band]);
      fine[band] += extra;
      isServed[band] = extra * BIT >= balance - before;
      balance -= extra * BIT;
    }
  });
  return { pulses, fine, isServed, balance };
}

// By how much the energy of this many lines gets more than a line.
function energyOffset(size, logSize, bits) {
  const scaled = size * logSize;
  const offset = (scaled >> 1) - size * FINE_OFFSET;
  if (bits + offset < 2 * size * BIT) return offset + (scaled >> 2);
  return bits + offset < 3 * size * BIT ? offset + (scaled >> 3) : offset;
}
