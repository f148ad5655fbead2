// Whatever breaks on the way, exactly one interview is created, and the caller gets its id.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import * as parley from "@parley/client";
import { Parley } from "@parley/client";
import * as breaking from "./breaking.js";
import { inSeconds, line, refuses } from "./breaking.js";
import { all, env, hurried, served, type Served } from "./world.js";

const TOO_MANY = "429 Too Many Requests";
const BUSY = "503 Service Unavailable";
const WAYS: Record<string, breaking.Way> = {
  "reset at once": breaking.resetAtOnce,
  "reset before the headers": breaking.resetBeforeHeaders,
  "reset after the headers": breaking.resetAfterHeaders,
  "half of the headers": breaking.halfHeaders,
  "half of the body": breaking.halfBody,
  "half of the body, and no length": breaking.halfBodyWithoutLength,
  "a body that drips": breaking.slowDrip,
  "no response": breaking.silence,
  "another protocol": breaking.anotherProtocol,
  "429 with seconds": refuses(TOO_MANY, { headers: ["Retry-After: 3"] }),
  "429 with a date": refuses(TOO_MANY, { headers: [inSeconds(-3600)] }),
  "429 with nonsense": refuses(TOO_MANY, { headers: ["Retry-After: soon"] }),
  "500 after the work": refuses("500 Internal Server Error", { works: true }),
  "502 before the work": refuses("502 Bad Gateway"),
  "502 after the work": refuses("502 Bad Gateway", { works: true }),
  "503 with seconds": refuses(BUSY, { headers: ["Retry-After: 5"] }),
  "504 after the work": refuses("504 Gateway Timeout", { works: true }),
};

/** Milliseconds that a client is given for a way that takes longer, and for all others: the machine may be slow. */
const SOON = 2000;
const LATE = 60_000;
const patience = (way: breaking.Way): number =>
  way === breaking.silence || way === breaking.slowDrip ? SOON : LATE;

let world: Served;
before(async () => {
  world = await served();
});

async function newFlow(): Promise<string> {
  return (await world.client().flows.create({ org_name: "F", title: "T", questions: ["Why?"] })).interview_flow_id;
}

async function interviewsOf(flowId: string): Promise<string[]> {
  const found = await all(world.client().interviews.list({ transcript: "none" }));
  return found.filter((one) => one.interview_flow_id === flowId).map((one) => one.interview_id);
}

function through(url: string, slept: number[] = [], options: parley.Options = {}): Parley {
  return new Parley({ apiKey: world.apiKey, baseUrl: url, timeout: LATE, ...hurried(slept), ...options });
}

for (const [name, way] of Object.entries(WAYS)) {
  test(`exactly one interview is created: ${name}`, async () => {
    const flowId = await newFlow();
    const slept: number[] = [];
    await using broken = await line(env("PARLEY_URL"), way);
    const { interview_id } = await through(broken.url, slept, { timeout: patience(way) }).interviews.create(
      flowId,
    );
    assert.deepEqual(await interviewsOf(flowId), [interview_id]);
    const keys = new Set(broken.requests.map((request) => /idempotency-key: (\S+)/i.exec(request)?.[1]));
    assert.equal(keys.size, 1);
    assert.match([...keys][0] ?? "", /^[0-9a-f-]{36}$/);
    assert.equal(slept.length, 1);
    assert.equal(broken.requests.length, way === breaking.resetAtOnce ? 1 : 2);
  });
}

test("two faults in a row are survived, and three are not", async () => {
  const flowId = await newFlow();
  const faults = [breaking.resetBeforeHeaders, refuses(BUSY)];
  const slept: number[] = [];
  {
    await using broken = await line(env("PARLEY_URL"), ...faults);
    await through(broken.url, slept).interviews.create(flowId);
  }
  const [first = 0, second = 0] = slept;
  assert.ok(300 < first && first < second && second < 1100, String(slept));
  await using broken = await line(env("PARLEY_URL"), ...faults, breaking.halfBody);
  const lost = await through(broken.url).interviews.create(flowId).catch((error: unknown) => error);
  assert.ok(lost instanceof parley.APIConnectionError);
  assert.equal((await interviewsOf(flowId)).length, 2);
  const key = lost.idempotencyKey;
  assert.ok(key);
  const { interview_id } = await world.client().interviews.create(flowId, {}, { idempotencyKey: key });
  const made = await interviewsOf(flowId);
  assert.deepEqual([made.length, made.includes(interview_id)], [2, true]);
});

