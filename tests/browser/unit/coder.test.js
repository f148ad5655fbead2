import { Coder, own, plain, startOpus } from "/static/js/voice/coder.js";
import { encoded } from "/static/js/voice/opus/piece.js";
import { packets } from "/static/js/voice/opus/packets.js";
import { RangeEncoder } from "/static/js/voice/opus/range-encoder.js";
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

// The samples at 16 kHz that the browser's own decoder makes of a piece: one of three at 48 kHz, of which none is above 8 kHz.
async function decoded(piece) {
  const view = new DataView(piece.buffer, piece.byteOffset);
  const count = view.getUint8(3);
  const leave = view.getUint16(4, true);
  const sound = [];
  const decoder = new AudioDecoder({
    output: (data) => {
      const plane = new Float32Array(data.numberOfFrames);
      data.copyTo(plane, { planeIndex: 0, format: "f32-planar" });
      data.close();
      sound.push(...plane);
    },
    error: (error) => { throw error; },
  });
  decoder.configure({ codec: "opus", sampleRate: 48000, numberOfChannels: 1 });
  let at = 6 + 2 * count;
  for (let number = 0; number < count; number += 1) {
    const size = view.getUint16(6 + 2 * number, true);
    decoder.decode(new EncodedAudioChunk({ type: "key", timestamp: number * 20000, data: piece.slice(at, at + size) }));
    at += size;
  }
  await decoder.flush();
  decoder.close();
  equal([at, sound.length], [piece.length, 960 * count]);
  return Array.from({ length: CHUNK }, (_, n) => 32768 * sound[leave + 3 * n]);
}

// The same numbers each time, evenly between -1 and 1.
function dice(seed) {
  let state = seed;
  return () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 2 ** 31 - 1; };
}

// dB
const noise = (said, heard) => 10 * Math.log10(said.reduce((all, value, at) => all + (value - heard[at]) ** 2, 0) / said.reduce((all, value) => all + value ** 2, 1));
const loudness = (sound) => Math.sqrt(sound.reduce((all, value) => all + value ** 2, 0) / sound.length);
const form = (piece) => Array.from(piece.slice(0, 3));
const OPUS = [80, 86, 2];
const OWN = 23 << 3; // of each of our packets: CELT, up to 8 kHz
const isOwn = (piece) => piece[6 + 2 * piece[3]] === OWN;

// A worker that answers as the test says; null: never.
class Hand {
  constructor(answer, works = true) { Object.assign(this, { answer, works, ended: false }); }
  postMessage(data) {
    const reply = data === "try" ? { works: this.works } : this.answer && { id: data.id, made: this.answer(data), isNative: true };
    if (reply) setTimeout(() => this.onmessage({ data: reply }));
  }
  terminate() { this.ended = true; }
}

// The real worker with an encoder that takes everything, and from some time on encodes silence.
async function silentAfter(sounds) {
  ok(globalThis.AudioEncoder, "this browser has an encoder");
  const text = (await (await fetch("/static/js/voice/opus-worker.js")).text()).replace("./opus/", new URL("/static/js/voice/opus/", location));
  const silent = "const Real = AudioEncoder; let asked = 0; globalThis.AudioEncoder = class { constructor(o) { this.r = new Real(o); } "
    + "static isConfigSupported(c) { return Real.isConfigSupported(c); } configure(c) { this.r.configure(c); } "
    + `encode(d) { asked += 1; if (asked > ${sounds}) { const n = d.numberOfFrames; d.close(); this.r.encode(new AudioData({ format: 's16', sampleRate: 16000, numberOfChannels: 1, numberOfFrames: n, timestamp: 0, data: new Int16Array(n) })); } else this.r.encode(d); } `
    + "flush() { return this.r.flush(); } close() { this.r.close(); } };\n";
  return new Worker(URL.createObjectURL(new Blob([silent + text], { type: "text/javascript" })), { type: "module" });
}

