// What Parley refuses, FakeParley refuses too, with the same status and the same code. Its table of fields is that of the document.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import * as parley from "@parley/client";
import type { Parley } from "@parley/client";
import { FakeParley } from "@parley/client/testing";
import { all, documented, openapi, type Schema, worlds } from "./world.js";

const NURSE = { org_name: "First Ltd", title: "Nurse", questions: ["Why?"], interview_type: "recruitment" };
const DAY = 86_400_000;
/** Operations that FakeParley does not have, as its README says. */
const NOT_FAKED = /Webhook|listScoreVersions/;

interface Place {
  client: Parley;
  flow: string;
  interview: string;
  cancelled: string;
  candidate: string;
  member: string;
}

async function placeIn(client: Parley): Promise<Place> {
  const { interview_flow_id: flow } = await client.flows.create(NURSE);
  const made = await client.interviews.create(flow, { interviewee_email_address: "robin@example.com" });
  const { interview_id: cancelled } = await client.interviews.create(flow);
  await client.interviews.cancel(cancelled);
  const [candidate] = await all(client.candidates.list());
  const [member] = await client.teamMembers.list();
  assert.ok(candidate && member);
  return { client, flow, interview: made.interview_id, cancelled, candidate: candidate.candidate_id, member: member.id };
}

const newFlow = (fields: object) => (at: Place) => at.client.flows.create({ ...NURSE, ...fields } as parley.NewFlow);
const changed = (fields: object) => (at: Place) => at.client.flows.update(at.flow, fields as parley.FlowChanges);
const newInterview = (fields: object) => (at: Place) => at.client.interviews.create(at.flow, fields);
const metadata = (fields: object) => (at: Place) => at.client.interviews.setMetadata(at.interview, fields as Record<string, string>);
const interviews = (filter: object) => (at: Place) => all(at.client.interviews.list(filter));
const extension = (expires_at: parley.Time) => (at: Place) => at.client.interviews.extend(at.interview, { expires_at });
const move = (status: string, details: object = {}) => (at: Place) => at.client.candidates.move(at.candidate, status, details);
const sent = (path: string, body: unknown) => (at: Place) => at.client.request("POST", path, { body });

const REFUSED: Record<string, (at: Place) => Promise<unknown>> = {
  "a title that is too long": newFlow({ title: "T".repeat(301) }),
  "a blank title": newFlow({ title: " " }),
  "no title": newFlow({ title: null }),
  "an unknown type": newFlow({ interview_type: "exam" }),
  "an unknown language": newFlow({ language: "xx-XX" }),
  "an unknown voice": newFlow({ voice_id: "vendora-Robin" }),
  "a URL that is none": newFlow({ webhook_url: "nope" }),
  "a page that is no URL": newFlow({ redirect_url: "ftp://example.com" }),
  "a blank question": newFlow({ questions: ["Why?", " "] }),
  "a text as questions": newFlow({ questions: "Why?" }),
  "numbers as questions": newFlow({ questions: [1] }),
  "too many questions": newFlow({ questions: Array(21).fill("Why?") }),
  "a word that is no boolean": newFlow({ is_video_enabled: "true" }),
  "an unknown field": newFlow({ name: "Nurse" }),
  "a field of each object": newFlow({ toString: "Nurse" }),
  "a change to a blank title": changed({ title: "" }),
  "a change of the team": changed({ team_id: "t" }),
  "an email address that is none": newInterview({ interviewee_email_address: "nope" }),
  "a name that is too long": newInterview({ interviewee_first_name: "R".repeat(301) }),
  "a recruiter who is no id": newInterview({ assigned_recruiter_id: "Alex" }),
  "a recruiter who is no member": newInterview({ assigned_recruiter_id: randomUUID() }),
  "a scenario that does not exist": newInterview({ scenario: "applause" }),
  "a list as the body": sent("/v1/interviews", []),
  "a body without the flow": sent("/v1/interviews", {}),
  "a key with a space": (at) => at.client.interviews.create(at.flow, {}, { idempotencyKey: "a b" }),
  "a key that is too long": (at) => at.client.flows.close(at.flow, { idempotencyKey: "k".repeat(256) }),
  "a metadata key in upper case": metadata({ Office: "Oslo" }),
  "a metadata value that is too long": metadata({ office: "x".repeat(501) }),
  "a number in metadata": metadata({ office: 7 }),
  "a blank external_id": metadata({ external_id: " " }),
  "too many metadata": metadata(Object.fromEntries(Array.from({ length: 21 }, (_, each) => [`key${each}`, "x"]))),
  "a list as metadata": metadata([]),
  "an unknown status of interviews": interviews({ status: "done" }),
  "an unknown choice of transcript": interviews({ transcript: "short" }),
  "an unknown mode": interviews({ mode: "dry" }),
  "no limit": interviews({ limit: 0 }),
  "a limit that is no number": interviews({ limit: "many" }),
  "a negative offset": interviews({ offset: -1 }),
  "a blank team": interviews({ team_id: "" }),
  "an extension into the past": extension(new Date(Date.now() - DAY)),
  "an extension by too much": extension(new Date(Date.now() + 91 * DAY)),
  "an extension by nothing": extension(new Date(Date.now() + DAY)),
  "a time without a zone": extension("2027-01-01T00:00:00"),
  "a day that does not exist": extension("2027-13-01T00:00:00Z"),
  "an extension of a closed link": (at) => at.client.interviews.extend(at.cancelled, { expires_at: new Date(Date.now() + 60 * DAY) }),
  "a blank external_id to look up": (at) => at.client.interviews.lookup(""),
  "a status that does not exist": move("hired"),
  "a decision without a reason": (at) => move("accepted", { decided_by: at.member })(at),
  "a decision by no one": move("accepted", { decided_by: randomUUID(), reason_code: "other" }),
  "a reason that does not exist": (at) => move("accepted", { decided_by: at.member, reason_code: "mood" })(at),
  "a reason for no decision": (at) => move("interviewed", { decided_by: at.member, reason_code: "other" })(at),
  "a status that is another one": move("interviewed", { previous_status: "accepted" }),
  "an email address to filter by that is none": (at) => all(at.client.candidates.list({ email: "nope" })),
  "a flow to filter by that does not exist": (at) => all(at.client.candidates.list({ interview_flow_id: randomUUID() })),
  "a cursor of candidates that is none": (at) => all(at.client.candidates.list({ after: "none" })),
  "a cursor of changes that is none": (at) => all(at.client.changes({ after: "none", follow: false })),
  "a blank cursor": (at) => all(at.client.changes({ after: "", follow: false })),
};

