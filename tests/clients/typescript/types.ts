// Compiled, never run: the types of the client against those that openapi-typescript makes of the document.
import type * as parley from "@parley/client";
import type { components } from "./v1.js";

type Schemas = components["schemas"];

/** Which type of the client stands for which schema. A schema that the document does not have yet is not compared. */
interface Types {
  BaseSegment: parley.BaseSegment;
  Candidate: parley.Candidate;
  CandidateStatusUpdatedEvent: Omit<parley.webhooks.CandidateStatusUpdated, keyof parley.webhooks.Verified>;
  Change: parley.Change;
  Changes: parley.ChangesPage;
  Done: parley.Success;
  EndpointSecretRotated: parley.EndpointSecretRotation;
  FlowSecretRotated: parley.SecretRotation;
  FoundInterview: parley.InterviewReference;
  Interview: parley.Interview<parley.InterviewDataNoTranscript>;
  InterviewCancelled: parley.InterviewCancelled;
  InterviewCreated: parley.InterviewCreated;
  InterviewData: parley.InterviewData;
  InterviewDataNoTranscript: parley.InterviewDataNoTranscript;
  InterviewDataTextOnly: parley.InterviewDataTextOnly;
  InterviewFlow: parley.InterviewFlow;
  InterviewFlowArchived: parley.FlowState;
  InterviewFlowCreated: parley.InterviewFlowCreated;
  InterviewProcessedEvent: Omit<parley.webhooks.InterviewProcessed, keyof parley.webhooks.Verified>;
  InterviewFlowTurned: parley.FlowState;
  Link: parley.InterviewLink;
  LinkExtended: parley.InterviewExtended;
  QuestionToTranscriptMapping: parley.QuestionToTranscriptMapping;
  ReasonCode: parley.ReasonCode;
  Revoked: parley.Success;
  ScoreVersion: parley.ScoreVersion;
  Scores: parley.Scores;
  Segment: parley.Segment;
  Status: parley.Status;
  Team: parley.Team;
  TeamMember: parley.TeamMember;
  VideoProcessedEvent: Omit<parley.webhooks.VideoProcessed, keyof parley.webhooks.Verified>;
  WebhookAttempt: parley.WebhookAttempt;
  WebhookDelivery: parley.WebhookDelivery;
  WebhookDeliveryDetails: parley.WebhookDeliveryDetails;
  WebhookEndpoint: parley.WebhookEndpoint;
  WebhookEndpointCreated: parley.WebhookEndpointCreated;
  Word: parley.Word;
}

type SameKeys<A, B> = [keyof A] extends [keyof B] ? ([keyof B] extends [keyof A] ? true : false) : false;
/** Names whose fields differ, as a union: never if there is none. */
type Different = {
  [Name in keyof Schemas & keyof Types]: SameKeys<Schemas[Name], Types[Name]> extends true ? never : Name;
}[keyof Schemas & keyof Types];
/** The server sends every field; the document requires only those that the contract does. */
type Sent<T> = T extends (infer One)[] ? Sent<One>[] : T extends object ? { [Name in keyof T]-?: Sent<Exclude<T[Name], undefined>> } : T;
/** Names where the client does not accept what the document allows the server to send. */
type Narrower = {
  [Name in keyof Schemas & keyof Types]: Sent<Schemas[Name]> extends Types[Name] ? never : Name;
}[keyof Schemas & keyof Types];

/** Errors are exceptions and lists are lists. What you send is compared in drift.test.ts; some words have no name here. */
type NotTypes =
  | "Error"
  | "ErrorCode"
  | "ErrorResponse"
  | "PingResponse"
  | "TranscriptChoice"
  | ("Candidates" | "InterviewFlows" | "Interviews" | "Lookup" | "ScoreVersions" | "Statuses" | "TeamMembers" | "Teams")
  | ("InterviewMetadata" | "Resent" | "WebhookDeliveries" | "WebhookEndpoints")
  | ("CandidateMove" | "InterviewFlowChanges" | "LinkExtension" | "NewInterview" | "NewInterviewFlow" | "NewWebhookEndpoint")
  | ("EndpointSecretRotation" | "FlowSecretRotation" | "Resend")
  | ("WebhookDisabledBy" | "WebhookEnding" | "WebhookEventType" | "WebhookHold" | "WebhookResendState" | "WebhookScope");
/** Schemas that the client has no type for. */
type Missing = Exclude<keyof Schemas, keyof Types | keyof Enums | NotTypes>;

interface Enums {
  VoiceId: parley.VoiceId;
  Language: parley.Language;
  InterviewType: parley.InterviewType;
  InterviewStatus: parley.InterviewStatus;
  InterviewFlowStatus: parley.InterviewFlowStatus;
  InterviewLinkState: parley.InterviewLinkState;
  InterviewMode: parley.InterviewMode;
  Scenario: parley.Scenario;
  StatusMeaning: parley.StatusMeaning;
  ChangeKind: parley.ChangeKind;
  ChangeType: parley.ChangeType;
  WebhookDeliveryState: parley.WebhookDeliveryState;
}
/** The words that an open enum names. */
type Known<T> = T extends string ? (string extends T ? never : T) : never;
type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Words = keyof Enums & keyof Schemas;
type OtherWords = { [Name in Words]: Equal<Known<Enums[Name]>, Schemas[Name]> extends true ? never : Name }[Words];
type Closed = { [Name in keyof Enums]: string extends Enums[Name] ? never : "a newer word" extends Enums[Name] ? never : Name }[keyof Enums];

function none<T extends never>(..._: T[]): void {}
none<Different>();
none<Narrower>();
none<Missing>();
none<OtherWords>();
none<Closed>();
const same: Equal<parley.TranscriptChoice, Schemas["TranscriptChoice"]> = true;

declare const client: parley.Parley;

export async function mistakes(): Promise<void> {
  void same;
  // @ts-expect-error title and questions are required
  await client.flows.create({ org_name: "Example Ltd" });
  // @ts-expect-error a field that is misspelled
  await client.flows.update("id", { titel: "Nurse" });
  const text = await client.interviews.retrieve("id", { transcript: "text" });
  text.interview_data?.transcript.trim();
  // @ts-expect-error not in the answer with this choice
  text.interview_data?.transcript_with_timestamp.at(0);
  const none = await client.interviews.wait("id", { transcript: "none" });
  // @ts-expect-error nor this
  none.interview_data?.transcript.trim();
  for await (const one of client.interviews.list()) one.interview_data?.questions_to_transcript_mapping.at(0);
  // @ts-expect-error the result may be absent
  (await client.interviews.retrieve("id")).interview_data.summary;
}

export function read(event: parley.webhooks.AnyEvent): string {
  if (event.event_type === "candidate_status_updated") return event.interviewee_email;
  // @ts-expect-error events of interviews call it interviewee_email_address
  if (event.event_type === "video_processed") return event.interviewee_email;
  return event.event_type === "unknown" ? String(event.data.event_type) : event.interview_id;
}
