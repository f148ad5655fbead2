import { Player } from "/static/js/voice/player.js";
import { Reply } from "/static/js/voice/reply.js";
import { pace, slowed } from "/static/js/voice/slower.js";
import { equal, ok } from "./assert.js";

const RATE = 8000;
const tone = (seconds, pitch) => Float32Array.from({ length: seconds * RATE }, (_, at) => 0.5 * Math.sin((2 * Math.PI * pitch * at) / RATE));
const loud = (samples) => Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);

function pitchOf(samples) {
  let crossings = 0;
  for (let at = 1; at < samples.length; at += 1) if (samples[at - 1] < 0 && samples[at] >= 0) crossings += 1;
  return (crossings * RATE) / samples.length;
}

// A sound card whose sources last as long as their buffers say.
function card() {
  const made = { currentTime: 0, baseLatency: 0, sources: [] };
  made.createBufferSource = () => {
    const source = { connect() {}, start() { made.sources.push(source); }, stop() { source.onended(); } };
    return source;
  };
  made.createBuffer = (channels, length, rate) => ({ duration: length / rate, copyToChannel(samples) { this.samples = samples; } });
  return made;
}

const buffer = (seconds) => ({ duration: seconds, sampleRate: RATE, getChannelData: () => tone(seconds, 200) });
const settle = () => new Promise((resolve) => { setTimeout(resolve, 0); });

async function at(rate, work) {
  pace.rate = rate;
  try { await work(); } finally { pace.rate = 1; }
}

export const tests = {
  "it lasts longer, at the same pitch and loudness"() {
    const result = slowed(tone(2, 200), 0.8, RATE);
    equal(result.length, 2.5 * RATE);
    const inner = result.subarray(RATE / 4, 2 * RATE);
    ok(Math.abs(pitchOf(inner) - 200) < 3, `the pitch is ${pitchOf(inner)}`);
    ok(Math.abs(loud(inner) - loud(tone(2, 200))) < 0.02, `it is as loud as ${loud(inner)}`);
  },
  "a moment lies where its time divided by the rate is"() {
    const samples = new Float32Array(4 * RATE);
    for (const second of [1, 3]) samples.set(tone(1, 300).subarray(0, RATE / 10), second * RATE);
    const result = slowed(samples, 0.8, RATE);
    const begins = (from) => from + result.subarray(from).findIndex((sample) => Math.abs(sample) > 0.2);
    ok(Math.abs(begins(0) / RATE - 1.25) < 0.03, `the first begins at ${begins(0) / RATE}`);
    ok(Math.abs(begins(2 * RATE) / RATE - 3.75) < 0.03, `the second begins at ${begins(2 * RATE) / RATE}`);
  },
  "silence and very short sound are no trouble"() {
    equal([slowed(new Float32Array(0), 0.8, RATE).length, slowed(new Float32Array(8), 0.8, RATE).length], [0, 10]);
    equal(loud(slowed(new Float32Array(RATE), 0.8, RATE)), 0);
  },
  async "the player says how fast it was, and counts what was heard"() {
    const context = card();
    const player = new Player(context, [], () => context.currentTime);
    await at(0.8, async () => {
      const heard = player.play(buffer(2), { segment: 1 });
      equal(context.sources[0].buffer.duration, 2.5);
      context.currentTime = 2.52;
      context.sources[0].onended();
      await heard;
      equal([player.report().rate, player.report().seconds, player.report().whole], [0.8, 2.5, true]);
    });
    player.play(buffer(1), { segment: 1 });
    equal([player.report().rate, context.sources[1].buffer.duration], [undefined, 1]);
  },
  async "each piece of a reply says it for itself"() {
    const context = card();
    const player = new Player(context, [], () => context.currentTime);
    const reply = new Reply(["a", "b"], async () => buffer(2));
    const over = reply.play(player, { segment: 1, speechEnd: null, wanted: () => true, onSound() {} });
    await settle();
    context.sources[0].onended();
    await at(0.8, async () => { await settle(); });
    context.sources[1].onended();
    await over;
    equal(reply.report(player).pieces.map(({ rate, seconds }) => [rate, seconds]), [[undefined, 2], [0.8, 2.5]]);
  },
};
