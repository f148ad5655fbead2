// A Parley in memory, for tests of programs that use this package. It answers the requests of real clients.

import { Parley, type ParleyOptions } from "./client.js";
import { DAY, extended, type Held, idsOf, linkOf, namesOf, type Outcome, resultOf, shown, shownLink, textOf, URL_OF_FAKE } from "./fake-interview.js";
import { check, checkBody, checkMetadata, invalid, Refusal } from "./fake-rules.js";
import type { Candidate, Change, InterviewFlow, Team, TeamMember } from "./models.js";
import { sign } from "./signing.js";

export type { Outcome } from "./fake-interview.js";
export { eventBody, sign } from "./signing.js";

const DEFAULTS = {
  voice_id: "vendora-Kate",
  language: "en-US",
  company_logo_url: null,
  additional_info: null,
  additional_instructions: null,
  interview_type: "general",
  is_video_enabled: false,
  is_doc_upload_enabled: false,
  redirect_url: null,
  webhook_url: null,
  webhook_secret_key: null,
  intro: null,
  outro: null,
};
const STATUSES = ["invited", "interviewed", "shortlisted", "accepted", "rejected", "withdrawn"];
const NEEDS_REASON: Readonly<Record<string, string>> = { shortlisted: "advanced", accepted: "accepted", rejected: "rejected" };
const REASON = { code: "other", label: "Other" };
const PHRASES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

type Fields = Record<string, unknown>;
type Asked = Readonly<Record<string, string>>;

/** A webhook as it would have been sent: give both to your receiver. */
export interface SentEvent {
  url: string;
  body: Uint8Array;
  headers: Record<string, string>;
}

type Route = [operation: string, method: string, pattern: RegExp, answer: (ids: string[], query: Asked, body: Fields) => unknown];

/**
 * An organization with one team and one member. It checks fields and states as Parley does. It has no webhook endpoints, deliveries,
 * rotation of secrets and versions of scores: these calls get 404.
 *
 * `client()` is a real client that needs no network. `complete` is the candidate, `expire` the end of their link. `events` has the
 * webhooks, signed. `failNext` breaks the next responses.
 */
export class FakeParley {
  apiKey = "7e577e57-0000-4000-8000-000000000000";
  readonly team: Team = { id: crypto.randomUUID(), name: "Hiring", created_at: now() };
  readonly member: TeamMember = { id: crypto.randomUUID(), email: "member@example.com", full_name: "Alex Member" };
  readonly events: SentEvent[] = [];
  readonly requests: { method: string; path: string }[] = [];
  readonly #flows = new Map<string, InterviewFlow>();
  readonly #interviews = new Map<string, Held>();
  readonly #candidates = new Map<string, Candidate>();
  readonly #changes: Change[] = [];
  readonly #answered = new Map<string, { content: string; told: string }>();
  readonly #failing: { code: number; retryAfter: number | undefined }[] = [];

  /** A client of this Parley; `options` are those of `Parley`. */
  client(options: ParleyOptions = {}): Parley {
    return new Parley({ apiKey: this.apiKey, baseUrl: URL_OF_FAKE, fetch: this.fetch, ...options });
  }

  /** Answer the next requests with this status code; nothing happens to the data. */
  failNext(code: number, { times = 1, retryAfter }: { times?: number; retryAfter?: number } = {}): void {
    for (let each = 0; each < times; each += 1) this.#failing.push({ code, retryAfter });
  }

  /** The candidate takes the interview and it is processed: the result is there, and its webhooks are sent. */
  async complete(interviewId: string, outcome: Outcome = {}): Promise<void> {
    const interview = this.#interview(interviewId);
    if (interview.data) throw new Error("This interview is completed already.");
    if (interview.isClosed) throw new Error("Its link is closed.");
    if (interview.expiresAt <= Date.now()) throw new Error("Its link has expired.");
    interview.data = resultOf(interview, outcome);
    this.#changed("interview", interviewId, shown(interview, "none"));
    await this.#send("interview_processed", interview);
    if (interview.flow.is_video_enabled) {
      interview.data.video_url = `${URL_OF_FAKE}/recordings/${interviewId}/video`;
      await this.#send("video_processed", interview);
    }
    for (const candidate of this.#candidates.values()) {
      const isTheirs = candidate.interview_ids.includes(interviewId) && candidate.status === "invited";
      if (isTheirs) await this.#setStatus(candidate, "interviewed");
    }
  }

