// What needs no server: what is sent, how often, and which mistakes are noticed before anything is sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as parley from "@parley/client";
import { Parley } from "@parley/client";
import { FakeParley } from "@parley/client/testing";
import { all, hurried } from "./world.js";

const BASE = { apiKey: "key", baseUrl: "https://parley.example.com" };

/** A client whose fetch answers with each of these in turn, and then with the last again. */
function answering(...bodies: unknown[]): { client: Parley; urls: string[]; slept: number[] } {
  const [urls, slept]: [string[], number[]] = [[], []];
  const answer = async (url: unknown) => (urls.push(String(url)), Response.json(bodies.length > 1 ? bodies.shift() : bodies[0]));
  return { client: new Parley({ ...BASE, fetch: answer as typeof fetch, ...hurried(slept) }), urls, slept };
}

test("a client needs a key and a URL, from the environment if they are not given", async () => {
  for (const variable of ["PARLEY_API_KEY", "PARLEY_BASE_URL"]) delete process.env[variable];
  assert.throws(() => new Parley(), /apiKey.*PARLEY_API_KEY/);
  for (const apiKey of ["", " ", "schlüssel", "two\nlines"]) assert.throws(() => new Parley({ ...BASE, apiKey }), parley.ParleyError);
  assert.throws(() => new Parley({ apiKey: "key" }), /PARLEY_BASE_URL/);
  assert.throws(() => new Parley({ apiKey: "key", baseUrl: "parley.example.com" }), /such as https:/);
  for (const wrong of [{ timeout: 0 }, { timeout: NaN }, { maxRetries: -1 }, { deadline: 0 }]) {
    assert.throws(() => new Parley({ ...BASE, ...wrong }), TypeError);
  }
  const fake = new FakeParley();
  process.env.PARLEY_API_KEY = `${fake.apiKey}\n`;
  process.env.PARLEY_BASE_URL = "http://parley.test/v1/";
  assert.equal(await new Parley({ fetch: fake.fetch }).ping(), "pong");
  assert.deepEqual(fake.requests, [{ method: "GET", path: "/v1/ping" }]);
});

