// Half a second of an answer in packets of our own encoder. It decodes alone.
import { packets } from "./packets.js";
import { AHEAD, FRAME, TIMES } from "./spectrum.js";

const BYTES = 100; // of a packet

// samples: Int16Array at 16 kHz; skip: how many of them only lead up to the piece; count: how many it has; after these, at least
// AHEAD more. Gives the packets, and how many samples at 48 kHz to leave out at the beginning of what they decode to.
export function encoded({ samples, skip, count }) {
  const needed = new Int16Array(FRAME + count + AHEAD);
  const lead = Math.min(FRAME, skip);
  needed.set(samples.subarray(skip - lead, skip + count + AHEAD), FRAME - lead);
  return { packets: packets(needed, BYTES), leave: TIMES * FRAME };
}
