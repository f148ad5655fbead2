// The objects of the API. Servers may send more than this version knows: fields stay in the object, enums accept every string.

/** One of these words, or one that a newer server knows. */
export type Open<Known extends string> = Known | (string & {});

export type VoiceId = Open<
  | "vendora-Anna"
  | "vendorb-Onyx"
  | "vendorb-Shimmer"
  | "vendora-Anthony"
  | "vendora-Kate"
  | "vendora-Amy"
  | "vendora-Rahul"
  | "IPgYtHTNLjC7Bq7IPHrm"
  | "UOIqAnmS11Reiei1Ytkc"
  | "vUmLiNBm6MDcy1NUHaVr"
  | "bhJUNIXWQQ94l8eI2VUf"
  | "b3jcIbyC3BSnaRu8avEk"
  | "xF681s0UeE04gsf0mVsJ"
  | "uNsWM1StCcpydKYOjKyu"
  | "BGEU6wFi2uNm6Kje1Yhk"
  | "4kCDY3HJwvO7Zp3con83"
>;
export type Language = Open<
  "en-US" | "de-DE" | "es-419" | "hi-IN" | "ja-JP" | "pt-BR" | "fr-FR" | "zh-CN" | "ko-KR" | "vi-VN" | "th-TH" | "ar-AE" | "no-NO"
>;
export type InterviewType = Open<"recruitment" | "general">;
export type InterviewStatus = Open<"incomplete" | "completed">;
export type InterviewFlowStatus = Open<"open" | "closed" | "archived">;
export type InterviewLinkState = Open<"open" | "in_progress" | "submitted" | "expired" | "closed">;
export type InterviewMode = Open<"live" | "test">;
export type Scenario = Open<"scores" | "abandoned" | "failed" | "late-video">;
export type StatusMeaning = Open<"open" | "advanced" | "accepted" | "rejected" | "withdrawn">;
export type ChangeKind = Open<"candidate" | "status" | "interview_flow" | "interview" | "interview_metadata" | "score_version">;
export type ChangeType = Open<"upserted" | "deleted">;
export type WebhookDeliveryState = Open<"pending" | "sending" | "delivered" | "held" | "exhausted" | "cancelled">;
export type TranscriptChoice = "full" | "text" | "none";
/** RFC 3339 in UTC, or a Date. */
export type Time = Date | string;

/** A part of your organization. */
export interface Team {
  id: string;
  name: string;
  created_at: string;
}

/** A member; `id` is what `assigned_recruiter_id` takes. */
export interface TeamMember {
  id: string;
  email: string | null;
  full_name: string | null;
}

/** What a flow may have. What you leave out gets its default; null switches it off. */
export interface FlowOptions {
  voice_id?: VoiceId | null;
  language?: Language | null;
  company_logo_url?: string | null;
  additional_info?: string | null;
  additional_instructions?: string | null;
  interview_type?: InterviewType | null;
  is_video_enabled?: boolean | null;
  is_doc_upload_enabled?: boolean | null;
  redirect_url?: string | null;
  webhook_url?: string | null;
  webhook_secret_key?: string | null;
  intro?: string | null;
  outro?: string | null;
  preamble_video_url?: string | null;
}

/** A new flow. Without `team_id` it belongs to the organization's oldest team. */
export interface NewFlow extends FlowOptions {
  org_name: string;
  title: string;
  questions: readonly string[];
  team_id?: string | null;
}

/** What to change in a flow. What you leave out stays as it is. */
export interface FlowChanges extends FlowOptions {
  org_name?: string;
  title?: string;
  questions?: readonly string[];
}

/** A script of questions, with a voice, a language and options. */
export interface InterviewFlow {
  interview_flow_id: string;
  team_id: string;
  org_name: string;
  title: string;
  status: InterviewFlowStatus;
  questions: string[];
  voice_id: VoiceId | null;
  language: Language | null;
  company_logo_url: string | null;
  additional_info: string | null;
  additional_instructions: string | null;
  interview_type: InterviewType | null;
  is_video_enabled: boolean | null;
  is_doc_upload_enabled: boolean | null;
  redirect_url: string | null;
  webhook_url: string | null;
  webhook_secret_key: string | null;
  intro: string | null;
  outro: string | null;
}

