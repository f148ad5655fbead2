"""Which secrets sign a webhook now: the present one and, during a rotation, the one before it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.core import encryption
from app.flows.queries import secret_context
from app.webhooks.models import Endpoint

SHORTEST, USUAL, LONGEST = 1, 24, 168
"""Hours for which the old secret also signs."""
MOST_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class Secrets:
    """In plain text: only for signing, and for the person who has just made one. ``old`` is None without a rotation."""

    present: str | None
    old: str | None = None


@dataclass(frozen=True, slots=True)
class Sealed:
    """The encrypted secrets of a flow or an organization's endpoint, with the contexts that they open in."""

    present: str | None
    old: str | None
    old_until: datetime | None
    context: str

    def is_rotating(self, now: datetime) -> bool:
        """Whether the old secret still signs. From ``old_until`` on, it does not."""
        return self.old is not None and self.old_until is not None and now < self.old_until

    def until(self, now: datetime) -> datetime | None:
        """When the rotation that is under way ends; None if there is none."""
        return self.old_until if self.is_rotating(now) else None

    def opened(self, now: datetime) -> Secrets:
        """Those that sign ``now``. Raises SealBroken."""
        present = None if self.present is None else encryption.unseal(self.present, context=self.context)
        if not self.is_rotating(now):
            return Secrets(present)
        return Secrets(present, encryption.unseal(str(self.old), context=old_context(self.context)))


def of_flow(flow: Any) -> Sealed:
    """Of a flow, or of a row with its columns."""
    return Sealed(
        flow.webhook_secret_sealed,
        flow.webhook_old_secret_sealed,
        flow.webhook_old_secret_until,
        secret_context(flow.id),
    )


def of_endpoint(endpoint: Any) -> Sealed:
    """Of an organization's endpoint, or of a row with its columns."""
    return Sealed(
        endpoint.secret_sealed, endpoint.old_secret_sealed, endpoint.old_secret_until, endpoint_context(endpoint.id)
    )


def endpoint_context(endpoint_id: str) -> str:
    return f"{Endpoint.__tablename__}:{endpoint_id}:secret"


def old_context(context: str) -> str:
    """The context of the secret before the one that opens in ``context``."""
    return f"{context}:old"
