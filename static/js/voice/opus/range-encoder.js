// The range coder of Opus (RFC 6716, section 5.1): symbols fill a packet from its beginning, plain bits from its end. Pure.
const TOP = 2 ** 31;
const BOTTOM = 2 ** 23;
const CORRECTION = [35733, 38967, 42495, 46340, 50535, 55109, 60097, 65535];

// Bits of a whole number below 2 ** 32.
export const length = (value) => 32 - Math.clz32(value);

export class RangeEncoder {
  // size: bytes
  constructor(size) {
    Object.assign(this, { size, front: [], end: [], low: 0, range: TOP, held: -1, waiting: 0, count: 33, window: 0, used: 0 });
  }

  // The symbol that has the part from low to high of all.
  symbol(low, high, all) { this.#narrow(Math.floor(this.range / all), low, high, all); }

  binary(low, high, bits) { this.#narrow(this.range >>> bits, low, high, 2 ** bits); }

  // inverse: of the cumulated probabilities, by 2 ** bits.
  choice(symbol, inverse, bits) { this.binary(2 ** bits - (symbol ? inverse[symbol - 1] : 2 ** bits), 2 ** bits - inverse[symbol], bits); }

  // A bit that is 1 once in 2 ** rare.
  bit(value, rare) { this.binary(value ? 2 ** rare - 1 : 0, value ? 2 ** rare : 2 ** rare - 1, rare); }

  // value: below limit, which is below 2 ** 32.
  number(value, limit) {
    const bits = Math.max(0, length(limit - 1) - 8);
    const above = Math.floor(value / 2 ** bits);
    this.symbol(above, above + 1, Math.floor((limit - 1) / 2 ** bits) + 1);
    if (bits) this.bits(value % 2 ** bits, bits);
  }

  // Plain bits, at most 24.
  bits(value, width) {
    this.window += value * 2 ** this.used;
    this.used += width;
    this.count += width;
    for (; this.used >= 8; this.used -= 8) {
      this.end.push(this.window % 256);
      this.window = Math.floor(this.window / 256);
    }
  }

  // What was written, in bits.
  whole() { return this.count - length(this.range); }

  // The same in eighths of a bit.
  tell() {
    const bits = length(this.range);
    const top = this.range >>> (bits - 16);
    const eighth = (top >>> 12) - 8;
    return this.count * 8 - (bits * 8 + eighth + (top > CORRECTION[eighth] ? 1 : 0));
  }

  #narrow(unit, low, high, all) {
    if (low > 0) {
      this.low += this.range - unit * (all - low);
      this.range = unit * (high - low);
    } else {
      this.range -= unit * (all - high);
    }
    while (this.range <= BOTTOM) {
      this.#carry(Math.floor(this.low / BOTTOM));
      this.low = (this.low * 256) % TOP;
      this.range *= 256;
      this.count += 8;
    }
  }

  // A byte waits until it is known whether the next ones make it larger.
  #carry(value) {
    if (value === 255) {
      this.waiting += 1;
      return;
    }
    const more = value >> 8;
    if (this.held >= 0) this.front.push(this.held + more);
    for (; this.waiting; this.waiting -= 1) this.front.push((255 + more) & 255);
    this.held = value & 255;
  }

  // The packet. Throws a RangeError where it is too small for what was written.
  done() {
    let free = 32 - length(this.range);
    let mask = Math.floor((TOP - 1) / 2 ** free);
    const up = () => Math.floor((this.low + mask) / (mask + 1)) * (mask + 1);
    let last = up();
    if (last + mask >= this.low + this.range) {
      free += 1;
      mask = Math.floor(mask / 2);
      last = up();
    }
    for (; free > 0; free -= 8) {
      this.#carry(Math.floor(last / BOTTOM));
      last = (last * 256) % TOP;
    }
    if (this.held >= 0 || this.waiting) this.#carry(0);
    const left = this.size - this.front.length - this.end.length;
    if (left < 0 || (left === 0 && this.used > -free)) throw new RangeError("the packet is too small");
    const packet = Uint8Array.of(...this.front, ...Array(left).fill(0), ...this.end.reverse());
    packet[packet.length - this.end.length - 1] |= this.window;
    return packet;
  }
}
