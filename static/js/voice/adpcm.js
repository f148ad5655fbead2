// IMA ADPCM, four bits a sample: for browsers without an encoder. Each piece is one block, as in WAV files, and begins with
// its first sample, so that it is decoded alone. Pure.
const STEPS = Int32Array.from([
  7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97, 107, 118, 130, 143, 157, 173, 190,
  209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544, 598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499,
  2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385,
  24623, 27086, 29794, 32767,
]);
const CHANGES = [-1, -1, -1, -1, 2, 4, 6, 8];
const HEAD = 4;

const clamp = (value, least, most) => Math.max(least, Math.min(most, value));

// pcm: Int16Array. Gives a block: the first sample, the first step, then a code for each sample after it, and a last one.
export function adpcm(pcm) {
  const block = new Uint8Array(HEAD + Math.ceil(pcm.length / 2));
  let [guess, index] = [pcm[0], first(pcm)];
  new DataView(block.buffer).setInt16(0, guess, true);
  block[2] = index;
  for (let at = 1; at <= pcm.length; at += 1) {
    const step = STEPS[index];
    const wanted = (pcm[at] ?? guess) - guess;
    const size = Math.min(7, Math.trunc((Math.abs(wanted) * 4) / step));
    const code = size + (wanted < 0 ? 8 : 0);
    const change = (step >> 3) + (size & 4 ? step : 0) + (size & 2 ? step >> 1 : 0) + (size & 1 ? step >> 2 : 0);
    guess = clamp(guess + (code & 8 ? -change : change), -32768, 32767);
    index = clamp(index + CHANGES[size], 0, STEPS.length - 1);
    block[HEAD + ((at - 1) >> 1)] |= at % 2 ? code : code << 4;
  }
  return block;
}

// The step that the first differences ask for: a block knows nothing of the one before it.
function first(pcm) {
  let most = 0;
  for (let at = 1; at < Math.min(pcm.length, 16); at += 1) most = Math.max(most, Math.abs(pcm[at] - pcm[at - 1]));
  const index = STEPS.findIndex((step) => step >= most);
  return index < 0 ? STEPS.length - 1 : index;
}