test("ids cannot change the path", async () => {
  const { client, urls } = answering({});
  for (const id of ["", ".", "..", undefined, 7]) assert.throws(() => client.flows.retrieve(id as string), TypeError);
  await client.flows.retrieve("../../admin?x=1#y");
  assert.deepEqual(urls, ["https://parley.example.com/v1/interview-flows/..%2F..%2Fadmin%3Fx%3D1%23y"]);
  await assert.rejects(client.request("GET", "/admin"), /begins with \/v1\//);
});

test("an argument that was left out is named", async () => {
  const { client, urls } = answering({});
  const loose = client as unknown as Record<string, Record<string, (...given: unknown[]) => Promise<unknown>>>;
  const calls: [string, string, unknown[], RegExp][] = [
    ["flows", "create", [], /the fields of the flow: \{ org_name, title, questions \}/],
    ["flows", "update", ["id"], /what to change/],
    ["interviews", "extend", ["id", "2027-01-01T00:00:00Z"], /\{ expires_at \}/],
    ["interviews", "setMetadata", ["id", null], /the metadata/],
    ["webhookDeliveries", "resendAll", [], /\{ since, until \}/],
  ];
  for (const [resource, method, given, message] of calls) {
    await assert.rejects(async () => loose[resource]?.[method]?.(...given), { name: "TypeError", message });
  }
  assert.deepEqual(urls, []);
});

test("a server that ignores the position causes no endless loop", async () => {
  const page = { interviews: [{ interview_id: "a" }, { interview_id: "b" }] };
  const offset = answering(page);
  assert.equal((await all(offset.client.interviews.list({ limit: 2 }))).length, 2);
  assert.equal(offset.urls.length, 2);
  const cursor = answering({ candidates: [{ candidate_id: "a" }], next: "same" });
  assert.equal((await all(cursor.client.candidates.list())).length, 1);
  assert.equal(cursor.urls.length, 2);
});

test("a list with a cursor ends where there is no next", async () => {
  const first = { candidates: [{ candidate_id: "a" }, { candidate_id: "b" }], next: "x y" };
  const { client, urls } = answering(first, { candidates: [{ candidate_id: "c" }], next: null });
  const [since, asked] = [new Date(0), "email=a%2Bb%40example.com&limit=100"];
  assert.deepEqual((await all(client.candidates.list({ email: "a+b@example.com", team_id: null }))).length, 3);
  assert.deepEqual(urls.map((url) => url.split("?")[1]), [asked, `${asked}&after=x+y`]);
  await assert.rejects(all(client.webhookDeliveries.list({ since })), parley.UnexpectedResponseError);
  assert.match(urls.at(-1) ?? "", /since=1970-01-01T00%3A00%3A00.000Z/);
});

test("a response without what it should have is an error", async () => {
  for (const body of [[], null, "text", 7]) {
    const { client } = answering(body);
    const calls = [() => client.ping(), () => client.teams.list(), () => client.flows.retrieve("one"), () => all(client.changes())];
    for (const call of calls) await assert.rejects(call, parley.UnexpectedResponseError);
  }
});

test("the message of an error has what a log needs", async () => {
  const messages: string[] = [];
  for (const [body, headers] of [
    [{ message: "No flow.", status: "Unprocessable Entity" }, { "X-Parley-Error": "not_found", "X-Request-Id": "4f2a" }],
    [{ message: "No flow.", status: "Unprocessable Entity" }, {}],
    [{}, {}],
  ] as [object, Record<string, string>][]) {
    const client = new Parley({ ...BASE, fetch: async () => Response.json(body, { status: 422, headers }) });
    const error: unknown = await client.ping().catch((told: unknown) => told);
    assert.ok(error instanceof parley.InvalidInputError && error.message.includes(error.detail));
    messages.push(error.message);
  }
  assert.deepEqual(messages, [
    "422 not_found: No flow. (request 4f2a)",
    "422 Unprocessable Entity: No flow.",
    "422: The server responded with 422 and no message.",
  ]);
});

test("pauses grow and end with the deadline", async () => {
  const fake = new FakeParley();
  const slept: number[] = [];
  const client = fake.client({ maxRetries: 6, ...hurried(slept) });
  fake.failNext(503, { times: 7 });
  await assert.rejects(client.ping(), parley.ServerError);
  assert.equal(slept.length, 6);
  for (const [tried, delay] of slept.entries()) {
    const whole = Math.min(8000, 500 * 2 ** tried);
    assert.ok(0.75 * whole <= delay && delay <= whole, String(slept));
  }
  slept.length = 0;
  fake.failNext(503, { retryAfter: 2 });
  await assert.rejects(client.withOptions({ deadline: 1000 }).ping(), parley.ServerError);
  assert.deepEqual(slept, []);
  fake.failNext(429, { retryAfter: 7 });
  const limited = await client.withOptions({ maxRetries: 0 }).ping().catch((error: unknown) => error);
  assert.ok(limited instanceof parley.RateLimitError && limited.retryAfter === 7);
  assert.equal(await client.ping(), "pong");
});

test("every POST has a key of its own, and other methods have none", async () => {
  const keys: (string | null)[] = [];
  const answer = async (_: unknown, init?: RequestInit) => (keys.push(new Headers(init?.headers).get("idempotency-key")), Response.json({}));
  const client = new Parley({ ...BASE, fetch: answer as typeof fetch });
  await client.interviews.create("one");
  await client.interviews.create("one");
  await client.interviews.create("one", {}, { idempotencyKey: "mine" });
  await client.flows.close("one");
  assert.equal(new Set(keys).size, 4);
  assert.ok(keys.every(Boolean) && keys.includes("mine"));
  await client.flows.update("one", { title: "T" });
  await client.flows.retrieve("one");
  assert.deepEqual(keys.slice(4), [null, null]);
});

test("a fetch that ignores the signal does not hang the client", async () => {
  const client = new Parley({ ...BASE, fetch: () => new Promise(() => undefined), timeout: 20, maxRetries: 1, ...hurried() });
  await assert.rejects(client.ping(), parley.APITimeoutError);
});

test("wait looks less and less often, and now and then at the link", async () => {
  const [reads, links, slept]: [string[], number[], number[]] = [[], [], []];
  const answer = async (url: unknown) => {
    const { pathname, search } = new URL(String(url));
    if (pathname.endsWith("/link")) return links.push(reads.length), Response.json({ state: "in_progress" });
    return reads.push(pathname + search), Response.json({ status: reads.length > 12 ? "completed" : "incomplete" });
  };
  const client = new Parley({ ...BASE, fetch: answer as typeof fetch, ...hurried(slept) });
  assert.equal((await client.interviews.wait("one", { transcript: "none" })).status, "completed");
  assert.deepEqual(slept.slice(0, 4), [1000, 1500, 2250, 3375]);
  assert.equal(slept.at(-1), 30_000);
  assert.deepEqual(new Set(reads), new Set(["/v1/interviews/one?transcript=none"]));
  assert.deepEqual(links, [5, 10]);
});

test("wait ends early when the link has ended", async () => {
  const fake = new FakeParley();
  const slept: number[] = [];
  const client = fake.client(hurried(slept));
  const { interview_flow_id } = await client.flows.create({ org_name: "F", title: "T", questions: ["Why?"] });
  const { interview_id } = await client.interviews.create(interview_flow_id);
  fake.expire(interview_id);
  const expired = await client.interviews.wait(interview_id).catch((error: unknown) => error);
  assert.ok(expired instanceof parley.LinkEndedError && expired.state === "expired", String(expired));
  assert.equal(slept.length, 4);
  const until = new Date(Date.now() + 86_400_000);
  await client.interviews.extend(interview_id, { expires_at: until });
  await assert.rejects(client.interviews.wait(interview_id, { timeout: 20, poll: 30 }), parley.WaitTimeoutError);
  await client.interviews.cancel(interview_id);
  const closed = await client.interviews.wait(interview_id, { timeout: 20, poll: 30 }).catch((error: unknown) => error);
  assert.ok(closed instanceof parley.LinkEndedError, String(closed));
  assert.match(closed.message, /^Interview .* will not be completed: its link is closed\. Create another interview\.$/);
});

test("the feed goes on at its cursor after an error, and stops while it waits", async () => {
  const fake = new FakeParley();
  const client = fake.client({ maxRetries: 0 });
  for (const title of ["A", "B", "C"]) await client.flows.create({ org_name: "F", title, questions: ["Why?"] });
  const feed = client.changes({ limit: 2, poll: 60_000 });
  const seen: unknown[] = [];
  for await (const change of feed) {
    seen.push(change.object?.title);
    if (seen.length === 2) break;
  }
  assert.equal(feed.cursor, undefined);
  const again: unknown[] = [];
  const reading = (async () => {
    for await (const change of feed) {
      again.push(change.object?.title);
      if (again.length === 2) fake.failNext(503);
    }
  })();
  await assert.rejects(reading, parley.ServerError);
  assert.equal(feed.cursor, "2");
  for await (const change of feed) {
    again.push(change.object?.title);
    setTimeout(() => feed.stop(), 20);
  }
  assert.deepEqual([again, feed.cursor], [["A", "B", "C"], "3"]);
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error("enough")), 20);
  await assert.rejects(all(client.changes({ after: "3", poll: 60_000, signal: stop.signal })), /enough/);
});

