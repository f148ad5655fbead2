// The examples of the client, as programs: with Express on a socket, and with Request and Response of Node.
import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { webhooks } from "@parley/client";
import { eventBody, FakeParley, sign } from "@parley/client/testing";
import { receiver } from "./examples/express.js";
import { copyChanges, invite, summaryOf } from "./examples/interviews.js";
import worker from "./examples/worker.js";

const SECRET = "at-least-32-characters-of-randomness";

type Post = (body: Uint8Array | undefined, headers: Record<string, string>) => Promise<number>;

async function holds(post: Post, seen: webhooks.AnyEvent[]): Promise<void> {
  const fake = new FakeParley();
  const client = fake.client();
  const webhook = { webhook_url: "https://receiver.example/parley", webhook_secret_key: SECRET };
  const { interview_flow_id } = await client.flows.create({ org_name: "F", title: "Ü", questions: ["Why?"], ...webhook });
  const { interview_id } = await client.interviews.create(interview_flow_id);
  await fake.complete(interview_id);
  const [sent] = fake.events;
  assert.ok(sent);
  assert.equal(await post(sent.body, sent.headers), 204);
  assert.deepEqual(seen.map((one) => one.event_type === "interview_processed" && one.interview_id), [interview_id]);
  assert.equal(await post(eventBody(), sent.headers), 401);
  assert.equal(await post(sent.body, await sign(sent.body, "another secret")), 401);
  for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
    assert.equal(await post(sent.body, { "Content-Type": type }), 401);
  }
  assert.equal(await post(undefined, {}), 401);
  assert.equal(seen.length, 1);
  const { "Content-Type": _, ...untyped } = sent.headers;
  assert.equal(await post(sent.body, untyped), 204);
  assert.equal(seen.length, 2);
}

test("the receiver with Express", async () => {
  const seen: webhooks.AnyEvent[] = [];
  let isBroken = false;
  const keep = async (event: webhooks.AnyEvent) => {
    if (isBroken) throw new Error("The queue is full.");
    seen.push(event);
  };
  const server = receiver(SECRET, keep).set("env", "test").listen(0, "127.0.0.1"); // "test": errors are not printed
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/parley`;
  const post: Post = async (body, headers) => (await fetch(url, { method: "POST", body: body as BodyInit, headers })).status;
  try {
    await holds(post, seen);
    isBroken = true;
    const body = eventBody();
    assert.equal(await post(body, await sign(body, SECRET)), 500); // Parley sends it again
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test("the receiver with Request and Response", async () => {
  const seen: webhooks.AnyEvent[] = [];
  const env = { PARLEY_WEBHOOK_SECRET: SECRET, queue: { send: async (event: webhooks.AnyEvent) => void seen.push(event) } };
  const url = "https://receiver.example/parley";
  const post: Post = async (body, headers) =>
    (await worker.fetch(new Request(url, { method: "POST", body: body as BodyInit, headers }), env)).status;
  await holds(post, seen);
  assert.equal((await worker.fetch(new Request(url), env)).status, 405);
});

test("an interview is created and read, and changes are copied", async () => {
  const fake = new FakeParley();
  const client = fake.client();
  const id = await invite(client, "robin@example.com", "application-1");
  assert.equal(await summaryOf(client, id), null);
  await fake.complete(id, { summary: "Likes to help people.", answers: ["To help."], scores: { skills: 4 } });
  assert.equal(await summaryOf(client, id), "Likes to help people.");
  assert.equal(await summaryOf(client, "another"), undefined);
  const stored = new Map<string, unknown>();
  const cursor = await copyChanges(client, undefined, (key, object) => stored.set(key, object));
  assert.equal((stored.get(id) as { status: string }).status, "completed");
  stored.clear();
  assert.equal(await copyChanges(client, cursor, (key, object) => stored.set(key, object)), cursor);
  assert.equal(stored.size, 0);
});