export const tests = {
  async "our own encoder's pieces sound like what was said, at the same time"() {
    const loud = dice(2);
    const voiced = (at) => Math.round(9000 * Math.sin(at / 40 + 3 * Math.sin(at / 900)) + 2000 * Math.sin(at / 3.3) + 60 * loud());
    for (const [of, most] of [[voiced, -20], [tone, -20], [() => Math.round(3000 * loud()), -10], [(at) => Math.round(2 * Math.sin(at / 9)), -6]]) {
      const [, chunk] = chunks(samples(2 * CHUNK, of));
      const piece = await own(chunk);
      const heard = await decoded(piece);
      equal([form(piece), isOwn(piece), piece.length], [OPUS, true, 6 + 26 * 102]);
      ok(noise(Array.from(chunk), heard) < most, `noise ${noise(Array.from(chunk), heard)} dB`);
    }
  },
  async "the first piece, which has nothing before it, begins with its first sample"() {
    const [chunk] = chunks(samples(CHUNK));
    const found = noise(Array.from(chunk), await decoded(await own(chunk)));
    ok(found < -18, `noise ${found} dB`);
  },
  async "silence stays silent beside the loudest sound, and nothing is too loud"() {
    const pcm = samples(CHUNK, (at) => (at > 3000 && at < 5000 ? (at % 40 < 20 ? 32767 : -32768) : 0));
    const heard = await decoded(await own(chunks(pcm)[0]));
    ok(loudness(heard.slice(0, 2600)) < 2, `${loudness(heard.slice(0, 2600))}`);
    ok(loudness(heard.slice(5400)) < 2, `${loudness(heard.slice(5400))}`);
    ok(Math.abs(loudness(heard.slice(3100, 4900)) / 32767 - 1) < 0.1);
    ok(loudness(await decoded(await own(chunks(samples(CHUNK, () => 0))[0]))) < 1);
  },
  async "packets of any size stay in step with the decoder"() {
    const loud = dice(4);
    const pcm = samples(321 + CHUNK + 40, (at) => Math.round((at % 2000 < 1000 ? 12000 : 300) * Math.sin(at / 7 + 2 * Math.sin(at / 500)) + 500 * loud())).subarray(1);
    let before = 0;
    for (const size of [24, 40, 60, 100, 200, 400]) {
      const parts = packets(pcm, size);
      ok(parts.length === 26 && parts.every((part) => part.length === size && part[0] === OWN));
      const head = [...OPUS, 26, 960 % 256, 960 >> 8, ...parts.flatMap((part) => [part.length % 256, part.length >> 8])];
      const found = noise(Array.from(pcm.subarray(320, 320 + CHUNK)), await decoded(Uint8Array.of(...head, ...parts.flatMap((part) => [...part]))));
      ok(found < before - 0.5, `${size} bytes: ${found} dB`);
      before = found;
    }
    ok(before < -40, `${before} dB`);
  },
  "what does not fit into a packet is an error"() {
    const coder = new RangeEncoder(2);
    for (let at = 0; at < 30; at += 1) coder.bit(1, 3);
    let error = null;
    try { coder.done(); } catch (caught) { error = caught; }
    ok(error instanceof RangeError);
  },
  async "this browser's encoder is believed, and its pieces take a tenth"() {
    const coder = new Coder(startOpus());
    await until(() => coder.isNative);
    const pieces = await Promise.all(chunks(samples(3 * CHUNK)).map((chunk) => coder.code(chunk)));
    for (const piece of pieces) {
      equal(Array.from(piece.slice(0, 3)), [80, 86, 2]);
      ok(piece.length < 2 * CHUNK / 8, `${piece.length} bytes`);
    }
    coder.lose();
  },
  async "where the browser has no encoder, the worker makes the pieces by our own"() {
    const text = (await (await fetch("/static/js/voice/opus-worker.js")).text()).replace("./opus/", new URL("/static/js/voice/opus/", location));
    const worker = new Worker(URL.createObjectURL(new Blob([`delete globalThis.AudioEncoder;\n${text}`], { type: "text/javascript" })), { type: "module" });
    const coder = new Coder(worker);
    await coder.tried;
    const [, chunk] = chunks(samples(2 * CHUNK));
    equal(await coder.code(chunk), await own(chunk));
    equal([coder.isNative, coder.worker], [false, worker]);
    coder.lose();
  },
  async "where there is no worker, or it says nothing, the page does it itself"() {
    const [, chunk] = chunks(samples(2 * CHUNK));
    for (const worker of [null, new Hand(null, false), new Hand(null)]) equal(await new Coder(worker, 50).code(chunk), await own(chunk));
  },
  async "a worker that fails, or says nothing, in mid-talk is left at once"() {
    for (const broken of [() => null, null]) {
      const worker = new Hand(() => ({ packets: [Uint8Array.of(7, 8)], leave: 300 }));
      const coder = new Coder(worker, 50);
      await until(() => coder.isNative);
      const [one, two] = chunks(samples(2 * CHUNK));
      equal(await coder.code(one), Uint8Array.of(...OPUS, 1, 300 - 256, 1, 2, 0, 7, 8));
      worker.answer = broken;
      equal(await coder.code(two), await own(two));
      equal([coder.isNative, worker.ended], [false, true]);
    }
  },
  async "an encoder that turns to silence is not believed"() {
    const coder = new Coder(await silentAfter(2));
    await until(() => coder.isNative);
    const pieces = await Promise.all(chunks(samples(3 * CHUNK)).map((chunk) => coder.code(chunk)));
    equal([pieces.map(form), pieces.map(isOwn), coder.isNative], [[OPUS, OPUS, OPUS], [false, true, true], false]);
    coder.lose();
  },
  async "a browser that claims an encoder and makes silence of everything gets ours from the first piece on"() {
    const coder = new Coder(await silentAfter(0));
    await coder.tried;
    equal([coder.isNative, isOwn(await coder.code(chunks(samples(CHUNK))[0]))], [false, true]);
    coder.lose();
  },
  async "the encoder gets the sound before the piece, and a mirrored end"() {
    let given = null;
    const coder = new Coder(new Hand((data) => { given = data; return { packets: [], leave: 0 }; }));
    await until(() => coder.isNative);
    const pcm = samples(2 * CHUNK, (at) => at);
    await coder.code(chunks(pcm)[1]);
    equal([given.skip, given.count, given.samples.length], [LEAD, CHUNK, LEAD + CHUNK + 320]);
    equal([given.samples[0], given.samples[LEAD], given.samples[LEAD + CHUNK]], [CHUNK - LEAD, CHUNK, 2 * CHUNK - 1]);
  },
  "a piece without enough before it gets silence there"() {
    const pcm = samples(CHUNK + 40);
    const padded = new Int16Array(320 + pcm.length);
    padded.set(pcm, 320);
    equal(encoded({ samples: pcm, skip: 0, count: CHUNK }), encoded({ samples: padded, skip: 320, count: CHUNK }));
  },
  async "the beginning of a chunk sounds like the chunks before it, unless the page waits for its words"() {
    const track = new VoiceTrack(() => {});
    track.push(samples(CHUNK + 3000));
    const { begun } = track;
    equal([begun.number, begun.pcm.length, begun.filled.length, begun.filled[2999], begun.filled[3000]], [1, 3000, CHUNK, tone(CHUNK + 2999), 0]);
    const bytes = ({ begun: text }) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const soon = await new Coder().begin(begun, { soon: true });
    equal([Object.keys(soon), bytes(soon)], [["begun"], plain(begun.pcm)]);
    const coded = await new Coder().begin(begun, { soon: false });
    equal([coded.begun_samples, form(bytes(coded))], [3000, OPUS]);
    const found = noise(Array.from(begun.pcm), (await decoded(bytes(coded))).slice(0, 3000));
    ok(found < -18, `noise ${found} dB`);
  },
  "plain samples are those of the piece alone"() {
    const [, second] = chunks(samples(2 * CHUNK, (at) => at));
    equal([plain(second).length, new Int16Array(plain(second).buffer)[0]], [2 * CHUNK, CHUNK]);
  },
};
