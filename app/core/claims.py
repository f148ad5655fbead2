"""Who works on a row: conditional UPDATEs with a lease and a fencing token, the same on SQLite and PostgreSQL.

A claim holds only if exactly one row changed. The outcome is written with the token that the claim returned: if
another worker took over in the meantime, no row matches and the outcome is dropped. (After M. Kleppmann's fencing
tokens.)
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Mapped, mapped_column

from app.core import clock
from app.core.db import Moment, db
from app.core.errors import GatewayError

log = logging.getLogger(__name__)

Source = TypeVar("Source")

PARKED_AFTER = 3
"""After this many failed attempts a row is given up until a person looks at it."""
LATER = timedelta(seconds=30)
"""How long a row waits after a failure that may be temporary."""


class Claimable:
    """The columns a row needs to be claimed. Each call names the state column."""

    lease_until: Mapped[datetime | None] = mapped_column(Moment(), default=None)
    fence: Mapped[int] = mapped_column(default=0)
    recoveries: Mapped[int] = mapped_column(default=0)


def moment(after: timedelta = timedelta()) -> sa.ColumnElement[Any]:
    """The present (plus ``after``) by the database's clock on PostgreSQL, by this host's on SQLite."""
    return sa.literal(clock.now() + after, Moment()) if is_by_host() else sa.func.clock_timestamp() + after


def is_by_host() -> bool:
    """Whether ``moment`` goes by this host's clock."""
    return clock.is_replaced() or db.engine.dialect.name == "sqlite"


def take(
    column: InstrumentedAttribute[Any], row_id: str, *, expects: Iterable[Any], becomes: Any, lease: timedelta
) -> int | None:
    """Claim the row whose state ``column`` is one of ``expects``, or is ``becomes`` under a lease that has run out.

    Returns the fencing token, or None if the row cannot be claimed. The caller commits before it starts to work.
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
    )
    rows = db.changed_rows(statement)
    return rows[0].fence if len(rows) == 1 else None


def renew(model: type[Any], row_id: str, token: int, *, lease: timedelta) -> bool:
    """Extend the claim by another ``lease``. False if another worker has taken over, so the work should stop."""
    return _changed(model, row_id, token=token, values={"lease_until": moment(lease)})


def finish(model: type[Any], row_id: str, token: int, **outcome: Any) -> bool:
    """Write the outcome if the claim still holds, and release the row. If False, drop everything else as well."""
    return _changed(model, row_id, token=token, values={"lease_until": None, **outcome})


@dataclass(frozen=True, slots=True)
class Work:
    """How the rows of a table are worked on: their state column, its values, and how long a claim lasts.

    ``reason`` is the column that says why a row was given up; ``broken_off`` is its text for work that died.
    """

    column: Any
    waits: Any
    works: Any
    failed: Any
    lease: timedelta
    reason: Any = None
    broken_off: str = ""

    def given_up(self, reason: str) -> dict[str, Any]:
        """The outcome of a row that is given up."""
        return {self.column.key: self.failed, **({self.reason.key: reason[:300]} if self.reason is not None else {})}


def run(
    work: Work, row_id: str, *, read: Callable[[Any, int], Source], do: Callable[[Source], dict[str, Any] | None]
) -> None:
    """Claim the row, commit, ``do`` the slow work, write its outcome. May run twice; a missing row is no error.

    ``read`` turns the row and the token into plain values inside the transaction. ``do`` returns columns and values, or
    None if there is nothing to write. After a GatewayError the row waits or is given up.
    """
    model: Any = work.column.class_
    token = take(work.column, row_id, expects=[work.waits], becomes=work.works, lease=work.lease)
    row = db.session.get(model, row_id, populate_existing=True)
    if token is None or row is None or row.recoveries >= PARKED_AFTER:
        if token is not None:
            finish(model, row_id, token, **work.given_up(work.broken_off))
        db.session.commit()
        return
    source, recoveries = read(row, token), row.recoveries
    db.session.commit()
    try:
        outcome = do(source)
    except GatewayError as error:
        log.warning("%s %s failed: %s", model.__tablename__, row_id, error.message)
        outcome = _after(error, work, failures=recoveries + 1)
    if outcome is not None:
        finish(model, row_id, token, **outcome)
        db.session.commit()


def _after(error: GatewayError, work: Work, *, failures: int) -> dict[str, Any]:
    outcome = {**work.given_up(error.message), "recoveries": failures}
    if error.retryable and failures < PARKED_AFTER:
        outcome |= {work.column.key: work.waits, "lease_until": moment(LATER)}  # the lease keeps the row back
    return outcome


def _changed(model: type[Any], row_id: str, *, token: int, values: dict[str, Any]) -> bool:
    statement = sa.update(model).where(model.id == row_id, model.fence == token).values(values)
    changed = db.changed(statement) == 1
    db.session.expire_all()
    return changed
