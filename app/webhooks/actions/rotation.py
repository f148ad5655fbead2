"""Replaces a webhook secret while receivers still know the old one.

Until the old one ends, ``webhook-signature`` lists both signatures, and ``x-service-signature`` is the old secret's.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.core import clock, encryption
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.models import InterviewFlow
from app.webhooks import queries, secret_keys
from app.webhooks.actions.audit import note
from app.webhooks.models import Endpoint
from app.webhooks.secret_keys import LONGEST, SHORTEST, USUAL

Holder = InterviewFlow | Endpoint


class Rotated(NamedTuple):
    """The new secret in plain text, and when the old one ends; None if there was no old one."""

    secret: str
    old_until: datetime | None


def new_secret() -> str:
    """A random secret of 43 characters."""
    return secrets.token_urlsafe(32)


def rotate(holder: Holder, *, secret: str | None = None, hours: int = USUAL, by: TeamMember | None) -> Rotated:
    """Replace the secret of a flow or an organization's endpoint by ``secret``, or by a new random one. Audited.

    Raises Rejected for other ``hours`` than 1 to 168 and for the present secret, Conflict while the last rotation runs.
    """
    if not SHORTEST <= hours <= LONGEST:
        raise Rejected(f"Choose {SHORTEST} to {LONGEST} hours.", field="overlap_hours")
    now, sealed = _locked(holder)
    if sealed.is_rotating(now):
        raise Conflict(
            f"The current rotation ends at {clock.rfc3339(sealed.old_until or now)}. Switch to the new secret first."
        )
    new = secret or new_secret()
    old = _readable(sealed, now)
    if new == old:
        raise Rejected("The new secret must differ from the present one.")
    until = now + timedelta(hours=hours) if old is not None else None
    kept = None if old is None else encryption.seal(old, context=secret_keys.old_context(sealed.context))
    _write(holder, secret_sealed=encryption.seal(new, context=sealed.context), old_sealed=kept, old_until=until)
    note(holder.organization_id, "webhook.secret_rotated", holder.id, by=by, until=until and until.isoformat())
    return Rotated(new, until)


def switch(holder: Holder, *, by: TeamMember | None) -> None:
    """End the rotation now: only the new secret signs, and the old one is deleted. Audited. Raises Conflict."""
    now, sealed = _locked(holder)
    if not sealed.is_rotating(now):
        raise Conflict("No rotation is under way: there is only one secret.")
    _write(holder, secret_sealed=sealed.present, old_sealed=None, old_until=None)
    note(holder.organization_id, "webhook.secret_switched", holder.id, by=by)


def forget_old() -> int:
    """Delete secrets whose rotation is over. Returns how many."""
    now, count = queries.present(), 0
    for model, sealed, until in (
        (InterviewFlow, InterviewFlow.webhook_old_secret_sealed, InterviewFlow.webhook_old_secret_until),
        (Endpoint, Endpoint.old_secret_sealed, Endpoint.old_secret_until),
    ):
        over: Any = sa.update(model).where(until <= now)
        count += db.changed(over.values({sealed: None, until: None}))
    db.session.expire_all()
    return count


def sealed_of(holder: Holder) -> secret_keys.Sealed:
    """The encrypted secrets of a flow or an organization's endpoint."""
    return secret_keys.of_flow(holder) if isinstance(holder, InterviewFlow) else secret_keys.of_endpoint(holder)


def _locked(holder: Holder) -> tuple[datetime, secret_keys.Sealed]:
    # One change after the other: of two at once, the second would forget the first one's old secret.
    db.session.refresh(holder, with_for_update=True)
    return queries.present(), sealed_of(holder)


def _readable(sealed: secret_keys.Sealed, now: datetime) -> str | None:
    """The present secret; None if there is none, or if SECRET_KEY has changed and it cannot sign any more."""
    try:
        return sealed.opened(now).present
    except encryption.SealBroken:
        return None


def _write(holder: Holder, *, secret_sealed: str | None, old_sealed: str | None, old_until: datetime | None) -> None:
    if isinstance(holder, InterviewFlow):
        holder.webhook_secret_sealed = secret_sealed
        holder.webhook_old_secret_sealed, holder.webhook_old_secret_until = old_sealed, old_until
        holder.changed_at = clock.now()
    else:
        holder.secret_sealed, holder.old_secret_sealed, holder.old_secret_until = secret_sealed, old_sealed, old_until
    db.session.flush()
