"""What ``FakeParley`` checks before it answers: the fields of ``/v1``, as schemas of the OpenAPI document.

A test of the repository compares ``RULES`` with the document, so that the two cannot differ.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from . import _models as m

Schema = dict[str, Any]
Fields = dict[str, Schema]


def _text(longest: int, **more: Any) -> Schema:
    return {"type": "string", "maxLength": longest, **more}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def _needed(schema: Schema) -> Schema:
    return {**schema, "required": True}


def _one_of(words: Any, *more: None) -> Schema:
    return {"enum": [*get_args(get_args(words)[0]), *more]}


def _whole(lowest: int, highest: int) -> Schema:
    return {"type": "integer", "minimum": lowest, "maximum": highest}


_ID = _or_null(_text(100, minLength=1))
_UUID = _or_null(_text(36, pattern="^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"))
_URL = _or_null(_text(2048, format="uri"))
_EMAIL = _or_null(_text(320, format="email"))
_FLAG = _or_null({"type": "boolean"})
_TIME: Schema = {"type": "string", "format": "date-time"}
_LIMIT, _OFFSET = {"limit": _whole(1, 1000)}, {"offset": _whole(0, 1_000_000_000)}
_TRANSCRIPT: Fields = {"transcript": {"enum": ["full", "text", "none"]}}
_REPEATABLE: dict[str, Fields] = {"headers": {"Idempotency-Key": _text(255, minLength=1, pattern="^[!-~]+$")}}
_FLOW: Fields = {
    "org_name": _text(300, minLength=1),
    "title": _text(300, minLength=1),
    "questions": {"type": "array", "maxItems": 20, "items": _text(2000, minLength=1)},
    "voice_id": _one_of(m.VoiceId, None),
    "language": _one_of(m.Language, None),
    "company_logo_url": _URL,
    "additional_info": _or_null(_text(20_000)),
    "additional_instructions": _or_null(_text(20_000)),
    "interview_type": _one_of(m.InterviewType, None),
    "is_video_enabled": _FLAG,
    "is_doc_upload_enabled": _FLAG,
    "redirect_url": _URL,
    "webhook_url": _URL,
    "webhook_secret_key": _or_null(_text(1000)),
    "intro": _or_null(_text(5000)),
    "outro": _or_null(_text(5000)),
    "preamble_video_url": _URL,
}
_NEW_FLOW = {**_FLOW, **{name: _needed(_FLOW[name]) for name in ("org_name", "title", "questions")}, "team_id": _ID}
_NEW_INTERVIEW: Fields = {
    "interview_flow_id": _needed(_text(100)),
    "interviewee_email_address": _EMAIL,
    "interviewee_first_name": _or_null(_text(300)),
    "interviewee_last_name": _or_null(_text(300)),
    "assigned_recruiter_id": _UUID,
}
_MOVE: Fields = {
    "status": _needed(_text(100, minLength=1)),
    "decided_by": _ID,
    "reason_code": _or_null(_text(36, minLength=1)),
    "note": _or_null(_text(10_000)),
    "previous_status": _ID,
}
_INTERVIEWS: Fields = {
    "status": _one_of(m.InterviewStatus, None),
    "mode": _one_of(m.InterviewMode, None),
    "team_id": _ID,
    "interview_flow_id": _ID,
    "created_after": _or_null(_TIME),
    **_TRANSCRIPT,
    **_LIMIT,
    **_OFFSET,
}
_CANDIDATES = {"interview_flow_id": _ID, "team_id": _ID, "status": _ID, "email": _EMAIL}
_METADATA: Fields = {"metadata": _needed({"type": "object", "additionalProperties": {"type": "string"}})}

RULES: dict[str, dict[str, Fields]] = {
    "listTeamMembers": {"query": {"team_id": _ID}},
    "createInterviewFlow": {**_REPEATABLE, "json": _NEW_FLOW},
    "listInterviewFlows": {"query": {"team_id": _ID, **_LIMIT, **_OFFSET}},
    "updateInterviewFlow": {"json": _FLOW},
    "closeInterviewFlow": _REPEATABLE,
    "reopenInterviewFlow": _REPEATABLE,
    "createInterview": {
        "headers": {**_REPEATABLE["headers"], "X-Parley-Scenario": _one_of(m.Scenario)},
        "json": _NEW_INTERVIEW,
    },
    "listInterviews": {"query": _INTERVIEWS},
    "getInterview": {"query": _TRANSCRIPT},
    "cancelInterview": _REPEATABLE,
    "extendInterview": {**_REPEATABLE, "json": {"expires_at": _needed(_TIME)}},
    "setInterviewMetadata": {"json": _METADATA},
    "lookupInterviews": {"query": {"external_id": _needed(_text(128, minLength=1))}},
    "listCandidates": {"query": {**_CANDIDATES, **_LIMIT, "after": _or_null(_text(1000, minLength=1))}},
    "moveCandidate": {**_REPEATABLE, "json": _MOVE},
    "listChanges": {"query": {**_LIMIT, "after": _or_null(_text(200, minLength=1))}},
}
"""By operation and place. What is not here takes nothing. ``required`` is the document's list, at the field."""

