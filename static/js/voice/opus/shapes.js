// The lines of each band, as whole numbers of pulses (RFC 6716, sections 4.3.4 and 5.3.8). Bands with more pulses than a number of 32
// bits can tell are halved. Decoders compute the same shares, so all but nearest() must be as they do it. Pure.
import { BANDS, LM, LOG_WIDTHS, eighths, linesOf, sum } from "./bands.js";
import { length } from "./range-encoder.js";

const ANGLE_OFFSET = 4;
const MOST_BITS = 16383;
const MOST_LEVELS = 40;
const POWERS = [16384, 17866, 19483, 21247, 23170, 25267, 27554, 30048]; // of 2, by eighths
const FREE = 24; // eighths of a bit that a half may leave unused

// lines: of all bands, each with length 1. room: of the packet.
export function shapes({ lines, coded, pulses, balance: extra, room }, coder) {
  let balance = extra;
  for (let band = 0; band < BANDS; band += 1) {
    const written = coder.tell();
    if (band) balance -= written;
    const state = { band, coder, remaining: room - written - 1 };
    const share = band < coded ? pulses[band] + Math.trunc(balance / Math.min(3, coded - band)) : 0;
    partition(linesOf(lines, band), Math.max(0, Math.min(MOST_BITS, state.remaining + 1, share)), LM, state);
    balance += pulses[band] + written;
  }
}

function partition(lines, given, depth, state) {
  const costs = costsOf(lines.length);
  if (depth < 0 || given <= costs[costs.length - 1] + 12 || lines.length <= 2) {
    pulsesOf(lines, given, costs, state);
    return;
  }
  const half = lines.length / 2;
  const halves = [lines.subarray(0, half), lines.subarray(half)];
  const before = state.coder.tell();
  const angle = angleOf(halves, given, depth - 1, state);
  const cost = state.coder.tell() - before;
  state.remaining -= cost;
  const bits = given - cost;
  const first = Math.max(0, Math.min(bits, Math.trunc((bits - leaning(angle, half)) / 2)));
  const shares = [first, bits - first];
  const begins = first >= bits - first ? 0 : 1;
  const remaining = state.remaining;
  partition(halves[begins], shares[begins], depth - 1, state);
  const free = shares[begins] - (remaining - state.remaining);
  if (free > FREE && angle !== 16384 * begins) shares[1 - begins] += free - FREE;
  partition(halves[1 - begins], shares[1 - begins], depth - 1, state);
}

// Writes which part of the length lies in the second half: 0 to 16384.
function angleOf([one, other], bits, depth, { band, coder }) {
  const freedom = 2 * one.length - 1;
  const size = LOG_WIDTHS[band] + (depth << 3);
  const wanted = Math.min(Math.trunc((bits + freedom * ((size >> 1) - ANGLE_OFFSET)) / freedom), bits - size - 32, 64);
  if (wanted < 4) return 0;
  const steps = (((POWERS[wanted & 7] >> (14 - (wanted >> 3))) + 1) >> 1) << 1;
  const step = Math.round((2 / Math.PI) * Math.atan2(Math.hypot(...other), Math.hypot(...one)) * steps);
  const above = steps + 1 - step;
  const all = (steps / 2 + 1) ** 2;
  if (step <= steps / 2) coder.symbol((step * (step + 1)) / 2, ((step + 1) * (step + 2)) / 2, all);
  else coder.symbol(all - (above * (above + 1)) / 2, all - (above * (above - 1)) / 2, all);
  return Math.floor((step * 16384) / steps);
}

// By how many bits the first half gets fewer.
function leaning(angle, half) {
  if (angle === 0 || angle === 16384) return angle ? 16384 : -16384;
  return product((half - 1) << 7, logTangent(cosine(16384 - angle), cosine(angle)));
}

const product = (a, b) => (16384 + a * b) >> 15;

function cosine(angle) {
  const square = (4096 + angle * angle) >> 13;
  return 1 + (32767 - square) + product(square, -7651 + product(square, 8277 + product(-626, square)));
}

function logTangent(sine, other) {
  const [a, b] = [length(sine), length(other)];
  const curve = (value) => product(value, product(value, -2597) + 7932);
  return (a - b) * 2048 + curve(sine << (15 - a)) - curve(other << (15 - b));
}

function pulsesOf(lines, bits, costs, state) {
  let [low, high] = [0, costs.length - 1];
  for (let step = 0; step < 6; step += 1) {
    const middle = (low + high + 1) >> 1;
    if (costs[middle] >= bits - 1) high = middle;
    else low = middle;
  }
  const cost = (level) => (level ? costs[level] + 1 : 0);
  let level = bits - 1 - (low ? costs[low] : -1) <= costs[high] - (bits - 1) ? low : high;
  while (level && state.remaining < cost(level)) level -= 1;
  state.remaining -= cost(level);
  if (level) state.coder.number(numberOf(nearest(lines, count(level))), vectors(lines.length, count(level)));
}

// The whole numbers whose absolutes add up to all and whose direction is nearest to that of the lines.
function nearest(lines, all) {
  const sizes = lines.map(Math.abs);
  const scale = all / Math.max(1e-15, sum(sizes));
  const found = Int32Array.from(sizes, (size) => Math.floor(size * scale));
  let [along, square] = [0, 0];
  found.forEach((value, at) => {
    along += sizes[at] * value;
    square += value * value;
  });
  for (let left = all - sum(found); left > 0; left -= 1) {
    let [best, numerator, denominator] = [0, -1, 1];
    for (let at = 0; at < sizes.length; at += 1) {
      const above = (along + sizes[at]) ** 2;
      const below = square + 2 * found[at] + 1;
      if (above * denominator > numerator * below) [best, numerator, denominator] = [at, above, below];
    }
    along += sizes[best];
    square += 2 * found[best] + 1;
    found[best] += 1;
  }
  return found.map((value, at) => (lines[at] < 0 ? -value : value));
}

const count = (level) => (level < 8 ? level : (8 + (level & 7)) << ((level >> 3) - 1));
const ways = [];

// U(size, all) of section 4.3.4.2: the vectors of this many whole numbers whose first is positive, counted by the sum of absolutes.
function waysOf(size, all) {
  while (ways.length <= size) {
    const before = ways[ways.length - 1];
    const row = new Float64Array(2 + count(MOST_LEVELS));
    if (!before) row[0] = 1;
    else for (let k = 1; k < row.length; k += 1) row[k] = before[k] + row[k - 1] + before[k - 1];
    ways.push(row);
  }
  return ways[size][all];
}

const vectors = (size, all) => waysOf(size, all) + waysOf(size, all + 1);
const known = new Map();

// What each level of pulses costs in this many lines, less one.
function costsOf(size) {
  if (!known.has(size)) {
    const costs = [0];
    for (let level = 1; level <= MOST_LEVELS && vectors(size, count(level)) < 2 ** 32; level += 1) costs.push(eighths(vectors(size, count(level))) - 1);
    known.set(size, costs);
  }
  return known.get(size);
}

function numberOf(values) {
  let [number, all] = [0, 0];
  for (let place = values.length - 1; place >= 0; place -= 1) {
    number += waysOf(values.length - place, all);
    all += Math.abs(values[place]);
    if (values[place] < 0) number += waysOf(values.length - place, all + 1);
  }
  return number;
}
