"""Reads of erasures."""

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.candidate_requests.models import CandidateRequest, RequestKind
from app.core import claims
from app.core.db import db
from app.core.erasure_journal import ERASED, REVOKED, WITHDRAWN, Kept
from app.interviews.models import Interview
from app.interviews.recordings.models import Revocation
from app.privacy.models import Erasure

SETTLES_AFTER = timedelta(hours=3)
"""Longer than any job that might still write files of an erased interview."""


def erasure_of(interview_id: str) -> Erasure | None:
    """The interview's erasure, finished or not; None if it was not erased."""
    return db.session.get(Erasure, interview_id)


def acts(*, since: datetime | None = None) -> list[Kept]:
    """Acts of erasure, revocation and withdrawal, all or those ``since`` a time: for the journal that restores read."""
    requests = sa.select(CandidateRequest.interview_id).where(CandidateRequest.kind == RequestKind.WITHDRAWAL)
    withdrawn = sa.select(Interview.id, Interview.withdrawn_at).where(Interview.withdrawn_at.is_not(None))
    wanted: dict[str, sa.Select[str, Any]] = {
        ERASED: sa.select(Erasure.interview_id, Erasure.erased_at),
        REVOKED: sa.select(Revocation.interview_id, Revocation.revoked_at),
        WITHDRAWN: withdrawn,
    }
    if since is not None:
        wanted[ERASED] = wanted[ERASED].where(Erasure.erased_at >= since)
        wanted[REVOKED] = wanted[REVOKED].where(Revocation.revoked_at >= since)
        # A withdrawal adds a request in the same commit, and there are far fewer requests than interviews to read.
        wanted[WITHDRAWN] = withdrawn.where(Interview.id.in_(requests.where(CandidateRequest.created_at >= since)))
    return [Kept(what, *row) for what, statement in wanted.items() for row in db.session.execute(statement)]


def unfinished(limit: int = 20) -> list[str]:
    """Interviews whose files are still to be deleted, or due for the second check."""
    again = sa.and_(Erasure.settled_at.is_(None), Erasure.gone_at < claims.moment(-SETTLES_AFTER))
    due = sa.select(Erasure.interview_id).where(sa.or_(Erasure.gone_at.is_(None), again))
    return list(db.session.scalars(due.order_by(Erasure.erased_at).limit(limit)))
