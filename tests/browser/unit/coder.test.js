import { adpcm } from "/static/js/voice/adpcm.js";
import { Coder, plain, plainer, startOpus } from "/static/js/voice/coder.js";
import { CHUNK, LEAD, VoiceTrack } from "/static/js/voice/voice-track.js";
import { equal, ok } from "./assert.js";

const tone = (at) => Math.round(6000 * Math.sin(at / 9) + 3000 * Math.sin(at / 2.3));
const until = async (yes) => { for (let i = 0; i < 300 && !yes(); i += 1) await new Promise((go) => { setTimeout(go, 10); }); ok(yes(), "it never came"); };
const samples = (count, of = tone) => Int16Array.from({ length: count }, (_, at) => of(at));

// Chunks as a track hands them out, with what lies before each.
function chunks(pcm) {
  const out = [];
  const track = new VoiceTrack((_, chunk) => out.push(chunk));
  track.open(0);
  track.push(pcm);
  return out;
}

// The decoder of the reference (IMA Digital Audio Focus Group, 1992), with the steps computed from its table's rule.
function decoded(block) {
  const steps = [7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544, 598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767];
  const view = new DataView(block.buffer, block.byteOffset);
  let [guess, index] = [view.getInt16(0, true), block[2]];
  const out = [guess];
  for (let at = 4; at < block.length; at += 1) {
    for (const code of [block[at] & 15, block[at] >> 4]) {
      const step = steps[index];
      const change = Math.floor(step / 8) + (code & 1 ? Math.floor(step / 4) : 0) + (code & 2 ? Math.floor(step / 2) : 0) + (code & 4 ? step : 0);
      guess = Math.max(-32768, Math.min(32767, guess + (code & 8 ? -change : change)));
      index = Math.max(0, Math.min(88, index + [-1, -1, -1, -1, 2, 4, 6, 8][code & 7]));
      out.push(guess);
    }
  }
  return out;
}

const noise = (said, heard) => 10 * Math.log10(said.reduce((sum, value, at) => sum + (value - heard[at]) ** 2, 0) / said.reduce((sum, value) => sum + value ** 2, 1));

// A worker that answers as the test says; null: never.
class Hand {
  constructor(answer, works = true) { Object.assign(this, { answer, works, ended: false }); }
  postMessage(data) {
    const reply = data === "try" ? { works: this.works } : this.answer && { id: data.id, piece: this.answer(data) };
    if (reply) setTimeout(() => this.onmessage({ data: reply }));
  }
  terminate() { this.ended = true; }
}

// The real worker with an encoder that takes everything, and from some time on encodes silence.
async function silentAfter(sounds) {
  ok(globalThis.AudioEncoder, "this browser has an encoder");
  const text = await (await fetch("/static/js/voice/opus-worker.js")).text();
  const silent = "const Real = AudioEncoder; let asked = 0; globalThis.AudioEncoder = class { constructor(o) { this.r = new Real(o); } "
    + "static isConfigSupported(c) { return Real.isConfigSupported(c); } configure(c) { this.r.configure(c); } "
    + `encode(d) { asked += 1; if (asked > ${sounds}) { const n = d.numberOfFrames; d.close(); this.r.encode(new AudioData({ format: 's16', sampleRate: 16000, numberOfChannels: 1, numberOfFrames: n, timestamp: 0, data: new Int16Array(n) })); } else this.r.encode(d); } `
    + "flush() { return this.r.flush(); } close() { this.r.close(); } };\n";
  return new Worker(URL.createObjectURL(new Blob([silent + text], { type: "text/javascript" })), { type: "module" });
}

