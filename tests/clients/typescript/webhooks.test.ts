// Events are verified as the vectors say, and sign makes what the vectors have.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { WebhookError, webhooks } from "@parley/client";
import { eventBody, sign } from "@parley/client/testing";
import { Webhook } from "standardwebhooks";
import { env } from "./world.js";

interface Vector {
  description: string;
  secrets: string[];
  signature: webhooks.SignatureHeader;
  now: number;
  headers: Record<string, string>;
  body: string;
  padding: { text: string; times: number } | null;
  reason: webhooks.Reason | null;
  event_type: string | null;
  signed: { secret: string; "webhook-id": string; "webhook-timestamp": number; "webhook-signature": string; "x-service-signature": string }[];
}

const VECTORS = JSON.parse(readFileSync(env("PARLEY_VECTORS"), "utf-8")) as Vector[];
const SECRET = "at-least-32-characters-of-randomness";
const BODY = eventBody();

function bodyOf({ body, padding }: Vector): Uint8Array {
  return new TextEncoder().encode(body + (padding ? padding.text.repeat(padding.times) : ""));
}

function typeOf(event: webhooks.AnyEvent): unknown {
  return event.event_type === "unknown" ? event.data.event_type : event.event_type;
}

function refuses(reason: webhooks.Reason): (error: unknown) => boolean {
  return (error) => error instanceof WebhookError && error.reason === reason && error.message !== "";
}

describe("the vectors", () => {
  assert.ok(VECTORS.length > 50);
  for (const vector of VECTORS) {
    test(vector.description, async () => {
      const { headers, secrets, signature, now } = vector;
      const verified = webhooks.verify(bodyOf(vector), headers, secrets, { signature, now });
      if (vector.reason !== null) return assert.rejects(verified, refuses(vector.reason));
      const event = await verified;
      assert.equal(typeOf(event), vector.event_type);
      const sent = Object.entries(headers).find(([name]) => name.toLowerCase() === "webhook-id")?.[1];
      assert.equal(event.webhook_id, signature === "webhook-signature" ? sent : null);
      for (const one of vector.signed) {
        const made = await sign(bodyOf(vector), one.secret, { webhookId: one["webhook-id"], timestamp: one["webhook-timestamp"] });
        for (const name of ["webhook-signature", "x-service-signature"] as const) assert.equal(made[name], one[name]);
      }
    });
  }
});

test("the library of Standard Webhooks accepts what sign makes", async () => {
  const verifier = new Webhook(Buffer.from(SECRET).toString("base64"));
  assert.ok(verifier.verify(Buffer.from(BODY), await sign(BODY, SECRET)));
});

test("each event has its fields, and an event without them is unknown", async () => {
  for (const type of ["interview_processed", "video_processed", "candidate_status_updated", "interview_cancelled"]) {
    const body = eventBody(type);
    const event = await webhooks.verify(body, await sign(body, SECRET, { webhookId: "evt_test_1" }), SECRET);
    const { webhook_id, external_id, is_test, ...own } = event;
    assert.deepEqual([webhook_id, external_id, is_test], ["evt_test_1", null, true]);
    const told = JSON.parse(new TextDecoder().decode(body)) as object;
    assert.deepEqual(own, type === "interview_cancelled" ? { event_type: "unknown", data: told } : told);
  }
  const bodies = ['{"event_type": "interview_processed", "status": "completed"}', '{"event_type": "toString"}'];
  for (const body of bodies.map((text) => new TextEncoder().encode(text))) {
    assert.equal((await webhooks.verify(body, await sign(body, SECRET), SECRET)).event_type, "unknown");
  }
});

test("the body cannot claim what the headers say", async () => {
  const body = eventBody("interview_processed", { webhook_id: "evt_forged", external_id: "forged", is_test: true });
  const headers = await sign(body, SECRET, { webhookId: "evt_1" });
  const event = await webhooks.verify(body, headers, SECRET);
  assert.deepEqual([event.webhook_id, event.external_id, event.is_test], ["evt_1", null, false]);
  assert.equal((await webhooks.verify(body, { ...headers, "X-Parley-External-Id": "4711" }, SECRET)).external_id, "4711");
});

test("a body that is not bytes is refused with the way to get them", async () => {
  const headers = await sign(BODY, SECRET);
  const text = new TextDecoder().decode(BODY);
  const kinds = { undefined: undefined, null: null, "of type string": text, "of type object": JSON.parse(text) as unknown, "of type array": [...BODY] };
  for (const [kind, body] of Object.entries(kinds)) {
    const told = new RegExp(`^The body is ${kind}, not bytes.*express\\.raw\\(.*request\\.arrayBuffer\\(\\)`);
    await assert.rejects(webhooks.verify(body as Uint8Array, headers, SECRET), { name: "TypeError", message: told });
    await assert.rejects(webhooks.verify(body as Uint8Array, {}, SECRET), refuses("missing"));
  }
});

test("an empty secret would let everyone sign", async () => {
  for (const secret of ["", [], [""], ["good", ""], [null], null]) {
    await assert.rejects(webhooks.verify(BODY, {}, secret as string), /webhook_secret_key/);
  }
});

test("bytes and headers of any kind", async () => {
  const signed = await sign(BODY, SECRET);
  const inLists = Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toUpperCase(), [value]]));
  const apart = Buffer.concat([Buffer.from("before"), BODY, Buffer.from("after")]).subarray(6, 6 + BODY.length);
  for (const body of [BODY, Buffer.from(BODY), apart, BODY.buffer as ArrayBuffer, new DataView(BODY.buffer) as unknown as Uint8Array]) {
    for (const headers of [signed, inLists, new Headers(signed)]) {
      assert.equal((await webhooks.verify(body, headers, SECRET)).event_type, "interview_processed");
    }
  }
});

test("the clock is that of now", async () => {
  const late = await sign(BODY, SECRET, { timestamp: Math.floor(Date.now() / 1000) - 400 });
  await assert.rejects(webhooks.verify(BODY, late, SECRET), refuses("too_old"));
  await webhooks.verify(BODY, late, SECRET, { tolerance: 500 });
});

test("every flipped bit is noticed", async () => {
  const signed = await sign(BODY, SECRET);
  for (let place = 0; place < BODY.length; place += 1) {
    const flipped = BODY.slice();
    flipped[place] = (flipped[place] ?? 0) ^ 1;
    await assert.rejects(webhooks.verify(flipped, signed, SECRET), refuses("mismatch"));
    await assert.rejects(webhooks.verify(flipped, signed, SECRET, { signature: "x-service-signature" }), refuses("mismatch"));
  }
});
