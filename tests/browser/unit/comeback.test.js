import { catchUp, forgetRest, keepRest, remember } from "/static/js/voice/comeback.js";
import { CHUNK } from "/static/js/voice/voice-track.js";
import { equal, ok } from "./assert.js";

const STRETCH = { segment: 1, first_chunk: 6, last_chunk: 18 };
const UNHEARD = { segment: null, started: 0, seconds: 0, whole: false };
const ARRIVED = 5; // a chunk that the outbox has already
const NOTHING = { unkept: new Map() };
const PLAYED = { segment: 1, started: 2, seconds: 1.5, whole: false, latency_ms: null };

// states: what the server answers one after the other; posts: what it was sent
function scene({ states, pending = 0, refusals = [] }) {
  const seen = { posts: [], added: [], asked: 0, emptied: 0 };
  const protocol = {
    base: "/interview/of/this/test",
    async get() { seen.asked += 1; return states.shift(); },
    async post(path, body) {
      seen.posts.push([path, body]);
      const reason = refusals.shift();
      if (reason) throw Object.assign(new Error(reason), { reason });
    },
  };
  const outbox = { pending, stopped: false, has: ({ number }) => number === ARRIVED, async empty() { seen.emptied += 1; }, add(chunk) { seen.added.push(chunk); outbox.pending += 1; } };
  return { seen, protocol, outbox };
}

