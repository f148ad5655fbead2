import { Reply } from "/static/js/voice/reply.js";
import { equal, ok } from "./assert.js";

// A player whose sounds end when the test says so.
class Hand {
  constructor() {
    Object.assign(this, { played: [], last: { segment: 1, started: 0, seconds: 0, whole: false, latency_ms: null } });
  }

  play(buffer, { segment, speechEnd }) {
    this.played.push(buffer);
    this.last = { segment, started: 10 * this.played.length, seconds: 0, whole: false, latency_ms: speechEnd };
    return new Promise((resolve) => { this.end = (seconds, whole = true) => { this.last = { ...this.last, seconds, whole }; resolve(); }; });
  }

  report() { return this.last; }
}

const turn = () => new Promise((resolve) => { setTimeout(resolve); });
const later = () => {
  const asked = [];
  return [asked, (url) => new Promise((resolve) => { asked.push({ url, resolve }); })];
};
const all = { segment: 1, speechEnd: 700, wanted: () => true };

export const tests = {
  async "the first piece is heard while the second is still being made"() {
    const [asked, fetch] = later();
    const [reply, player] = [new Reply(["/0", "/1"], fetch), new Hand()];
    const whole = reply.play(player, all);
    asked[0].resolve("one");
    await turn();
    equal(player.played, ["one"]);
    equal(asked.map((one) => one.url), ["/0", "/1"]);
    player.end(2);
    await turn();
    equal(player.played, ["one"]);
    asked[1].resolve("two");
    await turn();
    player.end(3);
    await whole;
    equal(player.played, ["one", "two"]);
  },
  async "pieces are asked for one after the other, ahead of being played"() {
    const [asked, fetch] = later();
    const reply = new Reply(["/0", "/1", "/2"], fetch);
    equal(asked.length, 1);
    asked[0].resolve("one");
    await turn();
    asked[1].resolve("two");
    await turn();
    equal(asked.length, 3);
    ok(reply);
  },
  async "each piece is reported where it was heard"() {
    const [reply, player] = [new Reply(["/0", "/1"], async (url) => url), new Hand()];
    const whole = reply.play(player, all);
    await turn();
    player.end(2);
    await turn();
    player.end(3.5);
    await whole;
    equal(reply.report(player), {
      segment: 1, started: 10, seconds: 5.5, whole: true, latency_ms: 700,
      pieces: [{ number: 0, started: 10, seconds: 2, whole: true }, { number: 1, started: 20, seconds: 3.5, whole: true }],
    });
  },
  async "a reply that was stopped in its second piece was not heard whole"() {
    let wanted = true;
    const [reply, player] = [new Reply(["/0", "/1", "/2"], async (url) => url), new Hand()];
    const whole = reply.play(player, { ...all, wanted: () => wanted });
    await turn();
    player.end(2);
    await turn();
    wanted = false;
    player.end(0.4, false);
    await whole;
    const { seconds, whole: heard, pieces } = reply.report(player);
    equal([seconds, heard, pieces.length], [2.4, false, 2]);
    equal(player.played, ["/0", "/1"]);
  },
  async "a reply that was stopped while a piece was awaited was not heard whole"() {
    const [asked, fetch] = later();
    const [reply, player] = [new Reply(["/0", "/1"], fetch), new Hand()];
    reply.play(player, all);
    asked[0].resolve("one");
    await turn();
    player.end(2);
    await turn();
    equal(reply.report(player).whole, false);
    equal(reply.report(player).seconds, 2);
  },
  async "a piece without sound is passed over"() {
    const sounds = { "/0": "one", "/1": null, "/2": "three" };
    const [reply, player] = [new Reply(Object.keys(sounds), async (url) => sounds[url]), new Hand()];
    const whole = reply.play(player, all);
    await turn();
    player.end(2);
    await turn();
    player.end(1);
    await whole;
    equal(player.played, ["one", "three"]);
    equal([reply.report(player).whole, reply.report(player).pieces.map((one) => one.number)], [true, [0, 2]]);
  },
  async "one sound is reported as the player has it"() {
    const [reply, player] = [new Reply(["/0"], async (url) => url), new Hand()];
    const whole = reply.play(player, all);
    await turn();
    player.end(2);
    await whole;
    equal(reply.report(player), { segment: 1, started: 10, seconds: 2, whole: true, latency_ms: 700 });
  },
};