test("a page of the feed is handled, then its cursor is stored, also that of an empty page", async () => {
  const page = (next: string, ...ids: string[]) => ({ changes: ids.map((object_id) => ({ object_id })), next, has_more: next === "1" });
  const { client, urls, slept } = answering(page("1", "a", "b"), page("2", "c"), page("3"), page("4", "d"));
  const feed = client.changes({ after: "0", poll: 7 });
  const handled: unknown[] = [];
  for await (const { changes, next, has_more } of feed.pages()) {
    handled.push([changes.map((one) => one.object_id), next, has_more]);
    if (next === "4") feed.stop();
  }
  assert.deepEqual(handled, [[["a", "b"], "1", true], [["c"], "2", false], [[], "3", false], [["d"], "4", false]]);
  assert.deepEqual(urls.map((url) => new URL(url).searchParams.get("after")), ["0", "1", "2", "3"]);
  assert.deepEqual([slept, feed.cursor], [[7, 7], "4"]);
});

test("a page that was left in the middle comes again", async () => {
  const fake = new FakeParley();
  const client = fake.client();
  for (const title of ["A", "B", "C"]) await client.flows.create({ org_name: "F", title, questions: ["Why?"] });
  const feed = client.changes({ limit: 2, follow: false });
  for await (const page of feed.pages()) if (page.next === "2") break;
  assert.equal(feed.cursor, undefined);
  assert.deepEqual((await all(feed.pages())).map((page) => [page.changes.length, page.next]), [[2, "2"], [1, "3"]]);
  assert.deepEqual((await all(feed.pages())).map((page) => [page.changes.length, page.next]), [[0, "3"]]);
});

test("FakeParley sends webhooks and refuses what has no sense", async () => {
  const fake = new FakeParley();
  const client = fake.client();
  const flow = { org_name: "F", title: "T", questions: ["Why?"], interview_type: "recruitment", is_video_enabled: true };
  const { interview_flow_id } = await client.flows.create({ ...flow, webhook_url: "https://receiver.example/" });
  const { interview_id } = await client.interviews.create(interview_flow_id, { interviewee_email_address: "robin@example.com" });
  await fake.complete(interview_id);
  await assert.rejects(fake.complete(interview_id), /completed already/);
  const types = fake.events.map(({ body }) => (JSON.parse(new TextDecoder().decode(body)) as { event_type: string }).event_type);
  assert.deepEqual(types, ["interview_processed", "video_processed", "candidate_status_updated"]);
  assert.ok(fake.events.every(({ headers }) => !("webhook-signature" in headers)));
  const other = await client.interviews.create(interview_flow_id);
  await client.interviews.cancel(other.interview_id);
  await assert.rejects(fake.complete(other.interview_id), /link is closed/);
  const big = { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, each) => [`key${each}`, "x"])) };
  await assert.rejects(client.interviews.setMetadata(interview_id, big.metadata), { error: "metadata_too_large" });
  await assert.rejects(client.request("POST", "/v1/interviews", { body: { interview_flow_id, name: "R" } }), /name: Unknown field/);
});
