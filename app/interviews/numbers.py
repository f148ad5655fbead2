"""Interviews of a time, found by their numbers.

An organization numbers its interviews without gaps, in the order in which they are created. So a time is found by
halving the numbers, which takes a few small reads and no index of times.
"""

from datetime import datetime, timedelta
from typing import Protocol

import sqlalchemy as sa

from app.accounts.models import Owner
from app.core.db.prepared import Prepared
from app.interviews.models import Interview

SIDE_BY_SIDE = timedelta(minutes=5)
"""Longer than any call that creates an interview: numbers may differ by that much from the order of creation."""
FEW = 1_000
"""An organization with fewer interviews is read as a whole, which is quicker than halving."""

NEAR = 100
"""Interviews more or less that do not matter to a span of days: its days are compared too."""

_I = Interview.__table__.c
_CREATED = Prepared(
    sa.select(_I.created_at)
    .where(_I.organization_id == sa.bindparam("organization"), _I.org_seq >= sa.bindparam("number"))
    .order_by(_I.org_seq)
    .limit(sa.literal_column("1"))
)


class Numbered(Owner, Protocol):
    """An organization or a team, with the last of the numbers by which its interviews are listed."""

    @property
    def interview_seq(self) -> int: ...

    @property
    def interview_test_seq(self) -> int: ...


def number_before(organization: Numbered, moment: datetime) -> int:
    """The highest number up to which no interview was created after ``moment``."""
    return _around(organization, moment, near=0)[0]


def _around(organization: Numbered, moment: datetime, *, near: int) -> tuple[int, int]:
    """Two numbers, at most ``near`` apart, between which that number lies."""
    low, high = 0, organization.interview_seq
    while high - low > near:
        middle = (low + high + 1) // 2
        found = _CREATED.rows(organization=organization.id, number=middle)
        if found and found[0][0] <= moment - SIDE_BY_SIDE:
            low = middle
        else:
            high = middle - 1
    return low, high


def numbers_between(organization: Numbered, start: datetime, end: datetime) -> tuple[int, int] | None:
    """Numbers (above the first, up to the second) with all interviews created from ``start`` until before ``end``.

    None for few interviews.
    """
    if organization.interview_seq < FEW:
        return None
    # Two sides, also where the second is the last number: SQLite prefers an index that a range narrows on both.
    return (
        _around(organization, start, near=NEAR)[0],
        _around(organization, end + 2 * SIDE_BY_SIDE, near=NEAR)[1],
    )
