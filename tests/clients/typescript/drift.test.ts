// The client against the OpenAPI document: operations, parameters, fields of bodies and status codes.
// That the types fit the document is proved by the compiler, in types.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as parley from "@parley/client";
import { documented, openapi, type Schema } from "./world.js";

/** Operations that the client has before the document does. An entry goes when its operation arrives. */
const NOT_YET_DOCUMENTED: string[] = [];

interface Sent {
  method: string;
  path: string;
  query: string[];
  headers: string[];
  body: string[] | null;
}

/** Every field that a type has: the compiler refuses this object as soon as one is missing or too many. */
const FLOW: Required<parley.FlowOptions> = {
  voice_id: "v",
  language: "l",
  company_logo_url: "u",
  additional_info: "a",
  additional_instructions: "a",
  interview_type: "general",
  is_video_enabled: true,
  is_doc_upload_enabled: true,
  redirect_url: "u",
  webhook_url: "u",
  webhook_secret_key: "s",
  intro: "i",
  outro: "o",
  preamble_video_url: "u",
};
const CHANGES: Required<parley.FlowChanges> = { ...FLOW, org_name: "o", title: "t", questions: ["q"] };
const NEW_FLOW: Required<parley.NewFlow> = { ...FLOW, org_name: "o", title: "t", questions: ["q"], team_id: "t" };
const INTERVIEWEE: Required<parley.NewInterview> & { scenario: parley.Scenario } = {
  interviewee_email_address: "e",
  interviewee_first_name: "f",
  interviewee_last_name: "l",
  assigned_recruiter_id: "r",
  scenario: "scores",
};
const MOVE: Required<parley.CandidateMove> = { decided_by: "d", reason_code: "r", note: "n", previous_status: "p" };
const SECRET: Required<parley.NewSecret> = { webhook_secret_key: "s", overlap_hours: 2 };
const ENDPOINT_SECRET: Required<parley.NewEndpointSecret> = { secret: "s", overlap_hours: 2 };
const RESEND: Required<parley.Resend> = { since: "s", until: "u", state: "s", interview_flow_id: "f", webhook_endpoint_id: "e" };
const PAGE = { limit: 7, maxItems: 7 };
const FLOWS: Required<parley.FlowFilter> = { team_id: "t", offset: 3, ...PAGE };
const INTERVIEWS: Required<parley.InterviewFilter> = { status: "s", team_id: "t", mode: "m", interview_flow_id: "f", created_after: "c", offset: 3, ...PAGE };
const CANDIDATES: Required<parley.CandidateFilter> = { interview_flow_id: "f", team_id: "t", status: "s", email: "e", after: "a", ...PAGE };
const DELIVERIES: Required<parley.DeliveryFilter> = {
  state: "s",
  event_type: "e",
  interview_flow_id: "f",
  webhook_endpoint_id: "w",
  since: "s",
  until: "u",
  after: "a",
  ...PAGE,
};

type Walk = AsyncIterable<unknown>;
const first = async (many: Walk) => many[Symbol.asyncIterator]().next();

/** A call of each operation with everything it takes. */
const CALLS: Record<string, (client: parley.Parley) => Promise<unknown>> = {
  ping: (client) => client.ping(),
  listTeams: (client) => client.teams.list(),
  listTeamMembers: (client) => client.teamMembers.list({ team_id: "t" }),
  createInterviewFlow: (client) => client.flows.create(NEW_FLOW),
  getInterviewFlow: (client) => client.flows.retrieve("{interview_flow_id}"),
  listInterviewFlows: (client) => first(client.flows.list(FLOWS)),
  deleteInterviewFlow: (client) => client.flows.archive("{interview_flow_id}"),
  updateInterviewFlow: (client) => client.flows.update("{interview_flow_id}", CHANGES),
  closeInterviewFlow: (client) => client.flows.close("{interview_flow_id}"),
  reopenInterviewFlow: (client) => client.flows.reopen("{interview_flow_id}"),
  rotateWebhookSecret: (client) => client.flows.rotateWebhookSecret("{interview_flow_id}", SECRET),
  switchWebhookSecret: (client) => client.flows.switchWebhookSecret("{interview_flow_id}"),
  createInterview: (client) => client.interviews.create("f", INTERVIEWEE),
  getInterview: (client) => client.interviews.retrieve("{interview_id}", { transcript: "text" }),
  listInterviews: (client) => first(client.interviews.list({ ...INTERVIEWS, transcript: "text" })),
  deleteInterview: (client) => client.interviews.revokeRecordings("{interview_id}"),
  cancelInterview: (client) => client.interviews.cancel("{interview_id}"),
  getInterviewLink: (client) => client.interviews.link("{interview_id}"),
  extendInterview: (client) => client.interviews.extend("{interview_id}", { expires_at: "e" }),
  listScoreVersions: (client) => client.interviews.scoreVersions("{interview_id}"),
  getInterviewMetadata: (client) => client.interviews.metadata("{interview_id}"),
  setInterviewMetadata: (client) => client.interviews.setMetadata("{interview_id}", { a: "b" }),
  lookupInterviews: (client) => client.interviews.lookup("e"),
  listChanges: (client) => first(client.changes({ after: "a", limit: 7 })),
  listCandidates: (client) => first(client.candidates.list(CANDIDATES)),
  getCandidate: (client) => client.candidates.retrieve("{candidate_id}"),
  moveCandidate: (client) => client.candidates.move("{candidate_id}", "s", MOVE),
  listStatuses: (client) => client.statuses.list(),
  listWebhookEndpoints: (client) => client.webhookEndpoints.list(),
  getWebhookEndpoint: (client) => client.webhookEndpoints.retrieve("{webhook_endpoint_id}"),
  createWebhookEndpoint: (client) => client.webhookEndpoints.create("u", { secret: "s" }),
  deleteWebhookEndpoint: (client) => client.webhookEndpoints.delete("{webhook_endpoint_id}"),
  enableWebhookEndpoint: (client) => client.webhookEndpoints.enable("{webhook_endpoint_id}"),
  rotateWebhookEndpointSecret: (client) => client.webhookEndpoints.rotateSecret("{webhook_endpoint_id}", ENDPOINT_SECRET),
  switchWebhookEndpointSecret: (client) => client.webhookEndpoints.switchSecret("{webhook_endpoint_id}"),
  listWebhookDeliveries: (client) => first(client.webhookDeliveries.list(DELIVERIES)),
  getWebhookDelivery: (client) => client.webhookDeliveries.retrieve("{webhook_delivery_id}"),
  resendWebhookDelivery: (client) => client.webhookDeliveries.resend("{webhook_delivery_id}"),
  resendWebhookDeliveries: (client) => client.webhookDeliveries.resendAll(RESEND),
};
const OWN_HEADERS = ["accept", "authorization", "content-type", "user-agent"];

