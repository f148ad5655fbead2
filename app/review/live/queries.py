"""How many results there are since a moment, for the member who asks."""

from datetime import datetime

import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.core.db import db
from app.flows.queries import reach
from app.interviews.models import Interview


def results_since(member: TeamMember, since: datetime, *, flow_id: str = "") -> int:
    """How many results that the member may see were completed after ``since``, of one flow or of all ("").

    Without test interviews. It reads a range of an index, so that idle tabs cost little.
    """
    conditions = [
        *reach(member, Interview),
        Interview.completed_at > since,
        Interview.is_test.is_(False),
        Interview.quarantined_at.is_(None),
    ]
    if flow_id:
        conditions.append(Interview.flow_id == flow_id)
    return db.session.scalar(sa.select(sa.func.count()).select_from(Interview).where(*conditions)) or 0


def state_of(interview: Interview) -> str:
    """Changes when the page of an interview has something new to show: another stage, a video, scores in force."""
    version = interview.data.version if interview.data else 0
    return f"{interview.stage.value}-{interview.video_stage.value}-{version}"