describe("the application and FakeParley", () => {
  let places: Place[];
  before(async () => {
    const made = await Promise.all(Object.values(worlds).map((make) => make()));
    places = await Promise.all(made.map((world) => placeIn(world.client())));
  });

  for (const [name, call] of Object.entries(REFUSED)) {
    test(`refuse ${name} alike`, async () => {
      const told: unknown[] = [];
      for (const place of places) {
        const error: unknown = await call(place).catch((reason: unknown) => reason);
        assert.ok(error instanceof parley.APIStatusError, `It was accepted: ${JSON.stringify(error)}`);
        told.push([error.code, error.error, Object.keys((error.errors.json ?? error.errors.query ?? {}) as object)]);
      }
      assert.deepEqual(told[1], told[0]);
    });
  }
});

type Rule = Record<string, unknown>;
const KEPT = ["enum", "format", "pattern", "minLength", "maxLength", "minimum", "maximum", "maxItems"] as const;

/** A schema of the document in the words of the table. */
function ruleOf(schema: Schema & Rule): Rule {
  if (schema.$ref) return ruleOf((openapi.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}) as Schema & Rule);
  const choices = (schema.anyOf ?? schema.allOf ?? [schema]) as (Schema & Rule)[];
  const kinds = choices.flatMap((one) => (one.type ?? []) as string | string[]);
  const own = choices.find((one) => one.type !== "null");
  if (own !== schema) return { ...ruleOf(own as Schema & Rule), ...(kinds.includes("null") ? { nullable: true } : {}) };
  const kept = KEPT.filter((name) => name in schema).map((name) => [name, schema[name]]);
  const items = schema.items ? { items: ruleOf(schema.items as Schema & Rule) } : {};
  return { type: kinds.find((one) => one !== "null"), ...(kinds.includes("null") ? { nullable: true } : {}), ...Object.fromEntries(kept), ...items };
}

/** In an order of its own, so that the order of the document does not matter. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).sort();
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort().map(([name, one]) => [name, sorted(one)]));
}

function shapeOf({ parameters, requestBody }: { parameters: unknown; requestBody?: { content: { "application/json": { schema: Schema } } } }): Rule {
  const named = parameters as { name: string; in: string; required?: boolean; schema: Schema & Rule }[];
  const within = (place: string) => named.filter((one) => one.in === place);
  const reference = requestBody?.content["application/json"].schema.$ref?.split("/").at(-1);
  const schema = reference === undefined ? undefined : openapi.components.schemas[reference];
  const body = Object.entries(schema?.properties ?? {}).map(([name, one]) => [name, ruleOf(one as Schema & Rule)]);
  const required = [...(schema?.required ?? []), ...within("query").filter((one) => one.required).map((one) => one.name)];
  const rules = (place: string) => Object.fromEntries(within(place).map((one) => [one.name, ruleOf(one.schema)]));
  const shape = { body: Object.fromEntries(body), query: rules("query"), headers: rules("header"), required };
  return Object.fromEntries(Object.entries(shape).filter(([, fields]) => Object.keys(fields).length > 0));
}

test("the fields that FakeParley checks are those of the document", async () => {
  const table = pathToFileURL(resolve("node_modules/@parley/client/dist/esm/fake-rules.js")).href;
  const { SHAPES } = (await import(table)) as { SHAPES: Record<string, Rule> };
  const faked = [...documented].filter(([name]) => !NOT_FAKED.test(name));
  const shapes = faked.map(([name, { operation }]) => [name, shapeOf(operation)] as const).filter(([, shape]) => Object.keys(shape).length > 0);
  assert.deepEqual(Object.keys(SHAPES).sort(), shapes.map(([name]) => name).sort());
  for (const [name, shape] of shapes) assert.deepEqual(sorted(SHAPES[name]), sorted(shape), name);
});

test("FakeParley has no operation of webhooks and no versions of scores, and says so", async () => {
  const client = new FakeParley().client();
  const calls = [
    () => client.webhookEndpoints.list(),
    () => all(client.webhookDeliveries.list()),
    () => client.flows.rotateWebhookSecret("id"),
    () => client.interviews.scoreVersions("id"),
  ];
  for (const call of calls) await assert.rejects(call, { code: 404, message: /FakeParley does not have/ });
});
