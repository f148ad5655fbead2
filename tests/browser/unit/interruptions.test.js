import { guard, stayLit, whenGone } from "/static/js/voice/interruptions.js";
import { equal } from "./assert.js";

// A Sound whose parts fail when told, and a clock that moves when told.
function made() {
  const [context, track, page] = [new EventTarget(), new EventTarget(), new EventTarget()];
  const sound = { context, stream: { getAudioTracks: () => [track] }, recorder: { works: true } };
  const kept = { sound, page, track, taken: 0, resumed: 0, over: [] };
  Object.assign(context, { state: "running", resume: async () => { kept.resumed += 1; } });
  Object.assign(track, { muted: false });
  const wait = () => new Promise((resolve) => { kept.over.push(resolve); });
  kept.look = guard(sound, () => { kept.taken += 1; }, { page, wait });
  kept.becomes = (state) => { context.state = state; context.dispatchEvent(new Event("statechange")); };
  kept.mute = (yes) => { track.muted = yes; track.dispatchEvent(new Event(yes ? "mute" : "unmute")); };
  kept.later = async () => { for (const done of kept.over.splice(0)) done(); await new Promise((resolve) => { setTimeout(resolve, 0); }); };
  return kept;
}

// A microphone among devices that come and go.
function pluggedIn(list = [{ kind: "audioinput", deviceId: "a" }]) {
  const [devices, track] = [new EventTarget(), new EventTarget()];
  const kept = { track, devices, list, asked: 0, lost: 0 };
  Object.assign(track, { readyState: "live", getSettings: () => ({ deviceId: "a" }) });
  devices.enumerateDevices = async () => { kept.asked += 1; return kept.list; };
  kept.frame = whenGone(track, () => { kept.lost += 1; }, devices);
  kept.changes = (list) => { kept.list = list; devices.dispatchEvent(new Event("devicechange")); return kept.later(); };
  kept.later = () => new Promise((resolve) => { setTimeout(resolve, 0); });
  return kept;
}

export const tests = {
  async "a call that takes the sound is told once, after it was asked to come back"() {
    const kept = made();
    kept.becomes("interrupted");
    kept.becomes("suspended");
    equal(kept.resumed, 1);
    equal(kept.taken, 0);
    await kept.later();
    equal(kept.taken, 1);
  },
  async "a microphone that is muted for a moment is no interruption, one that stays muted is"() {
    const kept = made();
    kept.mute(true);
    kept.mute(false);
    await kept.later();
    equal(kept.taken, 0);
    kept.mute(true);
    await kept.later();
    equal(kept.taken, 1);
  },
  async "a page that wakes up is looked at, and a recorder that stopped by itself is noticed"() {
    for (const wake of [(kept) => kept.page.dispatchEvent(new Event("visibilitychange")), (kept) => kept.page.dispatchEvent(new Event("resume")), (kept) => kept.look()]) {
      const kept = made();
      wake(kept);
      await kept.later();
      equal(kept.taken, 0);
      kept.sound.recorder.works = false;
      wake(kept);
      await kept.later();
      equal(kept.taken, 1);
    }
  },
  async "nothing is an interruption while nothing is recorded"() {
    const kept = made();
    kept.sound.recorder = null;
    kept.becomes("suspended");
    kept.mute(true);
    await kept.later();
    equal(kept.taken, 0);
    equal(kept.over.length, 0);
  },
  async "a sound that was closed is no interruption"() {
    const kept = made();
    kept.becomes("suspended");
    kept.becomes("closed");
    await kept.later();
    equal(kept.taken, 0);
  },
  async "the screen is kept lit again each time the page comes to the front"() {
    const page = new EventTarget();
    let asked = 0;
    page.visibilityState = "visible";
    stayLit(page, { request: async () => { asked += 1; } });
    equal(asked, 1);
    page.visibilityState = "hidden";
    page.dispatchEvent(new Event("visibilitychange"));
    equal(asked, 1);
    page.visibilityState = "visible";
    page.dispatchEvent(new Event("visibilitychange"));
    equal(asked, 2);
  },
  async "a microphone that is missing from the list is gone, also where its track does not end, and is told once"() {
    const kept = pluggedIn();
    await kept.later();
    await kept.changes([{ kind: "audiooutput", deviceId: "a" }]);
    equal(kept.lost, 1);
    kept.track.dispatchEvent(new Event("ended"));
    await kept.changes([]);
    equal(kept.lost, 1);
  },
  async "other devices may come and go, and what the page itself has stopped is not gone"() {
    const kept = pluggedIn();
    await kept.later();
    await kept.changes([{ kind: "audioinput", deviceId: "b" }, { kind: "audioinput", deviceId: "a" }]);
    equal(kept.lost, 0);
    kept.track.readyState = "ended";
    await kept.changes([]);
    equal(kept.lost, 0);
  },
  async "two seconds in which nothing comes in are a reason to look, quiet ones are not"() {
    const kept = pluggedIn();
    await kept.later();
    kept.list = [];
    for (let frame = 0; frame < 200; frame += 1) kept.frame(-70);
    equal(kept.asked, 1);
    for (let frame = 0; frame < 100; frame += 1) kept.frame(-Infinity);
    equal(kept.asked, 2);
    await kept.later();
    equal(kept.lost, 1);
  },
  async "a microphone that was in no list is left alone"() {
    const kept = pluggedIn([]);
    await kept.later();
    await kept.changes([{ kind: "audioinput", deviceId: "b" }]);
    equal(kept.lost, 0);
  },
};
