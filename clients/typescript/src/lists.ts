// Lists that are read page by page while you iterate, and the feed of changes, which never ends.

import type { CallOptions, Query } from "./core.js";
import { UnexpectedResponseError } from "./errors.js";
import type { Change, ChangesPage } from "./models.js";

/** The list under this key of a response. */
export function listOf<T>(body: unknown, key: string): T[] {
  const found = (body as Record<string, unknown> | null)?.[key];
  if (!Array.isArray(found)) throw new UnexpectedResponseError(`The server sent no list of ${key}.`);
  return found as T[];
}

/** A list to walk through. `position` is the query parameter that moves on. */
export interface Plan {
  ask: (where: Query) => Promise<unknown>;
  key: string;
  id: string;
  position: "offset" | "after";
  limit?: number | undefined;
  maxItems?: number | undefined;
  begin?: number | string | undefined;
}

/** Where to read a list: `limit` is the size of a page (100 by default), `maxItems` ends the whole list. */
export interface ListOptions {
  limit?: number;
  maxItems?: number;
}

/** A list that is read while you iterate: `for await (const flow of client.flows.list())`. */
export class Listing<T> implements AsyncIterable<T> {
  readonly #plan: Plan;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  /**
   * The list in pages of `limit` objects.
   *
   * It ends with a page that is not full (`offset`) or has no `next` (`after`), after `maxItems` objects, and at a page
   * that was there before: a server that ignores the position must not cause an endless loop.
   */
  async *pages(): AsyncGenerator<T[], void, undefined> {
    const { ask, key, id, position, limit = 100, begin, maxItems = Infinity } = this.#plan;
    const seen = new Set<unknown>();
    let at = begin;
    for (let left = maxItems; left > 0; ) {
      const asked = Math.min(limit, left);
      const body = await ask({ limit: asked, [position]: at });
      const items = listOf<T>(body, key);
      const mark = (items[0] as Record<string, unknown> | undefined)?.[id];
      if (items.length === 0 || seen.has(mark)) return;
      seen.add(mark);
      yield items.slice(0, left);
      left -= items.length;
      const next = (body as { next?: string | null }).next ?? undefined;
      if (position === "after" ? next === undefined : items.length < asked) return;
      at = position === "after" ? next : Number(at ?? 0) + items.length;
    }
  }

  /** Each object; every iteration begins at the beginning. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page;
  }
}

/** Where the feed begins, and how it is read. */
export interface ChangesOptions extends CallOptions {
  /** The cursor that you stored; without it the feed begins with the present state of everything. */
  after?: string | undefined;
  /** How many in one request, 100 by default. */
  limit?: number;
  /** Milliseconds between two requests once there is nothing more, 5,000 by default. */
  poll?: number;
  /** false ends with the last change there is now. */
  follow?: boolean;
}

/** Iterate `pages()`, or this to get each `Change`. After an error, iterate again: it continues at `cursor`. */
export class Changes implements AsyncIterable<Change> {
  /**
   * What you can safely store while you read one change at a time: it is behind by the page in progress.
   *
   * It moves on when you ask for what follows a page. To store the position of a page as soon as you have handled it, and
   * that of an empty page, read `pages()`.
   */
  cursor: string | undefined;
  readonly #ask: (where: Query, options: CallOptions) => Promise<unknown>;
  readonly #sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  readonly #options: ChangesOptions;
  readonly #stopped = new AbortController();

  constructor(
    ask: (where: Query, options: CallOptions) => Promise<unknown>,
    sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>,
    options: ChangesOptions,
  ) {
    this.cursor = options.after;
    this.#ask = ask;
    this.#sleep = sleep;
    this.#options = options;
  }

  /** Ends the iteration, also while it waits. */
  stop(): void {
    this.#stopped.abort();
  }

  /**
   * Each page, also an empty one after each poll: handle its `changes`, then store its `next` and give it as `after` next time.
   *
   * The `next` of an empty page is worth storing: a cursor works for 90 days, and this one is younger.
   */
  async *pages(): AsyncGenerator<ChangesPage, void, undefined> {
    const { limit = 100, poll = 5000, follow = true, signal } = this.#options;
    const stopped = this.#stopped.signal;
    while (!stopped.aborted) {
      const page = await this.#page(limit, signal);
      if (stopped.aborted) return;
      yield page;
      this.cursor = page.next;
      if (page.has_more) continue;
      if (!follow) return;
      await this.#rest(poll, signal);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Change, void, undefined> {
    for await (const page of this.pages()) {
      for (const change of page.changes) {
        if (this.#stopped.signal.aborted) return;
        yield change;
      }
    }
  }

  async #page(limit: number, signal: AbortSignal | undefined): Promise<ChangesPage> {
    const body = await this.#ask({ after: this.cursor, limit }, { signal });
    listOf<Change>(body, "changes");
    if (typeof (body as ChangesPage).next !== "string") throw new UnexpectedResponseError("The server sent no cursor.");
    return body as ChangesPage;
  }

  /** Waits for the next request, unless `stop` ends it; the signal of the caller throws. */
  async #rest(poll: number, signal: AbortSignal | undefined): Promise<void> {
    const stopped = this.#stopped.signal;
    const either = new AbortController();
    const end = () => either.abort(signal?.aborted ? signal.reason : undefined);
    for (const one of [stopped, signal]) one?.addEventListener("abort", end, { once: true });
    try {
      if (!stopped.aborted && !signal?.aborted) await this.#sleep(poll, either.signal);
    } catch (reason) {
      if (!stopped.aborted) throw reason;
    } finally {
      for (const one of [stopped, signal]) one?.removeEventListener("abort", end);
    }
  }
}
