// How a call becomes a request, when it is sent again, and what its response means.
//
// Every call can be sent again without doing its work twice: GET, PUT, PATCH and DELETE by what they mean, POST because
// it always has an Idempotency-Key, the same at every attempt.

import { APIConnectionError, APIStatusError, APITimeoutError, ParleyError, retryAfter, statusError, UnexpectedResponseError } from "./errors.js";

const RETRIED = new Set([429, 500, 502, 503, 504]);
const FIRST_DELAY = 500;
const LONGEST_DELAY = 8000;
const LONGEST_TIMER = 2 ** 31 - 1;
export const VERSION = "0.1.0";

/** How calls are sent. Times are in milliseconds. */
export interface Options {
  /** For one attempt; 30,000 by default. */
  timeout?: number | undefined;
  /** How many more attempts; 2 by default. */
  maxRetries?: number | undefined;
  /** No attempt begins later than this after the first; 120,000 by default. */
  deadline?: number | undefined;
}

/** What every method takes as its last argument. */
export interface CallOptions {
  /** Ends the call at once, its retries included. The promise rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/** What methods that send a POST take as their last argument. */
export interface CreateOptions extends CallOptions {
  /** A key of your own, such as the id of the application, for a program that may be started again in the middle. */
  idempotencyKey?: string | undefined;
}

export type Query = Readonly<Record<string, string | number | boolean | Date | null | undefined>>;

/** One operation with its arguments. */
export interface Call {
  method: string;
  path: string;
  query?: Query | undefined;
  body?: unknown;
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Milliseconds that an attempt of this call may need, whatever `timeout` says. */
  atLeast?: number | undefined;
  options?: CreateOptions | undefined;
}

/** Where a client sends calls, and what with. */
export interface Target extends Required<Options> {
  apiKey: string;
  baseUrl: string;
  fetch: typeof globalThis.fetch;
  sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

interface Answer {
  code: number;
  headers: Headers;
  text: string;
}

/** `/v1/` and the parts. An id that would change the path is refused before it is sent. */
export function pathOf(...parts: string[]): string {
  for (const part of parts) {
    if (typeof part !== "string" || ["", ".", ".."].includes(part)) {
      throw new TypeError(`An id must be a string that is not empty; this one is ${JSON.stringify(part)}.`);
    }
  }
  return "/v1/" + parts.map(encodeURIComponent).join("/");
}

/** Waits, and ends at once when the signal says so. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, Math.min(milliseconds, LONGEST_TIMER));
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Sends a call until it is answered, at most `maxRetries` times again, and never after `deadline`. */
export async function run(target: Target, call: Call): Promise<unknown> {
  const key = call.method === "POST" ? (call.options?.idempotencyKey ?? crypto.randomUUID()) : undefined;
  const atLeast = call.atLeast ?? 0;
  const ends = performance.now() + Math.max(target.deadline, atLeast);
  const send = sender(target, call, key, Math.max(target.timeout, atLeast));
  for (let tried = 0; ; ) {
    let answer: Answer | undefined;
    try {
      answer = await send();
      return read(call, answer);
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      if (key !== undefined) error.idempotencyKey = key;
      const isRunning = error instanceof APIStatusError && error.code === 409 && error.retryAfter !== null;
      const delay = delayAfter(answer, tried, isRunning);
      const isLast = target.maxRetries <= (isRunning ? 0 : tried);
      if (delay === null || isLast || performance.now() + delay > ends) throw error;
      await target.sleep(delay, call.options?.signal);
      if (!isRunning) tried += 1;
    }
  }
}

/** Sends the request once each time it is called; the whole attempt has `timeout` milliseconds. */
function sender(target: Target, call: Call, key: string | undefined, timeout: number): () => Promise<Answer> {
  const { url, init } = request(target, call, key);
  const outer = call.options?.signal;
  return async () => {
    outer?.throwIfAborted();
    const inner = new AbortController();
    const stop = () => inner.abort(outer?.reason);
    outer?.addEventListener("abort", stop, { once: true });
    const where = `${call.method} ${call.path}`;
    const late = new APITimeoutError(`${where}: the response took longer than ${timeout} ms.`);
    const timer = setTimeout(() => inner.abort(late), Math.min(timeout, LONGEST_TIMER));
    // A fetch of your own may ignore the signal; the time is up all the same.
    const over = new Promise<never>((_, reject) => inner.signal.addEventListener("abort", () => reject(inner.signal.reason)));
    const answered = async (): Promise<Answer> => {
      const response = await target.fetch(url, { ...init, signal: inner.signal });
      return { code: response.status, headers: response.headers, text: await response.text() };
    };
    try {
      return await Promise.race([answered(), over]);
    } catch (reason) {
      if (outer?.aborted) throw outer.reason;
      if (inner.signal.aborted) throw late;
      throw new APIConnectionError(`${where}: ${wordsOf(reason)}`, { cause: reason });
    } finally {
      clearTimeout(timer);
      outer?.removeEventListener("abort", stop);
    }
  };
}

function request(target: Target, call: Call, key: string | undefined): { url: string; init: RequestInit } {
  const url = new URL(target.baseUrl + call.path);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined && value !== null) url.searchParams.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const headers = new Headers({
    Authorization: `Bearer ${target.apiKey}`,
    Accept: "application/json",
    "User-Agent": `parley-client-typescript/${VERSION}`,
  });
  for (const [name, value] of Object.entries(call.headers ?? {})) if (value !== undefined) headers.set(name, value);
  if (key !== undefined) headers.set("Idempotency-Key", key);
  if (call.body !== undefined) headers.set("Content-Type", "application/json");
  // A redirect is refused, because fetch would send the API key to wherever it points.
  const init: RequestInit = { method: call.method, headers, redirect: "manual" };
  if (call.body !== undefined) init.body = JSON.stringify(call.body);
  return { url: url.href, init };
}

/** The JSON of a success; everything else is thrown. */
function read(call: Call, answer: Answer): unknown {
  const { body, isJson } = parsed(answer.text);
  if (answer.code < 200 || answer.code > 299) throw statusError(answer.code, body, answer.headers);
  if (!isJson) throw new UnexpectedResponseError(`${call.method} ${call.path}: the response of ${answer.code} is not JSON.`);
  return body;
}

function parsed(text: string): { body: unknown; isJson: boolean } {
  try {
    return { body: JSON.parse(text), isJson: true };
  } catch {
    return { body: null, isJson: false };
  }
}

/** Milliseconds until the next attempt, null if there is to be none. */
function delayAfter(answer: Answer | undefined, tried: number, isRunning: boolean): number | null {
  const grown = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** tried) * (0.75 + Math.random() / 4);
  if (answer === undefined || (answer.code >= 200 && answer.code <= 299)) return grown;
  if (!RETRIED.has(answer.code) && !isRunning) return null;
  const asked = retryAfter(answer.headers);
  return asked === null ? grown : asked * 1000;
}

/** fetch says "fetch failed", and why only in the cause. */
function wordsOf(reason: unknown): string {
  const { message, cause } = reason as { message?: unknown; cause?: { message?: unknown; code?: unknown } };
  return [message ?? reason, cause?.message || cause?.code].filter(Boolean).join(": ");
}
