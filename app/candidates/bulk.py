"""One change to many candidates at once, with a result for each: a refusal does not stop the others."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from app.accounts.models import TeamMember
from app.accounts.queries import member_of
from app.candidates import actions, pipeline, reasons
from app.candidates.models import Candidate, Meaning
from app.candidates.moves import move_all, move_all_back, moved_meanwhile
from app.candidates.queries import candidates_named, meanings_of
from app.candidates.reasons import Reason
from app.core import clock
from app.core.db import db
from app.core.errors import DomainError, Rejected
from app.core.rooms import outbox
from app.flows.queries import VIEWED, only_viewed

MOST_ROWS = 1_000
AT_ONCE = 100
"""Candidates that a change reaches while the member waits for the page; a larger one runs as a job."""


class Kind(StrEnum):
    MOVE = "move"
    ASSIGN = "assign"
    TAG = "tag"
    UNTAG = "untag"
    REVIEWED = "reviewed"
    BACK = "back"
    UNREVIEWED = "unreviewed"


UNDONE_BY = {
    Kind.MOVE: Kind.BACK,
    Kind.TAG: Kind.UNTAG,
    Kind.UNTAG: Kind.TAG,
    Kind.REVIEWED: Kind.UNREVIEWED,
}
"""What undoes a change. Assignments have no undo, because the previous recruiter is not stored."""


@dataclass(frozen=True, slots=True)
class Change:
    """``value`` is the status, the recruiter's id (empty: unassign) or the tag; for ``back`` the status to leave.

    ``reason`` is the code of the reason for a move, the same for all.
    """

    kind: Kind
    value: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """The outcome for one candidate: ``done``, ``same`` (nothing to change) or ``refused`` with the reason."""

    candidate_id: str
    name: str
    outcome: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change would do: the candidates it changes, counts of unchanged and refused ones, and webhook events."""

    changed: list[Candidate]
    same: int
    refused: int
    events: int


def preview(member: TeamMember, ids: Sequence[str], change: Change) -> Preview:
    """What ``apply`` would do now. Raises Rejected if it would change nothing."""
    wanted = checked(ids)
    _check_value(member, change)
    candidates, view_only = candidates_named(member, wanted), only_viewed(member)
    open_to = [candidates[one] for one in wanted if one in candidates and candidates[one].flow_id not in view_only]
    changed = [one for one in open_to if change.kind is not Kind.MOVE or one.status != change.value]
    if not changed:
        raise Rejected(f"Nothing would change. {_no_change(len(wanted), len(open_to), change)}", field="id")
    heard = change.kind is Kind.MOVE and outbox().listens_to_all(member.organization_id)
    events = len([one for one in changed if change.kind is Kind.MOVE and (heard or one.flow.webhook_url)])
    return Preview(changed, len(open_to) - len(changed), len(wanted) - len(open_to), events)


def _no_change(selected: int, changeable: int, change: Change) -> str:
    """Why a change of the selected candidates would change none of them."""
    if not changeable:
        who, flows = ("candidate was", "flow") if selected == 1 else ("candidates were", "flows")
        return f"The selected {who} deleted, or you can only view their {flows}."
    who = "All candidates that you can change are"
    if changeable == selected:
        who = "This candidate is" if selected == 1 else "All selected candidates are"
    return f"{who} already in “{change.value}”."


def _check_value(member: TeamMember, change: Change) -> TeamMember | None:
    """The recruiter of an assignment, if any. Raises Rejected or Forbidden for a value that is not valid."""
    if change.kind is Kind.MOVE:
        pipeline.is_move("", change.value, statuses=meanings_of(member.organization))
    if change.kind in {Kind.TAG, Kind.UNTAG}:
        actions.checked_tag(change.value)
    return _recruiter(member, change)


def apply(
    member: TeamMember,
    ids: Sequence[str],
    change: Change,
    *,
    moves: Mapping[str, int] | None = None,
    asked_at: datetime | None = None,
) -> list[Row]:
    """Change each of ``ids`` (at most 1,000), in their order. Raises Rejected if none can be changed.

    With ``moves`` (how many moves each had when the member asked, at ``asked_at``) no one is moved who was moved since.
    """
    wanted, work = checked(ids), prepared(member, change, asked_at=asked_at)
    candidates = candidates_named(member, wanted, locked=True)
    refused = _refused(member, candidates, change, moves=moves)
    open_to = [candidates[one] for one in wanted if one in candidates and one not in refused]
    make = {Kind.MOVE: _move, Kind.BACK: _back}.get(change.kind, _each)
    refused |= make(open_to, work)
    return [_row(candidates.get(one), one, refused, changed=work.changed) for one in wanted]


