// Written against the types that openapi-typescript makes of the document; it is compiled, never run.
import type { components, operations, webhooks } from "./v1";

type Shapes = components["schemas"];

const flow: Shapes["NewInterviewFlow"] = {
  org_name: "Example Ltd",
  title: "Nurse",
  questions: ["Why do you want this job?"],
  interview_type: "recruitment",
  language: "de-DE",
  voice_id: null,
};

// @ts-expect-error a language that the interface does not have
const wrong: Shapes["Language"] = "xx-XX";

// @ts-expect-error title and questions are required
const short: Shapes["NewInterviewFlow"] = { org_name: "Example Ltd" };

async function call<Name extends keyof operations>(
  _name: Name,
  method: string,
  path: string,
  body?: unknown,
): Promise<operations[Name]["responses"] extends { 200: { content: { "application/json": infer Answer } } } ? Answer : never> {
  const answer = await fetch(path, { method, body: JSON.stringify(body) });
  return await answer.json();
}

function read(data: Shapes["InterviewData"] | Shapes["InterviewDataTextOnly"] | Shapes["InterviewDataNoTranscript"]): string {
  if ("transcript_with_timestamp" in data) {
    return data.transcript_with_timestamp.flatMap((segment) => segment.words.map((word) => word.word)).join(" ");
  }
  return "transcript" in data ? data.transcript : (data.summary ?? "");
}

export async function walk(): Promise<string> {
  const created = await call("createInterviewFlow", "POST", "/v1/interview-flows", flow);
  const booking: Shapes["NewInterview"] = { interview_flow_id: created.interview_flow_id };
  const { interview_id, interview_link } = await call("createInterview", "POST", "/v1/interviews", booking);
  const query: operations["getInterview"]["parameters"]["query"] = { transcript: "text" };
  const one = await call("getInterview", "GET", `/v1/interviews/${interview_id}?transcript=${query.transcript}`);
  const { interviews } = await call("listInterviews", "GET", "/v1/interviews");
  const revoked = await call("deleteInterview", "DELETE", `/v1/interviews/${interview_id}`);
  // @ts-expect-error the answer has no such field
  revoked.succeeded;
  const first = interviews[0]?.interview_data ?? one.interview_data;
  return `${interview_link} ${revoked.success} ${first === null ? one.status : read(first)}`;
}

type Body<Name extends keyof webhooks> = webhooks[Name]["post"]["requestBody"]["content"]["application/json"];

export function received(event: Body<"interview_processed"> | Body<"video_processed"> | Body<"candidate_status_updated">): string {
  switch (event.event_type) {
    case "candidate_status_updated":
      return `${event.interviewee_email}: ${event.previous_status} to ${event.new_status}`;
    case "interview_processed":
    case "video_processed":
      return `${event.interviewee_email_address ?? "somebody"}: ${event.interview_link}`;
  }
}
