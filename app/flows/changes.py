"""Flows in the feed of changes."""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from app.core.db import db
from app.flows.models import InterviewFlow
from app.flows.schemas import InterviewFlowSchema

_SCHEMA = InterviewFlowSchema()


def shown(organization_id: str, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Flows by their ids."""
    mine = sa.select(InterviewFlow).where(InterviewFlow.organization_id == organization_id, InterviewFlow.id.in_(ids))
    return {flow.id: _SCHEMA.dump(flow) for flow in db.session.scalars(mine)}
