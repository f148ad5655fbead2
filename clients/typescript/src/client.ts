// The client: every operation of /v1 as a method. Fields have the same names as in the API; options are in camelCase.

import { type Call, type CallOptions, type CreateOptions, type Options, pathOf, type Query, run, sleep, type Target } from "./core.js";
import { LinkEndedError, ParleyError, UnexpectedResponseError, WaitTimeoutError } from "./errors.js";
import { Changes, type ChangesOptions, Listing, type ListOptions, listOf } from "./lists.js";
import type * as m from "./models.js";

/** The server fetches a logo and a video before it responds. */
const MEDIA_TIME = 120_000;
const FIRST_POLL = 1000;
const LONGEST_POLL = 30_000;
/** How many times `wait` reads the interview before it reads the link. */
const READS_PER_LINK = 5;

type Send = (call: Call) => Promise<unknown>;

export interface ParleyOptions extends Options {
  /** Without it, the environment variable PARLEY_API_KEY. */
  apiKey?: string | undefined;
  /** Without it, the environment variable PARLEY_BASE_URL. */
  baseUrl?: string | undefined;
  /** A fetch of your own, such as one with a proxy or certificates. */
  fetch?: typeof globalThis.fetch | undefined;
}

export interface FlowFilter extends ListOptions {
  team_id?: string | null;
  offset?: number;
}

export interface InterviewFilter extends ListOptions {
  status?: m.InterviewStatus | null;
  team_id?: string | null;
  mode?: m.InterviewMode | null;
  interview_flow_id?: string | null;
  /** Only interviews that were created later than this. */
  created_after?: m.Time | null;
  offset?: number;
}

export interface CandidateFilter extends ListOptions {
  interview_flow_id?: string | null;
  team_id?: string | null;
  status?: string | null;
  email?: string | null;
  after?: string;
}

export interface DeliveryFilter extends ListOptions {
  state?: m.WebhookDeliveryState | null;
  event_type?: string | null;
  interview_flow_id?: string | null;
  webhook_endpoint_id?: string | null;
  since?: m.Time | null;
  until?: m.Time | null;
  after?: string;
}

export interface Patience extends CallOptions {
  /** Milliseconds after which it gives up; an hour by default. */
  timeout?: number;
  /** Milliseconds between two reads; without it they grow from one second to half a minute. */
  poll?: number;
}

type Choice<T extends m.TranscriptChoice> = {
  /** How much of the result you get. */
  transcript?: T;
};

class Resource {
  protected readonly send: Send;

  constructor(send: Send) {
    this.send = send;
  }

  protected async one<T>(method: string, path: string, rest: Omit<Call, "method" | "path"> = {}): Promise<T> {
    const body = await this.send({ method, path, ...rest });
    if (typeof body !== "object" || body === null || Array.isArray(body)) {
      throw new UnexpectedResponseError(`${method} ${path}: the server sent no object.`);
    }
    return body as T;
  }

  protected async many<T>(key: string, path: string, options?: CallOptions, query?: Query): Promise<T[]> {
    return listOf<T>(await this.send({ method: "GET", path, query, options }), key);
  }

  protected listing<T>(
    path: string,
    list: { key: string; id: keyof T & string; position: "offset" | "after" },
    { limit, maxItems, ...query }: ListOptions & { offset?: number; after?: string },
    options?: CallOptions,
  ): Listing<T> {
    const ask = (where: Query) => this.send({ method: "GET", path, query: { ...query, ...where }, options });
    return new Listing<T>({ ask, ...list, limit, maxItems, begin: query[list.position] });
  }
}

/** Teams of the organization. */
export class Teams extends Resource {
  /** All teams of the organization. */
  list(options?: CallOptions): Promise<m.Team[]> {
    return this.many("teams", pathOf("teams"), options);
  }
}

/** Members, whom you can assign to interviews. */
export class TeamMembers extends Resource {
  /** Members of all teams, or of one. */
  list(filter: { team_id?: string | null } = {}, options?: CallOptions): Promise<m.TeamMember[]> {
    return this.many("team_members", pathOf("team-members"), options, { ...filter });
  }
}

