"""Records the outcomes of attempts: log, next due time, health of the endpoint, and release of waiting events."""

import random
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from app.accounts import actions as accounts
from app.accounts.models import Organization
from app.core.db import db, new_id
from app.webhooks import queries, schedule
from app.webhooks.actions.endpoints import disable
from app.webhooks.actions.telling import tell
from app.webhooks.actions.turns import Turn
from app.webhooks.delivery import Outcome
from app.webhooks.models import (
    Attempt,
    Delivery,
    DeliveryState,
    DisabledBy,
    Ending,
    Endpoint,
    ErrorClass,
    Hold,
    Trouble,
)

Result = tuple[Turn, Outcome]

_random = random.SystemRandom()


def record(results: Sequence[Result]) -> None:
    """Write the outcomes of ``results`` in one transaction, each only if its claim still holds.

    A 2xx releases the event that waited for it. If a lease was lost nothing is written: the worker that took over
    decides.
    """
    now = queries.present()
    delivered = [result for result in results if result[1].delivered]
    failed = [result for result in results if not result[1].delivered]
    held_claims = _delivered(delivered, now)
    logged = [result for result in delivered if result[0].delivery_id in held_claims]
    logged += [result for result in failed if _failed(result, now)]
    _log(logged)
    _well([turn for turn, _outcome in delivered], now)
    release({turn.subject for turn, outcome in logged if outcome.delivered}, now)
    db.session.expire_all()
    for turn, outcome in failed:
        _ill(turn, outcome, now=now)


def release(subjects: Collection[str], now: datetime) -> None:
    """Release events of these subjects that no longer wait for an earlier one. They are due at once."""
    if not subjects:
        return
    for delivery_id, disabled_at in db.session.execute(queries.released(subjects)).all():
        state, hold = (DeliveryState.HELD, Hold.DISABLED) if disabled_at else (DeliveryState.PENDING, None)
        db.session.execute(
            sa.update(Delivery)
            .where(Delivery.id == delivery_id, Delivery.state == DeliveryState.HELD)
            .values(state=state, hold=hold, due_at=now, changed_at=now)
        )


def _delivered(results: list[Result], now: datetime) -> set[str]:
    if not results:
        return set()
    claims = [(turn.delivery_id, turn.fence) for turn, _outcome in results]
    statement = (
        sa.update(Delivery)
        .where(sa.tuple_(Delivery.id, Delivery.fence).in_(claims), Delivery.state == DeliveryState.SENDING)
        .values(
            state=DeliveryState.DELIVERED,
            ending=None,
            lease_until=None,
            attempts=Delivery.attempts + 1,
            delivered_at=sa.func.coalesce(Delivery.delivered_at, now),
            finished_at=now,
            changed_at=now,
        )
        .returning(Delivery.id)
    )
    return {row.id for row in db.changed_rows(statement)}


def _failed(result: Result, now: datetime) -> bool:
    turn, outcome = result
    wanted = schedule.wanted_delay(outcome.retry_after, now=now)
    delay = schedule.next_delay(turn.attempts + 1, throttled=outcome.throttled, wanted=wanted, chance=_random.random)
    values: dict[str, Any] = {"attempts": Delivery.attempts + 1, "lease_until": None, "changed_at": now}
    if delay is None:
        values |= {"state": DeliveryState.EXHAUSTED, "ending": Ending.ATTEMPTS_USED, "finished_at": now}
    else:
        # The flow's address may have changed while this attempt was under way.
        values |= {
            "state": DeliveryState.PENDING,
            "due_at": now + delay,
            "endpoint_id": queries.present_endpoint(),
        }
    statement = (
        sa.update(Delivery)
        .where(Delivery.id == turn.delivery_id, Delivery.fence == turn.fence, Delivery.state == DeliveryState.SENDING)
        .values(values)
    )
    return db.changed(statement) == 1


def _log(results: list[Result]) -> None:
    rows = [
        {
            "id": new_id(),
            "delivery_id": turn.delivery_id,
            "endpoint_id": turn.endpoint_id,
            "number": turn.attempts + 1,
            "at": outcome.at,
            "seconds": outcome.seconds,
            "url": outcome.url,
            "address": outcome.address,
            "status": outcome.status,
            "error": ErrorClass(outcome.error) if outcome.error else None,
            "note": outcome.note,
            "answer": outcome.answer,
        }
        for turn, outcome in results
    ]
    if rows:
        db.session.execute(sa.insert(Attempt), rows)


def _well(turns: list[Turn], now: datetime) -> None:
    """Free the endpoints that answered 2xx and reset their failures."""
    if not turns:
        return
    claims = [(turn.endpoint_id, turn.endpoint_fence) for turn in turns]
    db.changed(
        sa.update(Endpoint)
        .where(sa.tuple_(Endpoint.id, Endpoint.fence).in_(claims))
        .values(
            lease_until=None,
            timeouts=0,
            failing_since=None,
            exhausted_at=None,
            noticed_at=None,
            warned_at=None,
            told=None,
            last_success_at=now,
            not_before=sa.case((Endpoint.paced_until > now, now + schedule.PACE), else_=None),
        )
    )


def _ill(turn: Turn, outcome: Outcome, *, now: datetime) -> None:
    """Free an endpoint that failed, record the failure, and disable the endpoint if it is gone or given up."""
    endpoint = db.session.get_one(Endpoint, turn.endpoint_id)
    if endpoint.fence != turn.endpoint_fence or endpoint.removed_at is not None:
        return
    endpoint.lease_until = None
    endpoint.timeouts = endpoint.timeouts + 1 if outcome.error == "timeout" else 0
    endpoint.not_before = schedule.not_before(endpoint.timeouts, now=now, paced_until=endpoint.paced_until)
    endpoint.failing_since = endpoint.failing_since or now
    if turn.attempts + 1 >= len(schedule.DELAYS):
        endpoint.exhausted_at = now
    if turn.attempts + 1 == schedule.NOTICED_AT and endpoint.noticed_at is None:
        endpoint.noticed_at = now
        notice(endpoint, "webhook.failing", attempts=turn.attempts + 1)
        tell(endpoint, Trouble.FAILING)
    db.session.flush()
    if endpoint.disabled_at is None and outcome.gone:
        disable(endpoint, because=DisabledBy.GONE)
    elif endpoint.disabled_at is None and schedule.is_given_up(endpoint, now=now):
        disable(endpoint, because=DisabledBy.FAILING)


def notice(endpoint: Endpoint, action: str, **details: Any) -> None:
    """Audit the incident. ``telling`` announces it to members."""
    organization = db.session.get_one(Organization, endpoint.organization_id)
    accounts.write_audit(organization, action=action, subject=endpoint.id, by=None, details=details)
