// What Parley sends as a webhook: for tests of receivers.

/**
 * The headers that Parley sends with `body`: by default with a new id, and the present time.
 */
export async function sign(
  body: Uint8Array,
  secret: string,
  { webhookId = `evt_${crypto.randomUUID().replaceAll("-", "")}`, timestamp = Math.floor(Date.now() / 1000) }: { webhookId?: string; timestamp?: number } = {},
): Promise<Record<string, string>> {
  const before = new TextEncoder().encode(`${webhookId}.${timestamp}.`);
  const covered = new Uint8Array(before.length + body.length);
  covered.set(before);
  covered.set(body, before.length);
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const [standard, own] = await Promise.all([covered, Uint8Array.from(body)].map((one) => crypto.subtle.sign("HMAC", key, one)));
  return {
    "Content-Type": "application/json",
    "User-Agent": "Service-API-Webhook/1.0",
    "webhook-id": webhookId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": "v1," + btoa(String.fromCharCode(...new Uint8Array(standard as ArrayBuffer))),
    "x-service-signature": Array.from(new Uint8Array(own as ArrayBuffer), (one) => one.toString(16).padStart(2, "0")).join(""),
  };
}

/** The body of an event, with made-up values for the fields that you leave out. */
export function eventBody(eventType = "interview_processed", fields: Readonly<Record<string, unknown>> = {}): Uint8Array {
  const interviewId = crypto.randomUUID();
  const rest =
    eventType === "candidate_status_updated"
      ? { interviewee_email: "robin@example.com", previous_status: "invited", new_status: "interviewed" }
      : {
          interview_id: interviewId,
          interview_link: `https://parley.example.com/interviews/${interviewId}`,
          interviewee_email_address: "robin@example.com",
          interviewee_first_name: "Robin",
          interviewee_last_name: "Example",
          status: "completed",
        };
  const flow = { interview_flow_id: crypto.randomUUID(), interview_flow_name: "Nurse" };
  return new TextEncoder().encode(JSON.stringify({ event_type: eventType, ...flow, ...rest, ...fields }));
}
