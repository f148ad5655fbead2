import { Patience } from "/static/js/voice/patience.js";
import { Silences } from "/static/js/voice/silences.js";
import { equal, ok } from "./assert.js";

const tick = () => new Promise((resolve) => { setTimeout(resolve, 0); });

// A voice that fell silent 0.26 s ago at this sample.
const lull = (made, to, pcm = new Int16Array(0)) => {
  made.ear.quietSince = to;
  made.track.samples = to + 4160;
  made.track.begun = { number: Math.floor(made.track.samples / 8000), pcm };
  made.silences.lull(to);
};

function world(judged = {}) {
  const made = {
    time: 0, asked: [], waits: [],
    ear: { quietSince: null, stirs: false, longest: 0, wait(ms) { made.waits.push(ms); } },
    track: { samples: 0, first: 3, begun: { number: 0, pcm: new Int16Array(0) } },
  };
  made.silences = new Silences({
    ear: made.ear, track: made.track, melody: { falls: () => null, isSoft: () => false }, now: () => made.time,
    ask: async (chunks) => { made.asked.push(chunks); if (judged instanceof Error) throw judged; return judged; },
  });
  return made;
}

export const tests = {
  async "the server is asked once the sound with the last word is whole"() {
    const made = world({ patience_ms: 2900, counts: null });
    made.ear.quietSince = 47000; // its last word ends in chunk 6, which is whole at sample 56000
    made.track.samples = 51200;
    made.silences.lull(47000);
    made.silences.frame();
    equal(made.asked, []);
    made.track.samples = 56000;
    made.silences.frame();
    made.silences.frame();
    await tick();
    equal([made.asked, made.waits], [[{ first_chunk: 3, last_chunk: 6, interrupts: false }], [2500]]);
  },
  async "after a voice that came to rest the server's shorter wait counts, for the turn and for its reply"() {
    const made = world({ patience_ms: 2900, at_rest_ms: 870 });
    made.silences.melody = { falls: () => true };
    made.ear.quietSince = 8000;
    made.track.samples = 16000;
    made.silences.lull(8000);
    made.silences.frame();
    await tick();
    equal(made.waits, [700, 470]); // its words are waited for
    let heard = false;
    made.silences.hold(1000, { patience_ms: 1400, at_rest_ms: 1200 }, () => false).then(() => { heard = true; });
    made.time = 2199;
    made.silences.frame();
    await tick();
    ok(!heard, "too early");
    made.time = 2200;
    made.silences.frame();
    await tick();
    ok(heard);
  },
  async "whoever has gone on meanwhile is not judged"() {
    const made = world({ patience_ms: 850 });
    made.ear.quietSince = 8000;
    made.track.samples = 16000;
    made.silences.lull(8000);
    made.ear.quietSince = null;
    made.silences.frame();
    await tick();
    equal([made.asked, made.waits], [[], []]);
    made.ear.quietSince = 8000;
    made.silences.lull(8000);
    made.silences.frame();
    made.ear.quietSince = null; // while the server thinks
    await tick();
    equal([made.asked.length, made.waits], [1, []]);
  },
  async "where the answer may be over soon, the sound that is no whole chunk yet goes along"() {
    const made = world({ text: "I am a nurse.", patience_ms: 850, at_rest_ms: 650 });
    made.silences.melody = { falls: () => true };
    lull(made, 25000, Int16Array.of(1, 2, 3)); // its last word ends in chunk 3, which is whole at sample 32000
    const { begun } = made.track;
    made.silences.frame();
    await tick();
    made.track.samples = 32000;
    made.silences.frame();
    await tick();
    equal([made.asked, made.waits], [[{ first_chunk: 3, last_chunk: 3, interrupts: false, begun }], [700, 400]]);
  },
  async "a voice that stayed up waits for whole chunks, and so does a thin line"() {
    for (const [falls, early] of [[false, true], [true, false]]) {
      const made = world({ text: "I am", patience_ms: 2900 });
      Object.assign(made.silences, { melody: { falls: () => falls }, early: () => early });
      lull(made, 25000, Int16Array.of(1));
      await tick();
      equal(made.asked, []);
      made.track.samples = 32000;
      made.silences.frame();
      await tick();
      equal(made.asked, [{ first_chunk: 3, last_chunk: 3, interrupts: false }]);
    }
  },
  async "what cannot hear the beginning of a chunk is asked about whole chunks, and soon about nothing else"() {
    const made = world({ text: null, patience_ms: null });
    made.silences.melody = { falls: () => true };
    lull(made, 25000, Int16Array.of(1));
    await tick();
    equal([made.asked.length, made.waits], [1, [700]]);
    made.track.samples = 32000;
    made.silences.frame();
    await tick();
    equal([made.asked.length, made.asked[1].begun, made.waits], [2, undefined, [700, 400]]);
    for (const to of [41000, 57000]) {
      lull(made, to, Int16Array.of(1));
      await tick();
    }
    equal(made.asked.length, 4);
    lull(made, 73000, Int16Array.of(1));
    await tick();
    equal(made.asked.length, 4);
  },
  async "what is unknown because a newer question replaced it says nothing about the engine"() {
    const made = world({ text: null, patience_ms: null });
    made.silences.melody = { falls: () => true };
    for (const to of [25000, 41000, 57000]) {
      lull(made, to, Int16Array.of(1));
      made.ear.quietSince = null; // while the server works on it
      await tick();
    }
    lull(made, 73000, Int16Array.of(1));
    await tick();
    equal(made.asked.length, 4);
  },
  async "a candidate who has paused for long and gone on is given the time to do so again"() {
    const wanted = { text: "I called the customer.", patience_ms: 850, at_rest_ms: 650, in_the_air_ms: 2600 };
    for (const [longest, continues, waits] of [[600, false, 400], [900, false, 800], [0, true, 800]]) {
      const made = world(wanted);
      Object.assign(made.silences, { melody: { falls: () => true }, continues: () => continues });
      made.ear.longest = longest;
      lull(made, 25000, Int16Array.of(1));
      await tick();
      equal([made.waits, made.asked[0].continues], [[700, waits], continues || undefined]);
    }
  },
  async "words that are heard badly are not waited for where the voice came to rest"() {
    const made = world({ text: "i am a nurse and", patience_ms: 2900, at_rest_ms: 870 });
    Object.assign(made.silences, { looks: false, melody: { falls: () => true } });
    lull(made, 25000, Int16Array.of(1));
    await tick();
    equal([made.waits, made.asked.length, "begun" in made.asked[0]], [[400], 1, true]); // heard ahead, but not judged by
    made.track.samples = 32000;
    made.silences.frame();
    await tick();
    equal([made.waits, made.asked.length, "begun" in made.asked[1]], [[400, 470], 2, false]);
  },
  async "an unreachable server changes nothing"() {
    const made = world(new Error("down"));
    made.ear.quietSince = 8000;
    made.track.samples = 16000;
    made.silences.lull(8000);
    made.silences.frame();
    const call = made.silences.call({ from: 0, to: 8000, early: false });
    made.silences.frame();
    equal([await call, made.waits], [null, []]);
  },
  async "soft words over the agent count if the server knows that they are meant for it, or if they go on with an answer"() {
    for (const [counts, early, wanted] of [[true, false, true], [false, false, false], [null, false, false], [null, true, null]]) {
      const made = world({ counts });
      made.silences.melody = { isSoft: (from) => from === 500 };
      made.track.samples = 16000;
      const call = made.silences.call({ from: 500, to: 8000, early });
      made.silences.frame();
      equal([await call, made.asked[0].softly], [wanted, early ? undefined : true]);
    }
  },
  async "a reply is held until the answer has been over for long enough"() {
    const made = world();
    let heard = false;
    made.time = 1000;
    made.silences.hold(800, { patience_ms: 1400 }, () => false).then(() => { heard = true; });
    made.time = 2199;
    made.silences.frame();
    await tick();
    ok(!heard, "too early");
    made.time = 2200;
    made.ear.stirs = true;
    made.silences.frame();
    await tick();
    ok(!heard, "over somebody who just begins to speak");
    made.ear.stirs = false;
    made.silences.frame();
    await tick();
    ok(heard);
  },
  async "a held reply is let go as soon as nobody waits for it"() {
    const made = world();
    let over = false;
    const held = made.silences.hold(0, { patience_ms: 20000 }, () => over);
    over = true;
    made.silences.frame();
    await held;
    await made.silences.hold(null, { patience_ms: 20000 }, () => false); // the button: surely over
    await made.silences.hold(0, { patience_ms: 0 }, () => false); // nothing to be patient about
  },
  "a candidate who was cut short gets more time, up to a limit"() {
    const patience = new Patience();
    const [whole, open, none] = [850, 2900, 0].map((ms) => ({ patience_ms: ms, at_rest_ms: ms }));
    equal([patience.send(whole), patience.speak(whole), patience.send(open), patience.speak(none)], [450, 850, 2500, 0]);
    for (let n = 0; n < 9; n += 1) patience.wasWrong();
    equal([patience.send(whole), patience.speak(whole), patience.speak(none)], [1350, 1750, 0]);
  },
};
