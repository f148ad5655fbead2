"""One change to many candidates at once, with a result for each: a refusal does not stop the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from app.accounts.models import TeamMember
from app.accounts.queries import member_of
from app.candidates import actions, decisions, pipeline, reasons
from app.candidates.decisions import Grounds
from app.candidates.models import Candidate, Meaning, Source, StatusChange
from app.candidates.queries import candidates_named, meanings_of
from app.core.db import db
from app.core.errors import DomainError, Rejected
from app.flows.queries import VIEWED, only_viewed

MOST_ROWS = 1_000


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
        reason = f"All of them are already in “{change.value}”." if open_to else "You can only view their flows."
        raise Rejected(f"Nothing would change. {reason}", field="id")
    events = len([one for one in changed if change.kind is Kind.MOVE and one.flow.webhook_url])
    return Preview(changed, len(open_to) - len(changed), len(wanted) - len(open_to), events)


def _check_value(member: TeamMember, change: Change) -> TeamMember | None:
    """The recruiter of an assignment, if any. Raises Rejected or Forbidden for a value that is not valid."""
    if change.kind is Kind.MOVE:
        pipeline.is_move("", change.value, statuses=meanings_of(member.organization))
    if change.kind in {Kind.TAG, Kind.UNTAG}:
        actions.checked_tag(change.value)
    return _recruiter(member, change)


def apply(member: TeamMember, ids: Sequence[str], change: Change) -> list[Row]:
    """Change each of ``ids`` (at most 1,000), in their order. Raises Rejected if none can be changed."""
    wanted = checked(ids)
    work = _Work(member, change, meanings_of(member.organization), _check_value(member, change))
    reason = None
    if change.kind is Kind.MOVE:
        reason = reasons.checked(member.organization, change.value, work.meanings[change.value], code=change.reason)
    candidates = candidates_named(member, wanted, locked=True)
    view_only = only_viewed(member)
    rows = [
        Row(one, _name(candidates[one]), "refused", VIEWED)
        if one in candidates and candidates[one].flow_id in view_only
        else _one(candidates.get(one), one, work)
        for one in wanted
    ]
    grounds = Grounds(Source.BULK, change.reason)
    for meaning, moves in work.moved.items():
        decisions.record(moves, meaning, by=member, grounds=grounds, reason=reason)
    decisions.withdraw(work.undone, by=member)
    return rows


@dataclass(frozen=True, slots=True)
class _Work:
    """A change under way: who makes it, the statuses, the recruiter of an assignment, and what to record at the end.

    ``moved`` are moves that decide by meaning; ``undone`` are candidates with the number of the move that was undone.
    """

    by: TeamMember
    change: Change
    meanings: Mapping[str, Meaning | None]
    recruiter: TeamMember | None
    moved: dict[Meaning | None, list[tuple[Candidate, StatusChange]]] = field(default_factory=dict)
    undone: list[tuple[Candidate, int]] = field(default_factory=list)

    def note(self, candidate: Candidate, change: StatusChange) -> None:
        self.moved.setdefault(self.meanings[change.new], []).append((candidate, change))


def _name(candidate: Candidate) -> str:
    return candidate.full_name or candidate.email


def checked(ids: Sequence[str]) -> list[str]:
    """Each id once, in order. Raises Rejected for none, and for more than ``MOST_ROWS``."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        raise Rejected("Select at least one candidate.", field="id")
    if len(wanted) > MOST_ROWS:
        raise Rejected(f"You can select at most {MOST_ROWS} candidates at once. Narrow the list.", field="id")
    return wanted


def _recruiter(member: TeamMember, change: Change) -> TeamMember | None:
    if change.kind is not Kind.ASSIGN or not change.value:
        return None
    return member_of(member.organization, change.value)


def _one(candidate: Candidate | None, candidate_id: str, work: _Work) -> Row:
    if candidate is None:
        return Row(candidate_id, "", "refused", "This candidate no longer exists.")
    name = _name(candidate)
    try:
        with db.session.begin_nested():
            changed = _moved(candidate, work) if work.change.kind in _MOVES else _changed(candidate, work)
    except DomainError as refusal:
        return Row(candidate_id, name, "refused", refusal.message)
    return Row(candidate_id, name, "done" if changed else "same")


_MOVES = (Kind.MOVE, Kind.BACK)


def _moved(candidate: Candidate, work: _Work) -> bool:
    if work.change.kind is Kind.MOVE:
        change, undone = actions.step(candidate, work.change.value, work.meanings, by=work.by), None
    else:
        change, undone = actions.step_back(candidate, work.change.value, work.meanings, by=work.by)
    if undone is not None:
        work.undone.append((candidate, undone))
    elif change is not None:
        work.note(candidate, change)
    return change is not None


def _changed(candidate: Candidate, work: _Work) -> bool:
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