_KINDS: dict[str, Any] = {"string": str, "boolean": bool, "array": list, "object": dict, "integer": str}
"""Numbers are in queries only, as text."""
_FORMS = {
    "uri": re.compile(r"https?://[^\s/?#@]+([/?#]\S*)?", re.IGNORECASE),
    "email": re.compile(r"[^\s@]+@[^\s@.]+(\.[^\s@.]+)+"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)", re.ASCII),
}


class Refusal(Exception):
    """An error of ``/v1``."""

    def __init__(self, code: int, error: str, message: str, errors: dict[str, Any] | None = None) -> None:
        """``error`` is the code for programs; ``errors`` are keyed by place and field."""
        super().__init__(message)
        self.code, self.error, self.message, self.errors = code, error, message, errors


def invalid(place: str, name: str, why: Any, *, error: str = "invalid_input") -> Refusal:
    """422 for one field."""
    told = why if isinstance(why, dict) else [why]
    return Refusal(422, error, f"{name}: {why}", {place: {name: told}})


def check(operation: str, given: Mapping[str, Any]) -> None:
    """Refuse what the document does not allow, in headers, query or JSON (``given`` by place)."""
    for place, fields in RULES.get(operation, {}).items():
        told = given[place]
        if not isinstance(told, Mapping):
            raise invalid(place, "_schema", "Invalid input type.")
        if place == "json" and (unknown := sorted(set(told) - set(fields))):
            raise invalid(place, unknown[0], "Unknown field.")
        for name, schema in fields.items():
            if name in told and (flaw := _flaw(schema, told[name])):
                raise invalid(place, name, flaw)
            if name not in told and schema.get("required"):
                raise invalid(place, name, "Missing data for required field.")


def _flaw(schema: Schema, value: Any) -> Any:
    """What is wrong with a value as a sentence, for a list by the number of the item; None if nothing is."""
    if "enum" in schema:
        return None if value in schema["enum"] else f"Must be one of: {', '.join(filter(None, schema['enum']))}."
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if value is None:
        return None if "null" in kinds else "Field may not be null."
    if not isinstance(value, _KINDS[kinds[0]]):
        return f"Not a valid {kinds[0]}."
    if kinds[0] == "array":
        return _flaw_of_items(schema, value)
    if kinds[0] == "integer":
        fits = re.fullmatch("-?[0-9]{1,18}", value) and schema["minimum"] <= int(value) <= schema["maximum"]
        return None if fits else f"Must be a whole number from {schema['minimum']} to {schema['maximum']}."
    return _flaw_of_text(schema, value) if kinds[0] == "string" else None


def _flaw_of_items(schema: Schema, value: list[Any]) -> Any:
    if len(value) > schema["maxItems"]:
        return f"Longer than {schema['maxItems']} items."
    flaws = {str(number): [flaw] for number, one in enumerate(value) if (flaw := _flaw(schema["items"], one))}
    return flaws or None


def _flaw_of_text(schema: Schema, value: str) -> str | None:
    if len(value) > schema.get("maxLength", len(value)):
        return f"Longer than {schema['maxLength']} characters."
    if "minLength" in schema and not value.strip():
        return "Must not be blank."
    form = schema.get("format")
    if (form and not _FORMS[form].fullmatch(value)) or not re.fullmatch(schema.get("pattern", "(?s).*"), value):
        return f"Not a valid {form or 'value'}."
    if form == "date-time":
        try:
            time_in(value)
        except ValueError:
            return "Not a valid date-time."
    return None


def time_in(text: str) -> datetime:
    """The moment that a time of RFC 3339 names."""
    return datetime.fromisoformat(text.upper()).astimezone(UTC)


def check_metadata(values: dict[str, Any]) -> None:
    """Refuse keys and values that Parley does not keep. The document has these rules only as words."""
    size = len(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    if len(values) > 20 or size > 4096:
        raise invalid("json", "metadata", "At most 20 keys and 4,096 bytes as JSON.", error="metadata_too_large")
    for key, value in values.items():
        if not re.fullmatch("[a-z0-9_]{1,40}", key):
            raise invalid("json", "metadata", "Use 1 to 40 of the characters a to z, 0 to 9 and _ for a key.")
        if not isinstance(value, str) or len(value) > 500:
            raise invalid("json", "metadata", f"“{key}” must be a string of at most 500 characters.")
        if key == "external_id" and (value != value.strip() or not re.fullmatch("[ -~]{1,128}", value)):
            raise invalid("json", "metadata", "“external_id” must be 1 to 128 printable ASCII characters.")
