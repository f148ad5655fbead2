"""Reads of re-scoring: what a run would take, the runs of a member, and what is due."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import TeamMember
from app.candidates.overall import COUNTED
from app.core import claims
from app.core.db import db, is_id
from app.core.errors import NotFound
from app.core.rooms import InForce
from app.flows.criteria import PREFIX
from app.flows.models import FlowCriteria, InterviewFlow, Right
from app.flows.queries import reach
from app.interviews.analysis.scores import ROUNDS
from app.interviews.models import Interview, InterviewData, Role, ScoreVersion, Stage, Utterance
from app.interviews.rescoring.models import OPEN, Rescored, Rescoring, State

AT_ONCE = 4
"""Interviews that wait in the queue at the same time, so that those of candidates do not wait behind a whole flow."""
BYTES_PER_TOKEN, RULES, ANSWER, CRITERION = 3, 900, 700, 250
"""For the estimate: bytes of a transcript per token, and tokens of the rules and of the answer of each call. Each own
criterion adds to both.
"""
PIECE = 500
NO_MODEL_NAME = "script"
"""The engine that stands in for a language model, and scores nothing."""

Condition = sa.ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do: ids of the interviews to score, and how many are left out, by reason."""

    ids: tuple[str, ...]
    tokens: int
    unanswered: int = 0
    withheld: int = 0
    tests: int = 0
    waiting: int = 0
    unfinished: int = 0

    @property
    def calls(self) -> int:
        """Calls of the language model: every score is made three times."""
        return ROUNDS * len(self.ids)


def plan_for(member: TeamMember, *, which: Condition, only_unscored: bool = False) -> Plan:
    """The plan for those interviews ``which`` that the member may change; ``only_unscored``: without any score."""
    is_open = sa.exists().where(Rescored.interview_id == Interview.id, Rescored.state.in_(OPEN))
    answered = sa.exists().where(
        Utterance.interview_id == Interview.id,
        Utterance.role == Role.USER,
        Utterance.obeyed.is_(False),
        Utterance.content != "",
    )
    gone = sa.or_(Interview.withdrawn_at.is_not(None), Interview.erased_at.is_not(None))
    rows = db.session.execute(
        sa.select(
            Interview.id,
            Interview.flow_id,
            InterviewData.text_length,
            gone.label("gone"),
            Interview.is_test,
            answered.label("answered"),
            is_open.label("open"),
            *([InterviewData.scores] if only_unscored else []),
        )
        .outerjoin(InterviewData, InterviewData.interview_id == Interview.id)
        .where(which, Interview.quarantined_at.is_(None), *reach(member, Interview, Right.EDIT))
        .order_by(Interview.org_seq)
    ).all()
    if only_unscored:
        rows = [row for row in rows if not is_scored(row.scores)]
    return _plan(rows, _criteria_of({row.flow_id for row in rows}))


def _criteria_of(flow_ids: Iterable[str]) -> dict[str, int]:
    """How many criteria results of these flows would be scored with now; flows without any are left out."""
    current = sa.select(InterviewFlow.id, FlowCriteria.items).join(InterviewFlow.criteria)
    return {flow_id: len(items) for flow_id, items in db.session.execute(current.where(InterviewFlow.id.in_(flow_ids)))}


