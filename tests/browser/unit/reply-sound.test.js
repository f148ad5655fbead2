import { ReplySound } from "/static/js/voice/reply-sound.js";
import { equal, ok } from "./assert.js";

const bytes = (text) => new TextEncoder().encode(text).buffer;
const text = (buffer) => new TextDecoder().decode(buffer);
const samples = { opus: btoa("opus"), aac: btoa("aac") };
const heard = (duration = 0.1, loudness = 0.2) => ({ duration, getChannelData: () => Float32Array.of(0, -loudness, loudness) });

// A browser that decodes only these; what it decodes as a sample has `sample` as its sound.
function browser(forms, sample = heard()) {
  const asked = [];
  const sound = async (url) => { asked.push(url); return bytes(url.split("as=")[1] ?? "wav"); };
  const decode = async (buffer) => {
    const form = text(buffer);
    if (!forms.includes(form)) throw new Error(`no ${form}`);
    return form in samples ? sample : form;
  };
  return [asked, new ReplySound(sound, decode, samples)];
}

export const tests = {
  async "this browser decodes Opus, and the samples of both forms are sound files"() {
    const context = new OfflineAudioContext(1, 48000, 48000);
    const replies = new ReplySound(null, (file) => context.decodeAudioData(file));
    equal(await replies.form, "opus");
  },

  async "Opus is asked for where it is decoded, then AAC, then WAV"() {
    for (const [forms, wanted] of [[["opus", "aac", "wav"], "/1?as=opus"], [["aac", "wav"], "/1?as=aac"], [["wav"], "/1"]]) {
      const [asked, replies] = browser(forms);
      await replies.fetch("/1");
      equal(asked, [wanted]);
    }
  },

  async "sound that came with its reply is not asked for, unless it cannot be decoded"() {
    const [asked, replies] = browser(["opus", "wav"]);
    await replies.fetch("/1", { sent: btoa("opus") });
    equal(asked, []);
    equal(await replies.fetch("/2", { sent: btoa("damaged") }), "wav");
    equal(asked, ["/2"]);
  },

  async "the likely reply is decoded once in each turn, and named where its reply is asked for"() {
    const [asked, replies] = browser(["opus", "wav"]);
    const wanted = [];
    const ask = async (headers) => { wanted.push(headers); return { sound: btoa("opus"), sound_name: "n1" }; };
    await replies.foresee(2, ask);
    await replies.foresee(2, ask);
    equal(wanted, [{ "X-Sound": "opus" }]);
    equal(await replies.headers(2), { "X-Sound": "opus", "X-Sound-Ahead": "n1" });
    equal(await replies.headers(3), { "X-Sound": "opus" });
    ok(await replies.fetch("/2", { name: "n1" }) !== null);
    equal(asked, []);
    await replies.fetch("/2", { sent: btoa("opus"), name: "another" });
    equal(asked, []);
    await replies.fetch("/2", { name: "another" });
    equal(asked, ["/2?as=opus"]);
  },

  async "a likely reply that is late, damaged or refused is no reply"() {
    const [, replies] = browser(["opus", "wav"]);
    let late = null;
    const first = replies.foresee(2, () => new Promise((resolve) => { late = resolve; }));
    await replies.form;
    await replies.foresee(3, async () => ({}));
    late({ sound: btoa("opus"), sound_name: "n1" });
    await first;
    equal(await replies.headers(2), { "X-Sound": "opus" });
    equal(await replies.headers(3), { "X-Sound": "opus" });
    for (const [turn, ask] of [[4, async () => ({ sound: btoa("damaged"), sound_name: "n2" })], [5, async () => { throw new Error("404"); }]]) {
      await replies.foresee(turn, ask).catch(() => {});
      equal(await replies.headers(turn), { "X-Sound": "opus" });
    }
  },

  async "a browser that decodes to silence, or to next to nothing, gets another form"() {
    for (const sample of [heard(0.1, 0), heard(0.01)]) {
      const [asked, replies] = browser(["opus", "aac", "wav"], sample);
      await replies.fetch("/1");
      equal(asked, ["/1"]);
    }
  },

  async "a file that is not decoded is fetched as WAV, and so are those after it"() {
    let calls = 0;
    const asked = [];
    const decode = async (buffer) => {
      calls += 1;
      if (calls > 1 && text(buffer) !== "wav") throw new Error("damaged");
      return calls === 1 ? heard() : text(buffer);
    };
    const replies = new ReplySound(async (url) => { asked.push(url); return bytes(url.includes("as=") ? "damaged" : "wav"); }, decode, samples);
    equal(await replies.fetch("/1"), "wav");
    equal(await replies.fetch("/2"), "wav");
    equal(asked, ["/1?as=opus", "/1", "/2"]);
  },

  async "a piece without a sound is none in any form"() {
    const replies = new ReplySound(async () => null, async () => heard(), samples);
    ok(await replies.fetch("/1") === null);
  },
};
