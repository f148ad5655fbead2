// Create a flow and an interview, and read what there is.
import { APIStatusError, type Parley } from "@parley/client";

export async function invite(client: Parley, email: string, applicationId: string): Promise<string> {
  const flow = await client.flows.create({
    org_name: "Example Ltd",
    title: "Nurse",
    questions: ["Why do you want this job?", "Tell me about your last team."],
    interview_type: "recruitment",
    language: "en-US",
  });
  const made = await client.interviews.create(
    flow.interview_flow_id,
    { interviewee_email_address: email },
    { idempotencyKey: applicationId },
  );
  return made.interview_id;
}

/** The summary of an interview: null while there is none, undefined if there is no such interview. */
export async function summaryOf(client: Parley, interviewId: string): Promise<string | null | undefined> {
  try {
    const interview = await client.interviews.retrieve(interviewId, { transcript: "none" });
    return interview.interview_data?.summary ?? null;
  } catch (error) {
    if (error instanceof APIStatusError && error.isMissing) return undefined;
    throw error;
  }
}

/** Copies everything that has changed, and returns where to go on next time. */
export async function copyChanges(client: Parley, cursor: string | undefined, store: (id: string, object: unknown) => void): Promise<string | undefined> {
  for await (const page of client.changes({ after: cursor, follow: false }).pages()) {
    for (const change of page.changes) store(change.object_id, change.object);
    cursor = page.next;
  }
  return cursor;
}