/** Interview flows. */
export class Flows extends Resource {
  /** Create a flow. The server fetches `company_logo_url` and `preamble_video_url` before it responds. */
  create(flow: m.NewFlow, options?: CreateOptions): Promise<m.InterviewFlowCreated> {
    const body = needed(flow, "the fields of the flow: { org_name, title, questions }");
    return this.one("POST", pathOf("interview-flows"), { body, options, atLeast: timeFor(body) });
  }

  /** Read one flow. */
  retrieve(interviewFlowId: string, options?: CallOptions): Promise<m.InterviewFlow> {
    return this.one("GET", pathOf("interview-flows", interviewFlowId), { options });
  }

  /** Flows, newest first. A flow that is created while you read moves the pages, so that one can come twice. */
  list(filter: FlowFilter = {}, options?: CallOptions): Listing<m.InterviewFlow> {
    const list = { key: "interview_flows", id: "interview_flow_id", position: "offset" } as const;
    return this.listing(pathOf("interview-flows"), list, filter, options);
  }

  /** Archive a flow: it takes no more interviews, and results stay. */
  archive(interviewFlowId: string, options?: CallOptions): Promise<m.FlowState> {
    return this.one("DELETE", pathOf("interview-flows", interviewFlowId), { options });
  }

  /** Change a flow. Interviews that exist keep the script they were created with. */
  update(interviewFlowId: string, changes: m.FlowChanges, options?: CallOptions): Promise<m.InterviewFlow> {
    const body = needed(changes, "what to change, such as { title }");
    return this.one("PATCH", pathOf("interview-flows", interviewFlowId), { body, options, atLeast: timeFor(body) });
  }

  /** Accept no more interviews until you reopen the flow. */
  close(interviewFlowId: string, options?: CreateOptions): Promise<m.FlowState> {
    return this.one("POST", pathOf("interview-flows", interviewFlowId, "close"), { options });
  }

  /** Accept interviews again. */
  reopen(interviewFlowId: string, options?: CreateOptions): Promise<m.FlowState> {
    return this.one("POST", pathOf("interview-flows", interviewFlowId, "reopen"), { options });
  }

  /** Replace the flow's secret. */
  rotateWebhookSecret(interviewFlowId: string, secret: m.NewSecret = {}, options?: CreateOptions): Promise<m.SecretRotation> {
    return this.one("POST", pathOf("interview-flows", interviewFlowId, "webhook-secret", "rotate"), { body: secret, options });
  }

  /** End the overlap now: only the new secret signs. */
  switchWebhookSecret(interviewFlowId: string, options?: CreateOptions): Promise<m.Success> {
    return this.one("POST", pathOf("interview-flows", interviewFlowId, "webhook-secret", "switch"), { options });
  }
}

/** Interviews and their results. */
export class Interviews extends Resource {
  readonly #sleep: Target["sleep"];

  constructor(send: Send, rest: Target["sleep"]) {
    super(send);
    this.#sleep = rest;
  }

  /** Create an interview for one candidate. `scenario` chooses the outcome of a test interview and needs a test key. */
  create(
    interviewFlowId: string,
    interviewee: m.NewInterview & { scenario?: m.Scenario } = {},
    options?: CreateOptions,
  ): Promise<m.InterviewCreated> {
    const { scenario, ...fields } = interviewee;
    const body = { interview_flow_id: interviewFlowId, ...fields };
    return this.one("POST", pathOf("interviews"), { body, headers: { "X-Parley-Scenario": scenario }, options });
  }

  /** Read one interview. */
  retrieve<T extends m.TranscriptChoice = "full">(
    interviewId: string,
    query: Choice<T> = {},
    options?: CallOptions,
  ): Promise<m.Interview<m.DataOf[T]>> {
    return this.one("GET", pathOf("interviews", interviewId), { query: { ...query }, options });
  }

  /** Interviews, newest first. An interview that is created while you read moves the pages, so that one can come twice. */
  list<T extends m.TranscriptChoice = "full">(
    filter: InterviewFilter & Choice<T> = {},
    options?: CallOptions,
  ): Listing<m.Interview<m.DataOf[T]>> {
    const list = { key: "interviews", id: "interview_id", position: "offset" } as const;
    return this.listing(pathOf("interviews"), list, filter, options);
  }