for (const told of ["Retry-After: 99999999", `Retry-After: ${"9".repeat(40)}`, inSeconds(3600)]) {
  test(`a client does not wait for an hour: ${told.slice(0, 40)}`, async () => {
    const flowId = await newFlow();
    const slept: number[] = [];
    await using broken = await line(env("PARLEY_URL"), refuses(TOO_MANY, { headers: [told] }));
    await assert.rejects(through(broken.url, slept).interviews.create(flowId), (error) => {
      assert.ok(error instanceof parley.RateLimitError);
      return (error.retryAfter ?? 0) > 3000;
    });
    assert.deepEqual([slept, await interviewsOf(flowId)], [[], []]);
  });
}

test("the time that the server names is kept", async () => {
  const slept: number[] = [];
  const ways = [refuses(TOO_MANY, { headers: ["Retry-After: 7"] }), refuses(BUSY, { headers: [inSeconds(30)] })];
  await using broken = await line(env("PARLEY_URL"), ...ways);
  await through(broken.url, slept).interviews.create(await newFlow());
  assert.equal(slept[0], 7000);
  assert.ok(25_000 < (slept[1] ?? 0) && (slept[1] ?? 0) <= 30_000, String(slept));
});

test("a first call that still runs is waited for with the same key", async () => {
  const flowId = await newFlow();
  const slept: number[] = [];
  const running = refuses("409 Conflict", { headers: ["Retry-After: 2"] });
  await using broken = await line(env("PARLEY_URL"), breaking.resetBeforeHeaders, running, running, running);
  await through(broken.url, slept).interviews.create(flowId);
  assert.deepEqual(slept.slice(1), [2000, 2000, 2000]);
  assert.equal((await interviewsOf(flowId)).length, 1);
});

test("other refusals are not repeated, and a redirect gets no key", async () => {
  const statuses = ["400 Bad", "401 No", "403 No", "404 None", "409 Conflict", "413 Large", "422 Wrong", "418 Teapot"];
  for (const status of [...statuses, "302 Found", "307 Elsewhere"]) {
    const headers = status.startsWith("30") ? [`Location: ${env("PARLEY_URL")}/v1/interviews`] : [];
    await using broken = await line(env("PARLEY_URL"), refuses(status, { headers }));
    await assert.rejects(through(broken.url).interviews.create("one"), (error) => {
      assert.ok(error instanceof parley.APIStatusError);
      assert.deepEqual([error.code, error.error], [Number(status.slice(0, 3)), null]);
      return true;
    });
    assert.equal(broken.requests.length, 1);
  }
});

test("a page instead of JSON is an error of its own", async () => {
  const page = refuses("200 OK");
  await using broken = await line(env("PARLEY_URL"), page, page, page);
  await assert.rejects(through(broken.url).ping(), parley.UnexpectedResponseError);
  assert.equal(broken.requests.length, 3);
});

test("without retries the first fault is the last", async () => {
  for (const way of [breaking.resetAtOnce, breaking.silence, refuses("409 Conflict", { headers: ["Retry-After: 0"] })]) {
    await using broken = await line(env("PARLEY_URL"), way);
    const client = through(broken.url, [], { maxRetries: 0, timeout: patience(way) });
    await assert.rejects(client.ping(), parley.ParleyError);
    assert.equal(await client.ping(), "pong");
  }
});

test("nothing listens", async () => {
  const unused = await line(env("PARLEY_URL"));
  await unused[Symbol.asyncDispose]();
  await assert.rejects(through(unused.url).ping(), (error) => {
    assert.ok(error instanceof parley.APIConnectionError);
    assert.match(error.message, /^GET \/v1\/ping: .*ECONNREFUSED/);
    return true;
  });
});

test("time is up in the middle of a body", async () => {
  await using broken = await line(env("PARLEY_URL"), breaking.slowDrip);
  await assert.rejects(through(broken.url, [], { maxRetries: 0, timeout: 300 }).ping(), parley.APITimeoutError);
});

test("a signal ends a call that waits for its response, and a call that waits for its next attempt", async () => {
  await using broken = await line(env("PARLEY_URL"), breaking.silence, refuses(BUSY, { headers: ["Retry-After: 60"] }));
  const client = new Parley({ apiKey: world.apiKey, baseUrl: broken.url });
  for (const reason of [new Error("first"), new Error("second")]) {
    const stop = new AbortController();
    const seen = broken.requests.length;
    const call = client.ping({ signal: stop.signal });
    while (broken.requests.length === seen) await new Promise((resolve) => setTimeout(resolve, 5));
    setTimeout(() => stop.abort(reason), 50);
    await assert.rejects(call, (error) => error === reason);
  }
  await assert.rejects(client.ping({ signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.equal(broken.requests.length, 2);
});
