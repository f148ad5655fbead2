"""Moves of many candidates in the same few statements, whatever their number.

The caller has read the candidates under a lock, so no other move comes in between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm.attributes import set_committed_value

from app.accounts.models import TeamMember
from app.candidates import decisions, events, pipeline
from app.candidates.decisions import Grounds
from app.candidates.models import Candidate, Meaning, Source, StatusChange
from app.candidates.reasons import Reason
from app.core import clock
from app.core.db import db, new_id
from app.core.errors import Rejected
from app.core.rooms import decision_mail

Meanings = Mapping[str, Meaning | None]


@dataclass(slots=True)
class _Back:
    """Moves to undo: candidates by the status that they left; whose result is to review again; whose record goes."""

    steps: dict[tuple[str, str], list[Candidate]] = field(default_factory=dict)
    unjudged: list[str] = field(default_factory=list)
    undone: list[tuple[Candidate, int]] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def move_all(
    candidates: Sequence[Candidate], to: str, meanings: Meanings, *, by: TeamMember, reason: Reason | None
) -> None:
    """As ``actions.move`` for each candidate, none of whom is in ``to``. ``to`` and ``reason`` are checked already."""
    steps: dict[tuple[str, str], list[Candidate]] = {}
    for one in candidates:
        steps.setdefault((one.status, to), []).append(one)
    moved = _step(steps, meanings, by=by, judged_at=clock.now())
    decisions.record(moved, meanings[to], by=by, grounds=Grounds(Source.BULK), reason=reason)


def move_all_back(
    candidates: Sequence[Candidate], moved_to: str, meanings: Meanings, *, by: TeamMember, asked_at: datetime
) -> dict[str, str]:
    """As ``actions.move_back`` for each candidate. Returns why some were not moved, by candidate.

    ``asked_at`` is when the member asked for it: until five minutes after a move its record is withdrawn.
    """
    back = _planned(candidates, moved_to, meanings, by=by, asked_at=asked_at)
    moved = _step(back.steps, meanings, by=by, judged_at=None)
    if back.unjudged:
        statement = sa.update(Candidate).where(Candidate.id.in_(back.unjudged)).values(reviewed_at=None)
        db.changed(statement)
    withdrawn = {candidate.id for candidate, _number in back.undone}
    late: dict[str, list[tuple[Candidate, StatusChange]]] = {}
    for candidate, change in moved:
        if candidate.id not in withdrawn:
            late.setdefault(change.new, []).append((candidate, change))
    for status, moves in late.items():
        decisions.record(moves, meanings[status], by=by, grounds=Grounds(Source.BULK), reason=None)
    decisions.withdraw(back.undone, by=by)
    return back.refused


def _planned(
    candidates: Sequence[Candidate], moved_to: str, meanings: Meanings, *, by: TeamMember, asked_at: datetime
) -> _Back:
    back, histories = _Back(), _histories([one.id for one in candidates])
    for one in candidates:
        moves = histories.get(one.id)
        if one.status != moved_to or not moves or moves[0].by_id != by.id:
            back.refused[one.id] = moved_meanwhile(one)
            continue
        try:
            pipeline.is_move(one.status, moves[0].previous, statuses=meanings)
        except Rejected as refusal:
            back.refused[one.id] = refusal.message
            continue
        back.steps.setdefault((one.status, moves[0].previous), []).append(one)
        result_at = one.interviewed_at
        if not any(move.by_id and result_at and move.at >= result_at for move in moves[1:]):
            back.unjudged.append(one.id)
        if decisions.is_fresh(moves[0], asked_at=asked_at):
            back.undone.append((one, moves[0].number))
    return back


def moved_meanwhile(candidate: Candidate) -> str:
    """Why a candidate stays where they are."""
    return f"This candidate was moved again in the meantime. The status is now {candidate.status}."


def _histories(candidate_ids: Sequence[str]) -> dict[str, list[StatusChange]]:
    """Every move of these candidates, newest first."""
    query = sa.select(StatusChange).where(StatusChange.candidate_id.in_(candidate_ids))
    found: dict[str, list[StatusChange]] = {}
    for move in db.session.scalars(query.order_by(StatusChange.number.desc())):
        found.setdefault(move.candidate_id, []).append(move)
    return found


def _step(
    steps: Mapping[tuple[str, str], Sequence[Candidate]],
    meanings: Meanings,
    *,
    by: TeamMember,
    judged_at: datetime | None,
) -> list[tuple[Candidate, StatusChange]]:
    """Move the candidates of each step (from, to), write the history, and announce it."""
    now, moved = clock.now(), []
    for (previous, to), candidates in steps.items():
        numbers = _numbered(candidates, to, judged_at=judged_at)
        for one in candidates:
            change = {"candidate_id": one.id, "number": numbers[one.id], "previous": previous, "new": to}
            moved.append((one, StatusChange(id=new_id(), by_id=by.id, at=now, note=None, **change)))
        if meanings.get(previous) is Meaning.REJECTED and meanings.get(to) is not Meaning.REJECTED:
            decision_mail().withdraw(list(numbers))
    if moved:
        db.session.execute(sa.insert(StatusChange), [_row(change) for _candidate, change in moved])
        events.status_updated(moved)
    return moved


def _numbered(candidates: Sequence[Candidate], to: str, *, judged_at: datetime | None) -> dict[str, int]:
    """Set the status of candidates who have the same one; returns the number of each one's move."""
    values: dict[str, Any] = {"status": to, "status_changes": Candidate.status_changes + 1}
    if judged_at is not None:
        values["reviewed_at"] = judged_at
    statement = sa.update(Candidate).where(Candidate.id.in_([one.id for one in candidates])).values(values)
    rows = db.changed_rows(statement.returning(Candidate.id, Candidate.status_changes))
    numbers = {row.id: row.status_changes for row in rows}
    for one in candidates:  # what was read before stays true, without reading it again
        set_committed_value(one, "status", to)
        set_committed_value(one, "status_changes", numbers[one.id])
        if judged_at is not None:
            set_committed_value(one, "reviewed_at", judged_at)
    return numbers


def _row(change: StatusChange) -> dict[str, object]:
    names = ("id", "candidate_id", "number", "previous", "new", "by_id", "at", "note")
    return {name: getattr(change, name) for name in names}
