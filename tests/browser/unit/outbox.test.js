import { Outbox, hash } from "/static/js/voice/outbox.js";
import { openStore } from "/static/js/voice/store.js";
import { equal, ok } from "./assert.js";

const bytes = (number) => new Uint8Array([number, 1, 2]);
const chunk = (number, track = "mix", segment = 1) => ({ segment, track, number, bytes: bytes(number), type: "audio/webm" });
const fresh = async (name) => { const store = await openStore(name); await store.clear(); return store; };
const until = async (yes) => { for (let i = 0; i < 200 && !yes(); i += 1) await new Promise((go) => { setTimeout(go, 10); }); ok(yes(), "it never came"); };
const sleep = (ms) => new Promise((go) => { setTimeout(go, ms); });
const refusal = (status, reason) => Object.assign(new Error(String(status)), { status, reason });

export const tests = {
  async "chunks arrive in order and are forgotten once acknowledged"() {
    const store = await fresh("order");
    const sent = [];
    const outbox = new Outbox(async (one) => { sent.push(one.number); return { missing: [] }; }, store);
    for (let number = 0; number < 12; number += 1) outbox.add(chunk(number));
    await outbox.empty();
    equal(sent, [...Array(12).keys()]);
    equal(await store.waiting(), []);
    equal((await store.runs()).map(({ segment, mix, voice }) => [segment, mix, voice]), [[1, 11, -1]]);
  },
  async "what was not acknowledged survives a reload and goes first"() {
    const store = await fresh("reload");
    const first = new Outbox(() => new Promise(() => {}), store); // a network that never answers
    for (let number = 0; number < 3; number += 1) first.add(chunk(number));
    for (const one of first.queues.mix) await one.kept;
    const sent = [];
    const again = await openStore("reload");
    const second = new Outbox(async (one) => { sent.push([one.segment, one.number, Array.from(one.bytes)]); return {}; }, again);
    await second.restore();
    second.add(chunk(0, "mix", 2));
    await second.empty();
    equal(sent, [[1, 0, [0, 1, 2]], [1, 1, [1, 1, 2]], [1, 2, [2, 1, 2]], [2, 0, [0, 1, 2]]]);
    equal(await again.waiting(), []);
  },
  async "what is held is sent by a page that comes after this one, or once it is added, and stored once"() {
    const store = await fresh("held");
    const sent = [];
    const outbox = new Outbox(async (one) => { sent.push(one.number); return {}; }, store);
    for (const number of [4, 5, 6]) outbox.hold(chunk(number, "voice"));
    outbox.hold(chunk(5, "voice"));
    for (const stored of outbox.held.values()) await stored;
    equal([sent, (await store.waiting()).map(({ number }) => number)], [[], [4, 5, 6]]);
    const later = new Outbox(async (one) => { sent.push(one.number); return {}; }, { ...store, waiting: () => store.waiting(), drop: async () => {} });
    await later.restore();
    await later.empty();
    equal(sent.splice(0), [4, 5, 6]);
    outbox.add(chunk(5, "voice"));
    outbox.release();
    await outbox.empty();
    await until(() => outbox.held.size === 0);
    for (let tries = 0; tries < 100 && (await store.waiting()).length; tries += 1) await new Promise((go) => { setTimeout(go, 10); });
    equal([sent, await store.waiting()], [[5], []]);
  },
  async "what is not in the store yet is known, held or added, and so is what is with the server"() {
    const store = await fresh("unkept");
    const outbox = new Outbox(() => new Promise(() => {}), store);
    let made;
    const coded = { ...chunk(1, "voice"), coding: new Promise((go) => { made = go; }) };
    outbox.hold(coded);
    outbox.add(chunk(2, "voice"));
    equal([...outbox.unkept.values()].map(({ number }) => number), [1, 2]);
    equal([1, 2].map((number) => outbox.has(chunk(number, "voice"))), [false, true]);
    await until(() => outbox.unkept.size === 1);
    made();
    await until(() => outbox.unkept.size === 0);
    equal((await store.waiting()).map(({ number }) => number), [2, 1]);
    const sends = new Outbox(async () => ({}), { keep: () => Promise.reject(new Error("full")), drop: async () => {} });
    sends.hold(chunk(3, "voice"));
    sends.add(chunk(3, "voice"));
    sends.add(chunk(3));
    equal([...sends.unkept.values()].map(({ track }) => track), ["voice"]); // which the store does not take: until the server has it
    await sends.empty();
    equal([sends.unkept.size, sends.has(chunk(3, "voice")), sends.has(chunk(3, "mix"))], [0, true, true]);
    outbox.hold(chunk(9, "voice"));
    outbox.release();
    equal(outbox.unkept.size, 0);
  },
  async "what the server finds missing is sent again"() {
    const sent = [];
    const outbox = new Outbox(async (one) => {
      sent.push(one.number);
      return { missing: one.number === 3 && sent.length === 4 ? [1, 2] : [] };
    }, await fresh("missing"));
    for (let number = 0; number < 4; number += 1) outbox.add(chunk(number));
    await outbox.empty();
    equal(sent, [0, 1, 2, 3, 1, 2]);
  },
  async "numbers that nobody has any more are named"() {
    const outbox = new Outbox(async () => ({}), await fresh("lost"));
    outbox.add(chunk(5));
    await outbox.empty();
    equal(outbox.again(1, "mix", [4, 5]), [4]);
    await outbox.empty();
  },
  async "the answer does not wait behind the recording"() {
    let release = null;
    const done = [];
    const outbox = new Outbox(async (one) => {
      if (one.track === "mix") await new Promise((go) => { release = go; });
      done.push(one.track);
      return {};
    }, await fresh("tracks"));
    outbox.add(chunk(0));
    outbox.add(chunk(0, "voice"));
    await outbox.empty("voice");
    equal(done, ["voice"]);
    await until(() => release);
    release();
    await outbox.empty();
  },
  async "a take-over ends it at once and keeps what was not taken"() {
    const store = await fresh("over");
    const ended = [];
    const outbox = new Outbox(async () => { throw refusal(409, "taken over"); }, store, { onStop: (error) => ended.push(error.reason) });
    outbox.add(chunk(0));
    outbox.add(chunk(1));
    await outbox.empty();
    equal(ended, ["taken over"]);
    await until(() => outbox.queues.mix.length === 2);
  },
  async "one refused chunk does not hold up the others"() {
    const sent = [];
    const outbox = new Outbox(async (one) => {
      if (one.number === 0) throw refusal(413, null);
      sent.push(one.number);
      return {};
    }, await fresh("refused"));
    outbox.add(chunk(0));
    outbox.add(chunk(1));
    await outbox.empty();
    equal([sent, outbox.refused.map((one) => one.number)], [[1], [0]]);
  },
  async "chunks that had to wait go together, of one run and not too many or too large"() {
    const sent = [];
    const take = async (chunks) => { sent.push(chunks.map((one) => one.number)); return {}; };
    const store = await fresh("bundles");
    const outbox = new Outbox((one) => take([one]), store, { bundle: take });
    outbox.add(chunk(0));
    for (let number = 1; number < 13; number += 1) outbox.add(chunk(number));
    outbox.add({ ...chunk(13), bytes: new Uint8Array(700 * 1024) });
    outbox.add({ ...chunk(14), bytes: new Uint8Array(700 * 1024) });
    outbox.add(chunk(15));
    outbox.add(chunk(0, "mix", 2));
    await outbox.empty();
    equal(sent, [[0], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [11, 12, 13], [14, 15], [0]]);
    equal(await store.waiting(), []);
  },
  async "a chunk is sent once its bytes are made, and in order"() {
    const sent = [];
    const store = await fresh("coding");
    const outbox = new Outbox(async (one) => { sent.push([one.number, one.bytes.length]); return {}; }, store);
    let made = null;
    const slow = { ...chunk(0, "voice"), bytes: undefined };
    slow.coding = new Promise((resolve) => { made = () => { slow.bytes = bytes(9); resolve(); }; });
    outbox.add(slow);
    outbox.add(chunk(1, "voice"));
    await new Promise((go) => { setTimeout(go, 30); });
    equal(sent, []);
    made();
    await outbox.empty("voice");
    equal([sent, await store.waiting()], [[[0, 3], [1, 3]], []]);
  },
  async "while somebody goes on speaking pieces go in pairs, and at once when a reply depends on them"() {
    const sent = [];
    const company = { voice: 2, mix: 1 };
    const bundle = async (chunks) => { sent.push(chunks.map(({ number }) => number)); return { refused: [] }; };
    const outbox = new Outbox(async (one) => { sent.push(one.number); return {}; }, await fresh("pairs"), { bundle, company });
    outbox.press("speaking");
    outbox.add(chunk(0, "voice"));
    await sleep(30);
    equal(sent, []);
    outbox.add(chunk(1, "voice"));
    await until(() => sent.length === 1);
    outbox.add(chunk(2, "voice"));
    await sleep(30);
    equal(sent, [[0, 1]]);
    outbox.press("reply");
    await until(() => sent.length === 2);
    outbox.press("speaking");
    outbox.add(chunk(3, "voice"));
    await outbox.empty("voice"); // somebody waits for it
    equal(sent, [[0, 1], 2, 3]);
  },
  async "pieces that are still being made go together as well"() {
    const sent = [];
    const bundle = async (chunks) => { sent.push(chunks.map(({ number, bytes }) => [number, bytes.length])); return { refused: [] }; };
    const outbox = new Outbox(async (one) => { sent.push(one.number); return {}; }, await fresh("made"), { bundle, company: { voice: 2, mix: 1 } });
    outbox.press("speaking");
    for (const number of [0, 1]) {
      const piece = { ...chunk(number, "voice"), bytes: undefined };
      piece.coding = sleep(20).then(() => { piece.bytes = new Uint8Array(3); });
      outbox.add(piece);
    }
    await until(() => sent.length === 1);
    equal(sent, [[[0, 3], [1, 3]]]);
  },
  async "whoever asks about pieces learns when the last of them is on its way, and whether it still is"() {
    let arrive;
    const outbox = new Outbox(() => new Promise((resolve) => { arrive = () => resolve({}); }), await fresh("on-its-way"), { company: { voice: 2, mix: 1 } });
    equal(await outbox.underWay("voice"), false);
    outbox.press("speaking");
    outbox.add(chunk(0, "voice"));
    outbox.add(chunk(1, "voice"));
    let told = null;
    outbox.underWay("voice").then((yes) => { told = yes; });
    await until(() => arrive);
    equal(told, null); // the second still waits for the first
    arrive();
    await until(() => told !== null);
    equal([told, await outbox.underWay("voice"), outbox.pending], [true, true, 1]);
    arrive();
    await outbox.empty("voice");
    equal(await outbox.underWay("voice"), false);
  },
  async "the recorder's chunks wait while pieces wait, for company, and not for ever"() {
    const sent = [];
    const company = { voice: 1, mix: 3 };
    const release = [];
    const send = (one) => { sent.push(`${one.track}${one.number}`); return one.track === "voice" ? new Promise((go) => { release.push(() => go({})); }) : Promise.resolve({}); };
    const bundle = async (chunks) => { sent.push(chunks.map(({ number }) => number)); return { refused: [] }; };
    const outbox = new Outbox(send, await fresh("way"), { bundle, company });
    outbox.add(chunk(0, "voice"));
    for (const number of [0, 1, 2]) outbox.add(chunk(number));
    await sleep(30);
    equal(sent, ["voice0"]);
    release[0]();
    await until(() => sent.length === 2);
    equal(sent[1], [0, 1, 2]);
    outbox.add(chunk(3));
    await sleep(30);
    equal(sent.length, 2);
    await outbox.empty();
    equal(sent[2], "mix3");
  },
  async "on a thin line nothing of the recorder is under way while a reply depends on the line"() {
    const sent = [];
    let given = null;
    const send = (one, signal) => {
      sent.push(`${one.track}${one.number}`);
      if (one.track === "voice") return sleep(420).then(() => ({}));
      return new Promise((go, fail) => { given = go; signal.addEventListener("abort", () => fail(new DOMException("given up", "AbortError"))); });
    };
    const outbox = new Outbox(send, await fresh("thin"));
    outbox.add(chunk(0, "voice"));
    await outbox.empty("voice");
    ok(outbox.thin, "a slow request with a piece tells a thin line");
    outbox.add(chunk(0));
    await until(() => sent.length === 2);
    await sleep(420);
    outbox.press("reply");
    await until(() => !outbox.busy.mix);
    equal([outbox.queues.mix.length, outbox.refused], [1, []]);
    await sleep(50);
    equal(sent, ["voice0", "mix0"]);
    outbox.press("none");
    await until(() => sent.length === 3);
    given({});
    await outbox.empty();
    equal(sent, ["voice0", "mix0", "mix0"]);
  },
  async "on a thin line four small chunks go between two pieces, and are not given up for the next piece, as a picture is"() {
    for (const [size, isPicture] of [[3100, false], [50000, true]]) {
      const sent = [];
      const hang = (chunks, signal) => new Promise((_, fail) => {
        sent.push(chunks.map(({ number }) => number));
        signal.addEventListener("abort", () => fail(new DOMException("given up", "AbortError")));
      });
      const send = async (one, signal) => (one.track === "mix" ? hang([one], signal) : sleep(420).then(() => ({})));
      const outbox = new Outbox(send, await fresh(`hinders-${size}`), { bundle: hang, company: { voice: 1, mix: 4 } });
      outbox.add(chunk(0, "voice"));
      await outbox.empty("voice");
      ok(outbox.thin);
      outbox.press(isPicture ? "none" : "speaking"); // a picture begins while nothing depends on the line
      for (let number = 0; number < 4; number += 1) outbox.add({ ...chunk(number), bytes: new Uint8Array(size) });
      await until(() => sent.length === 1);
      equal(sent, [[0, 1, 2, 3]]);
      await sleep(420);
      outbox.press("speaking");
      outbox.add(chunk(1, "voice"));
      await outbox.empty("voice");
      equal(outbox.busy.mix, !isPicture);
      outbox.stop();
    }
  },
  async "on a thin line a picture waits for the end of the answer, a small chunk goes between two pieces"() {
    const sent = [];
    const outbox = new Outbox(async (one) => { sent.push(one.number); return {}; }, await fresh("picture"));
    Object.assign(outbox, { thin: true });
    outbox.press("speaking");
    outbox.add(chunk(0));
    outbox.add({ ...chunk(1), bytes: new Uint8Array(100000) });
    await until(() => sent.length === 1);
    await sleep(30);
    equal(sent, [0]);
    outbox.press("none");
    await outbox.empty();
    equal(sent, [0, 1]);
  },
  async "what the server cannot read is sent in the next form, and the last form is given up"() {
    const sent = [];
    const cannot = Object.assign(refusal(422, null), { data: { field: "body" } });
    const outbox = new Outbox(async (one) => { sent.push(one.bytes[0]); if (one.bytes[0] < 9) throw cannot; return {}; }, await fresh("forms"));
    outbox.add({ ...chunk(0, "voice"), others: [() => bytes(1), () => bytes(9)] });
    await outbox.empty("voice");
    equal([sent, outbox.refused], [[0, 1, 9], []]);
    outbox.add({ ...chunk(1, "voice"), others: [] });
    await outbox.empty("voice");
    equal(outbox.refused.map((one) => one.number), [1]);
    equal(outbox.again(1, "voice", [1]), [1]); // it is lost, not sent for ever
  },
  async "a piece that was damaged on the way is sent again as it is"() {
    const sent = [];
    const damaged = Object.assign(refusal(422, null), { data: { field: "X-Content-SHA256" } });
    const outbox = new Outbox(async (one) => { sent.push(one.bytes[0]); if (sent.length < 3) throw damaged; return {}; }, await fresh("damaged"));
    outbox.add({ ...chunk(0, "voice"), others: [() => bytes(9)] });
    await outbox.empty("voice");
    equal([sent, outbox.refused], [[0, 0, 0], []]);
  },
  async "what a proxy refuses three times is sent once more whenever the server misses it, and not for ever"() {
    for (const track of ["mix", "voice"]) {
      const sent = [];
      const outbox = new Outbox(async (one) => { sent.push(one.number); if (one.number === 0) throw refusal(413, null); return { missing: [] }; }, await fresh(`limit-${track}`));
      outbox.add(chunk(0, track));
      outbox.add(chunk(1, track));
      await outbox.empty();
      equal(sent.splice(0), [0, 0, 0, 1]);
      for (let round = 0; round < 5; round += 1) {
        equal(outbox.again(1, track, [0]), []);
        await outbox.empty();
      }
      equal([sent, outbox.again(1, track, [0])], [[0, 0, 0, 0, 0], [0]]);
    }
  },
  async "a refusal that passes costs the recording nothing"() {
    const kept = [];
    let refusals = 3;
    const outbox = new Outbox(async (one) => {
      if (one.number === 1 && refusals) { refusals -= 1; throw refusal(413, null); }
      kept.push(one.number);
      return { missing: one.number > 1 && !kept.includes(1) ? [1] : [] };
    }, await fresh("passes"));
    for (let number = 0; number < 4; number += 1) outbox.add(chunk(number));
    await outbox.empty();
    equal([...kept].sort(), [0, 1, 2, 3]);
  },
  async "of a bundle only what was refused is sent again, and a take-over ends it"() {
    const sent = [];
    const ended = [];
    const answers = [{ refused: [{ number: 2, error: refusal(422, null) }], missing: [2] }, { refused: [{ number: 6, error: refusal(409, "taken over") }] }];
    const bundle = async (chunks) => { sent.push(chunks.map((one) => one.number)); return answers.shift(); };
    const store = await fresh("refusals");
    const outbox = new Outbox(async (one) => { sent.push(one.number); return {}; }, store, { bundle, onStop: (error) => ended.push(error.reason) });
    for (let number = 0; number < 4; number += 1) outbox.add(chunk(number));
    await until(() => !outbox.busy.mix);
    for (const number of [4, 5, 6]) outbox.add(chunk(number));
    await outbox.empty();
    equal([sent, ended], [[0, [1, 2, 3], 2, 4, [5, 6]], ["taken over"]]);
    await until(() => outbox.pending === 1);
    equal((await store.waiting()).map((one) => one.number), [6]);
  },
  async "a bundle that fails goes chunk by chunk, for good where the server takes none"() {
    const sent = [];
    const errors = [new TypeError("no network"), refusal(404, "unknown")];
    const bundle = async (chunks) => { sent.push(chunks.map((one) => one.number)); throw errors.shift(); };
    const outbox = new Outbox(async (one) => { sent.push(one.number); return {}; }, await fresh("older"), { bundle });
    for (let number = 0; number < 6; number += 1) outbox.add(chunk(number));
    await outbox.empty();
    equal(sent, [0, [1, 2, 3, 4, 5], 1, [2, 3, 4, 5], 2, 3, 4, 5]);
    equal(outbox.refused, []);
  },
  async "a browser without a database keeps chunks in memory and says so"() {
    const real = indexedDB.open;
    indexedDB.open = () => { throw new Error("private window"); };
    try {
      const store = await openStore("memory");
      equal(store.durable, false);
      const outbox = new Outbox(async () => ({}), store);
      outbox.add(chunk(7, "voice"));
      await outbox.empty();
      equal((await store.runs()).map(({ voice }) => voice), [7]);
    } finally {
      indexedDB.open = real;
    }
  },
  async "the hash is SHA-256 in hexadecimal"() {
    equal(await hash(new TextEncoder().encode("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  },
};
