// An interview of FakeParley: its link, its result, and how the API shows it.

import { invalid, Refusal } from "./fake-rules.js";
import type { Interview, InterviewData, InterviewFlow, InterviewLink, InterviewLinkState, Scores } from "./models.js";

export const URL_OF_FAKE = "http://parley.test";
export const DAY = 86_400_000;
const NAMES = ["interviewee_email_address", "interviewee_first_name", "interviewee_last_name"] as const;

type Fields = Record<string, unknown>;

/** What the candidate says and what is made of it. */
export interface Outcome {
  answers?: readonly string[];
  summary?: string | null;
  scores?: Partial<Scores> | null;
}

export interface Held {
  id: string;
  flow: InterviewFlow;
  given: Fields;
  data: InterviewData | null;
  isClosed: boolean;
  createdAt: number;
  expiresAt: number;
  metadata: Record<string, string>;
}

function shownTime(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+/, "");
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function idsOf({ id, flow }: Held): { interview_flow_id: string; interview_id: string } {
  return { interview_flow_id: flow.interview_flow_id, interview_id: id };
}

export function namesOf({ given }: Held): Record<(typeof NAMES)[number], string | null> {
  return Object.fromEntries(NAMES.map((name) => [name, textOf(given[name])])) as Record<(typeof NAMES)[number], string | null>;
}

export function linkOf({ id, flow }: Held): string {
  return `${URL_OF_FAKE}/interview/api/${flow.interview_flow_id}/${id}`;
}

function stateOf({ data, flow, isClosed, expiresAt }: Held): InterviewLinkState {
  if (data) return "submitted";
  if (isClosed || flow.status === "archived") return "closed";
  return expiresAt <= Date.now() ? "expired" : "open";
}

export function shownLink(interview: Held): InterviewLink {
  const state = stateOf(interview);
  const leadsOn = state === "open" || state === "expired";
  return { interview_id: interview.id, state, expires_at: leadsOn ? shownTime(interview.expiresAt) : null };
}

/** Refuses what Parley refuses, in its order. */
export function extended(interview: Held, body: Fields): unknown {
  const until = Date.parse(String(body.expires_at));
  const wrong = (why: string) => invalid("json", { expires_at: [why] });
  if (!(Date.now() < until && until <= Date.now() + 90 * DAY)) throw wrong("Must be later than now, and at most 90 days from now.");
  if (interview.data) throw new Refusal(409, "conflict", "The candidate has finished the interview.");
  if (interview.isClosed) throw new Refusal(409, "conflict", "The link was closed. Create another interview.");
  if (until <= interview.expiresAt) throw wrong("The link already works until then. Send a later time.");
  interview.expiresAt = until;
  return { interview_id: interview.id, interview_link: linkOf(interview), expires_at: shownTime(until) };
}

export function shown(interview: Held, transcript: string): Interview {
  const { data, flow } = interview;
  let seen: Fields | null = data && { ...data };
  if (seen && transcript !== "full") {
    const { transcript_with_timestamp: _, questions_to_transcript_mapping: __, ...rest } = seen;
    seen = rest;
    if (transcript === "none") delete seen.transcript;
  }
  const status = data ? "completed" : "incomplete";
  return { ...idsOf(interview), team_id: flow.team_id, status, interview_data: seen as InterviewData | null };
}

/** The candidate takes five seconds for each question and each answer, and says "Yes." where no answer is given. */
export function resultOf(interview: Held, { answers = [], summary = null, scores = null }: Outcome): InterviewData {
  const said = interview.flow.questions.flatMap((question, number) => [
    { role: "agent", content: question },
    { role: "user", content: answers[number] ?? "Yes." },
  ]);
  const segments = said.map((one, place) => ({
    ...one,
    words: one.content.split(/\s+/).map((word) => ({ word, start: 5 * place, end: 5 * place + 5 })),
  }));
  const mapping = interview.flow.questions.map((question, number) => ({
    script_question: question,
    transcript_item_indices: [2 * number, 2 * number + 1],
    start_timestamp: 10 * number,
    end_timestamp: 10 * number + 10,
    transcript_items: said.slice(2 * number, 2 * number + 2),
  }));
  return {
    transcript: said.map((one) => `${one.role}: ${one.content}`).join("\n"),
    transcript_with_timestamp: segments,
    questions_to_transcript_mapping: mapping,
    audio_url: `${URL_OF_FAKE}/recordings/${interview.id}/audio`,
    video_url: null,
    summary,
    scores: scores as Scores | null,
    ...namesOf(interview),
  };
}
