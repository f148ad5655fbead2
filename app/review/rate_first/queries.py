"""Which scores a member does not see yet, because their flow asks them to rate first.

This module alone decides it. Every page, export and notice with scores of one interview asks here: ``shown_result`` for
one, ``hidden_interviews`` and ``hidden_candidates`` for lists, ``is_hidden_from`` inside a query. Rooms below this one
ask through ``rooms.rate_first()``. A member sees the scores of an interview once they have given any rating of it, or
have shown them without a rating.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import Organization, TeamMember
from app.core.db import db
from app.core.rooms import ratings
from app.flows.criteria import Criterion
from app.flows.models import InterviewFlow
from app.flows.queries import reach
from app.interviews.models import Interview, InterviewData, Stage
from app.review.rate_first.models import ScoreReveal

Condition = sa.ColumnElement[bool]

EXTRACT = "script"
"""The source of a summary that only quotes the candidate, made without a language model."""


@dataclass(frozen=True, slots=True)
class HiddenResult:
    """Stands for a result whose scores are hidden: it has the fields that pages read, without anything that judges.

    A summary stays if it only quotes the candidate.
    """

    version: int
    summary: str | None
    evidence: dict[str, Any]
    scores: None = None
    own_criteria: tuple[Criterion, ...] = ()
    is_hidden: bool = True


def asks(flow: InterviewFlow, organization: Organization) -> bool:
    """Whether members of the organization, whose flow it is, rate the flow's results before they see scores."""
    return organization.rates_first if flow.rates_first is None else flow.rates_first


def asks_in_lists(member: TeamMember, flow_id: str = "") -> bool:
    """Whether a list of the member's, of one flow or of all, may contain results that are rated first."""
    flows = sa.select(sa.literal(1)).where(*reach(member, InterviewFlow), _asking(member))
    if flow_id:
        flows = flows.where(InterviewFlow.id == flow_id)
    return db.session.scalar(flows.limit(1)) is not None


def is_hidden_from(member: TeamMember) -> Condition:
    """The condition on ``Interview`` that its scores are hidden from the member."""
    shown = sa.exists().where(ScoreReveal.interview_id == Interview.id, ScoreReveal.member_id == member.id)
    asking = sa.exists().where(InterviewFlow.id == Interview.flow_id, _asking(member))
    return sa.and_(asking, ~ratings().rated_by(member.id), ~shown)


def _asking(member: TeamMember) -> Condition:
    own = InterviewFlow.rates_first
    return own.is_not(sa.false()) if member.organization.rates_first else own.is_(sa.true())


def hidden_interviews(member: TeamMember, interviews: Iterable[Interview]) -> frozenset[str]:
    """Ids of those interviews whose scores are hidden from the member. Their flows are loaded already.

    One query, and none where no flow asks for it.
    """
    asked = [one.id for one in interviews if asks(one.flow, member.organization)]
    if not asked:
        return frozenset()
    return frozenset(db.session.scalars(sa.select(Interview.id).where(Interview.id.in_(asked), is_hidden_from(member))))


def are_hidden(member: TeamMember, interview: Interview) -> bool:
    """Whether the interview's scores are hidden from the member."""
    return bool(hidden_interviews(member, [interview]))


def hidden_candidates(member: TeamMember, candidates: Iterable[Any]) -> frozenset[str]:
    """Ids of those candidates whose score, which is that of their newest result, is hidden from the member.

    Their flows are loaded already, at least with ``rates_first``. One query, and none where no flow asks for it.
    """
    asked = [one.id for one in candidates if asks(one.flow, member.organization)]
    if not asked:
        return frozenset()
    query = sa.select(Interview.candidate_id, is_hidden_from(member)).where(
        Interview.candidate_id.in_(asked),
        Interview.stage == Stage.COMPLETED,
        Interview.withdrawn_at.is_(None),
        Interview.erased_at.is_(None),
    )
    newest = {row[0]: row[1] for row in db.session.execute(query.order_by(Interview.org_seq))}
    return frozenset(candidate_id for candidate_id, is_hidden in newest.items() if candidate_id and is_hidden)


def shown_result(interview: Interview, member: TeamMember) -> InterviewData | HiddenResult | None:
    """The result as the member may see it: None without one, and where it is withheld or erased."""
    data = interview.data
    if data is None or interview.withdrawn_at is not None or interview.erased_at is not None:
        return None
    return without_judgement(data) if are_hidden(member, interview) else data


def without_judgement(data: InterviewData) -> HiddenResult:
    """What is left of a result while its scores are hidden."""
    evidence = data.evidence or {}
    source = (evidence.get("summary") or {}).get("source")
    kept = ("speech", "summary") if source == EXTRACT else ("speech",)
    return HiddenResult(
        version=data.version,
        summary=data.summary if source == EXTRACT else None,
        evidence={name: evidence[name] for name in kept if name in evidence},
    )


def reveals_of(interview: Interview) -> Sequence[ScoreReveal]:
    """Who has shown the scores without a rating, the earliest first, with the members."""
    query = sa.select(ScoreReveal).where(ScoreReveal.interview_id == interview.id).order_by(ScoreReveal.at)
    return db.session.scalars(query.options(joinedload(ScoreReveal.member))).all()
