// Stops and starts the microphone in the middle of a talk: for a pause, and for those who began in writing.
import { Check } from "./check.js";
import * as view from "./view.js";

const KEPT_RUNS = 45; // of 50 that an interview may have: from then on a pause only mutes

// The run of the recorder ends, the microphone falls silent, the time limit waits.
export async function rest(talk) {
  talk.resting = (async () => {
    talk.outbox.press("none");
    if (talk.sound) {
      const ends = talk.segment < KEPT_RUNS;
      talk.sound.onFrame = ends ? () => {} : (pcm) => talk.track.push(pcm); // a run's clock goes on, and the track's with it
      view.level(-100);
      await talk.sound.rest({ ends });
    }
    talk.allowance?.take(await talk.protocol.post("pause", { paused: true }));
  })();
  await talk.resting;
}

// deaf: whether a microphone that is gone is done without. Resolves with the talk going on, unless one is needed and missing.
export async function wake(talk, { deaf = talk.writing } = {}) {
  if (talk.state.phase !== "paused" || talk.waking) return;
  talk.waking = true;
  try {
    await talk.resting;
    if (talk.sound && !(await talk.sound.awake()) && !(deaf ? talk.deaf() : await hear(talk))) return;
    talk.taken = null;
    talk.allowance?.take(await talk.protocol.post("pause", { paused: false }));
    if (talk.sound) await talk.record();
    talk.happens({ type: "goOn", at: talk.at, audible: Boolean(talk.sound) });
  } finally {
    talk.waking = false;
  }
}

// A microphone for someone who has none yet. Resolves with whether there is one now.
export async function hear(talk) {
  if (talk.opening) return false;
  talk.opening = true;
  try {
    const check = new Check(() => {});
    if (!(await check.begin())) {
      view.say("phase", check.problem);
      return false;
    }
    await talk.listens(check.sound);
    return true;
  } finally {
    talk.opening = false;
  }
}
