// What FakeParley checks in a request before it looks at anything else. A test compares the table with the OpenAPI document.

/** An error response. */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    readonly error: string,
    message: string,
    readonly errors?: Record<string, unknown>,
  ) {
    super(message);
  }
}

/** The document's words. Where a text has `minLength` 1, white space alone is refused too. */
export interface Rule {
  type: "string" | "integer" | "boolean" | "array" | "object";
  nullable?: true;
  enum?: readonly string[];
  format?: "uri" | "email" | "date-time";
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  items?: Rule;
}

export interface Shape {
  body?: Readonly<Record<string, Rule>>;
  required?: readonly string[];
  query?: Readonly<Record<string, Rule>>;
  headers?: Readonly<Record<string, Rule>>;
}

const upTo = (maxLength: number): Rule => ({ type: "string", maxLength });
const filled = (maxLength: number): Rule => ({ type: "string", minLength: 1, maxLength });
const number = (minimum: number, maximum: number): Rule => ({ type: "integer", minimum, maximum });
const oneOf = (...words: string[]): Rule => ({ type: "string", enum: words });
const orNull = (rule: Rule): Rule => ({ ...rule, nullable: true });

const FLAG = orNull({ type: "boolean" });
const ID = orNull(filled(100));
const LINK = orNull({ ...upTo(2048), format: "uri" });
const TIME: Rule = { type: "string", format: "date-time" };
const EMAIL = orNull({ ...upTo(320), format: "email" });
const UUID = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$";
const TRANSCRIPT = oneOf("full", "text", "none");
const LIMIT = number(1, 1000);
const OFFSET = number(0, 1_000_000_000);
const KEY = { "Idempotency-Key": { ...filled(255), pattern: "^[!-~]+$" } };
const FLOW = {
  org_name: filled(300),
  title: filled(300),
  questions: { type: "array", maxItems: 20, items: filled(2000) } as Rule,
  voice_id: orNull(
    oneOf(
      ...["vendora-Anna", "vendorb-Onyx", "vendorb-Shimmer", "vendora-Anthony", "vendora-Kate", "vendora-Amy", "vendora-Rahul"],
      ...["IPgYtHTNLjC7Bq7IPHrm", "UOIqAnmS11Reiei1Ytkc", "vUmLiNBm6MDcy1NUHaVr", "bhJUNIXWQQ94l8eI2VUf", "b3jcIbyC3BSnaRu8avEk"],
      ...["xF681s0UeE04gsf0mVsJ", "uNsWM1StCcpydKYOjKyu", "BGEU6wFi2uNm6Kje1Yhk", "4kCDY3HJwvO7Zp3con83"],
    ),
  ),
  language: orNull(
    oneOf("en-US", "de-DE", "es-419", "hi-IN", "ja-JP", "pt-BR", "fr-FR", "zh-CN", "ko-KR", "vi-VN", "ar-AE", "no-NO", "th-TH"),
  ),
  company_logo_url: LINK,
  additional_info: orNull(upTo(20_000)),
  additional_instructions: orNull(upTo(20_000)),
  interview_type: orNull(oneOf("recruitment", "general")),
  is_video_enabled: FLAG,
  is_doc_upload_enabled: FLAG,
  redirect_url: LINK,
  webhook_url: LINK,
  webhook_secret_key: orNull(upTo(1000)),
  intro: orNull(upTo(5000)),
  outro: orNull(upTo(5000)),
  preamble_video_url: LINK,
};

/** Operations without fields are not here. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  listTeamMembers: { query: { team_id: ID } },
  createInterviewFlow: { body: { ...FLOW, team_id: ID }, required: ["org_name", "title", "questions"], headers: KEY },
  listInterviewFlows: { query: { limit: LIMIT, offset: OFFSET, team_id: ID } },
  updateInterviewFlow: { body: FLOW },
  closeInterviewFlow: { headers: KEY },
  reopenInterviewFlow: { headers: KEY },
  createInterview: {
    body: {
      interview_flow_id: upTo(100),
      interviewee_email_address: EMAIL,
      interviewee_first_name: orNull(upTo(300)),
      interviewee_last_name: orNull(upTo(300)),
      assigned_recruiter_id: orNull({ ...upTo(36), pattern: UUID }),
    },
    required: ["interview_flow_id"],
    headers: { ...KEY, "X-Parley-Scenario": oneOf("scores", "abandoned", "failed", "late-video") },
  },
  listInterviews: {
    query: {
      limit: LIMIT,
      offset: OFFSET,
      status: orNull(oneOf("incomplete", "completed")),
      team_id: ID,
      transcript: TRANSCRIPT,
      mode: orNull(oneOf("live", "test")),
      interview_flow_id: ID,
      created_after: orNull(TIME),
    },
  },
  getInterview: { query: { transcript: TRANSCRIPT } },
  cancelInterview: { headers: KEY },
  extendInterview: { body: { expires_at: TIME }, required: ["expires_at"], headers: KEY },
  setInterviewMetadata: { body: { metadata: { type: "object" } }, required: ["metadata"] },
  lookupInterviews: { query: { external_id: filled(128) }, required: ["external_id"] },
  listCandidates: { query: { interview_flow_id: ID, team_id: ID, status: ID, email: EMAIL, limit: LIMIT, after: orNull(filled(1000)) } },
  moveCandidate: {
    body: {
      status: filled(100),
      decided_by: ID,
      reason_code: orNull(filled(36)),
      note: orNull(upTo(10_000)),
      previous_status: ID,
    },
    required: ["status"],
    headers: KEY,
  },
  listChanges: { query: { after: orNull(filled(200)), limit: LIMIT } },
};

const FORMATS = {
  uri: [/^https?:\/\/[^\s\\/?#@]+([/?#][^\s\\]*)?$/i, "Not a valid URL."],
  email: [/^[^\s@]+@[^\s@]+\.[^\s@.]+$/, "Not a valid email address."],
  "date-time": [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/i, "Must be a time such as 2026-01-31T09:15:00Z."],
} as const;

/** What is wrong with a value, or null: a sentence, or for a list the sentences of its items. */
function flawOf(rule: Rule, value: unknown): unknown {
  if (value === null) return rule.nullable ? null : "Field may not be null.";
  if (rule.type === "boolean") return typeof value === "boolean" ? null : "Not a valid boolean.";
  if (rule.type === "object") return isObject(value) ? null : "Must be an object with strings.";
  if (rule.type === "array") return listFlaw(rule, value);
  if (typeof value !== "string") return "Not a valid string.";
  return rule.type === "integer" ? numberFlaw(rule, value) : textFlaw(rule, value);
}

