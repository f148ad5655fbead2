"""Reads of members' ratings. Callers have already checked access to the interview."""

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import TeamMember
from app.candidates.overall import overall
from app.core.db import db
from app.flows import queries as flows
from app.flows.criteria import Criterion
from app.flows.flow_script import FlowScript
from app.flows.models import Right
from app.flows.queries import may
from app.interviews.models import Interview
from app.review.rate_first.queries import HiddenResult, asks, shown_result
from app.review.ratings.models import APART, COMPETENCES, OVERALL, Assessment

QUESTION = "question_"
"""How the name of the rating of an answer begins."""


@dataclass(frozen=True, slots=True)
class Rated:
    """One competence: the AI's score (None: not assessed, or hidden), if it is unstable, and the members' ratings, by
    name. ``criterion``: where it is one of the flow's own.
    """

    competence: str
    label: str
    score: float | None
    people: tuple[Assessment, ...]
    is_unstable: bool = False
    criterion: Criterion | None = None
    is_hidden: bool = False

    @property
    def values(self) -> list[float]:
        """The ratings, without members who only commented."""
        return [one.value for one in self.people if one.value is not None]

    @property
    def mean(self) -> float | None:
        """Average of the members' ratings, without the AI's score; None without ratings."""
        return sum(self.values) / len(self.values) if self.values else None


@dataclass(frozen=True, slots=True)
class Difference:
    """A member's own rating that differs from the score by more than ``APART``, with the reason, if they gave one."""

    competence: str
    label: str
    rating: float
    score: float
    reason: str | None


def can_be_rated(interview: Interview) -> bool:
    """Whether there is a result, and it is not withheld."""
    return interview.data is not None and interview.withdrawn_at is None and interview.erased_at is None


def criteria_of(interview: Interview) -> dict[str, Criterion]:
    """The own criteria that can be rated, by key: those of the scores in force, and those of the flow now."""
    scored = {one.key: one for one in interview.data.own_criteria} if interview.data else {}
    return scored | {one.key: one for one in flows.criteria_of(interview.flow) if one.key not in scored}


def competences_of(interview: Interview) -> dict[str, str]:
    """Names and labels of what can be rated: own criteria first; without language if the flow does not assess it."""
    language = (interview.script or FlowScript()).assess_language
    fixed = {name: label for name, label in COMPETENCES.items() if language or not name.startswith("language_")}
    return {**{key: one.name for key, one in criteria_of(interview).items()}, **fixed}


def questions_of(interview: Interview) -> dict[str, str]:
    """The questions whose answers can be rated, by the name of the rating: ``question_1`` and so on."""
    asked = (interview.script or FlowScript()).questions
    return {f"{QUESTION}{number}": question for number, question in enumerate(asked, 1)}


def score_of(interview: Interview, competence: str) -> float | None:
    """The AI's score; None if not assessed."""
    scores = (interview.data.scores if interview.data else None) or {}
    return None if competence == OVERALL else scores.get(competence)


def differences_of(interview: Interview, member: TeamMember) -> list[Difference]:
    """The member's own ratings that differ from the scores, where they had to rate before they saw these."""
    data = shown_result(interview, member) if asks(interview.flow, member.organization) else None
    if data is None or data.scores is None:
        return []
    own, labels = own_assessments(interview, member), competences_of(interview)
    found = ((name, own[name], _figure(interview, name)) for name in labels if name in own)
    return [
        Difference(name, labels[name], row.value, score, row.reason)
        for name, row, score in found
        if row.value is not None and score is not None and differs(interview, name, row.value)
    ]


def differs(interview: Interview, competence: str, value: float | None) -> bool:
    """Whether this rating differs from the score, or from the overall score, by more than ``APART``."""
    score = _figure(interview, competence)
    return value is not None and score is not None and abs(value - score) > APART


def _figure(interview: Interview, competence: str) -> float | None:
    """As ``score_of``, and the overall score for the interview as a whole."""
    if competence == OVERALL:
        return overall(interview.data.scores, interview.data.own_criteria) if interview.data else None
    return score_of(interview, competence)


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
    data = shown_result(interview, reader)
    scores, evidence = (data.scores if data else None) or {}, (data.evidence if data else None) or {}
    unstable = {name for name, how in evidence.get("scores", {}).items() if how.get("is_unstable")}
    own, is_hidden = criteria_of(interview), isinstance(data, HiddenResult)
    return [
        Rated(name, label, scores.get(name), tuple(by.get(name, ())), name in unstable, own.get(name), is_hidden)
        for name, label in competences_of(interview).items()
    ]


def answer_ratings_of(interview: Interview, *, reader: TeamMember) -> dict[int, list[Assessment]]:
    """The ratings of answers that ``reader`` may see, as above, by the number of the question, from 1."""
    everyones = _of(Assessment.interview_id == interview.id)
    hidden, by = _hidden_from(reader, interview, everyones), dict[int, list[Assessment]]()
    for one in everyones:
        if one.competence.startswith(QUESTION) and one.value is not None and one.member_id not in hidden:
            by.setdefault(int(one.competence.removeprefix(QUESTION)), []).append(one)
    return by


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


def rated_by(member_id: str) -> sa.ColumnElement[bool]:
    """The condition on ``Interview`` that the member has rated it. A comment alone is no rating."""
    mine = (Assessment.interview_id == Interview.id, Assessment.member_id == member_id)
    return sa.exists().where(*mine, Assessment.value.is_not(None))


def own_ratings(member_id: str, candidate_ids: Collection[str]) -> dict[str, float]:
    """The member's own rating of each candidate, 0 to 5, by the candidate's id: their overall rating of the newest
    interview they rated, or the mean of their ratings of competences, or of answers. Others are left out.
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
    return {candidate_id: _whole(given) for candidate_id, (_id, given) in newest.items()}


def _whole(given: dict[str, float]) -> float:
    values = [value for name, value in given.items() if not name.startswith(QUESTION)] or list(given.values())
    return given.get(OVERALL, sum(values) / len(values))


def _of(*conditions: sa.ColumnElement[bool]) -> list[Assessment]:
    query = sa.select(Assessment).where(*conditions).join(Assessment.member)
    ordered = query.order_by(TeamMember.full_name, TeamMember.email).options(joinedload(Assessment.member))
    return list(db.session.scalars(ordered))
