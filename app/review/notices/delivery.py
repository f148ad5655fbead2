"""A notice as Slack and Teams take it, and one attempt to send it. No database, no retries.

Values can come from anyone: a candidate types a name, an API a flow's title. So they are only put where the service
shows text as it is: in text elements of Slack's ``rich_text`` and in ``TextRun`` of an Adaptive Card, which know no
formatting, no links and no mentions.
"""

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.gateways.outbound import Unreachable
from app.review.notices.words import Said

if TYPE_CHECKING:
    from app.gateways.outbound import Outbound

HEADERS = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "Parley/1.0"}
GONE = frozenset({404, 410})
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_LOOKALIKES = str.maketrans({"*": "∗", "_": "＿", "~": "∼", "`": "ˋ", "@": "＠"})
"""Slack has no way to escape these. They are only in the line that phones show as a notification."""
_REASON = re.compile(r"[a-z_]{1,40}")
"""Slack answers with a word such as ``no_service``. Everything else could quote what was sent."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of an attempt: ``failure`` is a sentence, empty if the service accepted the notice."""

    failure: str = ""
    is_gone: bool = False
    retry_after: str | None = None


def slack(message: Said) -> bytes:
    """The body for an incoming webhook of Slack."""
    lines = [_element(f"{message.text}\n")] if message.text else []
    for label, value in message.lines:
        lines += [_element(f"{label}: ", is_bold=True), _element(f"{value}\n")]
    link = {"type": "link", "url": message.link, "text": message.button}
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": message.title, "emoji": False}},
        {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [*lines, link]}]},
    ]
    summary = ": ".join([message.title, *(value for _label, value in message.lines[:1])])
    return _json({"text": summary.translate(_ESCAPED).translate(_LOOKALIKES), "blocks": blocks})


def _element(text: str, *, is_bold: bool = False) -> dict[str, Any]:
    return {"type": "text", "text": text, **({"style": {"bold": True}} if is_bold else {})}


def teams(message: Said) -> bytes:
    """The body for a Workflows webhook of Microsoft Teams: a message with one Adaptive Card."""
    body: list[dict[str, Any]] = [
        {"type": "TextBlock", "text": message.title, "size": "Medium", "weight": "Bolder", "wrap": True}
    ]
    if message.text:
        body.append({"type": "TextBlock", "text": message.text, "wrap": True})
    body += [
        {"type": "RichTextBlock", "inlines": [_run(f"{label}: ", is_bold=True), _run(value)]}
        for label, value in message.lines
    ]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
        "actions": [{"type": "Action.OpenUrl", "title": message.button, "url": message.link}],
    }
    content = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return _json({"type": "message", "attachments": [content]})


def _run(text: str, *, is_bold: bool = False) -> dict[str, Any]:
    return {"type": "TextRun", "text": text, **({"weight": "Bolder"} if is_bold else {})}


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


BODIES = {"slack": slack, "teams": teams}
NAMES = {"slack": "Slack", "teams": "Microsoft Teams"}


async def attempt(service: str, address: str, body: bytes, *, http: "Outbound") -> Outcome:
    """Send ``body`` once. Failures of the service or the network become an ``Outcome``, never an exception."""
    name = NAMES[service]
    try:
        answer = await http.post(address, body=body, headers=HEADERS)
    except Unreachable as error:
        return Outcome(f"{name} could not be reached: {error.message}.")
    if 200 <= answer.status <= 299:
        return Outcome()
    text = answer.body.decode("ascii", errors="replace").strip()
    reason = f" ({text})" if _REASON.fullmatch(text) else ""
    if 300 <= answer.status <= 399:
        reason = ", a redirect, which Parley does not follow"
    failure = f"{name} responded with {answer.status}{reason}."
    return Outcome(failure, is_gone=answer.status in GONE, retry_after=answer.retry_after)
