// Every operation and every error of the contract, against the application and against the Parley in memory.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import * as parley from "@parley/client";
import { Parley } from "@parley/client";
import { FakeParley } from "@parley/client/testing";
import { all, env, hurried, needs, served, worlds } from "./world.js";

const SECRET = "at-least-32-characters-of-randomness";
const NURSE = { org_name: "First Ltd", title: "Nurse", questions: ["Why?", "What next?"], interview_type: "recruitment" };

/** The error of a call that has to fail with this type. */
async function refusal<E extends Error>(
  kind: abstract new (...args: never[]) => E,
  call: Promise<unknown> | (() => Promise<unknown>),
): Promise<E> {
  const told = await (typeof call === "function" ? call() : call).then(
    () => "It was accepted.",
    (error: unknown) => error,
  );
  assert.ok(told instanceof kind, String(told));
  return told;
}

for (const [name, make] of Object.entries(worlds)) {
  describe(name, () => {
    const isFake = name === "FakeParley";

    test("a flow from its creation to its end", async () => {
      const client = (await make()).client();
      const made = await client.flows.create({
        ...NURSE,
        language: "de-DE",
        voice_id: null,
        webhook_url: "https://receiver.example/hook",
        webhook_secret_key: SECRET,
      });
      const flow = await client.flows.retrieve(made.interview_flow_id);
      assert.deepEqual([flow.title, flow.questions, flow.status], ["Nurse", ["Why?", "What next?"], "open"]);
      assert.deepEqual([flow.language, flow.voice_id, flow.is_video_enabled], ["de-DE", null, false]);
      assert.equal(flow.webhook_secret_key, SECRET);
      assert.deepEqual(await all(client.flows.list()), [flow]);
      const archived = await client.flows.archive(made.interview_flow_id);
      assert.deepEqual(archived, { success: true, status: "archived", interview_flow_id: made.interview_flow_id });
      assert.equal((await client.flows.archive(made.interview_flow_id)).success, true);
      const refused = await refusal(parley.InvalidInputError, client.interviews.create(made.interview_flow_id));
      assert.deepEqual([refused.isMissing, refused.error === "flow_closed"], [false, true]);
    });

    test("the organization", async () => {
      const client = (await make()).client();
      assert.equal(await client.ping(), "pong");
      const [team, ...others] = await client.teams.list();
      assert.deepEqual([team?.name, others], ["Hiring", []]);
      const members = await client.teamMembers.list();
      assert.deepEqual(await client.teamMembers.list({ team_id: team?.id ?? "" }), members);
      assert.match(members[0]?.email ?? "", /@/);
    });

    test("an interview from its link to its result", isFake ? {} : needs("getInterviewLink"), async () => {
      const world = await make();
      const client = world.client(hurried());
      const [member] = await client.teamMembers.list();
      const { interview_flow_id } = await client.flows.create(NURSE);
      const made = await client.interviews.create(interview_flow_id, {
        interviewee_email_address: "robin@example.com",
        interviewee_first_name: "Robin",
        assigned_recruiter_id: member?.id ?? null,
      });
      assert.match(made.interview_link, /\/interview\/api\//);
      assert.equal((await client.interviews.retrieve(made.interview_id)).interview_data, null);
      const late = await refusal(parley.WaitTimeoutError, client.interviews.wait(made.interview_id, { timeout: 20, poll: 30 }));
      assert.match(late.message, /still incomplete/);
      await world.complete(made.interview_id);
      const whole = await client.interviews.wait(made.interview_id, { timeout: 1 });
      assert.ok(whole.interview_data);
      assert.equal(whole.interview_data.interviewee_first_name, "Robin");
      const segments = whole.interview_data.transcript_with_timestamp;
      assert.deepEqual(new Set(segments.map((one) => one.role)), new Set(["agent", "user"]));
      for (const mapped of whole.interview_data.questions_to_transcript_mapping) {
        const found = mapped.transcript_item_indices.map((index) => segments[index]?.content);
        assert.deepEqual(found, mapped.transcript_items.map((one) => one.content));
      }
      const text = await client.interviews.retrieve(made.interview_id, { transcript: "text" });
      const none = await client.interviews.retrieve(made.interview_id, { transcript: "none" });
      assert.equal(text.interview_data?.transcript, whole.interview_data.transcript);
      assert.deepEqual([..."transcript_with_timestamp" in text.interview_data ? ["more"] : []], []);
      assert.ok(none.interview_data && !("transcript" in none.interview_data));
      assert.equal((await client.interviews.revokeRecordings(made.interview_id)).success, true);
      assert.equal((await client.interviews.revokeRecordings(made.interview_id)).success, true);
    });

    test("lists are read to their end", async () => {
      const world = await make();
      const client = world.client();
      const { interview_flow_id } = await client.flows.create(NURSE);
      const made: string[] = [];
      for (let each = 0; each < 7; each += 1) made.unshift((await client.interviews.create(interview_flow_id)).interview_id);
      const ids = async (filter: parley.InterviewFilter) => (await all(client.interviews.list(filter))).map((one) => one.interview_id);
      for (const limit of [1, 3, 7, 100]) assert.deepEqual(await ids({ limit }), made);
      const pages = await all(client.interviews.list({ limit: 3 }).pages());
      assert.deepEqual(pages.map((page) => page.length), [3, 3, 1]);
      assert.deepEqual(await ids({ limit: 2, maxItems: 5 }), made.slice(0, 5));
      assert.deepEqual(await ids({ limit: 2, offset: 4 }), made.slice(4));
      assert.deepEqual(await ids({ maxItems: 0 }), []);
      for await (const one of client.interviews.list({ limit: 2 })) {
        assert.equal(one.interview_id, made[0]);
        break;
      }
      await world.complete(made[2] ?? "");
      const [completed, ...rest] = await all(client.interviews.list({ status: "completed", transcript: "none" }));
      assert.deepEqual([completed?.interview_id, rest], [made[2], []]);
      const [team] = await client.teams.list();
      assert.equal((await ids({ status: "incomplete", team_id: team?.id ?? "", limit: 2 })).length, 6);
      assert.equal((await all(client.flows.list({ limit: 1, team_id: team?.id ?? "" }))).length, 1);
    });

    test("a POST with a key is carried out once", async () => {
      const client = (await make()).client();
      const { interview_flow_id } = await client.flows.create(NURSE);
      const idempotencyKey = "application-4711";
      const made = await client.interviews.create(interview_flow_id, {}, { idempotencyKey });
      assert.deepEqual(await client.interviews.create(interview_flow_id, {}, { idempotencyKey }), made);
      assert.notDeepEqual(await client.interviews.create(interview_flow_id), await client.interviews.create(interview_flow_id));
      const other = await client.flows.create(NURSE);
      const refused = await refusal(parley.InvalidInputError, client.interviews.create(other.interview_flow_id, {}, { idempotencyKey }));
      assert.deepEqual([refused.error === "idempotency_key_reused", refused.idempotencyKey], [true, idempotencyKey]);
    });

    test("errors say what is wrong", async () => {
      const client = (await make()).client();
      const missing = await refusal(parley.InvalidInputError, client.interviews.retrieve(randomUUID()));
      assert.deepEqual([missing.code, missing.error, missing.isMissing], [422, "not_found", true]);
      assert.deepEqual([missing.status, missing.errors, missing.name], ["Unprocessable Entity", {}, "InvalidInputError"]);
      const strange = "no such/id ü";
      const revoke = () => client.interviews.revokeRecordings("none");
      for (const call of [() => client.flows.retrieve(strange), () => client.flows.archive("none"), revoke]) {
        const error = await refusal(parley.APIStatusError, call);
        assert.ok(error.isMissing || error.error === "no_such_url", String(error));
      }
      const long = await refusal(parley.InvalidInputError, client.flows.create({ ...NURSE, questions: Array(21).fill("Why?") }));
      assert.deepEqual([long.error, Object.keys(long.errors.json as object)], ["invalid_input", ["questions"]]);
      const wide = await refusal(parley.InvalidInputError, all(client.interviews.list({ limit: 1001 })));
      assert.deepEqual(Object.keys(wide.errors.query as object), ["limit"]);
      const other = { team_id: randomUUID() };
      for (const call of [() => all(client.flows.list(other)), () => client.teamMembers.list(other)]) {
        const forbidden = await refusal(parley.PermissionDeniedError, call);
        assert.deepEqual([forbidden.code, forbidden.error === "other_organization"], [403, true]);
      }
      const nothing = await refusal(parley.NotFoundError, client.request("GET", "/v1/nothing"));
      assert.deepEqual([nothing.error, nothing.isMissing], ["no_such_url", false]);
      assert.match(String(nothing), /^404 no_such_url: /);
    });

    test("a flow is changed, closed and reopened", isFake ? {} : needs("updateInterviewFlow", "closeInterviewFlow", "reopenInterviewFlow"), async () => {
      const client = (await make()).client();
      const { interview_flow_id } = await client.flows.create(NURSE);
      const changed = await client.flows.update(interview_flow_id, { title: "Head nurse", intro: "Hello." });
      assert.deepEqual([changed.title, changed.intro, changed.questions], ["Head nurse", "Hello.", NURSE.questions]);
      assert.equal((await client.flows.close(interview_flow_id)).status, "closed");
      const refused = await refusal(parley.InvalidInputError, client.interviews.create(interview_flow_id));
      assert.ok(refused.error === "flow_closed");
      assert.equal((await client.flows.reopen(interview_flow_id)).status, "open");
      await client.interviews.create(interview_flow_id);
      await client.flows.archive(interview_flow_id);
      await refusal(parley.ConflictError, client.flows.reopen(interview_flow_id));
    });

    test("an interview is extended, cancelled and found again", isFake ? {} : needs("cancelInterview", "extendInterview", "setInterviewMetadata", "lookupInterviews"), async () => {
      const client = (await make()).client();
      const { interview_flow_id } = await client.flows.create(NURSE);
      const { interview_id } = await client.interviews.create(interview_flow_id);
      const until = new Date(Math.ceil(Date.now() / 1000 + 86_400 * 45) * 1000);
      const extended = await client.interviews.extend(interview_id, { expires_at: until });
      assert.equal(Date.parse(extended.expires_at), until.getTime());
      const metadata = { external_id: `ats ${randomUUID()}`, source: "fair" };
      assert.deepEqual(await client.interviews.setMetadata(interview_id, metadata), metadata);
      assert.deepEqual(await client.interviews.metadata(interview_id), metadata);
      const { external_id } = metadata;
      assert.deepEqual(await client.interviews.lookup(external_id), [{ interview_id, interview_flow_id, external_id }]);
      assert.deepEqual(await client.interviews.lookup("none"), []);
      assert.deepEqual(await client.interviews.cancel(interview_id), { success: true, interview_id });
    });

    test("a link is open, then submitted or closed", isFake ? {} : needs("getInterviewLink"), async () => {
      const world = await make();
      const client = world.client();
      const { interview_flow_id } = await client.flows.create(NURSE);
      const { interview_id } = await client.interviews.create(interview_flow_id);
      const { interview_id: other } = await client.interviews.create(interview_flow_id);
      const open = await client.interviews.link(interview_id);
      assert.deepEqual([open.interview_id, open.state], [interview_id, "open"]);
      const until = new Date(Math.ceil(Date.now() / 1000 + 86_400 * 45) * 1000);
      const { expires_at } = await client.interviews.extend(interview_id, { expires_at: until });
      assert.equal((await client.interviews.link(interview_id)).expires_at, expires_at);
      assert.ok(Date.parse(open.expires_at ?? "") < until.getTime());
      await world.complete(interview_id);
      assert.deepEqual(await client.interviews.link(interview_id), { interview_id, state: "submitted", expires_at: null });
      await client.interviews.cancel(other);
      assert.deepEqual(await client.interviews.link(other), { interview_id: other, state: "closed", expires_at: null });
      const ended = await refusal(parley.LinkEndedError, client.interviews.wait(other, { timeout: 20, poll: 30 }));
      assert.equal(ended.state, "closed");
    });

    test("interviews are chosen by flow and by time", isFake ? {} : needs("getInterviewLink"), async () => {
      const client = (await make()).client();
      const flows = await Promise.all([client.flows.create(NURSE), client.flows.create(NURSE)]);
      const [flow, other] = flows.map((one) => one.interview_flow_id);
      assert.ok(flow && other);
      const { interview_id } = await client.interviews.create(flow);
      await client.interviews.create(other);
      const ids = async (filter: parley.InterviewFilter) => (await all(client.interviews.list(filter))).map((one) => one.interview_id);
      assert.deepEqual(await ids({ interview_flow_id: flow }), [interview_id]);
      assert.equal((await ids({ created_after: new Date(Date.now() - 3_600_000) })).length, 2);
      assert.deepEqual(await ids({ created_after: new Date(Date.now() + 3_600_000) }), []);
      const missing = await refusal(parley.InvalidInputError, ids({ interview_flow_id: randomUUID() }));
      assert.equal(missing.isMissing, true);
    });

    test("candidates are listed and moved", isFake ? {} : needs("listCandidates", "getCandidate", "moveCandidate", "listStatuses"), async () => {
      const client = (await make()).client();
      const { interview_flow_id } = await client.flows.create(NURSE);
      for (const who of ["robin", "kim", "lee"]) {
        await client.interviews.create(interview_flow_id, { interviewee_email_address: `${who}@example.com` });
      }
      const listed = await all(client.candidates.list({ interview_flow_id, limit: 2 }));
      assert.deepEqual(new Set(listed.map((one) => one.interviewee_email_address.split("@")[0])), new Set(["lee", "kim", "robin"]));
      const [candidate] = await all(client.candidates.list({ email: "kim@example.com" }));
      assert.ok(candidate);
      assert.deepEqual(await client.candidates.retrieve(candidate.candidate_id), candidate);
      const statuses = await client.statuses.list();
      const accepted = statuses.find((one) => one.meaning === "accepted");
      assert.ok(accepted);
      const bare = client.candidates.move(candidate.candidate_id, accepted.name);
      assert.equal((await refusal(parley.InvalidInputError, bare)).error, "decision_incomplete");
      const [member] = await client.teamMembers.list();
      const decision = { decided_by: member?.id ?? "", reason_code: accepted.reason_codes[0]?.code ?? "other" };
      const moved = await client.candidates.move(candidate.candidate_id, accepted.name, { ...decision, previous_status: candidate.status });
      assert.equal(moved.status, accepted.name);
      const again = client.candidates.move(candidate.candidate_id, candidate.status, { previous_status: candidate.status });
      await refusal(parley.ConflictError, again);
    });

    test("changes are read, followed and resumed", isFake ? {} : needs("listChanges"), async () => {
      const client = (await make()).client();
      const { interview_flow_id } = await client.flows.create(NURSE);
      const { interview_id } = await client.interviews.create(interview_flow_id);
      const feed = client.changes({ follow: false, limit: 1 });
      const first = await all(feed);
      const ids = first.map((one) => one.object_id);
      assert.ok(ids.includes(interview_flow_id) && ids.includes(interview_id), String(ids));
      assert.ok(feed.cursor);
      const rest = client.changes({ after: feed.cursor, poll: 20 });
      setTimeout(() => void client.flows.archive(interview_flow_id), 60);
      for await (const change of rest) {
        if (change.object_id !== interview_flow_id) continue;
        assert.deepEqual([change.kind, change.change, change.object?.status], ["interview_flow", "upserted", "archived"]);
        rest.stop();
      }
      const seen: unknown[] = [];
      for await (const page of client.changes({ after: feed.cursor, poll: 20 }).pages()) {
        seen.push(...page.changes.map((one) => one.object_id));
        if (seen.length > 0 && page.changes.length === 0) {
          assert.deepEqual(await all(client.changes({ after: page.next, follow: false })), []);
          break;
        }
      }
      assert.deepEqual(seen, [interview_flow_id]);
      await refusal(parley.InvalidInputError, all(client.changes({ after: "no cursor", follow: false })));
    });
  });
}

test("webhook endpoints and deliveries", needs("createWebhookEndpoint", "listWebhookEndpoints", "getWebhookEndpoint", "deleteWebhookEndpoint", "rotateWebhookEndpointSecret", "switchWebhookEndpointSecret", "enableWebhookEndpoint", "listWebhookDeliveries", "resendWebhookDeliveries"), async () => {
  const client = (await served()).client();
  const made = await client.webhookEndpoints.create("https://receiver.example/all");
  assert.deepEqual([made.scope, made.enabled, made.secret.length >= 32], ["organization", true, true]);
  const id = made.webhook_endpoint_id;
  assert.equal((await client.webhookEndpoints.retrieve(id)).url, made.url);
  assert.deepEqual((await client.webhookEndpoints.list()).map((one) => one.webhook_endpoint_id), [id]);
  const rotated = await client.webhookEndpoints.rotateSecret(id, { overlap_hours: 1 });
  assert.notEqual(rotated.secret, made.secret);
  assert.equal((await client.webhookEndpoints.switchSecret(id)).success, true);
  await refusal(parley.ConflictError, client.webhookEndpoints.switchSecret(id));
  await refusal(parley.ConflictError, client.webhookEndpoints.enable(id)); // it is enabled
  assert.deepEqual(await all(client.webhookDeliveries.list({ webhook_endpoint_id: id })), []);
  const hour = { since: new Date(Date.now() - 3_600_000), until: new Date() };
  assert.equal(await client.webhookDeliveries.resendAll(hour), 0);
  assert.equal((await refusal(parley.InvalidInputError, client.webhookDeliveries.retrieve(randomUUID()))).isMissing, true);
  assert.equal((await client.webhookEndpoints.delete(id)).success, true);
});

test("the secret of a flow is rotated", needs("rotateWebhookSecret", "switchWebhookSecret"), async () => {
  const client = (await served()).client();
  const flow = { ...NURSE, webhook_url: "https://receiver.example/hook", webhook_secret_key: SECRET };
  const { interview_flow_id } = await client.flows.create(flow);
  const { webhook_secret_key, old_secret_until } = await client.flows.rotateWebhookSecret(interview_flow_id);
  assert.notEqual(webhook_secret_key, SECRET);
  assert.ok(Date.parse(old_secret_until ?? "") > Date.now());
  assert.equal((await client.flows.switchWebhookSecret(interview_flow_id)).success, true);
});

test("sets of scores are listed", needs("listScoreVersions"), async () => {
  const world = await served();
  const client = world.client();
  const { interview_flow_id } = await client.flows.create(NURSE);
  const { interview_id } = await client.interviews.create(interview_flow_id);
  await world.complete(interview_id);
  const versions = await client.interviews.scoreVersions(interview_id);
  assert.deepEqual(versions.map((one) => [one.interview_id, one.is_current]), [[interview_id, true]]);
});

test("a wrong key is refused at once", async () => {
  const stranger = new Parley({ apiKey: randomUUID(), baseUrl: env("PARLEY_URL") });
  const refused = await refusal(parley.AuthenticationError, stranger.ping());
  assert.deepEqual([refused.code, refused.error], [401, "unauthorized"]);
  assert.ok(refused.requestId);
  assert.equal(refused.message, `401 unauthorized: ${refused.detail} (request ${refused.requestId})`);
  assert.deepEqual([String(refused), refused.detail.includes("401")], [refused.message, false]);
  const fake = new FakeParley();
  await refusal(parley.AuthenticationError, fake.client({ apiKey: "another" }).ping());
});

test("objects of another organization are forbidden", async () => {
  const [first, second] = await Promise.all([served(), served()]);
  const [client, stranger] = [first.client(), second.client()];
  const { interview_flow_id: flowId } = await client.flows.create(NURSE);
  const { interview_id: interviewId } = await client.interviews.create(flowId);
  const calls = [
    () => stranger.flows.retrieve(flowId),
    () => stranger.flows.archive(flowId),
    () => stranger.flows.create({ ...NURSE, team_id: first.teamId }),
    () => stranger.interviews.create(flowId),
    () => stranger.interviews.retrieve(interviewId),
    () => stranger.interviews.revokeRecordings(interviewId),
    () => stranger.teamMembers.list({ team_id: first.teamId }),
    () => all(stranger.interviews.list({ team_id: first.teamId })),
    () => all(stranger.flows.list({ team_id: first.teamId })),
  ];
  for (const call of calls) {
    const refused = await refusal(parley.PermissionDeniedError, call);
    assert.ok(refused.error === "other_organization", String(refused));
  }
});

test("bodies that the server cannot take", async () => {
  const client = (await served()).client();
  await refusal(parley.BodyTooLargeError, client.flows.create({ ...NURSE, additional_info: "x".repeat(3_000_000) }));
  await refusal(parley.InvalidInputError, client.request("POST", "/v1/interviews", { body: ["no", "object"] }));
  await refusal(parley.InvalidInputError, client.request("POST", "/v1/interviews", { body: {} }));
  const unusable = { ...NURSE, company_logo_url: "http://127.0.0.1:9/logo.png" };
  const refused = await refusal(parley.InvalidInputError, client.flows.create(unusable));
  assert.match(refused.message, /logo/);
});

test("a live key may not choose the outcome of an interview", async () => {
  const client = (await served()).client();
  const { interview_flow_id } = await client.flows.create(NURSE);
  const refused = await refusal(parley.InvalidInputError, client.interviews.create(interview_flow_id, { scenario: "scores" }));
  assert.deepEqual(Object.keys(refused.errors.headers as object), ["X-Parley-Scenario"]);
  assert.deepEqual(await all(client.interviews.list({ mode: "test" })), []);
});
