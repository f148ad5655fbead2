"""Candidates' feedback on their interviews, limited to what a member may see."""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.core.db import db
from app.flows.models import InterviewFlow
from app.interviews.insights import Span, booked_in, last_days, narrowed
from app.interviews.models import Feedback, Interview

MOST_FLOWS = 20
MOST_COMMENTS = 10


@dataclass(frozen=True, slots=True)
class FlowRating:
    """One flow's ratings: its title, how many, and their average (1 to 5)."""

    flow_id: str
    title: str
    count: int
    average: float


@dataclass(frozen=True, slots=True)
class Comment:
    """One candidate's comment, with its interview and flow."""

    interview_id: str
    title: str
    rating: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Ratings:
    """Everything that the dashboard shows; ``average`` is None without ratings."""

    count: int
    average: float | None
    flows: tuple[FlowRating, ...]
    comments: tuple[Comment, ...]


def ratings_seen_by(member: TeamMember) -> Ratings:
    """Ratings of the last 90 days in the member's teams, for administrators in the whole organization.

    The newest comments come first.
    """
    span = narrowed(member, last_days())
    score = Feedback.rating
    count, average = db.session.execute(_of(member, span, sa.func.count(score), sa.func.avg(score))).one()
    by_flow = (
        _of(member, span, Interview.flow_id, InterviewFlow.title, sa.func.count(score), sa.func.avg(score))
        .where(score.is_not(None))
        .group_by(Interview.flow_id, InterviewFlow.title)
        .order_by(sa.func.count(score).desc(), InterviewFlow.title)
        .limit(MOST_FLOWS)
    )
    said = (
        _of(member, span, Feedback.interview_id, InterviewFlow.title, score, Feedback.comment)
        .where(Feedback.comment.is_not(None))
        .order_by(Feedback.created_at.desc(), Feedback.interview_id)
        .limit(MOST_COMMENTS)
    )
    flows = tuple(
        FlowRating(id_, title, n, round(float(mean), 1)) for id_, title, n, mean in db.session.execute(by_flow)
    )
    comments = tuple(Comment(*row) for row in db.session.execute(said))
    return Ratings(count, None if average is None else round(float(average), 1), flows, comments)


def _of(member: TeamMember, span: Span, *columns: Any) -> sa.Select[*tuple[Any, ...]]:
    return (
        booked_in(member, span, *columns)
        .join(Feedback, Feedback.interview_id == Interview.id)
        .join(InterviewFlow, InterviewFlow.id == Interview.flow_id)
    )
