// Verify that an event is from Parley, and read it:
//
//     const event = await webhooks.verify(body, request.headers, secret);
//
// Then ignore a webhook_id that you have stored before, store it, queue the work, and respond with 2xx.

import { ParleyError } from "./errors.js";

/** Seconds that the time of an event may be off. */
export const TOLERANCE = 300;
export type SignatureHeader = "webhook-signature" | "x-service-signature";
export type Reason = "missing" | "malformed" | "too_old" | "too_new" | "mismatch" | "not_an_event";

const WORDS: Readonly<Record<Reason, string>> = {
  missing: "A header that is needed is absent. Events of a flow without a webhook_secret_key have no signatures.",
  malformed: "The header webhook-timestamp is not a number of seconds.",
  too_old: "The event was sent too long ago: it may be a replay, or a clock is wrong.",
  too_new: "The event was sent in the future: a clock is wrong.",
  mismatch: "No signature fits. The secret is another one, or the body is not the one that was received.",
  not_an_event: "The signature fits, but the body is not a JSON object with an event_type.",
};

/** Not an event from Parley, or not one of now: respond with 401. `reason` says why, in one word. */
export class WebhookError extends ParleyError {
  constructor(readonly reason: Reason) {
    super(WORDS[reason]);
  }
}

/** What `verify` adds to the fields of the body. */
export interface Verified {
  /** The same at each attempt; null if you verify the body alone. */
  webhook_id: string | null;
  /** The one of the interview's metadata. No signature covers it: look the interview up before you rely on it. */
  external_id: string | null;
  /** Whether this is a test event, or one about a test interview. */
  is_test: boolean;
}

interface OfInterview extends Verified {
  interview_flow_id: string;
  interview_id: string;
  interview_link: string;
  interview_flow_name: string;
  interviewee_email_address: string | null;
  interviewee_first_name: string | null;
  interviewee_last_name: string | null;
  status: string;
}

/** An interview has been processed: read its result. */
export interface InterviewProcessed extends OfInterview {
  event_type: "interview_processed";
}

/** The video of an interview is ready. */
export interface VideoProcessed extends OfInterview {
  event_type: "video_processed";
}

/** A candidate's status has changed. The address is called `interviewee_email` here, not `…_address`. */
export interface CandidateStatusUpdated extends Verified {
  event_type: "candidate_status_updated";
  interview_flow_id: string;
  interview_flow_name: string;
  interviewee_email: string;
  previous_status: string;
  new_status: string;
}

/** An event that this version does not know, or one without the fields it knows: everything is in `data`. */
export interface UnknownEvent extends Verified {
  event_type: "unknown";
  data: Readonly<Record<string, unknown>>;
}

export type AnyEvent = InterviewProcessed | VideoProcessed | CandidateStatusUpdated | UnknownEvent;

const OF_INTERVIEW = ["interview_flow_id", "interview_id", "interview_link", "interview_flow_name", "status"];
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  interview_processed: OF_INTERVIEW,
  video_processed: OF_INTERVIEW,
  candidate_status_updated: ["interview_flow_id", "interview_flow_name", "interviewee_email", "previous_status", "new_status"],
};

/** The headers of any framework: those of a Request, or of Node's and Express's request. */
export type AnyHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** Seconds that the time of the event may be off; 300 by default. */
  tolerance?: number;
  /**
   * `webhook-signature` covers the event's id, its time and the body. `x-service-signature` covers the body alone, so that
   * anyone who has seen an event can send it again: choose it only for a receiver that already relies on it.
   */
  signature?: SignatureHeader;
  /** The present time in Unix seconds, for tests. */
  now?: number;
}

/**
 * The event, or a `WebhookError`.
 *
 * `body` is what was received, as bytes and before any JSON parser. While you rotate the secret, give both.
 */
