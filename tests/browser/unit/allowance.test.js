import { Allowance } from "/static/js/voice/allowance.js";
import { equal } from "./assert.js";

const LIMIT = 1200;

function clock(server = {}, answer = (sent) => ({ elapsed_seconds: 1000, time_limit_seconds: LIMIT + 300 * sent.extension, extensions: sent.extension, extensions_left: 10 - sent.extension })) {
  const kept = { at: 0, sent: [], notes: [] };
  const protocol = { post: async (path, body) => { kept.sent.push([path, body]); return answer(body); } };
  const show = { time: (...told) => { kept.time = told; }, timeNote: (note) => { kept.notes.push(note); } };
  const state = { elapsed_seconds: 0, time_limit_seconds: LIMIT, extensions: 0, extensions_left: 10, ...server };
  kept.allowance = new Allowance(protocol, state, { now: () => kept.at, show });
  return kept;
}

export const tests = {
  "time runs, and stands still in a pause"() {
    const kept = clock({ elapsed_seconds: 10 });
    kept.at = 5000;
    equal(kept.allowance.seconds, 15);
    kept.allowance.take({ elapsed_seconds: 15, time_limit_seconds: LIMIT, paused: true });
    kept.at = 500000;
    equal(kept.allowance.seconds, 15);
  },
  "the end is announced five minutes before, and once more when it is there"() {
    const kept = clock();
    kept.at = (LIMIT - 301) * 1000;
    equal(kept.allowance.note, null);
    kept.at = (LIMIT - 300) * 1000;
    equal(kept.allowance.note, "soon");
    kept.allowance.dismiss();
    equal(kept.allowance.note, null);
    kept.at = LIMIT * 1000;
    equal(kept.allowance.note, "over");
    kept.allowance.dismiss();
    equal(kept.allowance.note, null);
  },
  "a short interview announces its last quarter"() {
    const kept = clock({ time_limit_seconds: 240 });
    kept.at = 179000;
    equal(kept.allowance.note, null);
    kept.at = 180000;
    equal(kept.allowance.note, "soon");
  },
  async "two clicks at once ask for one extension, later ones for the next"() {
    const kept = clock();
    kept.at = (LIMIT - 200) * 1000;
    await Promise.all([kept.allowance.more(), kept.allowance.more()]);
    await kept.allowance.more();
    equal(kept.sent, [["time", { extension: 1 }], ["time", { extension: 2 }]]);
    equal([kept.allowance.limit, kept.notes.at(-1)], [LIMIT + 600, "added"]);
  },
  async "after the last extension nothing is asked for"() {
    const kept = clock({ extensions: 10, extensions_left: 0 });
    equal([await kept.allowance.more(), kept.sent], [false, []]);
  },
  "without a limit there is nothing to warn of"() {
    const kept = clock({ time_limit_seconds: null });
    kept.at = 9e9;
    equal(kept.allowance.note, null);
  },
};
