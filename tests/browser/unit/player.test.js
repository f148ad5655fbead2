import { Player, lagOf } from "/static/js/voice/player.js";
import { equal, ok } from "./assert.js";

// A sound card of the tests' own: time passes when told, sources end when their sound is over.
function card() {
  const made = { currentTime: 10, baseLatency: 0, started: [] };
  made.createBufferSource = () => {
    const source = {
      connect() {}, start(at, offset) { Object.assign(source, { at, offset, on: true }); made.started.push(source); },
      stop() { if (source.on) { source.on = false; source.onended(); } },
    };
    return source;
  };
  made.pass = (seconds) => {
    made.currentTime += seconds;
    for (const one of made.started) {
      if (one.on && made.currentTime >= one.at + one.buffer.duration - one.offset) { one.on = false; one.onended(); }
    }
  };
  made.sounding = () => made.started.filter((one) => one.on).length;
  return made;
}

const near = (a, b) => ok(Math.abs(a - b) < 0.002, `${a} is not ${b}`);

function playing(seconds = 5) {
  const context = card();
  const player = new Player(context, [{}], () => context.currentTime - 10);
  const state = { done: false, sounded: 0 };
  player.expect(1);
  player.play({ duration: seconds }, { segment: 1, onSound: () => { state.sounded += 1; } }).then(() => { state.done = true; });
  return { context, player, state };
}

const settle = () => new Promise((resolve) => { setTimeout(resolve, 0); });

export const tests = {
  "Firefox, which may freeze then, is not asked how late its sound is"() {
    const context = { get outputLatency() { throw new Error("asked"); }, get baseLatency() { throw new Error("asked"); } };
    near(lagOf(context, "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0"), 0.04);
    near(lagOf({ outputLatency: 0.25, baseLatency: 0.01 }, "Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0.0.0 Safari/537.36"), 0.25);
    near(lagOf({ baseLatency: 0.01 }, "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Safari/604.1"), 0.01);
  },
  async "a pause keeps its place and goes on a little before it"() {
    const { context, player, state } = playing();
    context.pass(2.02);
    player.pause();
    equal([context.sounding(), player.report().whole], [0, false]);
    near(player.report().seconds, 2);
    context.pass(3);
    await settle();
    ok(!state.done, "a pause is no end");
    player.resume();
    near(context.started.at(-1).offset, 1.7);
    context.pass(1.02);
    player.stop();
    near(player.report().seconds, 2.7);
    near(player.report().started, 5.02 + 0.02 - 1.7);
    await settle();
    equal([state.done, state.sounded, context.sounding()], [true, 1, 0]);
  },
  async "after a pause it is heard to its end"() {
    const { context, player, state } = playing(2);
    context.pass(1);
    player.pause();
    player.resume();
    context.pass(1.5);
    await settle();
    equal([state.done, player.report().whole, player.report().seconds], [true, true, 2]);
  },
  async "stopped in a pause it tells what was heard"() {
    const { context, player, state } = playing();
    context.pass(1.52);
    player.pause();
    context.pass(9);
    player.stop();
    await settle();
    near(player.report().seconds, 1.5);
    equal([state.done, player.report().whole], [true, false]);
  },
  async "a piece that comes while the agent pauses waits as well"() {
    const context = card();
    const player = new Player(context, [{}], () => context.currentTime - 10);
    const state = { sounded: 0 };
    player.expect(1);
    player.pause();
    player.play({ duration: 1 }, { segment: 1, onSound: () => { state.sounded += 1; } });
    equal([context.sounding(), state.sounded], [0, 0]);
    player.resume();
    equal([context.sounding(), state.sounded, context.started[0].offset], [1, 1, 0]);
    player.expect(1);
    player.play({ duration: 1 }, { segment: 1 });
    equal(context.sounding(), 1);
  },
};