export async function verify(
  body: Uint8Array | ArrayBuffer,
  headers: AnyHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<AnyEvent> {
  const { tolerance = TOLERANCE, signature = "webhook-signature", now = Date.now() / 1000 } = options;
  const keys = await Promise.all(secretsOf(secret).map(keyOf));
  const sent = lowered(headers);
  const given = needed(sent, signature);
  const before = signature === "x-service-signature" ? new Uint8Array() : signedBefore(sent, tolerance, now);
  // After the headers: a request without signature and body is unsigned, not a mistake of yours.
  const raw = bytesOf(body);
  const covered = joined(before, raw);
  const values = signature === "x-service-signature" ? [unhex(given)] : given.split(/[ \t\n\r\f\v]+/).map(unbase64);
  const fits = await Promise.all(keys.flatMap((key) => values.map((value) => isSigned(key, value, covered))));
  if (!fits.includes(true)) throw new WebhookError("mismatch");
  const webhookId = signature === "webhook-signature" ? (sent.get("webhook-id") ?? null) : null;
  return eventOf(raw, webhookId, sent.get("x-parley-external-id") ?? null);
}

function bytesOf(body: unknown): Uint8Array<ArrayBuffer> {
  if (ArrayBuffer.isView(body)) return Uint8Array.from(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
  // An ArrayBuffer of another realm, such as that of a test runner, is no instance of this one's.
  if (Object.prototype.toString.call(body) === "[object ArrayBuffer]") return new Uint8Array(body as ArrayBuffer);
  const kind = body === null || body === undefined ? String(body) : `of type ${Array.isArray(body) ? "array" : typeof body}`;
  throw new TypeError(
    `The body is ${kind}, not bytes. Give the bytes that were received (Express: express.raw({ type: () => true }), ` +
      "a Request: await request.arrayBuffer()). Text, or JSON that was serialized again, has other bytes.",
  );
}

function secretsOf(secret: string | readonly string[]): string[] {
  const given = typeof secret === "string" ? [secret] : Array.isArray(secret) ? [...secret] : [];
  if (given.length === 0 || !given.every((one) => typeof one === "string" && one !== "")) {
    throw new TypeError("Give the webhook_secret_key of the flow. With an empty secret, everyone could sign.");
  }
  return given;
}

function keyOf(secret: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", new TextEncoder().encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function lowered(headers: AnyHeaders): Map<string, string> {
  const pairs = typeof headers.entries === "function" ? (headers as Headers).entries() : Object.entries(headers);
  const sent = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (value !== undefined) sent.set(name.toLowerCase(), typeof value === "string" ? value : (value as readonly string[]).join(", "));
  }
  return sent;
}

function needed(sent: Map<string, string>, name: string): string {
  const value = sent.get(name);
  if (value === undefined) throw new WebhookError("missing");
  return value;
}

/** What `webhook-signature` covers before the body, if its time is now. */
function signedBefore(sent: Map<string, string>, tolerance: number, now: number): Uint8Array {
  const [id, told] = [needed(sent, "webhook-id"), needed(sent, "webhook-timestamp")];
  if (!/^[0-9]{1,12}$/.test(told)) throw new WebhookError("malformed");
  if (now - Number(told) > tolerance) throw new WebhookError("too_old");
  if (Number(told) - now > tolerance) throw new WebhookError("too_new");
  return new TextEncoder().encode(`${id}.${told}.`);
}

function joined(before: Uint8Array, after: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(before.length + after.length);
  whole.set(before);
  whole.set(after, before.length);
  return whole;
}

/** WebCrypto compares in constant time. A value that is no signature at all fits nothing. */
async function isSigned(key: CryptoKey, value: Uint8Array<ArrayBuffer> | null, covered: Uint8Array<ArrayBuffer>): Promise<boolean> {
  return value !== null && crypto.subtle.verify("HMAC", key, value, covered);
}

function unhex(text: string): Uint8Array<ArrayBuffer> | null {
  return /^[0-9a-f]{64}$/.test(text) ? Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16)) : null;
}

function unbase64(value: string): Uint8Array<ArrayBuffer> | null {
  // 32 bytes in base64, in the one way to write them: the last character carries two bits that must be zero.
  const text = /^v1,([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$/.exec(value)?.[1];
  return text === undefined ? null : Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
}

function eventOf(raw: Uint8Array, webhookId: string | null, externalId: string | null): AnyEvent {
  let told: unknown;
  try {
    told = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
  } catch {
    throw new WebhookError("not_an_event");
  }
  const type = (told as { event_type?: unknown } | null)?.event_type;
  if (typeof told !== "object" || typeof type !== "string") throw new WebhookError("not_an_event");
  const data = told as Record<string, unknown>;
  const known = { webhook_id: webhookId, external_id: externalId, is_test: webhookId?.startsWith("evt_test_") ?? false };
  const fields = Object.hasOwn(NEEDED, type) ? NEEDED[type] : undefined;
  if (!fields?.every((name) => typeof data[name] === "string")) return { event_type: "unknown", data, ...known };
  return { ...data, ...known } as unknown as AnyEvent;
}
