"""Verify that an event is from Parley, and read it.

    event = parley.webhooks.verify(body, headers, secret)

Then ignore a ``webhook_id`` that you have stored before, store it, queue the work, and respond with 2xx.
"""

import base64
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from ._errors import ParleyError
from ._models import Model

TOLERANCE = 300
SignatureHeader: TypeAlias = Literal["webhook-signature", "x-service-signature"]
Reason: TypeAlias = Literal["missing", "malformed", "too_old", "too_new", "mismatch", "not_an_event"]
_WORDS: dict[Reason, str] = {
    "missing": "A header that is needed is absent. Events of a flow without a webhook_secret_key have no signatures.",
    "malformed": "The header webhook-timestamp is not a number of seconds.",
    "too_old": "The event was sent too long ago: it may be a replay, or a clock is wrong.",
    "too_new": "The event was sent in the future: a clock is wrong.",
    "mismatch": "No signature fits. The secret is another one, or the body is not the one that was received.",
    "not_an_event": "The signature fits, but the body is not a JSON object with an event_type.",
}


class WebhookError(ParleyError):
    """Not an event from Parley, or not one of now: respond with 401. ``reason`` says why, in one word."""

    def __init__(self, reason: Reason) -> None:
        """Explain ``reason``."""
        super().__init__(_WORDS[reason])
        self.reason: Reason = reason


class Headers(Protocol):
    """The headers of any framework: Flask, Django, Starlette, FastAPI, aiohttp, or a dict."""

    def items(self) -> Any:
        """Pairs of name and value."""


@dataclass(frozen=True, kw_only=True)
class Event(Model):
    """What all events have. ``webhook_id`` is the same at each attempt, and None if you verify the body alone."""

    event_type: str
    webhook_id: str | None = None
    external_id: str | None = None
    """The one of the interview's metadata. No signature covers it: look the interview up before you rely on it."""

    @property
    def is_test(self) -> bool:
        """Whether this is a test event, or one about a test interview."""
        return (self.webhook_id or "").startswith("evt_test_")


@dataclass(frozen=True, kw_only=True)
class _OfInterview(Event):
    interview_flow_id: str
    interview_id: str
    interview_link: str
    interview_flow_name: str
    interviewee_email_address: str | None = None
    interviewee_first_name: str | None = None
    interviewee_last_name: str | None = None
    status: str


@dataclass(frozen=True, kw_only=True)
class InterviewProcessed(_OfInterview):
    """An interview has been processed: read its result."""

    event_type: Literal["interview_processed"] = "interview_processed"


@dataclass(frozen=True, kw_only=True)
class VideoProcessed(_OfInterview):
    """The video of an interview is ready."""

    event_type: Literal["video_processed"] = "video_processed"


@dataclass(frozen=True, kw_only=True)
class CandidateStatusUpdated(Event):
    """A candidate's status has changed. The address is called ``interviewee_email`` here, not ``…_address``."""

    event_type: Literal["candidate_status_updated"] = "candidate_status_updated"
    interview_flow_id: str
    interview_flow_name: str
    interviewee_email: str
    previous_status: str
    new_status: str


@dataclass(frozen=True, kw_only=True)
class UnknownEvent(Event):
    """An event that this version does not know, or one without the fields it knows: everything is in ``extra``."""


AnyEvent: TypeAlias = InterviewProcessed | VideoProcessed | CandidateStatusUpdated | UnknownEvent
_KINDS: dict[str, type[InterviewProcessed | VideoProcessed | CandidateStatusUpdated]] = {
    "interview_processed": InterviewProcessed,
    "video_processed": VideoProcessed,
    "candidate_status_updated": CandidateStatusUpdated,
}


def verify(
    body: bytes | bytearray | memoryview,
    headers: Headers,
    secret: str | Sequence[str],
    *,
    tolerance: int = TOLERANCE,
    signature: SignatureHeader = "webhook-signature",
    now: float | None = None,
) -> AnyEvent:
    """Return the event, or raise ``WebhookError``.

    ``body`` is what was received, as bytes and before any JSON parser. While you rotate the secret, give both.
    ``webhook-signature`` covers the event's id, its time and the body. ``x-service-signature`` covers the body alone,
    so that anyone who has seen an event can send it again: choose it only for a receiver that already relies on it.
    """
    if not isinstance(body, bytes | bytearray | memoryview):
        raise TypeError(
            "Give the body as the bytes that were received (Flask: request.get_data(), Django: request.body, "
            "FastAPI: await request.body()). Text, or JSON that was serialized again, has other bytes."
        )
    raw, secrets = bytes(body), _secrets(secret)
    sent = {str(name).lower(): str(value) for name, value in headers.items()}
    if signature == "x-service-signature":
        expected = [hmac.digest(one, raw, "sha256").hex().encode() for one in secrets]
        given = [_bytes(_needed(sent, signature))]
    else:
        signed = _signed(sent, raw, tolerance, time.time() if now is None else now)
        expected = [b"v1," + base64.b64encode(hmac.digest(one, signed, "sha256")) for one in secrets]
        given = _bytes(sent[signature]).split()
    if not any([hmac.compare_digest(ours, theirs) for ours in expected for theirs in given]):  # noqa: C419 - compares all
        raise WebhookError("mismatch")
    webhook_id = sent.get("webhook-id") if signature == "webhook-signature" else None
    return _event(raw, {"webhook_id": webhook_id, "external_id": sent.get("x-parley-external-id")})


def _secrets(secret: str | Sequence[str]) -> list[bytes]:
    given = [secret] if isinstance(secret, str) else list(secret)
    if not given or not all(isinstance(one, str) and one for one in given):
        raise ValueError("Give the webhook_secret_key of the flow. With an empty secret, everyone could sign.")
    return [one.encode() for one in given]


def _needed(sent: Mapping[str, str], name: str) -> str:
    if name not in sent:
        raise WebhookError("missing")
    return sent[name]


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogateescape")


def _signed(sent: Mapping[str, str], raw: bytes, tolerance: int, now: float) -> bytes:
    """What ``webhook-signature`` covers, if its time is now."""
    _needed(sent, "webhook-signature")
    event_id, told = _needed(sent, "webhook-id"), _needed(sent, "webhook-timestamp")
    if not re.fullmatch(r"[0-9]{1,12}", told):
        raise WebhookError("malformed")
    if now - int(told) > tolerance:
        raise WebhookError("too_old")
    if int(told) - now > tolerance:
        raise WebhookError("too_new")
    return _bytes(f"{event_id}.{told}.") + raw


def _event(raw: bytes, known: dict[str, str | None]) -> AnyEvent:
    try:
        told = json.loads(raw)
    except (ValueError, RecursionError):
        raise WebhookError("not_an_event") from None
    if not isinstance(told, dict) or not isinstance(told.get("event_type"), str):
        raise WebhookError("not_an_event")
    fields = {name: value for name, value in told.items() if name not in known}
    kind = _KINDS.get(fields["event_type"])
    try:
        return UnknownEvent.of({**fields, **known}) if kind is None else kind.of({**fields, **known})
    except ParleyError:
        return UnknownEvent.of({**fields, **known})
