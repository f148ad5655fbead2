// FLAC (RFC 9639) for browsers without an encoder: a file for each piece, so that it is decoded alone. Each block leaves out as
// many of its lowest bits as it has to, so that the file has at most BUDGET bytes. Pure.
const RATE = 16000;
const BLOCK = 1000; // samples
const ORDER = 6; // of the prediction
const PRECISION = 8; // bits of a weight
const PARTS = 2; // a block has 2 ** PARTS parameters of Rice's code
const LEFT = 14; // bits, at most
const BUDGET = 4000;
const FRAME = 11; // bytes of a frame beside its block
const STREAMINFO = 34; // bytes
const HEAD = [0x66, 0x4c, 0x61, 0x43, 0x80, 0, 0, STREAMINFO]; // "fLaC", and that one block of metadata follows, STREAMINFO

class Bits {
  constructor(bytes = []) { Object.assign(this, { bytes: [...bytes], held: 0, count: 0 }); }

  // width: at most 24. Negative values become two's complements.
  put(value, width) {
    this.held = (this.held << width) | (value & ((1 << width) - 1));
    for (this.count += width; this.count >= 8; this.count -= 8) this.bytes.push((this.held >>> (this.count - 8)) & 255);
  }

  all(pairs) { for (const [value, width] of pairs) this.put(value, width); }

  unary(zeros) {
    for (let left = zeros; left > 0; left -= 16) this.put(0, Math.min(16, left));
    this.put(1, 1);
  }

  align() { if (this.count) this.put(0, 8 - this.count); }
}

// pcm: Int16Array of whole blocks, at most 128. Gives the bytes of a FLAC file.
export function flac(pcm) {
  const file = new Bits(HEAD);
  file.all([[BLOCK, 16], [BLOCK, 16], [0, 24], [0, 24], [RATE, 20], [0, 3], [15, 5], [0, 12], [pcm.length, 24], ...Array(8).fill([0, 16])]);
  shortened(pcm).forEach((block, number) => { file.bytes.push(...frame(block, number)); });
  return Uint8Array.from(file.bytes);
}

// Leaves out the same number of bits of each block, so that all have the same noise; or one less, as long as there is room.
function shortened(pcm) {
  const parts = Array.from({ length: pcm.length / BLOCK }, (_, number) => pcm.subarray(number * BLOCK, (number + 1) * BLOCK));
  const room = 8 * (BUDGET - HEAD.length - STREAMINFO - parts.length * FRAME);
  const size = (blocks) => blocks.reduce((sum, block) => sum + block.size, 0);
  let left = 0;
  let blocks = parts.map((part) => predicted(part, left));
  let finer = blocks;
  while (size(blocks) > room && left < LEFT) {
    left += 1;
    finer = blocks;
    blocks = parts.map((part) => predicted(part, left));
  }
  let free = room - size(blocks);
  return blocks.map((block, number) => {
    const more = finer[number].size - block.size;
    if (more > free) return block;
    free -= more;
    return finer[number];
  });
}

function frame({ left, first, weights, shift, parts }, number) {
  const bits = new Bits();
  bits.all([[0xfff8, 16], [0x7508, 16], [number, 8], [BLOCK - 1, 16]]); // 16 kHz, mono, 16 bits
  bits.put(checksum(bits.bytes, 8, 0x07), 8);
  bits.all([[parts ? 32 + ORDER - 1 : 0, 7], [left ? 1 : 0, 1]]); // predicted, or constant
  if (left) bits.unary(left - 1);
  for (const value of first) bits.put(value, 16 - left);
  if (parts) {
    bits.all([[PRECISION - 1, 4], [shift, 5], ...weights.map((weight) => [weight, PRECISION]), [PARTS, 6]]);
    for (const { rice, values } of parts) {
      bits.put(rice, 4);
      for (const value of values) { bits.unary(value >>> rice); bits.put(value, rice); }
    }
  }
  bits.align();
  bits.put(checksum(bits.bytes, 16, 0x8005), 16);
  return bits.bytes;
}

// A block without its lowest bits. size: in bits, without the rest of the frame.
function predicted(samples, left) {
  const [step, limit] = [2 ** left, 2 ** (15 - left)];
  const short = samples.map((value) => Math.min(limit - 1, Math.round(value / step)));
  if (short.every((value) => value === short[0])) return { left, first: [short[0]], size: 8 + 16 };
  const { weights, shift } = rounded(prediction(short));
  const errors = new Int32Array(BLOCK);
  const scale = 2 ** shift;
  for (let at = ORDER; at < BLOCK; at += 1) {
    let guess = 0;
    for (let back = 0; back < ORDER; back += 1) guess += weights[back] * short[at - 1 - back];
    const error = short[at] - Math.floor(guess / scale);
    errors[at] = error < 0 ? -2 * error - 1 : 2 * error;
  }
  const parts = Array.from({ length: 2 ** PARTS }, (_, part) => riced(errors.subarray(Math.max(ORDER, (part * BLOCK) >> PARTS), ((part + 1) * BLOCK) >> PARTS)));
  const size = parts.reduce((sum, part) => sum + part.size, 8 + left + ORDER * (16 - left + PRECISION) + 15);
  return { left, first: short.subarray(0, ORDER), weights, shift, parts, size };
}

// These values with the parameter that suits their mean.
function riced(values) {
  let sum = 0;
  for (const value of values) sum += value;
  const rice = Math.max(0, Math.min(14, Math.floor(Math.log2(sum / values.length + 1e-9))));
  let size = 4 + (rice + 1) * values.length;
  for (const value of values) size += value >>> rice;
  return { rice, values, size };
}

// The weights of the samples before a sample that predict it best: Levinson and Durbin's recursion, in Welch's window.
function prediction(samples) {
  const shaped = Float64Array.from(samples);
  for (let at = 0; at < shaped.length; at += 1) shaped[at] *= 1 - ((2 * at + 1) / shaped.length - 1) ** 2;
  const alike = new Float64Array(ORDER + 1);
  for (let lag = 0; lag <= ORDER; lag += 1) for (let at = lag; at < shaped.length; at += 1) alike[lag] += shaped[at] * shaped[at - lag];
  let weights = [];
  let error = alike[0] + 1;
  for (let order = 0; order < ORDER; order += 1) {
    const last = weights.reduce((sum, weight, back) => sum - weight * alike[order - back], alike[order + 1]) / error;
    weights = [...weights.map((weight, back) => weight - last * weights[order - 1 - back]), last];
    error *= 1 - last * last;
  }
  return weights;
}

// The same as whole numbers. What rounding takes from one weight, the next one gets.
function rounded(exact) {
  const shift = Math.max(0, Math.min(15, PRECISION - 1 - Math.ceil(Math.log2(Math.max(...exact.map(Math.abs)) + 1e-6))));
  const limit = 2 ** (PRECISION - 1);
  let rest = 0;
  const weights = exact.map((weight) => {
    const wanted = weight * 2 ** shift + rest;
    const whole = Math.max(-limit, Math.min(limit - 1, Math.round(wanted)));
    rest = wanted - whole;
    return whole;
  });
  return { weights, shift };
}

function checksum(bytes, width, polynomial) {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << (width - 8);
    for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ (sum >> (width - 1) ? polynomial : 0)) & ((1 << width) - 1);
  }
  return sum;
}
