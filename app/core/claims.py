"""Who works on a row: conditional UPDATEs with a lease and a fencing token, alike on SQLite and PostgreSQL.

A claim holds only if exactly one row changed. The token it returns goes along with the outcome: if someone else took
over in the meantime, no row matches and the outcome is dropped. (After M. Kleppmann's description of fencing tokens.)
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Mapped, mapped_column

from app.core import clock
from app.core.db import Moment, db

PARKED_AFTER = 3
"""A row whose work died this often is parked for a person to look at."""
LATER = timedelta(seconds=30)
"""So long a row rests whose work has failed for a reason that may pass."""


class Claimable:
    """The columns a row needs to be claimed; the state column is named by each call."""

    lease_until: Mapped[datetime | None] = mapped_column(Moment(), default=None)
    fence: Mapped[int] = mapped_column(default=0)
    recoveries: Mapped[int] = mapped_column(default=0)


def moment(after: timedelta = timedelta()) -> sa.ColumnElement[Any]:
    """The database's own present (plus ``after``) on PostgreSQL; this host's on SQLite."""
    return sa.literal(clock.now() + after, Moment()) if is_by_host() else sa.func.clock_timestamp() + after


def is_by_host() -> bool:
    """Whether ``moment`` goes by this host's clock."""
    return clock.is_replaced() or db.session.get_bind().dialect.name == "sqlite"


def take(
    column: InstrumentedAttribute[Any], row_id: str, *, expects: Iterable[Any], becomes: Any, lease: timedelta
) -> int | None:
    """Claim the row whose state ``column`` is one of ``expects``, or is ``becomes`` under a lease that has run out.

    Returns the fencing token, or None when the row is not to be had. The caller commits before it starts to work.
    """
    model: Any = column.class_
    abandoned = sa.and_(column == becomes, model.lease_until.is_not(None), model.lease_until < moment())
    free = sa.and_(column.in_(list(expects)), sa.or_(model.lease_until.is_(None), model.lease_until < moment()))
    statement = (
        sa.update(model)
        .where(model.id == row_id, sa.or_(free, abandoned))
        .values(
            {
                column: becomes,
                "lease_until": moment(lease),
                "fence": model.fence + 1,
                "recoveries": model.recoveries + sa.case((abandoned, 1), else_=0),
            }
        )
        .returning(model.fence)
        .execution_options(synchronize_session=False)
    )
    taken = db.session.execute(statement).scalars().all()
    return taken[0] if len(taken) == 1 else None


def take_row(
    column: InstrumentedAttribute[Any], row_id: str, *, expects: Any, becomes: Any, lease: timedelta, parked: Any
) -> tuple[int, Any] | None:
    """As ``take``, for a row of one state: token and row. One whose work died too often is written down as ``parked``.

    ``parked`` is the outcome to ``finish`` with then: columns and values.
    """
    model: Any = column.class_
    token = take(column, row_id, expects=[expects], becomes=becomes, lease=lease)
    row = db.session.get(model, row_id, populate_existing=True)
    if token is None or row is None:
        return None
    if row.recoveries >= PARKED_AFTER:
        finish(model, row_id, token, **parked)
        return None
    return token, row


def renew(model: type[Any], row_id: str, token: int, *, lease: timedelta) -> bool:
    """Hold on for another ``lease``; False when someone else has taken over and the work should stop."""
    return _changed(model, row_id, token=token, values={"lease_until": moment(lease)})


def finish(model: type[Any], row_id: str, token: int, **outcome: Any) -> bool:
    """Write the outcome if the claim still holds, and give the row up. False: drop everything else as well."""
    return _changed(model, row_id, token=token, values={"lease_until": None, **outcome})


def after_failure(
    column: InstrumentedAttribute[Any], recoveries: int, *, retryable: bool, waits: Any, parked: Any
) -> dict[str, Any]:
    """The outcome to ``finish`` with after a failure: the row ``waits`` again, though not before a while, or is
    ``parked`` where trying again makes no sense or did not help. ``recoveries`` is what the claimed row had."""
    failures = recoveries + 1
    if not retryable or failures >= PARKED_AFTER:
        return {column.key: parked, "recoveries": failures}
    return {column.key: waits, "recoveries": failures, "lease_until": moment(LATER)}  # the lease stands for the while


def _changed(model: type[Any], row_id: str, *, token: int, values: dict[str, Any]) -> bool:
    statement = (
        sa.update(model)
        .where(model.id == row_id, model.fence == token)
        .values(values)
        .returning(model.id)
        .execution_options(synchronize_session=False)
    )
    changed = len(db.session.execute(statement).all()) == 1
    db.session.expire_all()
    return changed