  /** The link of the interview has expired, and the candidate has not come. */
  expire(interviewId: string): void {
    this.#interview(interviewId).expiresAt = Date.now();
  }

  /** What a client is given as its `fetch`. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname, searchParams } = new URL(request.url);
    this.requests.push({ method: request.method, path: pathname });
    const failing = this.#failing.shift();
    if (failing) {
      const headers = new Headers(failing.retryAfter === undefined ? [] : [["Retry-After", String(failing.retryAfter)]]);
      return Response.json(refused(failing.code, "Broken by failNext."), { status: failing.code, headers });
    }
    try {
      const content = await request.text();
      return new Response(await this.#answer(request, pathname, Object.fromEntries(searchParams), content));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message, errors } = error;
      return Response.json(refused(code, message, errors), { status: code, headers: { "X-Parley-Error": error.error } });
    }
  };

  async #answer(request: Request, path: string, query: Asked, content: string): Promise<string> {
    if (request.headers.get("authorization") !== `Bearer ${this.apiKey}`) {
      throw new Refusal(401, "unauthorized", "The API key is missing or unknown.");
    }
    const { operation, answer } = this.#routeOf(request.method, path);
    check(operation, "headers", (name) => request.headers.get(name));
    const key = request.method === "POST" ? request.headers.get("idempotency-key") : null;
    const call = `${path} ${key}`;
    const before = key === null ? undefined : this.#answered.get(call);
    if (before && before.content !== content) {
      throw new Refusal(422, "idempotency_key_reused", "This Idempotency-Key was used with another body.");
    }
    if (before) return before.told;
    const body: unknown = content ? JSON.parse(content) : {};
    checkBody(operation, body);
    check(operation, "query", (name) => query[name]);
    const told = JSON.stringify(await answer(query, body));
    if (key !== null) this.#answered.set(call, { content, told });
    return told;
  }

  #routeOf(method: string, path: string): { operation: string; answer: (query: Asked, body: Fields) => unknown } {
    for (const [operation, of, pattern, answer] of this.#routes) {
      const found = of === method ? pattern.exec(path) : null;
      const ids = found?.slice(1).map(decodeURIComponent);
      if (ids) return { operation, answer: (query, body) => answer(ids, query, body) };
    }
    throw new Refusal(404, "no_such_url", `FakeParley does not have ${method} ${path}.`);
  }

  readonly #routes: Route[] = [
    ["ping", "GET", /^\/v1\/ping$/, () => ({ message: "pong" })],
    ["listTeams", "GET", /^\/v1\/teams$/, () => ({ teams: [this.team] })],
    ["listTeamMembers", "GET", /^\/v1\/team-members$/, (_, query) => (this.#checkTeam(query.team_id), { team_members: [this.member] })],
    ["createInterviewFlow", "POST", /^\/v1\/interview-flows$/, (_, __, body) => this.#createFlow(body)],
    ["listInterviewFlows", "GET", /^\/v1\/interview-flows$/, (_, query) => ({ interview_flows: this.#page([...this.#flows.values()], query, 100) })],
    ["getInterviewFlow", "GET", /^\/v1\/interview-flows\/([^/]+)$/, ([id]) => this.#flow(id)],
    ["updateInterviewFlow", "PATCH", /^\/v1\/interview-flows\/([^/]+)$/, ([id], _, body) => this.#updateFlow(this.#flow(id), body)],
    ["deleteInterviewFlow", "DELETE", /^\/v1\/interview-flows\/([^/]+)$/, ([id]) => this.#setFlow(this.#flow(id), "archived")],
    ["closeInterviewFlow", "POST", /^\/v1\/interview-flows\/([^/]+)\/close$/, ([id]) => this.#setFlow(this.#flow(id), "closed")],
    ["reopenInterviewFlow", "POST", /^\/v1\/interview-flows\/([^/]+)\/reopen$/, ([id]) => this.#setFlow(this.#flow(id), "open")],
    ["createInterview", "POST", /^\/v1\/interviews$/, (_, __, body) => this.#createInterview(body)],
    ["listInterviews", "GET", /^\/v1\/interviews$/, (_, query) => this.#listInterviews(query)],
    ["getInterview", "GET", /^\/v1\/interviews\/([^/]+)$/, ([id], query) => shown(this.#interview(id), query.transcript ?? "full")],
    ["deleteInterview", "DELETE", /^\/v1\/interviews\/([^/]+)$/, ([id]) => this.#revoke(this.#interview(id))],
    ["cancelInterview", "POST", /^\/v1\/interviews\/([^/]+)\/cancel$/, ([id]) => this.#cancel(this.#interview(id))],
    ["getInterviewLink", "GET", /^\/v1\/interviews\/([^/]+)\/link$/, ([id]) => shownLink(this.#interview(id))],
    ["extendInterview", "POST", /^\/v1\/interviews\/([^/]+)\/extend$/, ([id], _, body) => extended(this.#interview(id), body)],
    ["getInterviewMetadata", "GET", /^\/v1\/interviews\/([^/]+)\/metadata$/, ([id]) => ({ metadata: this.#interview(id).metadata })],
    ["setInterviewMetadata", "PUT", /^\/v1\/interviews\/([^/]+)\/metadata$/, ([id], _, body) => this.#setMetadata(this.#interview(id), body)],
    ["lookupInterviews", "GET", /^\/v1\/lookup$/, (_, query) => this.#lookup(query.external_id)],
    ["listCandidates", "GET", /^\/v1\/candidates$/, (_, query) => this.#listCandidates(query)],
    ["getCandidate", "GET", /^\/v1\/candidates\/([^/]+)$/, ([id]) => this.#candidate(id)],
    ["moveCandidate", "POST", /^\/v1\/candidates\/([^/]+)\/move$/, ([id], _, body) => this.#move(this.#candidate(id), body)],
    ["listStatuses", "GET", /^\/v1\/statuses$/, () => ({ statuses: statuses() })],
    ["listChanges", "GET", /^\/v1\/changes$/, (_, query) => this.#listChanges(query)],
  ];

  #checkTeam(teamId: unknown): void {
    if (teamId !== undefined && teamId !== null && teamId !== this.team.id) {
      throw new Refusal(403, "other_organization", "This team does not belong to your organization.");
    }
  }

  #flow(id: unknown): InterviewFlow {
    return found(this.#flows.get(String(id)), "flow");
  }

  #interview(id: unknown): Held {
    return found(this.#interviews.get(String(id)), "interview");
  }

  #candidate(id: unknown): Candidate {
    return found(this.#candidates.get(String(id)), "candidate");
  }

  #page<T>(everything: T[], query: Asked, usual: number): T[] {
    this.#checkTeam(query.team_id);
    const [begin, limit] = [Number(query.offset ?? 0), Number(query.limit ?? usual)];
    return everything.reverse().slice(begin, begin + limit);
  }

  #createFlow(body: Fields): unknown {
    this.#checkTeam(body.team_id);
    const { preamble_video_url: _, ...fields } = body;
    const id = crypto.randomUUID();
    const own = { team_id: this.team.id, interview_flow_id: id, status: "open" };
    this.#flows.set(id, { ...DEFAULTS, ...fields, ...own } as unknown as InterviewFlow);
    this.#changed("interview_flow", id, this.#flow(id));
    return { interview_flow_id: id };
  }

  #updateFlow(flow: InterviewFlow, body: Fields): unknown {
    const { preamble_video_url: _, ...fields } = body;
    Object.assign(flow, fields);
    this.#changed("interview_flow", flow.interview_flow_id, flow);
    return flow;
  }

  #setFlow(flow: InterviewFlow, status: string): unknown {
    if (flow.status === "archived" && status !== "archived") throw new Refusal(409, "conflict", "This flow is archived.");
    flow.status = status;
    this.#changed("interview_flow", flow.interview_flow_id, flow);
    return { success: true, interview_flow_id: flow.interview_flow_id, status };
  }

  #createInterview(body: Fields): unknown {
    const flow = this.#flow(body.interview_flow_id);
    if (flow.status !== "open") throw new Refusal(422, "flow_closed", `This flow is ${flow.status} and accepts no interviews.`);
    const recruiter = textOf(body.assigned_recruiter_id)?.toLowerCase() ?? this.member.id;
    if (recruiter !== this.member.id) throw invalid("json", { assigned_recruiter_id: ["This member does not belong to the flow's team."] });
    const createdAt = Date.now();
    const times = { createdAt, expiresAt: createdAt + 30 * DAY };
    const held: Held = { id: crypto.randomUUID(), flow, given: body, data: null, isClosed: false, ...times, metadata: {} };
    this.#interviews.set(held.id, held);
    this.#changed("interview", held.id, shown(held, "none"));
    if (body.interviewee_email_address && flow.interview_type === "recruitment") this.#addCandidate(held);
    return { interview_id: held.id, interview_link: linkOf(held), hint: null };
  }

  #addCandidate({ id, flow, given }: Held): void {
    const email = String(given.interviewee_email_address);
    for (const known of this.#candidates.values()) {
      if (known.interviewee_email_address === email && known.interview_flow_id === flow.interview_flow_id) {
        known.interview_ids.unshift(id);
        return;
      }
    }
    const candidate: Candidate = {
      candidate_id: crypto.randomUUID(),
      team_id: this.team.id,
      interview_flow_id: flow.interview_flow_id,
      interviewee_email_address: email,
      interviewee_first_name: textOf(given.interviewee_first_name),
      interviewee_last_name: textOf(given.interviewee_last_name),
      status: "invited",
      assigned_recruiter_id: textOf(given.assigned_recruiter_id),
      interview_ids: [id],
      created_at: now(),
    };
    this.#candidates.set(candidate.candidate_id, candidate);
    this.#changed("candidate", candidate.candidate_id, candidate);
  }

  #listInterviews(query: Asked): unknown {
    const { status, transcript = "full", interview_flow_id: flowId, created_after: after } = query;
    const flow = flowId === undefined ? undefined : this.#flow(flowId);
    const all = [...this.#interviews.values()].filter(
      (one) => (!flow || one.flow === flow) && (after === undefined || one.createdAt > Date.parse(after)),
    );
    const chosen = all.map((one) => shown(one, transcript)).filter((one) => [undefined, one.status].includes(status));
    return { interviews: this.#page(chosen, query, 20) };
  }

  #revoke(interview: Held): unknown {
    interview.isClosed = true;
    if (interview.data) Object.assign(interview.data, { audio_url: null, video_url: null });
    this.#changed("interview", interview.id, shown(interview, "none"));
    return { success: true };
  }

  #cancel(interview: Held): unknown {
    if (interview.data) throw new Refusal(409, "conflict", "This interview has begun.");
    interview.isClosed = true;
    return { success: true, interview_id: interview.id };
  }

  #setMetadata(interview: Held, body: Fields): unknown {
    const metadata = body.metadata as Record<string, string>;
    checkMetadata(metadata);
    interview.metadata = metadata;
    this.#changed("interview_metadata", interview.id, { metadata });
    return { metadata };
  }

  #lookup(externalId: string | undefined): unknown {
    const all = [...this.#interviews.values()].reverse().filter((one) => externalId && one.metadata.external_id === externalId);
    return { interviews: all.slice(0, 100).map((one) => ({ ...idsOf(one), external_id: externalId })) };
  }

  #listCandidates(query: Asked): unknown {
    this.#checkTeam(query.team_id);
    const { interview_flow_id: flowId, status, email } = query;
    if (flowId !== undefined) this.#flow(flowId);
    const all = [...this.#candidates.values()].reverse().filter((one) => {
      const pairs = [[flowId, one.interview_flow_id], [status, one.status], [email, one.interviewee_email_address]];
      return pairs.every(([wanted, present]) => wanted === undefined || wanted === present);
    });
    const [begin, limit] = [cursorOf(query), Number(query.limit ?? 100)];
    return { candidates: all.slice(begin, begin + limit), next: begin + limit < all.length ? String(begin + limit) : null };
  }

  async #move(candidate: Candidate, body: Fields): Promise<unknown> {
    const { decided_by: decider, reason_code: reason, previous_status: seen } = body;
    const status = String(body.status);
    if (typeof decider === "string") found(decider.toLowerCase() === this.member.id ? this.member : undefined, "member");
    const missing = Object.entries({ decided_by: decider, reason_code: reason }).filter(([, value]) => !value);
    if (NEEDS_REASON[status] && missing.length > 0) {
      const needed = missing.map(([name]) => [name, [`“${status}” is a decision about the candidate and needs this.`]]);
      throw invalid("json", Object.fromEntries(needed), "decision_incomplete");
    }
    if (seen && seen !== candidate.status) throw new Refusal(409, "conflict", `The candidate's status is ${candidate.status}.`);
    if (!STATUSES.includes(status)) throw invalid("json", { status: [`“${status}” is not a status in your pipeline.`] });
    if (status === candidate.status) return candidate;
    if (reason && reason !== REASON.code) throw invalid("json", { reason_code: ["This reason is not in your organization's list."] });
    if (reason && !NEEDS_REASON[status]) throw invalid("json", { reason_code: [`A move to “${status}” takes no reason.`] });
    await this.#setStatus(candidate, status);
    return candidate;
  }

  #listChanges(query: Asked): unknown {
    const [begin, limit] = [cursorOf(query), Number(query.limit ?? 100)];
    const changes = this.#changes.slice(begin, begin + limit);
    const end = begin + changes.length;
    return { changes, next: String(end), has_more: end < this.#changes.length };
  }

  #changed(kind: string, objectId: string, object: object): void {
    const copy = JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
    const id = String(this.#changes.length + 1);
    this.#changes.push({ id, kind, object_id: objectId, change: "upserted", at: now(), object: copy });
  }

  async #setStatus(candidate: Candidate, status: string): Promise<void> {
    const previous = candidate.status;
    candidate.status = status;
    this.#changed("candidate", candidate.candidate_id, candidate);
    const flow = this.#flow(candidate.interview_flow_id);
    await this.#announce(flow, {
      event_type: "candidate_status_updated",
      interview_flow_id: flow.interview_flow_id,
      interview_flow_name: flow.title,
      interviewee_email: candidate.interviewee_email_address,
      previous_status: previous,
      new_status: status,
    });
  }

  async #send(eventType: string, interview: Held): Promise<void> {
    const payload = {
      event_type: eventType,
      ...idsOf(interview),
      interview_link: `${URL_OF_FAKE}/interviews/${interview.id}`,
      interview_flow_name: interview.flow.title,
      ...namesOf(interview),
      status: "completed",
    };
    const external = interview.metadata.external_id;
    await this.#announce(interview.flow, payload, external ? { "X-Parley-External-Id": external } : {});
  }

  async #announce(flow: InterviewFlow, payload: Fields, more: Record<string, string> = {}): Promise<void> {
    if (!flow.webhook_url) return;
    const body = new TextEncoder().encode(JSON.stringify(payload));
    const signed = Object.entries(await sign(body, flow.webhook_secret_key || "-"));
    const headers = signed.filter(([name]) => flow.webhook_secret_key || !name.endsWith("signature"));
    this.events.push({ url: flow.webhook_url, body, headers: { ...Object.fromEntries(headers), ...more } });
  }
}

function now(): string {
  return new Date().toISOString();
}

function found<T>(one: T | undefined, what: string): T {
  if (one === undefined) throw new Refusal(422, "not_found", `No ${what} has this id.`);
  return one;
}

function refused(code: number, message: string, errors?: Fields): Fields {
  return { code, status: PHRASES[code] ?? "Error", message, ...(errors ? { errors } : {}) };
}

function cursorOf({ after = "0" }: Asked): number {
  if (!/^[0-9]+$/.test(after)) throw invalid("query", { after: ["This cursor cannot be read. Call without after."] }, "cursor_invalid");
  return Number(after);
}

function statuses(): unknown[] {
  return STATUSES.map((name, position) => {
    const meaning = NEEDS_REASON[name] ?? null;
    return { status_id: name, name, meaning, position, reason_codes: meaning ? [REASON] : [] };
  });
}
