"""Details of audit log entries in words. Pure."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Protocol

from app.core.db import is_id

LABELS = {
    "wanted": "turned on",
    "through": "through",
    "client": "program name (not verified)",
    "by_link": "by a link",
    "until": "works until",
    "most": "maximum",
    "to": "now",
    "from": "before",
    "rows": "rows",
    "test": "test key",
    "n": "number",
    "own": "custom text",
    "step": "email",
    "stops": "stops at the quota",
    "remind_after": "days until the reminder",
    "notice_before": "days from the expiry notice to expiry",
    "moved": "candidates moved",
    "begun": "retried",
    "ends": "expires",
    "percent": "percent used",
    "answer": "response",
    "asked_by": "requested by",
    "assessments": "ratings",
    "backup_of": "time of the backup",
    "because": "reason",
    "codes": "codes for the candidate's own page",
    "letters": "emails",
    "old_ends": "old key expires",
    "released": "held events released",
    "shares": "share links",
    "visits": "visits through an apply link",
    "wishes": "requests",
}
VALUES = {
    "admin": "Administrator",
    "recruiter": "Recruiter",
    "viewer": "Viewer",
    "/v1": "the API",
    "org_name": "organization name",
    "webhook_url": "webhook URL",
    "webhook_secret_key": "webhook secret",
    "voice_id": "voice",
    "company_logo_url": "logo",
    "preamble_video_url": "intro video",
    "accent": "accent color",
    "redirect_url": "page to open after the interview",
    "is_video_enabled": "video",
    "is_doc_upload_enabled": "documents",
    "deletion": "erasure",
    "review": "human review",
    "withdrawal": "withdrawal of consent",
}
NONE = "none"


class Thing(Protocol):
    """Something with an id."""

    @property
    def name(self) -> str:
        """Its current name."""


def facts(details: Mapping[str, Any], things: Mapping[str, Thing]) -> Iterator[str]:
    """Each detail as ``Label: value``. Ids are shown as names; ids without a name are left out."""
    for key, value in details.items():
        words = _words(value, things)
        if words:
            label = LABELS.get(key, key.replace("_", " "))
            yield f"{label[:1].upper()}{label[1:]}: {words}"


def ids_in(details: Mapping[str, Any]) -> Iterator[str]:
    """Every id that the details name."""
    for value in details.values():
        yield from (one for one in (value if isinstance(value, list) else [value]) if _is_id(one))


def _is_id(value: object) -> bool:
    return isinstance(value, str) and is_id(value)


def _words(value: Any, things: Mapping[str, Thing]) -> str:
    if isinstance(value, Mapping):
        return _change(value, things) if {"from", "to"} <= value.keys() else ", ".join(facts(value, things))
    if isinstance(value, list):
        return ", ".join(filter(None, (_words(one, things) for one in value))) or NONE
    if _is_id(value):
        return things[value].name if value in things else ""
    return _plain(value)


def _change(change: Mapping[str, Any], things: Mapping[str, Thing]) -> str:
    """``from … to …``, followed by the other keys that are true."""
    more = [key.replace("_", " ") for key, value in change.items() if key not in {"from", "to"} and value]
    return ", ".join([f"from {_words(change['from'], things)} to {_words(change['to'], things)}", *more])


def _plain(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    text = str(value)
    return VALUES.get(text) or _moment(text) or text.replace("_", " ")


def _moment(text: str) -> str | None:
    try:
        at = datetime.fromisoformat(text) if "T" in text else None
    except ValueError:
        return None
    return f"{at.day} {at:%b %Y, %H:%M} UTC" if at else None
