"""Reads of members' ratings. Callers have already checked access to the interview."""

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import TeamMember
from app.core.db import db
from app.flows.flow_script import FlowScript
from app.flows.models import Right
from app.flows.queries import may
from app.interviews.models import Interview
from app.review.ratings.models import COMPETENCES, OVERALL, Assessment


@dataclass(frozen=True, slots=True)
class Rated:
    """One competence: the AI's score (None: not assessed), if it is unstable, and the members' ratings, by name."""

    competence: str
    label: str
    score: float | None
    people: tuple[Assessment, ...]
    is_unstable: bool = False

    @property
    def values(self) -> list[float]:
        """The ratings, without members who only commented."""
        return [one.value for one in self.people if one.value is not None]

    @property
    def mean(self) -> float | None:
        """Average of the members' ratings, without the AI's score; None without ratings."""
        return sum(self.values) / len(self.values) if self.values else None


def can_be_rated(interview: Interview) -> bool:
    """Whether there is a result, and it is not withheld."""
    return interview.data is not None and interview.withdrawn_at is None and interview.erased_at is None


def competences_of(interview: Interview) -> list[str]:
    """The competences that can be rated: without language if the flow does not assess it."""
    language = (interview.script or FlowScript()).assess_language
    return [name for name in COMPETENCES if language or not name.startswith("language_")]


def score_of(interview: Interview, competence: str) -> float | None:
    """The AI's score; None if not assessed."""
    scores = (interview.data.scores if interview.data else None) or {}
    return None if competence == OVERALL else scores.get(competence)


def scorecard_of(interview: Interview, *, reader: TeamMember) -> list[Rated]:
    """Every competence that can be rated, with the ratings that ``reader`` may see.

    A member who may rate the interview sees no one else's ratings before they have submitted one of their own.
    """
    everyones = _of(Assessment.interview_id == interview.id)
    hidden = _hidden_from(reader, interview, everyones)
    by: dict[str, list[Assessment]] = {}
    for one in everyones:
        if one.member_id not in hidden:
            by.setdefault(one.competence, []).append(one)
    evidence = ((interview.data.evidence if interview.data else None) or {}).get("scores", {})
    unstable = {name for name, how in evidence.items() if how.get("is_unstable")}
    return [
        Rated(name, COMPETENCES[name], score_of(interview, name), tuple(by.get(name, ())), name in unstable)
        for name in competences_of(interview)
    ]


def hidden_raters(interview: Interview, *, reader: TeamMember) -> int:
    """How many members have rated the interview whose ratings ``reader`` does not see yet."""
    return len(_hidden_from(reader, interview, _of(Assessment.interview_id == interview.id)))


def _hidden_from(reader: TeamMember, interview: Interview, everyones: Collection[Assessment]) -> set[str]:
    """Ids of the members whose ratings are hidden from ``reader``."""
    has_rated = any(one.member_id == reader.id and one.value is not None for one in everyones)
    if has_rated or not may(reader, interview, Right.EDIT):
        return set()
    return {one.member_id for one in everyones if one.member_id != reader.id}


def own_assessments(interview: Interview, member: TeamMember) -> dict[str, Assessment]:
    """The member's ratings by competence."""
    mine = _of(Assessment.interview_id == interview.id, Assessment.member_id == member.id)
    return {one.competence: one for one in mine}


def own_ratings(member_id: str, candidate_ids: Collection[str]) -> dict[str, float]:
    """The member's own rating of each candidate, 0 to 5, by the candidate's id: their overall rating of the newest
    interview they rated, or the mean of their other ratings of it. Candidates they did not rate are left out.
    """
    query = (
        sa.select(Interview.candidate_id, Interview.id, Assessment.competence, Assessment.value)
        .join(Interview, Interview.id == Assessment.interview_id)
        .where(Assessment.member_id == member_id, Interview.candidate_id.in_(candidate_ids))
        .where(Assessment.value.is_not(None))
        .order_by(Interview.org_seq)
    )
    newest: dict[str, tuple[str, dict[str, float]]] = {}
    for candidate_id, interview_id, competence, value in db.session.execute(query):
        if candidate_id is None or value is None:
            continue  # neither can be: the conditions above
        if newest.get(candidate_id, ("", {}))[0] != interview_id:
            newest[candidate_id] = (interview_id, {})
        newest[candidate_id][1][competence] = value
    return {one: given.get(OVERALL, sum(given.values()) / len(given)) for one, (_id, given) in newest.items()}


def _of(*conditions: sa.ColumnElement[bool]) -> list[Assessment]:
    query = sa.select(Assessment).where(*conditions).join(Assessment.member)
    ordered = query.order_by(TeamMember.full_name, TeamMember.email).options(joinedload(Assessment.member))
    return list(db.session.scalars(ordered))
