import { equal, ok } from "./assert.js";
import { chance, open } from "./virtual.js";

const SCRIPTS = 60;
const SECONDS = 60;
const OVERLAP = 200; // ms for which agent and candidate may be heard at once

// The page's modules, which look for its elements when they are loaded.
let made = null;
async function modules() {
  if (made) return made;
  const page = new DOMParser().parseFromString(await (await fetch("/interview/api/flow/one")).text(), "text/html");
  for (const script of page.querySelectorAll("script, link")) script.remove();
  document.documentElement.lang = page.documentElement.lang;
  document.body.replaceChildren(...page.body.children);
  const [{ Talk }, { Player }, { wake }] = await Promise.all(["talk", "player", "pausing"].map((name) => import(`/static/js/voice/${name}.js`)));
  made = { Talk, Player, wake };
  return made;
}

const engines = ({ between, one, random }) => ({
  latency: () => between(40, 1400),
  patience: () => one([0, null, 850, 1400, 2900]),
  seconds: () => between(0.5, 6),
  counts: (kind) => (random() < 0.1 ? null : kind === "words"),
  refuses: () => random() < 0.05,
});

const PRESSES = {
  finished: (talk) => talk.happens({ type: "finished", at: talk.at }),
  think: (talk) => talk.happens({ type: "think", at: talk.at }),
  repeat: (talk) => talk.happens({ type: "ask", kind: "repeat" }),
  skip: (talk) => talk.happens({ type: "ask", kind: "skip" }),
  write: (talk) => talk.write(!talk.writing),
  typed: (talk) => talk.writing && talk.happens({ type: "typed", text: "typed" }),
  pause: (talk) => (talk.state.phase === "paused" ? made.wake(talk) : talk.happens({ type: "pause", at: talk.at })),
};

// What the candidate does next: words, a cough or murmur, or nothing for a while.
function next({ between, random, one }) {
  const kind = random() < 0.5 ? "quiet" : one(["words", "words", "murmur"]);
  const [low, high] = { quiet: [100, 4000], words: [300, 5000], murmur: [60, 500] }[kind];
  return { kind, ms: between(low, high) };
}

async function play(seed, { presses }) {
  const dice = chance(seed);
  const world = await open(await modules(), engines(dice));
  const [begun, said] = [world.clock.now, []];
  try {
    for (let both = 0; world.clock.now < begun + SECONDS * 1000;) {
      const { kind, ms } = next(dice);
      const part = { kind, from: world.talk.at, ms, phase: world.talk.state.phase };
      for (let left = ms; left > 0; left -= 20) {
        await world.frame(kind !== "quiet", kind);
        const heard = kind !== "quiet" && !world.talk.writing && world.sound.started !== null;
        both = heard && world.audible ? both + 20 : 0;
        check(world, both, seed);
        if (presses && dice.random() < 0.006) await press(world, dice.one(Object.keys(PRESSES)));
        if (world.talk.state.phase === "paused" && dice.random() < 0.01) await press(world, "pause");
      }
      if (kind === "words") said.push({ ...part, to: world.talk.at });
    }
    return { said, turns: world.turns, rests: await rests(world, seed) };
  } finally {
    world.close();
  }
}

// Half a minute of silence: whether it was the candidate's turn, or a pause, in the meantime.
async function rests(world, seed) {
  let found = false;
  for (let left = 30000; left > 0; left -= 20) {
    await world.frame(false);
    check(world, 0, seed);
    const { phase, think } = world.talk.state;
    found ||= phase === "listening" || phase === "paused" || (phase === "answering" && think);
  }
  return found;
}

async function press(world, name) {
  PRESSES[name](world.talk);
  await world.clock.on(0);
}

function check(world, both, seed) {
  const { phase } = world.talk.state;
  if (!world.audible) return;
  ok(phase === "speaking", `seed ${seed}, ${world.clock.now} ms: the agent speaks in phase ${phase}`);
  ok(both <= OVERLAP, `seed ${seed}, ${world.clock.now} ms: the agent has spoken over a voice for ${both} ms`);
}

export const tests = {
  async "random talks on a virtual clock: the agent never speaks over a candidate's turn, and no talk gets stuck"() {
    for (let seed = 1; seed <= SCRIPTS; seed += 1) {
      const one = await play(seed, { presses: true });
      ok(one.rests, `seed ${seed}: after half a minute of silence it was nobody's turn`);
    }
  },
  async "random talks without a press: every sentence reaches the server"() {
    for (let seed = 1001; seed <= 1000 + SCRIPTS / 2; seed += 1) {
      const { said, turns } = await play(seed, { presses: false });
      const sent = turns.filter((turn) => turn.kind === "answer").map(({ first_chunk, last_chunk }) => [first_chunk * 8000, (last_chunk + 1) * 8000]);
      for (const { from, to, ms, phase } of said) {
        if (ms < 1000 || phase === "thinking" || phase === "ready") continue;
        for (let at = from + 1600; at < to - 1600; at += 1600) {
          ok(sent.some(([first, last]) => first <= at && at < last), `seed ${seed}: said in ${phase} from ${from} to ${to}, not sent at ${at}; sent ${JSON.stringify(sent)}`);
        }
      }
    }
  },
  async "the same seed gives the same talk"() {
    let turns = 0;
    for (const seed of [7, 8, 9, 10]) {
      const [one, other] = [await play(seed, { presses: true }), await play(seed, { presses: true })];
      equal(one.turns, other.turns);
      turns += one.turns.length;
    }
    ok(turns > 5, "talks in which nothing happens prove nothing");
  },
};
