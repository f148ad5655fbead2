import { Coder, plain, startOpus } from "/static/js/voice/coder.js";
import { flac } from "/static/js/voice/flac.js";
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

// The browser's own decoder: its samples, of 16 bits.
async function decoded(file) {
  const sound = await new OfflineAudioContext(1, 1, 16000).decodeAudioData(file.slice().buffer);
  equal([sound.sampleRate, sound.numberOfChannels], [16000, 1]);
  return Array.from(sound.getChannelData(0), (value) => Math.round(value * 32768));
}

// The same numbers each time, evenly between -1 and 1.
function dice(seed) {
  let state = seed;
  return () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 2 ** 31 - 1; };
}

const FLAC = [0x66, 0x4c, 0x61, 0x43];
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
  async "FLAC of a soft sound loses nothing, and silence takes nearly no bytes"() {
    const soft = dice(1);
    for (const of of [() => 0, () => -7, (at) => Math.round(9 * Math.sin(at / 9)), () => Math.round(3 * soft()), (at) => (at === 4321 ? 1 : 0)]) {
      const pcm = samples(CHUNK, of);
      equal(await decoded(flac(pcm)), Array.from(pcm));
    }
    ok(flac(samples(CHUNK, () => 0)).length < 200);
  },
  async "FLAC of a loud sound keeps its bytes, and loses its lowest bits"() {
    const loud = dice(2);
    const voiced = (at) => Math.round(9000 * Math.sin(at / 40 + 3 * Math.sin(at / 900)) + 2000 * Math.sin(at / 3.3) + 60 * loud());
    for (const [of, most] of [[voiced, -40], [(at) => tone(at), -40], [() => Math.round(32767 * loud()), -16]]) {
      const pcm = samples(CHUNK, of);
      const file = flac(pcm);
      const heard = await decoded(file);
      equal(heard.length, CHUNK);
      ok(file.length <= 4000, `${file.length} bytes`);
      ok(noise(pcm, heard) < most, `noise ${noise(pcm, heard)} dB`);
    }
  },
  async "FLAC follows a jump from silence to the loudest sound and back, and silence stays silent"() {
    const pcm = samples(CHUNK, (at) => (at > 3000 && at < 5000 ? (at % 40 < 20 ? 32767 : -32768) : 0));
    const heard = await decoded(flac(pcm));
    ok(heard.slice(0, 3000).every((value) => value === 0));
    ok(heard.slice(5000).every((value) => value === 0));
    ok(noise(pcm, heard) < -30, `noise ${noise(pcm, heard)} dB`);
  },
  "a known file: the head, and a constant block with its two checksums"() {
    const file = flac(samples(CHUNK, () => 5));
    equal(Array.from(file.slice(0, 26)), [...FLAC, 0x80, 0, 0, 34, 0x03, 0xe8, 0x03, 0xe8, 0, 0, 0, 0, 0, 0, 0x03, 0xe8, 0x00, 0xf0, 0, 0, 0x1f, 0x40]);
    equal(Array.from(file.slice(42, 55)), [0xff, 0xf8, 0x75, 0x08, 0, 0x03, 0xe7, 0x73, 0, 0, 5, 0x35, 0xfa]);
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
  async "until the encoder was tried out, and where it does not work, pieces are FLAC"() {
    const chunk = chunks(samples(CHUNK))[0];
    for (const worker of [null, new Hand(null, false), new Hand(null)]) {
      const piece = await new Coder(worker).code(chunk);
      equal(piece, flac(chunk));
    }
  },
  async "an encoder that fails, or says nothing, in mid-talk is left for FLAC at once"() {
    for (const broken of [() => null, null]) {
      const worker = new Hand(() => Uint8Array.of(1, 2, 3));
      const coder = new Coder(worker, 50);
      await until(() => coder.opus);
      const [one, two] = chunks(samples(2 * CHUNK));
      equal((await coder.code(one))[2], 2);
      worker.answer = broken;
      equal(await coder.code(two), flac(two));
      equal([coder.opus, worker.ended], [false, true]);
    }
  },
  async "an encoder that turns to silence is not believed"() {
    const coder = new Coder(await silentAfter(2));
    await until(() => coder.opus);
    const [one, two] = chunks(samples(2 * CHUNK));
    equal([(await coder.code(one))[2], Array.from((await coder.code(two)).slice(0, 4)), coder.opus], [2, FLAC, false]);
  },
  async "a browser that claims an encoder and makes silence of everything sends FLAC from the first piece on"() {
    const coder = new Coder(await silentAfter(0));
    await until(() => !coder.worker);
    equal([coder.opus, Array.from((await coder.code(chunks(samples(CHUNK))[0])).slice(0, 4))], [false, FLAC]);
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
    equal([plain(second).length, new Int16Array(plain(second).buffer)[0]], [2 * CHUNK, CHUNK]);
  },
};
