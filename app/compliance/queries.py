"""Reads of erasures."""

from datetime import timedelta

import sqlalchemy as sa

from app import claims
from app.compliance.models import Erasure
from app.db import db

SETTLES_AFTER = timedelta(hours=3)
"""Longer than any job that might still write files of an erased interview."""


def erasure_of(interview_id: str) -> Erasure | None:
    """The proof for one interview, as far as it has come; None where nothing was erased."""
    return db.session.get(Erasure, interview_id)


def unfinished(limit: int = 20) -> list[str]:
    """Interviews whose files are still to be destroyed, or to be looked for once more."""
    again = sa.and_(Erasure.settled_at.is_(None), Erasure.gone_at < claims.moment(-SETTLES_AFTER))
    due = sa.select(Erasure.interview_id).where(sa.or_(Erasure.gone_at.is_(None), again))
    return list(db.session.scalars(due.order_by(Erasure.erased_at).limit(limit)))