function listFlaw({ items, maxItems = Infinity }: Rule, value: unknown): unknown {
  if (!Array.isArray(value)) return "Not a valid list.";
  if (value.length > maxItems) return `At most ${maxItems} are allowed.`;
  const flaws = value.map((one, place) => [place, items && flawOf(items, one)] as const).filter(([, flaw]) => flaw);
  return flaws.length > 0 ? Object.fromEntries(flaws.map(([place, flaw]) => [place, [flaw]])) : null;
}

/** A number in a query. */
function numberFlaw({ minimum = -Infinity, maximum = Infinity }: Rule, value: string): string | null {
  const isIn = /^-?[0-9]{1,18}$/.test(value) && minimum <= Number(value) && Number(value) <= maximum;
  return isIn ? null : `Must be a whole number from ${minimum} to ${maximum}.`;
}

function textFlaw({ enum: words, format, pattern, minLength, maxLength = Infinity }: Rule, value: string): string | null {
  if (words) return words.includes(value) ? null : `Must be one of: ${words.join(", ")}.`;
  if (minLength && !value.trim()) return "Must not be blank.";
  if ([...value].length > maxLength) return `Longer than ${maxLength} characters.`;
  if (pattern && !new RegExp(pattern).test(value)) return `Does not match ${pattern}.`;
  if (!format) return null;
  const [form, why] = FORMATS[format];
  const isRight = form.test(value) && (format !== "date-time" || !Number.isNaN(Date.parse(value)));
  return isRight ? null : why;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is wrong with these fields: `{ title: ["Must not be blank."] }`. */
function flawsOf(fields: object, rules: Readonly<Record<string, Rule>>, required: readonly string[] = []): Record<string, unknown> {
  const flaws = Object.entries(fields).map(([name, value]) => {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    return [name, rule ? flawOf(rule, value) : "Unknown field."] as const;
  });
  const missing = required.filter((name) => name in rules && !(name in fields));
  const all = [...flaws, ...missing.map((name) => [name, "Missing data for required field."] as const)];
  const wrong = all.filter(([, flaw]) => flaw !== null);
  return Object.fromEntries(wrong.map(([name, flaw]) => [name, typeof flaw === "string" ? [flaw] : flaw]));
}

/** Refuses what the operation does not allow. Parameters and headers that it does not have are ignored. */
export function check(operation: string, place: "query" | "headers", valueOf: (name: string) => string | null | undefined): void {
  const { [place]: rules = {}, required } = SHAPES[operation] ?? {};
  const given = Object.keys(rules).map((name) => [name, valueOf(name) ?? undefined] as const);
  refuse(place, flawsOf(Object.fromEntries(given.filter(([, value]) => value !== undefined)), rules, required));
}

export function checkBody(operation: string, body: unknown): asserts body is Record<string, unknown> {
  if (!isObject(body)) throw invalid("json", { _schema: ["Invalid input type."] });
  const { body: rules, required } = SHAPES[operation] ?? {};
  if (rules) refuse("json", flawsOf(body, rules, required));
}

function refuse(place: string, flaws: Record<string, unknown>): void {
  if (Object.keys(flaws).length > 0) throw invalid(place, flaws);
}

/** The error for these flaws; its message has the first. */
export function invalid(place: string, flaws: Record<string, unknown>, code = "invalid_input"): Refusal {
  const [name = "", flaw] = Object.entries(flaws)[0] ?? [];
  const words = [flaw].flatMap((one) => (isObject(one) ? Object.values(one) : one)).flat();
  return new Refusal(422, code, `${name}: ${words[0]}`, { [place]: flaws });
}

/** Refuses metadata that Parley does not keep. The document has these rules in words only. */
export function checkMetadata(metadata: Record<string, unknown>): void {
  const size = new TextEncoder().encode(JSON.stringify(metadata)).length;
  if (Object.keys(metadata).length > 20 || size > 4096) {
    throw invalid("json", { metadata: ["At most 20 keys and 4,096 bytes are kept."] }, "metadata_too_large");
  }
  for (const [key, value] of Object.entries(metadata)) {
    const flaw = metadataFlaw(key, value);
    if (flaw) throw invalid("json", { metadata: [flaw] });
  }
}

function metadataFlaw(key: string, value: unknown): string | null {
  if (!/^[a-z0-9_]{1,40}$/.test(key)) return `“${key}” is not a key. Use 1 to 40 of the characters a to z, 0 to 9 and _.`;
  if (typeof value !== "string") return `“${key}” must be a string.`;
  if ([...value].length > 500) return `“${key}” has ${[...value].length} characters. The maximum is 500.`;
  if (key !== "external_id" || /^(?=.{1,128}$)[!-~]([ -~]*[!-~])?$/.test(value)) return null;
  return `“${key}” must be 1 to 128 printable ASCII characters, and must not begin or end with a space.`;
}
