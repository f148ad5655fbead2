// Encodes pieces of an answer beside the page, by the browser's encoder or by our own. In: "try", or { id, samples: Int16Array at
// 16 kHz, skip: how many of them only lead up to the piece, count: how many it has }. Out: { works: whether the browser's does },
// or { id, made: { packets, leave: how many samples at 48 kHz to leave out of what they decode to }, isNative: whether the
// browser's made it }, with null where none could. Each piece of the browser's is decoded again: an encoder that gives silence, or
// something else, is not believed, and not asked again.
const RATE = 16000;
const TIMES = 3; // Opus counts at 48 kHz
const FRAME = 960; // 20 ms there
const DELAY = 312; // of libopus at 48 kHz, in every browser; what Chromium tells counts at the rate of its input
const LOUD = 30; // of 32,768: what is softer may become anything
const ALIKE = [0.25, 4]; // times the power
// At 16,000 bits a second, pocketsphinx makes two to four errors more in a hundred words.
const CONFIG = {
  codec: "opus", sampleRate: RATE, numberOfChannels: 1, bitrate: 20000,
  opus: { frameDuration: 20000, application: "voip", complexity: 5, usedtx: false, useinbandfec: false },
};

async function encoded(samples) {
  const packets = [];
  await new Promise((resolve, reject) => {
    const encoder = new AudioEncoder({
      output: (chunk) => {
        const bytes = new Uint8Array(chunk.byteLength);
        chunk.copyTo(bytes);
        packets.push(bytes);
      },
      error: reject,
    });
    encoder.configure(CONFIG); // a new one for each piece, so that it depends on nothing before it
    encoder.encode(new AudioData({ format: "s16", sampleRate: RATE, numberOfChannels: 1, numberOfFrames: samples.length, timestamp: 0, data: samples }));
    encoder.flush().then(() => { encoder.close(); resolve(); }, reject);
  });
  return packets;
}

// What the packets sound like: the mean power in each tenth of a second at 48 kHz.
async function powers(packets) {
  const sums = [];
  let at = 0;
  await new Promise((resolve, reject) => {
    const decoder = new AudioDecoder({
      output: (data) => {
        const plane = new Float32Array(data.numberOfFrames);
        data.copyTo(plane, { planeIndex: 0, format: "f32-planar" });
        data.close();
        for (let from = 0; from < plane.length; from += FRAME) {
          const tenth = Math.floor(at / (5 * FRAME));
          const part = plane.subarray(from, from + FRAME);
          sums[tenth] = (sums[tenth] ?? 0) + energy(part) * (32768 ** 2 / (5 * FRAME));
          at += part.length;
        }
      },
      error: reject,
    });
    decoder.configure({ codec: "opus", sampleRate: RATE * TIMES, numberOfChannels: 1 });
    packets.forEach((data, number) => decoder.decode(new EncodedAudioChunk({ type: "key", timestamp: number * 20000, data })));
    decoder.flush().then(() => { decoder.close(); resolve(); }, reject);
  });
  return sums;
}

function energy(samples) {
  let sum = 0;
  for (let at = 0; at < samples.length; at += 1) sum += samples[at] * samples[at];
  return sum;
}

const power = (samples) => energy(samples) / Math.max(1, samples.length);

async function believed(samples, packets) {
  const [said, heard] = [power(samples), (await powers(packets)).reduce((sum, one) => sum + one, 0) / (samples.length / (RATE / 10))];
  return said < LOUD ** 2 || (heard > ALIKE[0] * said && heard < ALIKE[1] * said);
}

async function piece({ samples, skip, count }) {
  const packets = await encoded(samples);
  if (!(await believed(samples, packets))) throw new Error("the encoder's sound is not what was said");
  const leave = TIMES * skip + DELAY;
  const needed = packets.slice(0, Math.ceil((leave + TIMES * count) / FRAME));
  if (needed.length * FRAME < leave + TIMES * count - FRAME / 2) throw new Error("the encoder has kept sound back");
  return { packets: needed, leave };
}

// Half a second of a tone that stops in the middle: the first half has to sound, the other must not.
async function works() {
  if (!globalThis.AudioEncoder || !globalThis.AudioDecoder || !(await AudioEncoder.isConfigSupported(CONFIG)).supported) return false;
  const samples = Int16Array.from({ length: RATE / 2 }, (_, at) => (at < RATE / 4 ? 8000 * Math.sin(at * (0.1 + at / 20000)) : 0));
  const packets = await encoded(samples);
  const [sounds, , , silent] = await powers(packets);
  return (await believed(samples, packets)) && sounds > 16 * silent;
}

const ours = () => import("./opus/piece.js"); // most browsers never load it
let isNative = false;

onmessage = async ({ data }) => {
  if (data === "try") {
    isNative = await works().catch(() => false);
    postMessage({ works: isNative });
    if (!isNative) ours().catch(() => {}); // before the first piece needs it
    return;
  }
  let made = isNative ? await piece(data).catch(() => null) : null;
  isNative &&= made !== null;
  made ??= await ours().then(({ encoded }) => encoded(data)).catch(() => null);
  postMessage({ id: data.id, made, isNative });
};