export const tests = {
  async "a page with nothing left asks nobody"() {
    const { seen, ...given } = scene({ states: [] });
    const server = { turn: 2, open_speech: null };
    equal(await catchUp({ ...given, server }), server);
    equal([seen.asked, seen.posts], [0, []]);
  },
  async "what is open is posted as a part, with how the agent was heard"() {
    sessionStorage.clear();
    const { seen, ...given } = scene({ states: [{ turn: 2, open_speech: STRETCH }, { turn: 3, open_speech: null }] });
    remember("/interview/of/this/test", { state: { turn: 2, continues: true, phase: "answering" }, played: PLAYED });
    equal((await catchUp({ ...given, server: { turn: 2, open_speech: STRETCH } })).turn, 3);
    equal(seen.posts, [["turns/2", { kind: "answer", unfinished: true, recovered: true, played: PLAYED, continues: true, ...STRETCH }]]);
  },
  async "chunks that wait in the browser go first"() {
    sessionStorage.clear();
    const { seen, ...given } = scene({ states: [{ turn: 2, open_speech: STRETCH }, { turn: 3, open_speech: null }], pending: 4 });
    await catchUp({ ...given, server: { turn: 2, open_speech: null } });
    equal([seen.emptied, seen.posts.length], [2, 1]);
  },
  async "the end of an answer that fills no chunk is sent by the next page, once"() {
    sessionStorage.clear();
    const rest = { number: 19, pcm: Int16Array.from({ length: 700 }, (_, n) => n - 350) };
    const talk = { segment: 1, track: { rest }, outbox: NOTHING };
    keepRest("/interview/of/this/test", talk);
    const stretch = { ...STRETCH, last_chunk: 19 };
    for (const sent of [true, false]) {
      const { seen, ...given } = scene({ states: [{ turn: 2, open_speech: stretch }, { turn: 3, open_speech: null }] });
      await catchUp({ ...given, server: { turn: 2, open_speech: null } });
      equal(seen.added.length, Number(sent));
      if (!sent) continue;
      const [{ bytes, pcm: own, ...chunk }] = seen.added;
      equal(own.length, CHUNK);
      equal(chunk, { segment: 1, track: "voice", number: 19, type: "application/octet-stream" });
      const pcm = new Int16Array(bytes.buffer);
      equal([pcm.length, pcm[0], pcm[699], pcm[700]], [CHUNK, -350, 349, 0]);
      equal(seen.posts[0][1].last_chunk, 19);
    }
  },
  async "chunks that are not in the store yet go with the page, in their order, and once"() {
    sessionStorage.clear();
    const voice = (number, segment = 1) => ({ segment, track: "voice", number, pcm: Int16Array.of(number) });
    const unkept = new Map([voice(0, 2), voice(ARRIVED), voice(6)].entries());
    keepRest("/interview/of/this/test", { segment: 2, track: { rest: { number: 1, pcm: Int16Array.of(7) } }, outbox: { unkept } });
    const { seen, ...given } = scene({ states: [{ turn: 2, open_speech: null }] });
    await catchUp({ ...given, server: { turn: 2, open_speech: null } });
    equal(seen.added.map(({ segment, number, pcm }) => [segment, number, pcm[0]]), [[2, 0, 0], [1, 6, 6], [2, 1, 7]]);
    keepRest("/interview/of/this/test", { segment: 3, track: null, outbox: { unkept: new Map(seen.added.entries()) } }); // left again at once
    const { seen: again, ...next } = scene({ states: [{ turn: 2, open_speech: null }] });
    await catchUp({ ...next, server: { turn: 2, open_speech: null } });
    equal(again.added, seen.added);
  },
  async "a rest that the page of the version before kept is sent"() {
    sessionStorage.clear();
    sessionStorage.setItem("parley-rest /interview/of/this/test", JSON.stringify({ segment: 1, number: 19, pcm: "AQA=" }));
    const { seen, ...given } = scene({ states: [{ turn: 2, open_speech: null }] });
    await catchUp({ ...given, server: { turn: 2, open_speech: null } });
    equal(seen.added.map(({ number, pcm }) => [number, pcm[0]]), [[19, 1]]);
  },
  async "a damaged rest is forgotten, and nothing waits for it"() {
    for (const damaged of ["", "{", "null", '{"segment":1,"number":2,"pcm":"%"}', '[{"segment":1,"number":2}]', JSON.stringify({ segment: 1, number: 2, pcm: "A".repeat(40_000) })]) {
      sessionStorage.clear();
      sessionStorage.setItem("parley-rest /interview/of/this/test", damaged);
      const { seen, ...given } = scene({ states: [] });
      await catchUp({ ...given, server: { turn: 2, open_speech: null } });
      equal([seen.added, sessionStorage.length], [[], 0]);
    }
  },
  async "a page that goes on after all, or left nothing, has nothing to send"() {
    sessionStorage.clear();
    keepRest("/interview/of/this/test", { segment: 1, track: { rest: { number: 3, pcm: new Int16Array(9) } }, outbox: NOTHING });
    forgetRest("/interview/of/this/test");
    keepRest("/interview/of/this/test", { segment: null, track: null, outbox: NOTHING });
    keepRest("/interview/of/this/test", { segment: 1, track: { rest: null }, outbox: NOTHING });
    const { seen, ...given } = scene({ states: [] });
    await catchUp({ ...given, server: { turn: 2, open_speech: null } });
    equal(seen.added, []);
  },
  async "of what the server says to one stretch nothing was heard when the next is posted"() {
    sessionStorage.clear();
    const later = { segment: 2, first_chunk: 0, last_chunk: 3 };
    const { seen, ...given } = scene({ states: [{ turn: 2, open_speech: STRETCH }, { turn: 3, open_speech: later }, { turn: 4, open_speech: null }] });
    remember("/interview/of/this/test", { state: { turn: 2, continues: true }, played: PLAYED });
    await catchUp({ ...given, server: { turn: 2, open_speech: STRETCH } });
    equal(seen.posts[1], ["turns/3", { kind: "answer", unfinished: true, recovered: true, played: UNHEARD, continues: false, ...later }]);
  },
  async "speech while the reply was being made goes on with the answer before, for nobody has heard that reply"() {
    sessionStorage.clear();
    const { seen, ...given } = scene({ states: [{ turn: 3, open_speech: STRETCH }, { turn: 4, open_speech: null }] });
    remember("/interview/of/this/test", { state: { turn: 2, continues: false, phase: "thinking", resumed: { from: 9000, to: null } }, played: PLAYED });
    await catchUp({ ...given, server: { turn: 3, open_speech: STRETCH } });
    equal(seen.posts[0][1], { kind: "answer", unfinished: true, recovered: true, played: UNHEARD, continues: true, ...STRETCH });
  },
  async "what was remembered of another turn is left out"() {
    sessionStorage.clear();
    const { seen, ...given } = scene({ states: [{ turn: 5, open_speech: STRETCH }, { turn: 6, open_speech: null }] });
    remember("/interview/of/this/test", { state: { turn: 4, continues: true }, played: PLAYED });
    await catchUp({ ...given, server: { turn: 5, open_speech: STRETCH } });
    equal(seen.posts[0][1], { kind: "answer", unfinished: true, recovered: true, continues: false, ...STRETCH });
  },
  async "a turn that was taken meanwhile is looked at again, and after the goodbye it is left"() {
    sessionStorage.clear();
    const { seen, ...given } = scene({ states: [{ turn: 2, open_speech: STRETCH }, { turn: 3, stage: "outro", open_speech: STRETCH }], refusals: ["wrong turn", "over"] });
    equal((await catchUp({ ...given, server: { turn: 2, open_speech: STRETCH } })).turn, 3);
    equal(seen.posts.map(([path]) => path), ["turns/2", "turns/3"]);
  },
};
