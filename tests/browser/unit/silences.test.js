import { Patience } from "/static/js/voice/patience.js";
import { Silences } from "/static/js/voice/silences.js";
import { equal, ok } from "./assert.js";

const tick = () => new Promise((resolve) => { setTimeout(resolve, 0); });

function world(judged = {}) {
  const made = {
    time: 0, asked: [], waits: [],
    ear: { quietSince: null, stirs: false, wait(ms) { made.waits.push(ms); } },
    track: { samples: 0, first: 3 },
  };
  made.silences = new Silences({
    ear: made.ear, track: made.track, now: () => made.time,
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
    equal(made.waits, [400, 470]);
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
  async "an unreachable server changes nothing"() {
    const made = world(new Error("down"));
    made.ear.quietSince = 8000;
    made.track.samples = 16000;
    made.silences.lull(8000);
    made.silences.frame();
    const call = made.silences.call(8000);
    made.silences.frame();
    equal([await call, made.waits], [null, []]);
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
  "a candidate who was nearly cut short gets more time, up to a limit"() {
    const patience = new Patience();
    const [whole, open, none] = [850, 2900, 0].map((ms) => ({ patience_ms: ms, at_rest_ms: ms }));
    equal([patience.send(whole), patience.speak(whole), patience.send(open), patience.speak(none)], [450, 850, 2500, 0]);
    for (let n = 0; n < 9; n += 1) patience.wasWrong();
    equal([patience.send(whole), patience.speak(whole), patience.speak(none)], [1350, 1750, 0]);
  },
};
