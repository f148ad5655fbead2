import { Ear } from "/static/js/voice/ear.js";
import { equal, ok } from "./assert.js";

// A detector that is told by the test what it hears, and when.
function detector() {
  const made = {
    windows: [], ended: false,
    post(message) { if (message.window) made.windows.push(message); },
    end() { made.ended = true; },
    answer(chance) { for (const { sample } of made.windows.splice(0)) made.onChance(chance, sample); },
  };
  return made;
}

function listening(made) {
  const heard = [];
  const ear = new Ear((change) => heard.push(change.type), made);
  let sample = 0;
  const push = (ms, level, chance = null) => {
    for (let at = 0; at < ms; at += 20) {
      sample += 320;
      ear.push(new Int16Array(320).fill(sample), level, sample);
      if (chance !== null) made.answer(chance);
    }
  };
  return { ear, heard, push };
}

export const tests = {
  "loudness serves until the detector is ready"() {
    const made = detector();
    const { ear, heard, push } = listening(made);
    push(1000, -70);
    push(500, -20);
    equal([heard, ear.trained, made.windows.length], [["speech"], false, 0]);
    made.onReady();
    push(300, -20, 0.9);
    ok(!ear.trained, "judges changed in the middle of speech");
    push(1500, -70, 0);
    equal([heard, ear.trained], [["speech", "lull", "silence"], true]);
  },
  "the rest of a detector waits while a reply depends on the line, and is told once"() {
    const told = [];
    const made = { ...detector(), post: (message) => told.push(message) };
    const { ear } = listening(made);
    for (const yes of [false, true, true, false]) ear.hold(yes);
    made.onReady();
    ear.hold(true);
    equal(told, [{ hold: true }, { hold: false }]);
  },
  "once ready the detector alone decides"() {
    const made = detector();
    const { ear, heard, push } = listening(made);
    made.onReady();
    push(200, -70, 0);
    push(1000, -15, 0.01); // a keyboard
    push(200, -60, 0.9); // a soft voice
    equal([heard, ear.trained], [["speech"], true]);
  },
  "windows follow each other without a hole"() {
    const made = detector();
    const { push } = listening(made);
    made.onReady();
    push(1280, -70);
    equal(made.windows.map((one) => one.sample), Array.from({ length: 40 }, (_, n) => (n + 1) * 512));
    equal(made.windows[1].window.length, 512);
    equal([made.windows[0].window[0], made.windows[0].window[511], made.windows[1].window[127], made.windows[1].window[128]], [320, 640, 640, 960]);
  },
  "a detector that fails in the middle of an answer costs nothing"() {
    const made = detector();
    const { ear, heard, push } = listening(made);
    made.onReady();
    push(200, -70, 0);
    push(600, -20, 0.95);
    made.onError();
    push(500, -20);
    push(1500, -70);
    equal([heard, ear.trained, made.ended], [["speech", "lasting", "lull", "silence"], false, true]);
  },
  "a detector that falls behind is given up"() {
    const made = detector();
    const { ear, heard, push } = listening(made);
    made.onReady();
    push(200, -70, 0);
    push(1000, -20);
    made.answer(0.9);
    ok(!ear.trained && made.ended);
    push(1500, -70);
    ok(heard.includes("silence"), String(heard));
  },
};
