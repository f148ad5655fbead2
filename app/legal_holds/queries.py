"""Reads of legal holds: whether something is on hold, and the holds of an organization."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import Organization
from app.core import clock
from app.core.db import db, is_id, unseen
from app.core.db.prepared import Prepared
from app.core.errors import Forbidden, NotFound
from app.legal_holds.models import LegalHold

FOREIGN = "This hold belongs to another organization."


def in_force() -> sa.ColumnElement[bool]:
    """Condition: the hold is neither released nor over."""
    return sa.and_(
        LegalHold.released_at.is_(None), sa.or_(LegalHold.ends_at.is_(None), LegalHold.ends_at > clock.now())
    )


def is_held(*subjects: Any) -> sa.ColumnElement[bool]:
    """Condition: a hold is in force on one of these columns, or on an id from one of these selects."""
    places = [
        LegalHold.subject_id.in_(one) if isinstance(one, sa.Select) else LegalHold.subject_id == one for one in subjects
    ]
    return sa.exists().where(in_force(), sa.or_(*places))


def hold_on(*subject_ids: str | None) -> LegalHold | None:
    """The oldest hold in force on any of these (an interview, and its candidate); None if there is none."""
    query = sa.select(LegalHold).where(LegalHold.subject_id.in_([one for one in subject_ids if one]), in_force())
    return db.session.scalar(query.options(joinedload(LegalHold.by)).order_by(LegalHold.created_at).limit(1))


_T: Any = LegalHold.__table__
_SINCE = Prepared(
    sa.select(_T.c.created_at)
    .where(_T.c.subject_id.in_((sa.bindparam("first"), sa.bindparam("second"))), _T.c.released_at.is_(None))
    .where(sa.or_(_T.c.ends_at.is_(None), _T.c.ends_at > sa.bindparam("now")))
    .order_by(_T.c.created_at)
    .limit(1)
)


def held_since(subject_id: str, other_id: str | None = None) -> datetime | None:
    """When the hold of ``hold_on`` was placed, by one prepared statement: every deletion asks."""
    db.session.flush()
    return next((row[0] for row in _SINCE.rows(first=subject_id, second=other_id, now=clock.now())), None)


def holds_of(organization: Organization, *, limit: int) -> list[LegalHold]:
    """Holds of the organization in force, the newest first."""
    query = sa.select(LegalHold).where(LegalHold.organization_id == organization.id, in_force())
    return list(
        db.session.scalars(query.options(joinedload(LegalHold.by)).order_by(LegalHold.created_at.desc()).limit(limit))
    )


def hold_for(organization: Organization, hold_id: str) -> LegalHold:
    """A hold of this organization. Raises NotFound or Forbidden."""
    hold = db.session.get(LegalHold, hold_id) if is_id(hold_id) else None
    if hold is None:
        raise unseen(LegalHold, hold_id, NotFound("There is no hold with this id."), foreign=FOREIGN)
    if hold.organization_id != organization.id:
        raise Forbidden(FOREIGN)
    return hold
