"""Interviews of a time, found by their numbers.

An organization numbers its interviews without gaps, in the order in which they are created. So a time is found by
halving the numbers, which takes a few small reads and no index of times.
"""

from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.db import db
from app.interviews.models import Interview

SIDE_BY_SIDE = timedelta(minutes=5)
"""Longer than any call that creates an interview: numbers may differ by that much from the order of creation."""
FEW = 1_000
"""An organization with fewer interviews is read as a whole, which is quicker than halving."""

_I = Interview.__table__.c


def number_before(organization_id: str, last: int, moment: datetime) -> int:
    """The highest number up to which no interview was created after ``moment``; ``last`` is the organization's last."""
    at = sa.select(_I.created_at).where(_I.organization_id == organization_id).order_by(_I.org_seq).limit(1)
    low, high = 0, last
    while low < high:
        middle = (low + high + 1) // 2
        created = db.session.scalar(at.where(_I.org_seq >= middle))
        if created is not None and created <= moment - SIDE_BY_SIDE:
            low = middle
        else:
            high = middle - 1
    return low


def numbers_between(organization_id: str, last: int, start: datetime, end: datetime) -> tuple[int, int] | None:
    """Numbers (above the first, up to the second) with all interviews created from ``start`` until before ``end``.

    None for few interviews. ``last`` is the number of the organization's last one.
    """
    if last < FEW:
        return None
    # Two sides, also where the second is the last number: SQLite prefers an index that a range narrows on both.
    return (
        number_before(organization_id, last, start),
        number_before(organization_id, last, end + 2 * SIDE_BY_SIDE),
    )