  /**
   * Read the interview until it is completed. Webhooks need no waiting; this is for scripts.
   *
   * Throws `WaitTimeoutError` after `timeout`, and `LinkEndedError` soon after the link has expired or was closed.
   */
  async wait<T extends m.TranscriptChoice = "full">(
    interviewId: string,
    { timeout = 3_600_000, poll, signal, ...query }: Patience & Choice<T> = {},
  ): Promise<m.Interview<m.DataOf[T]>> {
    const ends = performance.now() + timeout;
    let delay = poll ?? FIRST_POLL;
    for (let reads = 1; ; reads += 1) {
      const found = await this.retrieve<T>(interviewId, query as Choice<T>, { signal });
      if (found.status === "completed") return found;
      const isLast = performance.now() + delay > ends;
      if (isLast || reads % READS_PER_LINK === 0) {
        const { state } = await this.link(interviewId, { signal });
        for (const ended of ["expired", "closed"] as const) if (state === ended) throw new LinkEndedError(interviewId, ended);
      }
      if (isLast) throw new WaitTimeoutError(`Interview ${interviewId} is still ${found.status}.`);
      await this.#sleep(delay, signal);
      delay = poll ?? Math.min(LONGEST_POLL, delay * 1.5);
    }
  }

  /** Tell whether the candidate's link still works. */
  link(interviewId: string, options?: CallOptions): Promise<m.InterviewLink> {
    return this.one("GET", pathOf("interviews", interviewId, "link"), { options });
  }

  /** Revoke access to the recordings, permanently. An interview that has not started loses its link. */
  revokeRecordings(interviewId: string, options?: CallOptions): Promise<m.Success> {
    return this.one("DELETE", pathOf("interviews", interviewId), { options });
  }

  /** Withdraw an interview that has not begun. */
  cancel(interviewId: string, options?: CreateOptions): Promise<m.InterviewCancelled> {
    return this.one("POST", pathOf("interviews", interviewId, "cancel"), { options });
  }

  /** Let the candidate's link work until another time. */
  extend(interviewId: string, until: { expires_at: m.Time }, options?: CreateOptions): Promise<m.InterviewExtended> {
    return this.one("POST", pathOf("interviews", interviewId, "extend"), { body: needed(until, "the time: { expires_at }"), options });
  }

  /** All sets of scores of a result, newest first. */
  scoreVersions(interviewId: string, options?: CallOptions): Promise<m.ScoreVersion[]> {
    return this.many("score_versions", pathOf("interviews", interviewId, "score-versions"), options);
  }

  /** Your own keys and values of an interview. */
  async metadata(interviewId: string, options?: CallOptions): Promise<Record<string, string>> {
    return metadataOf(await this.one("GET", pathOf("interviews", interviewId, "metadata"), { options }));
  }

  /** Replace your own keys and values. `external_id` is the one that `lookup` finds and webhooks carry. */
  async setMetadata(
    interviewId: string,
    metadata: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<Record<string, string>> {
    const body = { metadata: needed(metadata, "the metadata: an object of strings, {} to remove it") };
    return metadataOf(await this.one("PUT", pathOf("interviews", interviewId, "metadata"), { body, options }));
  }

  /** Interviews whose metadata has this `external_id`, newest first, at most 100. */
  lookup(externalId: string, options?: CallOptions): Promise<m.InterviewReference[]> {
    return this.many("interviews", pathOf("lookup"), options, { external_id: externalId });
  }
}

/** Candidates in the pipeline. */
export class Candidates extends Resource {
  /** Candidates, newest first. */
  list(filter: CandidateFilter = {}, options?: CallOptions): Listing<m.Candidate> {
    const list = { key: "candidates", id: "candidate_id", position: "after" } as const;
    return this.listing(pathOf("candidates"), list, filter, options);
  }

  /** Read one candidate. */
  retrieve(candidateId: string, options?: CallOptions): Promise<m.Candidate> {
    return this.one("GET", pathOf("candidates", candidateId), { options });
  }

