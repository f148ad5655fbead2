"""Keeps what customers' programs say about an interview."""

from collections.abc import Mapping
from typing import Any

from app.accounts.actions import write_audit
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict
from app.interviews.metadata import EXTERNAL_ID, checked
from app.interviews.models import Interview, InterviewMetadata


def set_metadata(interview: Interview, values: Mapping[str, Any]) -> dict[str, str]:
    """Keep ``values`` in place of the earlier ones. Audited by the names of the keys, without values.

    The caller has locked the interview, so that of two changes at once the second replaces the first, and an erasure
    waits or has come before. Raises Rejected, and Conflict for an erased interview.
    """
    kept = checked(values)
    if interview.erased_at is not None:
        raise Conflict("This interview was erased. Nothing can be kept about it any more.")
    row = db.session.get(InterviewMetadata, interview.id, populate_existing=True)
    if (dict(row.values) if row else {}) == kept:
        return kept
    if row is None:
        row = InterviewMetadata(interview_id=interview.id, organization_id=interview.organization_id)
        db.session.add(row)
    if kept:
        row.values, row.external_id, row.changed_at = kept, kept.get(EXTERNAL_ID), clock.now()
    else:
        db.session.delete(row)
    db.session.flush()
    details: dict[str, object] = {"through": "/v1", "fields": sorted(kept)}
    write_audit(
        interview.flow.organization, action="interview.metadata", subject=interview.id, by=None, details=details
    )
    return kept
