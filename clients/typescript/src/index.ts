// Client of Parley, the voice interviews that you host yourself.
//
//     const client = new Parley();  // reads PARLEY_API_KEY and PARLEY_BASE_URL
//     const made = await client.interviews.create(flowId, { interviewee_email_address: "robin@example.com" });

export * from "./client.js";
export { type CallOptions, type CreateOptions, type Options, type Query, VERSION } from "./core.js";
export {
  APIConnectionError,
  APIStatusError,
  APITimeoutError,
  AuthenticationError,
  BadRequestError,
  BodyTooLargeError,
  ConflictError,
  GoneError,
  InvalidInputError,
  LinkEndedError,
  NotFoundError,
  ParleyError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  UnexpectedResponseError,
  WaitTimeoutError,
} from "./errors.js";
export { Changes, type ChangesOptions, Listing, type ListOptions } from "./lists.js";
export type * from "./models.js";
export * as webhooks from "./webhooks.js";
export { WebhookError } from "./webhooks.js";