def _plan(rows: Iterable[sa.Row[tuple[object, ...]]], criteria: Mapping[str, int]) -> Plan:
    ids, size, criteria_in_all = [], 0, 0
    left = dict.fromkeys(("withheld", "tests", "unfinished", "unanswered", "waiting"), 0)
    for row in rows:
        why = _why_not(row)
        if why:
            left[why] += 1
        else:
            ids.append(row.id)
            size += row.text_length
            criteria_in_all += criteria.get(row.flow_id, 0)
    tokens = ROUNDS * (size // BYTES_PER_TOKEN + len(ids) * (RULES + ANSWER) + criteria_in_all * CRITERION)
    return Plan(tuple(ids), tokens, **left)


def _why_not(row: sa.Row[tuple[object, ...]]) -> str:
    reasons = {
        "withheld": row.gone,
        "tests": row.is_test,
        "unfinished": row.text_length is None,
        "unanswered": not row.answered,
        "waiting": row.open,
    }
    return next((name for name, applies in reasons.items() if applies), "")


def is_scored(scores: dict[str, float | None] | None) -> bool:
    """Whether a language model gave any of the scores that are not about language, or of the flow's own criteria."""
    known = (scores or {}).items()
    return any(value is not None for name, value in known if name in COUNTED or name.startswith(PREFIX))


def results_of(flow_id: str) -> Condition:
    """All interviews of a flow that were completed."""
    return sa.and_(Interview.flow_id == flow_id, Interview.stage == Stage.COMPLETED)


def newest_of(candidate_ids: Sequence[str]) -> Condition:
    """The newest completed interview of each of these candidates."""
    mine = sa.select(sa.func.max(Interview.org_seq)).where(
        Interview.candidate_id.in_([one for one in candidate_ids if is_id(one)]), Interview.stage == Stage.COMPLETED
    )
    newest = mine.group_by(Interview.candidate_id)
    return sa.and_(Interview.candidate_id.in_(candidate_ids), Interview.org_seq.in_(newest))


def versions_in_force(candidate_ids: Collection[str]) -> dict[str, InForce]:
    """The versions in force of each candidate's newest result, by candidate. Without a result they are left out."""
    columns = Interview.candidate_id, InterviewData.version, FlowCriteria.number
    query = sa.select(*columns).select_from(Interview).join(InterviewData).outerjoin(InterviewData.criteria_set)
    rows = db.session.execute(query.where(newest_of(list(candidate_ids)), Interview.withdrawn_at.is_(None)))
    return {str(candidate_id): InForce(version, criteria) for candidate_id, version, criteria in rows}


def scores_in_force(candidate_ids: Collection[str]) -> dict[str, dict[str, float | None]]:
    """The scores of each candidate's newest result that counts, by candidate: those of the overall score."""
    counts = (
        Interview.candidate_id.in_([one for one in candidate_ids if is_id(one)]),
        Interview.withdrawn_at.is_(None),
        Interview.erased_at.is_(None),
    )
    query = sa.select(Interview.candidate_id, InterviewData.scores).join(InterviewData).where(*counts)
    rows = db.session.execute(query.order_by(Interview.completed_at))
    return {str(candidate_id): scores or {} for candidate_id, scores in rows}


def run_seen_by(member: TeamMember, run_id: str) -> Rescoring:
    """A run with an interview that the member may change. NotFound otherwise."""
    run = db.session.get(Rescoring, run_id) if is_id(run_id) else None
    if run is None or run.organization_id != member.organization_id or not counts_of(member, run):
        raise NotFound("There is no such re-scoring.")
    return run


def runs_seen_by(member: TeamMember, *, limit: int = 50) -> Sequence[Rescoring]:
    """The newest runs with an interview that the member may change."""
    mine = sa.select(Rescored.id).join(Rescored.interview).where(Rescored.rescoring_id == Rescoring.id)
    query = sa.select(Rescoring).where(
        Rescoring.organization_id == member.organization_id,
        mine.where(*reach(member, Interview, Right.EDIT)).exists(),
    )
    newest = query.order_by(Rescoring.created_at.desc(), Rescoring.id).limit(limit)
    return db.session.scalars(newest.options(joinedload(Rescoring.flow), joinedload(Rescoring.requested_by))).all()


def counts_of(member: TeamMember, run: Rescoring) -> dict[str, int]:
    """How many of the run's interviews that the member may change are in each state."""
    columns = Rescored.state, sa.func.count().label("interviews")
    query = _seen(member, run).with_only_columns(*columns).order_by(None).group_by(Rescored.state)
    return {row.state: row.interviews for row in db.session.execute(query)}


def rows_of(member: TeamMember, run: Rescoring, *, limit: int, offset: int) -> Sequence[Rescored]:
    """One page of them, in order."""
    whole = joinedload(Rescored.interview).options(joinedload(Interview.data), joinedload(Interview.flow))
    query = _seen(member, run).options(whole)
    return db.session.scalars(query.limit(limit).offset(offset)).all()


def versions_made(rows: Iterable[Rescored]) -> dict[str, ScoreVersion]:
    """The new version of each row, by interview."""
    made = {row.interview_id: row.version for row in rows if row.version}
    found = db.session.scalars(sa.select(ScoreVersion).where(ScoreVersion.interview_id.in_(made)))
    return {one.interview_id: one for one in found if one.number == made[one.interview_id]}


def unused_of(member: TeamMember, run: Rescoring) -> list[tuple[str, int]]:
    """Interview and version of every new version of the run that is not in force and can be."""
    counts = (Interview.withdrawn_at.is_(None), Interview.erased_at.is_(None), Rescored.version.is_not(None))
    query = _seen(member, run).join(InterviewData, InterviewData.interview_id == Interview.id)
    unused = query.where(*counts, InterviewData.version != Rescored.version)
    rows = db.session.execute(unused.with_only_columns(Interview.id, Rescored.version))
    return [(row[0], int(row[1] or 0)) for row in rows]


def open_run_of(interview_id: str) -> Rescoring | None:
    """The run in which the interview waits or is scored."""
    mine = sa.select(Rescoring).join(Rescored, Rescored.rescoring_id == Rescoring.id)
    return db.session.scalar(mine.where(Rescored.interview_id == interview_id, Rescored.state.in_(OPEN)))


def unscored() -> list[str]:
    """Ids of the rows to score next, at most as many as may be under way. Runs take turns."""
    under_work = sa.and_(Rescored.state == State.SCORING, Rescored.lease_until >= claims.moment())
    busy = db.session.scalar(sa.select(sa.func.count()).select_from(Rescored).where(under_work)) or 0
    free = sa.or_(Rescored.lease_until.is_(None), Rescored.lease_until < claims.moment())
    query = sa.select(Rescored.id).where(Rescored.state.in_(OPEN), free).order_by(Rescored.place, Rescored.id)
    return list(db.session.scalars(query.limit(max(0, AT_ONCE - busy))))


def in_pieces(ids: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Pieces that fit into one statement."""
    return (tuple(ids[first : first + PIECE]) for first in range(0, len(ids), PIECE))


def _seen(member: TeamMember, run: Rescoring) -> sa.Select[Rescored]:
    mine = sa.select(Rescored).join(Rescored.interview).where(Rescored.rescoring_id == run.id)
    return mine.where(*reach(member, Interview, Right.EDIT)).order_by(Rescored.place)
