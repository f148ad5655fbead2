"""Interviews, their metadata and the versions of their scores in the feed of changes."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from app.core.db import db
from app.interviews.api import shape_of, urls_of
from app.interviews.extensions import versions_among
from app.interviews.listings import published_among
from app.interviews.models import Interview, InterviewData, InterviewMetadata, ScoreVersion


def shown(organization_id: str, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Interviews by their ids, as with ``transcript=none``."""
    rows = published_among(organization_id, ids)
    urls = urls_of(rows)
    return {row.id: shape_of(row, urls.get(row.id, {})) for row in rows}


def shown_metadata(organization_id: str, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Metadata by the ids of their interviews."""
    mine = sa.select(InterviewMetadata).where(
        InterviewMetadata.organization_id == organization_id, InterviewMetadata.interview_id.in_(ids)
    )
    return {row.interview_id: {"metadata": dict(row.values)} for row in db.session.scalars(mine)}


def shown_versions(organization_id: str, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Versions by their ids (``INTERVIEW.NUMBER``), of results whose scores count."""
    wanted = {one.partition(".")[0] for one in ids}
    counts = (
        Interview.organization_id == organization_id,
        Interview.id.in_(wanted),
        Interview.withdrawn_at.is_(None),
        Interview.erased_at.is_(None),
    )
    results = db.session.scalars(sa.select(InterviewData).join(Interview).where(*counts))
    made = sa.select(ScoreVersion).where(ScoreVersion.interview_id.in_(wanted)).order_by(ScoreVersion.number)
    rows: dict[str, list[ScoreVersion]] = defaultdict(list)
    for version in db.session.scalars(made):
        rows[version.interview_id].append(version)
    versions = (one for data in results for one in versions_among(data, rows[data.interview_id]))
    return {one["score_version_id"]: one for one in versions if one["score_version_id"] in ids}