  /** Move a candidate to another status. */
  move(candidateId: string, status: string, details: m.CandidateMove = {}, options?: CreateOptions): Promise<m.Candidate> {
    return this.one("POST", pathOf("candidates", candidateId, "move"), { body: { status, ...details }, options });
  }
}

/** Statuses of the pipeline. */
export class Statuses extends Resource {
  /** The statuses of your pipeline, in order, with the reasons for decisions. */
  list(options?: CallOptions): Promise<m.Status[]> {
    return this.many("statuses", pathOf("statuses"), options);
  }
}

/** Webhook URLs. */
export class WebhookEndpoints extends Resource {
  /** All webhook URLs with their health. */
  list(options?: CallOptions): Promise<m.WebhookEndpoint[]> {
    return this.many("webhook_endpoints", pathOf("webhook-endpoints"), options);
  }

  /** Read one endpoint. */
  retrieve(webhookEndpointId: string, options?: CallOptions): Promise<m.WebhookEndpoint> {
    return this.one("GET", pathOf("webhook-endpoints", webhookEndpointId), { options });
  }

  /** Add a URL that gets the events of all flows. Keep the `secret` of the result: it is shown only once. */
  create(url: string, fields: { secret?: string | null } = {}, options?: CreateOptions): Promise<m.WebhookEndpointCreated> {
    return this.one("POST", pathOf("webhook-endpoints"), { body: { url, ...fields }, options });
  }

  /** Remove an endpoint of the organization. A flow's own is a field of the flow. */
  delete(webhookEndpointId: string, options?: CallOptions): Promise<m.Success> {
    return this.one("DELETE", pathOf("webhook-endpoints", webhookEndpointId), { options });
  }

  /** Send to a disabled endpoint again, beginning with the events that were held. */
  enable(webhookEndpointId: string, options?: CreateOptions): Promise<m.WebhookEndpoint> {
    return this.one("POST", pathOf("webhook-endpoints", webhookEndpointId, "enable"), { options });
  }

  /** Replace the endpoint's secret. */
  rotateSecret(
    webhookEndpointId: string,
    secret: m.NewEndpointSecret = {},
    options?: CreateOptions,
  ): Promise<m.EndpointSecretRotation> {
    return this.one("POST", pathOf("webhook-endpoints", webhookEndpointId, "secret", "rotate"), { body: secret, options });
  }

  /** End the overlap now: only the new secret signs. */
  switchSecret(webhookEndpointId: string, options?: CreateOptions): Promise<m.Success> {
    return this.one("POST", pathOf("webhook-endpoints", webhookEndpointId, "secret", "switch"), { options });
  }
}

/** Events on their way to endpoints. */
export class WebhookDeliveries extends Resource {
  /** Deliveries, newest first. */
  list(filter: DeliveryFilter = {}, options?: CallOptions): Listing<m.WebhookDelivery> {
    const list = { key: "webhook_deliveries", id: "webhook_delivery_id", position: "after" } as const;
    return this.listing(pathOf("webhook-deliveries"), list, filter, options);
  }

  /** Read one delivery, with what was sent and each attempt. */
  retrieve(webhookDeliveryId: string, options?: CallOptions): Promise<m.WebhookDeliveryDetails> {
    return this.one("GET", pathOf("webhook-deliveries", webhookDeliveryId), { options });
  }

  /** Send an event once more, with the same `webhook-id`. */
  resend(webhookDeliveryId: string, options?: CreateOptions): Promise<m.WebhookDelivery> {
    return this.one("POST", pathOf("webhook-deliveries", webhookDeliveryId, "resend"), { options });
  }

  /** Send all events of a time once more; returns how many. */
  async resendAll(which: m.Resend, options?: CreateOptions): Promise<number> {
    const body = needed(which, "the time: { since, until }");
    const told = await this.one<{ resent: number }>("POST", pathOf("webhook-deliveries", "resend"), { body, options });
    if (typeof told.resent !== "number") throw new UnexpectedResponseError("The server sent no number of events.");
    return told.resent;
  }
}

/** A client of `/v1`. */
export class Parley {
  readonly teams: Teams;
  readonly teamMembers: TeamMembers;
  readonly flows: Flows;
  readonly interviews: Interviews;
  readonly candidates: Candidates;
  readonly statuses: Statuses;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly #target: Target;