export const tests = {
  "ADPCM decodes by the reference to nearly the same samples, and begins with the first"() {
    const pcm = samples(CHUNK);
    const block = adpcm(pcm);
    const heard = decoded(block);
    equal([block.length, heard[0]], [4 + CHUNK / 2, pcm[0]]);
    ok(noise(pcm, heard) < -20, `noise ${noise(pcm, heard)} dB`);
  },
  "ADPCM follows a jump from silence to the loudest sound and back, and silence stays silent"() {
    const pcm = samples(CHUNK, (at) => (at > 3000 && at < 5000 ? (at % 40 < 20 ? 32767 : -32768) : 0));
    const heard = decoded(adpcm(pcm));
    ok(heard.slice(100, 2900).every((value) => Math.abs(value) < 20));
    ok(heard.slice(6000, 7900).every((value) => Math.abs(value) < 20));
    ok(Math.max(...heard.slice(3100, 4900)) > 25000);
  },
  "a known block: what FFmpeg's encoder writes for these samples"() {
    equal(Array.from(adpcm(Int16Array.of(0, 7, 0))), [0, 0, 0, 0, 0xb4, 0x00]);
  },
  async "this browser's encoder is believed, and its pieces take a tenth"() {
    const coder = new Coder(startOpus());
    await until(() => coder.opus);
    const pieces = await Promise.all(chunks(samples(3 * CHUNK)).map((chunk) => coder.code(chunk)));
    for (const piece of pieces) {
      equal(Array.from(piece.slice(0, 3)), [80, 86, 2]);
      ok(piece.length < 2 * CHUNK / 8, `${piece.length} bytes`);
    }
    coder.lose();
  },
  async "until the encoder was tried out, and where it does not work, pieces are ADPCM"() {
    const chunk = chunks(samples(CHUNK))[0];
    for (const worker of [null, new Hand(null, false), new Hand(null)]) {
      const piece = await new Coder(worker).code(chunk);
      equal([Array.from(piece.slice(0, 3)), piece.length], [[80, 86, 1], 4 + 4 + CHUNK / 2]);
    }
  },
  async "an encoder that fails, or says nothing, in mid-talk is left for ADPCM at once"() {
    for (const broken of [() => null, null]) {
      const worker = new Hand(() => Uint8Array.of(1, 2, 3));
      const coder = new Coder(worker, 50);
      await until(() => coder.opus);
      const [one, two] = chunks(samples(2 * CHUNK));
      equal((await coder.code(one))[2], 2);
      worker.answer = broken;
      equal(Array.from((await coder.code(two)).slice(0, 3)), [80, 86, 1]);
      equal([coder.opus, worker.ended], [false, true]);
    }
  },
  async "an encoder that turns to silence is not believed"() {
    const coder = new Coder(await silentAfter(2));
    await until(() => coder.opus);
    const [one, two] = chunks(samples(2 * CHUNK));
    equal([(await coder.code(one))[2], (await coder.code(two))[2], coder.opus], [2, 1, false]);
  },
  async "a browser that claims an encoder and makes silence of everything sends ADPCM from the first piece on"() {
    const coder = new Coder(await silentAfter(0));
    await until(() => !coder.worker);
    equal([coder.opus, (await coder.code(chunks(samples(CHUNK))[0]))[2]], [false, 1]);
  },
  async "the encoder gets the sound before the piece, and a mirrored end"() {
    let given = null;
    const coder = new Coder(new Hand((data) => { given = data; return Uint8Array.of(1); }));
    await until(() => coder.opus);
    const pcm = samples(2 * CHUNK, (at) => at);
    await coder.code(chunks(pcm)[1]);
    equal([given.skip, given.count, given.samples.length], [LEAD, CHUNK, LEAD + CHUNK + 320]);
    equal([given.samples[0], given.samples[LEAD], given.samples[LEAD + CHUNK]], [CHUNK - LEAD, CHUNK, 2 * CHUNK - 1]);
  },
  "plain samples are those of the piece alone"() {
    const [, second] = chunks(samples(2 * CHUNK, (at) => at));
    equal([plain(second).length, new Int16Array(plain(second).buffer)[0], plainer(second)[2]], [2 * CHUNK, CHUNK, 1]);
  },
};