/** The id of a new flow. */
export interface InterviewFlowCreated {
  interview_flow_id: string;
}

/** That something was done. */
export interface Success {
  success: boolean;
}

/** The outcome of archiving, closing or reopening a flow. */
export interface FlowState extends Success {
  interview_flow_id: string;
  status: InterviewFlowStatus;
}

/** A word, and the seconds at which it begins and ends. */
export interface Word {
  word: string;
  start: number;
  end: number;
}

/** What `agent` or `user` said without a break. */
export interface BaseSegment {
  content: string;
  role: string;
}

/** A segment with its words; a typed answer has none. */
export interface Segment extends BaseSegment {
  words: Word[];
}

/** Where a question of the flow is in the transcript. */
export interface QuestionToTranscriptMapping {
  script_question: string;
  transcript_item_indices: number[];
  start_timestamp: number;
  end_timestamp: number;
  transcript_items: BaseSegment[];
}

/** Scores from 0 to 5; null means "not assessed". */
export interface Scores {
  communication: number | null;
  motivation: number | null;
  skills: number | null;
  language_vocabulary_and_expression: number | null;
  language_grammar_and_structure: number | null;
  language_fluency_and_pace: number | null;
  language_comprehension: number | null;
}

/** A result, as `transcript: "none"` returns it. */
export interface InterviewDataNoTranscript {
  audio_url: string | null;
  video_url: string | null;
  summary: string | null;
  scores: Scores | null;
  interviewee_email_address: string | null;
  interviewee_first_name: string | null;
  interviewee_last_name: string | null;
}

/** A result, as `transcript: "text"` returns it. */
export interface InterviewDataTextOnly extends InterviewDataNoTranscript {
  transcript: string;
}

/** A whole result, as `transcript: "full"` returns it. */
export interface InterviewData extends InterviewDataTextOnly {
  transcript_with_timestamp: Segment[];
  questions_to_transcript_mapping: QuestionToTranscriptMapping[];
}

/** The result that each choice of `transcript` returns. */
export interface DataOf {
  full: InterviewData;
  text: InterviewDataTextOnly;
  none: InterviewDataNoTranscript;
}

/** One conversation of one candidate with the agent. `interview_data` is null until it is completed. */
export interface Interview<Data extends InterviewDataNoTranscript = InterviewData> {
  interview_flow_id: string;
  interview_id: string;
  team_id: string;
  status: InterviewStatus;
  interview_data: Data | null;
}

/** Whom an interview is for. Without an email address it does not appear on the web platform. */
export interface NewInterview {
  interviewee_email_address?: string | null;
  interviewee_first_name?: string | null;
  interviewee_last_name?: string | null;
  assigned_recruiter_id?: string | null;
}

/** A new interview, and the single-use link for the candidate. */
export interface InterviewCreated {
  interview_id: string;
  interview_link: string;
  hint: string | null;
}

/** The link of an interview, and until when it works. */
export interface InterviewExtended {
  interview_id: string;
  interview_link: string;
  expires_at: string;
}

/** Whether the link of an interview still works. */
export interface InterviewLink {
  interview_id: string;
  /** An `expired` link works again after `extend`; the interview of a `closed` one stays incomplete. */
  state: InterviewLinkState;
  /** When the link expires or has expired; null if it leads nowhere. */
  expires_at: string | null;
}

/** An interview that will not take place. */
export interface InterviewCancelled extends Success {
  interview_id: string;
}

/** An interview that has the external id you asked for. */
export interface InterviewReference {
  interview_id: string;
  interview_flow_id: string;
  external_id: string;
}