def prepared(member: TeamMember, change: Change, *, asked_at: datetime | None = None) -> "Work":
    """Check what the change asks for. Raises Rejected for a value or a reason that is not valid."""
    recruiter, meanings, reason = _check_value(member, change), meanings_of(member.organization), None
    if change.kind is Kind.MOVE:
        reason = reasons.checked(member.organization, change.value, meanings[change.value], code=change.reason)
    return Work(member, change, meanings, recruiter, reason, asked_at or clock.now())


@dataclass(frozen=True, slots=True)
class Work:
    """A change under way: who makes it, the statuses, the recruiter of an assignment, and when it was asked for.

    ``changed`` are the ids of those who are changed by it.
    """

    by: TeamMember
    change: Change
    meanings: Mapping[str, Meaning | None]
    recruiter: TeamMember | None
    reason: Reason | None
    asked_at: datetime
    changed: set[str] = field(default_factory=set)


def _refused(
    member: TeamMember, candidates: Mapping[str, Candidate], change: Change, *, moves: Mapping[str, int] | None
) -> dict[str, str]:
    view_only, refused = only_viewed(member), {}
    for one in candidates.values():
        is_there = change.kind is Kind.MOVE and one.status == change.value
        if one.flow_id in view_only:
            refused[one.id] = VIEWED
        elif change.kind in _MOVES and moves and not is_there and moves[one.id] != one.status_changes:
            refused[one.id] = moved_meanwhile(one)
    return refused


def _row(
    candidate: Candidate | None, candidate_id: str, refused: Mapping[str, str], *, changed: Collection[str]
) -> Row:
    if candidate is None:
        return Row(candidate_id, "", "refused", "This candidate no longer exists.")
    if candidate_id in refused:
        return Row(candidate_id, _name(candidate), "refused", refused[candidate_id])
    return Row(candidate_id, _name(candidate), "done" if candidate_id in changed else "same")


def _name(candidate: Candidate) -> str:
    return candidate.full_name or candidate.email


def checked(ids: Sequence[str]) -> list[str]:
    """Each id once, in order. Raises Rejected for none, and for more than ``MOST_ROWS``."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        raise Rejected("Select at least one candidate.", field="id")
    if len(wanted) > MOST_ROWS:
        raise Rejected(f"You can select at most {MOST_ROWS:,} candidates at once. Narrow the list.", field="id")
    return wanted


def _recruiter(member: TeamMember, change: Change) -> TeamMember | None:
    if change.kind is not Kind.ASSIGN or not change.value:
        return None
    return member_of(member.organization, change.value)


_MOVES = (Kind.MOVE, Kind.BACK)


def _move(candidates: Sequence[Candidate], work: Work) -> dict[str, str]:
    to = [one for one in candidates if one.status != work.change.value]
    move_all(to, work.change.value, work.meanings, by=work.by, reason=work.reason)
    work.changed.update(one.id for one in to)
    return {}


def _back(candidates: Sequence[Candidate], work: Work) -> dict[str, str]:
    refused = move_all_back(candidates, work.change.value, work.meanings, by=work.by, asked_at=work.asked_at)
    work.changed.update(one.id for one in candidates if one.id not in refused)
    return refused


def _each(candidates: Sequence[Candidate], work: Work) -> dict[str, str]:
    """Changes without history: one candidate after the other. A refusal does not stop the others."""
    refused = {}
    for one in candidates:
        try:
            with db.session.begin_nested():
                if _changed(one, work):
                    work.changed.add(one.id)
        except DomainError as refusal:
            refused[one.id] = refusal.message
    return refused


def _changed(candidate: Candidate, work: Work) -> bool:
    was_judged, value = candidate.reviewed_at is not None, work.change.value
    match work.change.kind:
        case Kind.ASSIGN:
            changed = actions.assign(candidate, work.recruiter)
        case Kind.TAG:
            changed = actions.tag(candidate, value)
        case Kind.UNTAG:
            changed = actions.untag(candidate, value)
        case Kind.REVIEWED:
            actions.note_review(candidate)
            changed = not was_judged
        case _:
            actions.forget_review(candidate)
            changed = was_judged
    return changed
