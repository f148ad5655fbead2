"""One attempt: sign, send once, and say what came of it in plain values. No database, no retries."""

import time
from dataclasses import dataclass
from datetime import datetime

from app.gateways.outbound import Outbound, Unreachable
from app.webhooks import TEST_EVENT, signature
from app.webhooks.schedule import THROTTLED

USER_AGENT = "Service-API-Webhook/1.0"


@dataclass(frozen=True, slots=True)
class Letter:
    """What is to be sent: the stored bytes, address and secret as the flow has them now, or why it cannot go."""

    url: str
    secret: str | None
    event_id: str
    body: bytes
    at: datetime
    """When it was taken up, by the clock that counts: it goes at once."""
    obstacle: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attempt. ``error`` is one of the log's classes; on a success it can only be ``too_large``."""

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
        """A status from 200 to 299, whatever the body."""
        return self.status is not None and 200 <= self.status <= 299

    @property
    def throttled(self) -> bool:
        """Whether the receiver is short of breath rather than wrong."""
        return self.error == "timeout" or self.status in THROTTLED

    @property
    def gone(self) -> bool:
        """The receiver says that the address is gone for good."""
        return self.status == 410


async def attempt(letter: Letter, *, http: Outbound) -> Outcome:
    """Send ``letter`` once; never raises for what a receiver or the network does."""
    began, at = time.monotonic(), letter.at
    if letter.obstacle is not None:
        return Outcome(at, 0.0, letter.url, note=letter.obstacle)
    try:
        answer = await http.post(letter.url, body=letter.body, headers=headers(letter, timestamp=int(at.timestamp())))
    except Unreachable as error:
        spent = time.monotonic() - began
        return Outcome(at, spent, letter.url, address=error.address, error=error.kind, note=error.message[:300])
    spent = time.monotonic() - began
    error_class = "too_large" if answer.too_large else None
    note = None
    if not 200 <= answer.status <= 299:
        error_class, note = "http", f"the receiver answered {answer.status}"
    return Outcome(
        at,
        spent,
        letter.url,
        address=answer.address,
        status=answer.status,
        error=error_class,
        note=note,
        answer=answer.body,
        retry_after=answer.retry_after,
    )


def headers(letter: Letter, *, timestamp: int) -> dict[str, str]:
    """The public interface's headers, and those of Standard Webhooks; signatures only with a secret."""
    given = {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "webhook-id": letter.event_id,
        "webhook-timestamp": str(timestamp),
    }
    if letter.event_id.startswith(TEST_EVENT):
        given["X-Parley-Test"] = "1"
    if letter.secret:
        given["x-service-signature"] = signature.sign(letter.secret, letter.body)
        given["webhook-signature"] = signature.standard(
            letter.secret, letter.body, event_id=letter.event_id, timestamp=timestamp
        )
    return given
