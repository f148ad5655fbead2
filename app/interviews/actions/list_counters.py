"""Updates the counters that make deep pages of filtered lists fast, in the transaction of the change."""

import sqlalchemy as sa

from app.core.db import db
from app.interviews.models import Interview, InterviewStatus
from app.interviews.queries import BUCKET

_LIVE = sa.text(
    "INSERT INTO interview_bucket (owner_id, status, bucket, interviews) VALUES (:owner, :status, :bucket, :change) "
    "ON CONFLICT (owner_id, status, bucket) DO UPDATE SET interviews = interview_bucket.interviews + :change"
)
_TEST = sa.text(
    "INSERT INTO interview_test_bucket (owner_id, status, bucket, interviews) "
    "VALUES (:owner, :status, :bucket, :change) ON CONFLICT (owner_id, status, bucket) "
    "DO UPDATE SET interviews = interview_test_bucket.interviews + :change"
)


def count(interview: Interview, changes: dict[InterviewStatus, int]) -> None:
    """Add ``changes`` to the counters of the organization and of the team; tests have additional counters."""
    # Always in this order, so that two transactions cannot deadlock.
    owners = ((interview.organization_id, interview.org_seq), (interview.team_id, interview.team_seq))
    for owner_id, seq in owners:
        for status, change in changes.items():
            values = {"owner": owner_id, "status": status.value, "bucket": seq // BUCKET, "change": change}
            for statement in (_LIVE, _TEST) if interview.is_test else (_LIVE,):
                db.session.execute(statement, values)