async function sentBy(call: (client: parley.Parley) => Promise<unknown>): Promise<Sent> {
  let sent: Sent | undefined;
  const record = async (url: unknown, init: RequestInit = {}) => {
    const { pathname, searchParams } = new URL(String(url));
    const headers = [...new Headers(init.headers).keys()].filter((name) => !OWN_HEADERS.includes(name));
    const body = init.body === undefined ? null : Object.keys(JSON.parse(String(init.body)) as object).sort();
    sent = { method: String(init.method), path: decodeURIComponent(pathname), query: [...searchParams.keys()].sort(), headers, body };
    return Response.json({});
  };
  const client = new parley.Parley({ apiKey: "k", baseUrl: "http://x", fetch: record as typeof fetch, maxRetries: 0 });
  await call(client).catch((error: unknown) => assert.ok(error instanceof parley.UnexpectedResponseError, String(error)));
  assert.ok(sent);
  return sent;
}

function propertiesOf(schema: Schema): Record<string, Schema> {
  if (schema.$ref) return propertiesOf(openapi.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  return schema.properties ?? Object.assign({}, ...(schema.allOf ?? []).map(propertiesOf));
}

test("the client has every operation and no other", () => {
  const missing = [...documented.keys()].filter((name) => !(name in CALLS));
  assert.deepEqual(missing, [], "clients/typescript lacks these");
  const unknown = Object.keys(CALLS).filter((name) => !documented.has(name) && !NOT_YET_DOCUMENTED.includes(name));
  assert.deepEqual(unknown, [], "the document lacks these");
});

test("every method of a resource is one of these calls", () => {
  const client = new parley.Parley({ apiKey: "k", baseUrl: "http://x" });
  const methods = Object.entries(client).flatMap(([resource, one]) =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(one))
      .filter((name) => name !== "constructor")
      .map((name) => `${resource}.${name}`),
  );
  const used = Object.values(CALLS).map((call) => /client\.(\w+\.\w+)\(/.exec(call.toString())?.[1]);
  assert.deepEqual(methods.filter((name) => !used.includes(name)), ["interviews.wait"]);
});

for (const [name, call] of Object.entries(CALLS)) {
  const found = documented.get(name);
  test(`${name} sends what the document says`, { skip: !found && "The document does not have it yet." }, async () => {
    assert.ok(found);
    const { method, path, operation } = found;
    const sent = await sentBy(call);
    const named = (where: string) => operation.parameters.filter((one) => one.in === where).map((one) => one.name).sort();
    assert.deepEqual([sent.method, sent.path], [method, path]);
    assert.deepEqual(sent.query, named("query"));
    const headers = named("header").map((one) => one.toLowerCase()).sort();
    const own = method === "POST" && !headers.includes("idempotency-key") ? ["idempotency-key"] : [];
    assert.deepEqual(sent.headers.sort(), [...headers, ...own].sort());
    const schema = operation.requestBody?.content["application/json"].schema;
    assert.deepEqual(sent.body, schema ? Object.keys(propertiesOf(schema)).sort() : null);
  });
}

test("every documented status code has an error of its own", async () => {
  const all = [...documented.values()].flatMap(({ operation }) => Object.keys(operation.responses));
  const codes = new Set(all.sort());
  const kinds = new Map<string, string>();
  for (const code of [...codes].filter((one) => /^[45]\d\d$/.test(one))) {
    const refuse = async () => Response.json({}, { status: Number(code) });
    const client = new parley.Parley({ apiKey: "k", baseUrl: "http://x", fetch: refuse, maxRetries: 0 });
    const error: unknown = await client.ping().catch((told: unknown) => told);
    assert.ok(error instanceof parley.APIStatusError && error.code === Number(code));
    kinds.set(code, error.name);
    assert.ok(error.name in parley);
  }
  const plain = [...kinds].filter(([, kind]) => kind === "APIStatusError").map(([code]) => code);
  assert.deepEqual(plain, ["405", "415"]);
});
