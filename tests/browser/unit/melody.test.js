import { Melody, pitchOf } from "/static/js/voice/melody.js";
import { Patience } from "/static/js/voice/patience.js";
import { equal, ok } from "./assert.js";
import { chance } from "./virtual.js";

// A buzz with the harmonics of a voice, of this pitch at each moment.
function hum(seconds, pitch) {
  const samples = new Int16Array(Math.round(seconds * 16000));
  let phase = 0;
  for (let at = 0; at < samples.length; at += 1) {
    phase += pitch(at / 16000) / 16000;
    samples[at] = [1, 2, 3, 4].reduce((sum, n) => sum + (2500 / n) * Math.sin(2 * Math.PI * n * phase), 0);
  }
  return samples;
}

function heard(samples, melody = new Melody()) {
  for (let at = 0; at + 320 <= samples.length; at += 320) melody.push(samples.subarray(at, at + 320), at + 320);
  return melody;
}

export const tests = {
  "the pitch of deep and high voices is found, and noise has none"() {
    for (const hertz of [55, 75, 110, 180, 260, 380]) {
      const found = pitchOf(Float32Array.from(hum(0.05, () => hertz)));
      ok(Math.abs(12 * Math.log2(found / hertz)) < 0.5, `${hertz} Hz was taken for ${found}`);
    }
    const { between } = chance(3);
    equal(pitchOf(Float32Array.from({ length: 800 }, () => between(-600, 600))), 0);
    equal(pitchOf(new Float32Array(800)), 0);
  },
  "a voice that sinks at the end has come to rest, one that stays up or rises has not"() {
    const ends = 32000;
    const at = (end) => heard(hum(2, (s) => (s < 1.7 ? 120 + 8 * Math.sin(9 * s) : end(s - 1.7)))).falls(ends);
    equal([at((s) => 120 - 130 * s), at(() => 120), at((s) => 120 + 100 * s)], [true, false, false]);
  },
  "a deep rumble is no voice, however alike it is from one sample to the next"() {
    equal(pitchOf(Float32Array.from({ length: 800 }, (_, at) => 3000 * Math.sin((2 * Math.PI * 20 * at) / 16000))), 0);
  },
  "a voice that creaks, or is taken for one twice as high, has come to rest all the same"() {
    const at = (pitch) => heard(hum(2, pitch)).falls(32000);
    ok(at((s) => (s < 1.8 ? 120 : 53)));
    ok(at((s) => (s < 1.6 ? 120 : s < 1.92 ? 88 : 240)));
  },
  "a voice that ends without a pitch has come to rest, breath and the sound of the room do not change how it ended"() {
    const { between } = chance(5);
    const ended = (seconds, end) => {
      const samples = hum(2, () => 120);
      samples.set(Int16Array.from({ length: seconds * 16000 }, end), (2 - seconds) * 16000);
      return heard(samples).falls(32000);
    };
    const dull = (loudness, last = 0) => () => (last = 0.9 * last + between(-loudness, loudness));
    equal([ended(0.3, dull(2000)), ended(0.3, dull(200)), ended(0.3, () => between(-3000, 3000))], [true, false, false]);
  },
  "a voice that is hardly known yet is not taken to be at rest, and silence tells nothing"() {
    equal(heard(hum(0.3, () => 120)).falls(4800), false);
    equal(heard(hum(0.7, (s) => 120 - 60 * s)).falls(11200), false);
    equal(heard(hum(2, () => 120)).falls(64000), null);
  },
  "a voice that was heard before is known when samples are counted from the start again"() {
    const melody = heard(hum(2, () => 120)).restart();
    equal(melody.falls(8000), null);
    const word = hum(0.5, (s) => (s < 0.3 ? 120 : 90));
    for (let at = 0; at + 320 <= word.length; at += 320) melody.push(word.subarray(at, at + 320), at + 320);
    equal(melody.falls(8000), true);
    equal(heard(word).falls(8000), false);
  },
  "languages whose words have melodies are not judged by it"() {
    const samples = hum(2, (s) => (s < 1.7 ? 120 : 120 - 130 * (s - 1.7)));
    const falls = (...languages) => languages.map((language) => heard(samples, Melody.of(language)).falls(32000));
    equal(falls("zh-CN", "th-TH", "vi-VN", "no-NO", "ja-JP"), [null, null, null, null, null]);
    equal(falls("en-US", "de-DE"), [true, true]);
  },
  "a voice that is 12 dB softer than before has turned away, one that is 5 dB softer has not, and noise is no voice"() {
    const { between } = chance(7);
    const softened = (decibels, from = 2) => hum(4, (s) => 120 + 8 * Math.sin(9 * s)).map((one, at) => one * (at < from * 16000 ? 1 : 10 ** (decibels / -20)) + between(-60, 60));
    const isSoft = (samples, from = 2) => heard(samples).isSoft(from * 16000);
    equal([0, 5, 12].map((decibels) => isSoft(softened(decibels))), [false, false, true]);
    equal([isSoft(softened(12, 0.6), 0.6), isSoft(softened(12, 3.8), 3.8)], [false, false]); // either is hardly known
    equal(isSoft(Int16Array.from({ length: 64000 }, (_, at) => (at < 32000 ? between(-8000, 8000) : between(-500, 500)))), false);
    ok(heard(softened(12), Melody.of("th-TH")).isSoft(32000));
  },
  "words and melody together decide how long a silence may last"() {
    const patience = new Patience();
    const judged = (words, atRest = words) => ({ patience_ms: words, at_rest_ms: atRest });
    equal([judged(850, 650), judged(2900, 870), judged(20000)].map((one) => patience.speak(one, true)), [650, 870, 20000]);
    equal([850, 1400, 2900, 20000].map((words) => patience.speak(judged(words, 600), false)), [2600, 2600, 2900, 20000]);
    equal([judged(850, 650), judged(2900, 2700), judged(0)].map((one) => patience.speak(one)), [850, 2900, 0]);
    equal([patience.speak(judged(0), false), patience.send(null), patience.send(null, true), patience.send(null, false)], [0, null, 400, 2200]);
    equal([true, false, null].map((falls) => patience.speak({ patience_ms: 850, at_rest_ms: 650, in_the_air_ms: 850 }, falls)), [650, 850, 850]);
    equal([patience.send(judged(1400, 1200), true), patience.speak({ patience_ms: 850 }, true)], [800, 850]);
    patience.paused(900);
    equal([patience.speak(judged(850, 650), true), patience.speak(judged(850, 650)), patience.speak(judged(2900, 2700)), patience.speak(judged(0))], [1200, 1200, 2900, 0]);
    patience.paused(0);
    patience.wasWrong();
    equal([patience.speak(judged(850, 650), true), patience.speak(judged(0), true)], [950, 0]);
  },
};
