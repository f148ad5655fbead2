// What can go wrong, as types: no response, a response that cannot be read, or a response that refuses.

/** Base of all errors of this package. */
export class ParleyError extends Error {
  /** The key the POST was sent with: repeat the call with it, and nothing is created twice. */
  idempotencyKey?: string;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No response came. If the request had left, the server may have carried it out. */
export class APIConnectionError extends ParleyError {}

/** The response took longer than `timeout`. */
export class APITimeoutError extends APIConnectionError {}

/** A response that is not Parley's, such as a proxy's page. */
export class UnexpectedResponseError extends ParleyError {}

/** The interview was not completed within the time given to `wait`. */
export class WaitTimeoutError extends ParleyError {}

/** The candidate's link has expired or was closed before the interview was taken, so `wait` ends early. */
export class LinkEndedError extends ParleyError {
  constructor(
    interviewId: string,
    /** `expired` or `closed`. */
    readonly state: "expired" | "closed",
  ) {
    const wayOut = state === "expired" ? "Extend it" : "Create another interview";
    super(`Interview ${interviewId} will not be completed: its link is ${state}. ${wayOut}.`);
  }
}

/**
 * The server refused. `detail` says why and what to do; `error` is the code for programs.
 *
 * `message` is everything a log needs: `422 not_found: No interview has this id. (request 4f2a)`.
 */
export class APIStatusError extends ParleyError {
  /** The status code, such as 422. */
  readonly code: number;
  /** Its name, such as "Unprocessable Entity". */
  readonly status: string;
  /** What the server said. */
  readonly detail: string;
  /** What is wrong with which field. */
  readonly errors: Readonly<Record<string, unknown>>;
  /** The code for programs, such as `not_found`. */
  readonly error: string | null;
  /** What the log of the server calls this request. */
  readonly requestId: string | null;
  /** Seconds after which the server wants to be asked again. */
  readonly retryAfter: number | null;

  constructor(code: number, body: unknown, headers: Headers) {
    const told = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
    const detail = String(told.message || `The server responded with ${code} and no message.`);
    const [error, requestId] = [headers.get("x-parley-error"), headers.get("x-request-id")];
    const name = error ?? String(told.status ?? "");
    super(`${code}${name && " "}${name}: ${detail}${requestId ? ` (request ${requestId})` : ""}`);
    this.code = code;
    this.status = String(told.status ?? "");
    this.detail = detail;
    this.errors = (told.errors as Record<string, unknown> | undefined) ?? {};
    this.error = error;
    this.requestId = requestId;
    this.retryAfter = retryAfter(headers);
  }

  /** Whether no object has the id you gave. The API responds with 422 then, not with 404. */
  get isMissing(): boolean {
    return this.error === "not_found";
  }

  override toString(): string {
    return this.message;
  }
}

/** 400: the request cannot be read. */
export class BadRequestError extends APIStatusError {}
/** 401: the API key is missing, unknown, expired or revoked. */
export class AuthenticationError extends APIStatusError {}
/** 403: the object belongs to another organization, or the key may not do this. */
export class PermissionDeniedError extends APIStatusError {}
/** 404: no such URL. An unknown id is `InvalidInputError` with `isMissing`. */
export class NotFoundError extends APIStatusError {}
/** 409: the state of the object does not allow it. */
export class ConflictError extends APIStatusError {}
/** 410: the cursor of the changes is too old. Start again without one. */
export class GoneError extends APIStatusError {}
/** 413: the body is too large. */
export class BodyTooLargeError extends APIStatusError {}
/** 422: `errors` names the fields, `isMissing` says that there is no such object. */
export class InvalidInputError extends APIStatusError {}
/** 429: too many calls. `retryAfter` is the number of seconds to wait. */
export class RateLimitError extends APIStatusError {}
/** 5xx: the server, or something it needs, failed. */
export class ServerError extends APIStatusError {}

const BY_CODE: Readonly<Record<number, typeof APIStatusError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  413: BodyTooLargeError,
  422: InvalidInputError,
  429: RateLimitError,
};

/** The error of a response, in the type of its status code. */
export function statusError(code: number, body: unknown, headers: Headers): APIStatusError {
  const Kind = code >= 500 ? ServerError : (BY_CODE[code] ?? APIStatusError);
  return new Kind(code, body, headers);
}

/** `Retry-After` in seconds, from a number or a date; null if it is absent or cannot be read. */
export function retryAfter(headers: Headers): number | null {
  const told = headers.get("retry-after")?.trim() ?? "";
  if (/^[0-9]+$/.test(told)) return Number(told.slice(0, 12));
  // Date.parse also reads "-5" and "1.5"; a date of HTTP begins with the name of a day.
  const at = /^[A-Za-z]{3}/.test(told) ? Date.parse(told) : NaN;
  return Number.isNaN(at) ? null : Math.max(0, (at - Date.now()) / 1000);
}
