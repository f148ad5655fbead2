// An encoder of Opus (RFC 6716) for browsers without one: packets of 20 ms, mono, up to 8 kHz, of its layer CELT. It leaves out what
// a decoder can do without: short blocks, the filter of the pitch, spreading, boosts and tilts of the allocation. The tables are
// those of the RFC. Pure.
import { allocated } from "./allocation.js";
import { BANDS } from "./bands.js";
import { coarse, finer, finest } from "./energies.js";
import { RangeEncoder } from "./range-encoder.js";
import { shapes } from "./shapes.js";
import { AHEAD, FRAME, spectrum } from "./spectrum.js";

const KIND = 23 << 3; // CELT, up to 8 kHz, 20 ms, mono, one frame in the packet
const SPREADING = [25, 23, 2, 0];
const TILT = [126, 124, 119, 109, 87, 41, 19, 9, 4, 2, 0];

// samples: Int16Array at 16 kHz, whole frames and AHEAD more. Gives a packet of this many bytes for each frame. The first has 2.5 ms
// at its beginning in which a decoder has nothing to overlap with. There is no delay.
export function packets(samples, bytes) {
  return Array.from({ length: Math.floor((samples.length - AHEAD) / FRAME) }, (_, number) => packet(spectrum(samples, number * FRAME), bytes));
}

function packet(lines, bytes) {
  const coder = new RangeEncoder(bytes - 1);
  const room = 8 * 8 * coder.size;
  coder.bit(0, 15); // it is not silent
  coder.bit(0, 1); // without the filter of the pitch
  coder.bit(0, 3); // one long block
  coder.bit(1, 3); // energies that do not build on the packet before
  const left = coarse(lines, coder);
  for (let band = 0; band < BANDS; band += 1) coder.bit(0, band ? 5 : 4); // no other resolution in time
  coder.choice(0, SPREADING, 5);
  for (let band = 0; band < BANDS; band += 1) coder.bit(0, 6); // no boost
  coder.choice(5, TILT, 7);
  const shares = allocated(room - coder.tell() - 1, coder);
  finer(left, shares.fine, coder);
  shapes({ lines, room, ...shares }, coder);
  finest(left, shares, coder);
  return Uint8Array.of(KIND, ...coder.done());
}
