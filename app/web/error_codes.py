"""Every code that ``X-Parley-Error`` can hold under ``/v1``: its status, what it means, and what a program does then.

The OpenAPI document and ``docs/api.md`` list the same. A code never changes its meaning; new ones may be added.
"""

from typing import NamedTuple


class Code(NamedTuple):
    """One code. ``meaning`` and ``remedy`` are sentences for readers of the documentation."""

    status: int
    meaning: str
    remedy: str


REPEAT = "Repeat the request after the seconds in `Retry-After`."

CODES = {
    "bad_request": Code(400, "The request cannot be read.", "Correct the request."),
    "invalid_json": Code(
        400, "The body is not JSON, is nested too deeply, or contains a number that is too long.", "Send valid JSON."
    ),
    "unauthorized": Code(
        401,
        "The API key is missing, malformed, unknown, expired or revoked.",
        "Check the `Authorization` header. If it is right, use another key.",
    ),
    "forbidden": Code(403, "You may not do this.", "Read `message`."),
    "other_organization": Code(
        403,
        "Something named in the request belongs to another organization, or is a team that does not exist.",
        "Check the id, and that the key belongs to the right organization.",
    ),
    "key_read_only": Code(403, "The API key is read only.", "Use a key that may write."),
    "key_scope": Code(
        403,
        "What you asked for is outside the teams or flows of the API key, or the key has no access to secrets.",
        "Use a key that includes it.",
    ),
    "cursor_of_other_organization": Code(
        403, "The cursor comes from another organization.", "Start over, without `after`."
    ),
    "no_such_url": Code(404, "There is nothing at this URL.", "Check the URL. An id in it may be empty."),
    "method_not_allowed": Code(405, "This URL does not support this method.", "Use a method listed in `Allow`."),
    "conflict": Code(
        409, "The object is not in a state that allows this.", "Read the object again, then decide what to do."
    ),
    "idempotency_in_progress": Code(
        409, "The first request with this `Idempotency-Key` is still running.", f"{REPEAT} Keep the key and the body."
    ),
    "legal_hold": Code(
        409,
        "The interview is under a legal hold.",
        "Wait until an administrator releases the legal hold, or until its last day has passed.",
    ),
    "cursor_expired": Code(
        410,
        "The cursor is too old, from before a restore or a failover of the database, or from a key that sees other "
        "things.",
        "Start over: delete your copy and call without `after`.",
    ),
    "body_too_large": Code(413, "The body is too large.", "Send less."),
    "unsupported_media_type": Code(
        415,
        "The content type of the body is not `application/json`, or the body is compressed.",
        "Send uncompressed JSON as `application/json`.",
    ),
    "unknown_host": Code(
        421, "This installation does not serve the host name in the request.", "Use the installation's own URL."
    ),
    "invalid_input": Code(422, "A field or parameter is invalid.", "Correct what `errors` names."),
    "not_found": Code(422, "There is nothing with this id.", "Check the id."),
    "idempotency_key_reused": Code(
        422,
        "This `Idempotency-Key` was used before with another body, or with another id in the URL.",
        "Use a new key for a new request.",
    ),
    "flow_closed": Code(
        422,
        "The flow is closed or archived, so it accepts no new interviews.",
        "Reopen a closed flow, or use another one. An archived flow cannot be reopened.",
    ),
    "quota_used_up": Code(
        422, "The organization has used up its monthly quota.", "Try again next month, or raise the quota."
    ),
    "decision_incomplete": Code(422, "This status needs `decided_by` and `reason_code`.", "Send both fields."),
    "metadata_too_large": Code(
        422, "The metadata has too many keys, or is too long in total.", "Send fewer or shorter values."
    ),
    "cursor_invalid": Code(422, "The cursor cannot be read.", "Send `next` unchanged, or start over without `after`."),
    "rate_limited": Code(429, "Too many requests for this key or IP address.", REPEAT),
    "internal_error": Code(
        500, "An internal error, which was logged.", "Repeat the request. Report it with `X-Request-Id` if it persists."
    ),
    "unavailable": Code(503, "The service, or something that it needs, is not available.", REPEAT),
}

BY_STATUS = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "no_such_url",
    405: "method_not_allowed",
    409: "conflict",
    410: "cursor_expired",
    413: "body_too_large",
    415: "unsupported_media_type",
    421: "unknown_host",
    422: "invalid_input",
    429: "rate_limited",
    500: "internal_error",
    503: "unavailable",
}
"""The code of a failure that names none of its own, by status."""


def table() -> str:
    """All codes as a table in Markdown."""
    rows = [f"| `{name}` | {code.status} | {code.meaning} | {code.remedy} |" for name, code in CODES.items()]
    return "\n".join(["| Code | Status | Meaning | What to do |", "|---|---|---|---|", *rows])


def schema() -> dict[str, object]:
    """The codes as a schema of the OpenAPI document."""
    words = "Code of an error, for programs. New codes can be added: treat one that you do not know by its status."
    return {"type": "string", "enum": list(CODES), "description": f"{words}\n\n{table()}\n"}
