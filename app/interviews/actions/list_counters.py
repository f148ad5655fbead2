"""Updates the counters that make deep pages of filtered lists fast, in the transaction of the change."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import sqlalchemy as sa

from app.core.db.prepared import Prepared
from app.interviews.listings import BUCKET
from app.interviews.models import Interview, InterviewStatus

_LIVE, _TEST = "interview_bucket", "interview_test_bucket"


@cache
def _added(table: str, rows: int) -> Prepared:
    """The statement that adds to this many counters at once, with the values of each by its number."""
    # As text, because SQLAlchemy compiles an INSERT of several rows again whenever it runs.
    places = ", ".join(f"(:owner_{row}, :status_{row}, :bucket_{row}, :change_{row})" for row in range(rows))
    statement = sa.text(
        f"INSERT INTO {table} (owner_id, status, bucket, interviews) VALUES {places} "  # noqa: S608 - as above
        f"ON CONFLICT (owner_id, status, bucket) DO UPDATE SET interviews = {table}.interviews + excluded.interviews"
    )
    return Prepared(statement)


def count(interview: Interview, changes: dict[InterviewStatus, int]) -> None:
    """Add ``changes`` to the counters of the organization and of the team; tests have additional counters."""
    owners = ((interview.organization_id, interview.org_seq), (interview.team_id, interview.team_seq))
    count_for(owners, changes, is_test=interview.is_test)


def count_for(owners: Iterable[tuple[str, int]], changes: dict[InterviewStatus, int], *, is_test: bool) -> None:
    """The same for an interview whose row is not loaded: ids of its ``owners``, each with its number there."""
    # Always in this order, so that two transactions cannot deadlock.
    rows = [(owner_id, status, seq // BUCKET, change) for owner_id, seq in owners for status, change in changes.items()]
    values: dict[str, Any] = {}
    for number, (owner_id, status, bucket, change) in enumerate(rows):
        values |= {f"owner_{number}": owner_id, f"status_{number}": status.value}
        values |= {f"bucket_{number}": bucket, f"change_{number}": change}
    for table in (_LIVE, _TEST) if is_test else (_LIVE,):
        _added(table, len(rows)).changed(values)
