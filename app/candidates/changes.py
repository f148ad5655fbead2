"""Candidates and statuses in the feed of changes."""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from app.accounts.models import Organization
from app.candidates import listings
from app.candidates.models import Candidate
from app.core.db import db


def shown_candidates(organization_id: str, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Candidates by their ids, without those in quarantine. Those of test interviews are included, as these are."""
    mine = sa.select(Candidate).where(
        Candidate.organization_id == organization_id, Candidate.id.in_(ids), Candidate.quarantined_at.is_(None)
    )
    return {one["candidate_id"]: one for one in listings.shown(db.session.scalars(mine).all())}


def shown_statuses(organization_id: str, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Statuses by their ids."""
    pipeline = listings.statuses_shown(db.session.get_one(Organization, organization_id))
    return {one["status_id"]: one for one in pipeline if one["status_id"] in ids}