/** One set of scores of a result; `is_current` marks the one in force. */
export interface ScoreVersion {
  score_version_id: string;
  interview_id: string;
  number: number;
  is_current: boolean;
  scores: Scores | null;
  model: string | null;
  created_at: string;
}

/** A person in the pipeline of a recruitment flow. */
export interface Candidate {
  candidate_id: string;
  team_id: string;
  interview_flow_id: string;
  interviewee_email_address: string;
  interviewee_first_name: string | null;
  interviewee_last_name: string | null;
  status: string;
  assigned_recruiter_id: string | null;
  interview_ids: string[];
  created_at: string;
}

/** Details of a move. A status that means advanced, accepted or rejected needs the first two. */
export interface CandidateMove {
  decided_by?: string | null;
  reason_code?: string | null;
  note?: string | null;
  /** Move only if this is still the present status. */
  previous_status?: string | null;
}

/** A reason for a decision, from your organization's list. */
export interface ReasonCode {
  code: string;
  label: string;
}

/** A status of your pipeline. Its name is yours; `meaning` says what it stands for. */
export interface Status {
  status_id: string;
  name: string;
  meaning: StatusMeaning | null;
  position: number;
  reason_codes: ReasonCode[];
}

/** One entry of the feed: `object` is the present state as the API sends it, null when it was deleted. */
export interface Change {
  id: string;
  kind: ChangeKind;
  object_id: string;
  change: ChangeType;
  at: string;
  object: Record<string, unknown> | null;
}

/** Some changes. Continue with `next`, at once if `has_more`. */
export interface ChangesPage {
  changes: Change[];
  next: string;
  has_more: boolean;
}

/** A new webhook secret. Both secrets sign until `old_secret_until`. */
export interface SecretRotation {
  webhook_secret_key: string;
  old_secret_until: string | null;
}

/** Without `webhook_secret_key` Parley makes one. During the overlap both secrets sign. */
export interface NewSecret {
  webhook_secret_key?: string | null;
  /** 1 to 168; 24 by default. */
  overlap_hours?: number;
}

/** A new secret of an endpoint. Both secrets sign until `old_secret_until`. */
export interface EndpointSecretRotation {
  secret: string;
  old_secret_until: string | null;
}

/** Without `secret` Parley makes one. During the overlap both secrets sign. */
export interface NewEndpointSecret {
  secret?: string | null;
  /** 1 to 168; 24 by default. */
  overlap_hours?: number;
}

/** A webhook URL with its health. */
export interface WebhookEndpoint {
  webhook_endpoint_id: string;
  url: string;
  scope: Open<"flow" | "organization">;
  interview_flow_ids: string[];
  enabled: boolean;
  disabled_by: string | null;
  failing_since: string | null;
  last_success_at: string | null;
  created_at: string;
}

/** A new endpoint with its secret, which is shown only this once. */
export interface WebhookEndpointCreated extends WebhookEndpoint {
  secret: string;
}

/** One event on its way to one endpoint. */
export interface WebhookDelivery {
  webhook_delivery_id: string;
  webhook_id: string;
  event_type: string;
  interview_flow_id: string | null;
  webhook_endpoint_id: string;
  state: WebhookDeliveryState;
  hold: string | null;
  ending: string | null;
  attempts: number;
  created_at: string;
  due_at: string | null;
  delivered_at: string | null;
}

/** One HTTP request of a delivery, with its response. */
export interface WebhookAttempt {
  at: string;
  seconds: number | null;
  status: number | null;
  error: string | null;
}

/** A delivery with what was sent, and each attempt. */
export interface WebhookDeliveryDetails extends WebhookDelivery {
  payload: Record<string, unknown> | null;
  attempts_made: WebhookAttempt[];
}

/** The deliveries of this time, at most 31 days. */
export interface Resend {
  since: Time;
  until: Time;
  state?: WebhookDeliveryState;
  interview_flow_id?: string;
  webhook_endpoint_id?: string;
}