  /** Reads what is not given from PARLEY_API_KEY and PARLEY_BASE_URL. */
  constructor(options: ParleyOptions = {}) {
    this.#target = targetOf(options);
    const send: Send = (call) => run(this.#target, call);
    this.teams = new Teams(send);
    this.teamMembers = new TeamMembers(send);
    this.flows = new Flows(send);
    this.interviews = new Interviews(send, this.#target.sleep);
    this.candidates = new Candidates(send);
    this.statuses = new Statuses(send);
    this.webhookEndpoints = new WebhookEndpoints(send);
    this.webhookDeliveries = new WebhookDeliveries(send);
  }

  /** The same client with other options: `client.withOptions({ timeout: 5000 }).ping()`. */
  withOptions({ timeout, maxRetries, deadline }: Options): Parley {
    const now = this.#target;
    const chosen = { timeout: timeout ?? now.timeout, maxRetries: maxRetries ?? now.maxRetries, deadline: deadline ?? now.deadline };
    return new Parley({ ...now, ...chosen });
  }

  /** Check the connection and the key; returns `pong`. */
  async ping(options?: CallOptions): Promise<string> {
    const body = await run(this.#target, { method: "GET", path: pathOf("ping"), options });
    const message = (body as { message?: unknown } | null)?.message;
    if (typeof message !== "string") throw new UnexpectedResponseError("GET /v1/ping: the response has no message.");
    return message;
  }

  /** Everything that changes, without end. Begin `after` a cursor that you stored, or at the beginning. */
  changes(options: ChangesOptions = {}): Changes {
    const ask = (query: Query, own: CallOptions) => run(this.#target, { method: "GET", path: pathOf("changes"), query, options: own });
    return new Changes(ask, this.#target.sleep, options);
  }

  /** Send anything, for operations that this version does not know; returns parsed JSON. */
  async request(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    { query, body, ...options }: { query?: Query; body?: unknown } & CreateOptions = {},
  ): Promise<unknown> {
    if (!path.startsWith("/v1/")) throw new TypeError("The path begins with /v1/.");
    return run(this.#target, { method, path, query, body, options });
  }
}

function targetOf(options: ParleyOptions): Target {
  const { timeout = 30_000, maxRetries = 2, deadline = 120_000 } = options;
  if (!(timeout > 0 && maxRetries >= 0 && deadline > 0)) {
    throw new TypeError("timeout and deadline are milliseconds above 0, and maxRetries is 0 or more.");
  }
  const apiKey = given(options.apiKey, "apiKey", "PARLEY_API_KEY");
  const baseUrl = given(options.baseUrl, "baseUrl", "PARLEY_BASE_URL");
  if (!/^https?:\/\//.test(baseUrl)) {
    throw new ParleyError(`baseUrl is the URL of your Parley, such as https://parley.example.com, not "${baseUrl}".`);
  }
  const base = baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");
  // Called as a function of its own: in Workers, fetch refuses to be a method of another object.
  const chosen = options.fetch ?? globalThis.fetch;
  const rest = (options as { sleep?: Target["sleep"] }).sleep ?? sleep;
  return { apiKey, baseUrl: base, timeout, maxRetries, deadline, fetch: (url, init) => chosen(url, init), sleep: rest };
}

function given(value: string | undefined, name: string, variable: string): string {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const found = (value ?? process?.env?.[variable] ?? "").trim();
  if (!/^[ -~]+$/.test(found)) {
    throw new ParleyError(`Give ${name}, or set the environment variable ${variable}: printable ASCII, not empty.`);
  }
  return found;
}

/** An argument without which the request would make no sense. Programs without types can leave it out. */
function needed<T extends object>(argument: T, what: string): T {
  if (typeof argument !== "object" || argument === null) throw new TypeError(`Give ${what}.`);
  return argument;
}

function timeFor(flow: m.FlowOptions): number {
  return flow.company_logo_url || flow.preamble_video_url ? MEDIA_TIME : 0;
}

function metadataOf(body: { metadata?: unknown }): Record<string, string> {
  if (typeof body.metadata !== "object" || body.metadata === null) throw new UnexpectedResponseError("The server sent no metadata.");
  return body.metadata as Record<string, string>;
}
