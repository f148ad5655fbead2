"""One attempt: sign, send once, return the outcome as plain values. No database, no retries."""

import re
import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from app.gateways.outbound import Unreachable
from app.webhooks import TEST_EVENT, signature
from app.webhooks.schedule import THROTTLED
from app.webhooks.secret_keys import Secrets

if TYPE_CHECKING:
    from app.gateways.outbound import Outbound

USER_AGENT = "Service-API-Webhook/1.0"
_ONE_LINE = re.compile(r"[\x20-\x7e]+\Z", re.ASCII)
"""Checked when it was kept, and once more here: nothing from outside may begin another header."""


@dataclass(frozen=True, slots=True)
class Message:
    """What to send: the stored bytes with the present address and secrets, or the obstacle to sending."""

    url: str
    secrets: Secrets
    event_id: str
    body: bytes
    at: datetime
    """Time of the claim, or of the click on a test event. The message is sent immediately after."""
    obstacle: str | None = None
    external_id: str | None = None
    """What the customer's system calls the interview. Not signed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of an attempt. ``error`` is an ``ErrorClass``; on a success it can only be ``too_large``."""

    at: datetime
    seconds: float
    url: str
    address: str | None = None
    status: int | None = None
    error: str | None = None
    note: str | None = None
    answer: bytes | None = None
    retry_after: str | None = None

    @property
    def delivered(self) -> bool:
        """Whether the status is 200 to 299, whatever the body."""
        return self.status is not None and 200 <= self.status <= 299

    @property
    def throttled(self) -> bool:
        """Whether the receiver is overloaded rather than failing."""
        return self.error == "timeout" or self.status in THROTTLED

    @property
    def gone(self) -> bool:
        """Whether the receiver answered 410."""
        return self.status == 410


async def attempt(message: Message, *, http: "Outbound") -> Outcome:
    """Send ``message`` once. Failures of the receiver or the network become an ``Outcome``, never an exception."""
    began, at = time.monotonic(), message.at
    if message.obstacle is not None:
        return Outcome(at, 0.0, message.url, note=message.obstacle)
    try:
        answer = await http.post(
            message.url, body=message.body, headers=headers(message, timestamp=int(at.timestamp()))
        )
    except Unreachable as error:
        spent = time.monotonic() - began
        return Outcome(at, spent, message.url, address=error.address, error=error.kind, note=error.message[:300])
    spent = time.monotonic() - began
    error_class = "too_large" if answer.too_large else None
    note = None
    if not 200 <= answer.status <= 299:
        error_class, note = "http", f"the receiver responded with {answer.status}"
    return Outcome(
        at,
        spent,
        message.url,
        address=answer.address,
        status=answer.status,
        error=error_class,
        note=note,
        answer=answer.body,
        retry_after=answer.retry_after,
    )


def headers(message: Message, *, timestamp: int) -> dict[str, str]:
    """The contract's headers and those of Standard Webhooks. Signatures only if there is a secret."""
    values = {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "webhook-id": message.event_id,
        "webhook-timestamp": str(timestamp),
    }
    if message.event_id.startswith(TEST_EVENT):
        values["X-Parley-Test"] = "1"
    if message.external_id is not None and _ONE_LINE.match(message.external_id):
        values["X-Parley-External-Id"] = message.external_id
    return values | _signatures(message, timestamp=timestamp)


def _signatures(message: Message, *, timestamp: int) -> dict[str, str]:
    """During a rotation the contract's one signature is the old secret's, and the list has the new one's first."""
    present, old = message.secrets.present, message.secrets.old
    listed = [
        signature.standard(secret, message.body, event_id=message.event_id, timestamp=timestamp)
        for secret in (present, old)
        if secret
    ]
    one = old or present
    if not one:
        return {}
    return {"x-service-signature": signature.sign(one, message.body), "webhook-signature": " ".join(listed)}
