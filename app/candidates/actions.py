"""Actions on candidates: enrol, move, assign, tag, and saved views."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts.models import TeamMember
from app.candidates import decisions, events, pipeline, reasons
from app.candidates.decisions import Grounds
from app.candidates.models import (
    INVITED,
    LONGEST_NAME,
    BulkRow,
    Candidate,
    CandidateTag,
    Meaning,
    PipelineStatus,
    SavedView,
    Source,
    StatusChange,
)
from app.candidates.overall import overall
from app.candidates.queries import enrolled, history_of, meanings_of, views_of
from app.core import clock
from app.core.db import db, new_id, unless_there
from app.core.db.prepared import Prepared
from app.core.errors import Conflict, Rejected
from app.core.rooms import decision_mail
from app.flows.criteria import Criterion
from app.flows.models import InterviewFlow
from app.flows.queries import FlowTerms

LONGEST_NOTE = 2_000
LONGEST_TAG, MOST_TAGS = 50, 20
LONGEST_VIEW, LONGEST_QUERY, MOST_VIEWS = 100, 2_000, 50
_ATTEMPTS = 5
DEFAULT_GROUNDS = Grounds()


def enrol(
    flow: InterviewFlow,
    *,
    email: str,
    first_name: str | None,
    last_name: str | None,
    recruiter: TeamMember | None,
    is_test: bool = False,
) -> Candidate:
    """The flow's candidate with this address, created if there is none; sends no event, because no status changed.

    An existing candidate keeps their details, with only gaps filled, and leaves quarantine.
    """
    names = {"first_name": first_name, "last_name": last_name}
    db.session.flush()
    candidate_id, _is_new = enrol_without_row(flow, email=email, names=names, recruiter=recruiter, is_test=is_test)
    return db.session.get_one(Candidate, candidate_id)


def enrol_without_row(
    flow: InterviewFlow | FlowTerms,
    *,
    email: str,
    names: dict[str, str | None],
    recruiter: TeamMember | None,
    is_test: bool = False,
) -> tuple[str, bool]:
    """As ``enrol``; the candidate's id, and whether there was none before. ``names``: ``first_name``, ``last_name``.

    One statement for a new candidate, whose row is not loaded. Flush before.
    """
    recruiter_id, candidate_id = recruiter.id if recruiter else None, new_id()
    row = {
        "id": candidate_id,
        "organization_id": flow.organization_id,
        "team_id": flow.team_id,
        "flow_id": flow.id,
        "email": email,
        "address": email.lower(),
        "assigned_recruiter_id": recruiter_id,
        "is_test": is_test,
        **names,
    }
    if _new_candidate().changed(row) == 1:
        return candidate_id, True
    candidate = enrolled(flow.id, email, is_test=is_test)
    if candidate is None:
        raise Conflict("This candidate is being changed right now. Try again.")
    candidate.quarantined_at = None
    candidate.first_name = candidate.first_name or names["first_name"]
    candidate.last_name = candidate.last_name or names["last_name"]
    candidate.assigned_recruiter_id = candidate.assigned_recruiter_id or recruiter_id
    db.session.flush()
    return candidate.id, False


@cache
def _new_candidate() -> Prepared:
    status: Any = PipelineStatus.__table__
    owner: Any = sa.bindparam("organization_id", type_=sa.String)
    begins = sa.select(status.c.name).where(status.c.organization_id == owner, status.c.purpose == INVITED)
    table: Any = Candidate.__table__
    status_of_new = sa.func.coalesce(begins.limit(1).scalar_subquery(), INVITED)
    return Prepared(unless_there(table).values(organization_id=owner, status=status_of_new))


def move(
    candidate: Candidate,
    to: str,
    *,
    by: TeamMember | None,
    note: str | None = None,
    judges: bool = True,
    grounds: Grounds = DEFAULT_GROUNDS,
    seen: str | None = None,
) -> StatusChange | None:
    """Set the status, record the move in the history, and announce it. Returns None if the status is the same.

    ``by`` is None when Parley itself moves the candidate, or a program does. A move by a member also marks the result
    as reviewed, unless it says nothing about this candidate (not ``judges``), and leaves a decision record if the
    status decides.
    Of two moves at once both count, one after the other, unless the second says which status it has ``seen``.
    Raises Rejected, Conflict.
    """
    organization = candidate.flow.organization
    meanings = meanings_of(organization)
    _refuse_unseen(candidate, seen)
    if not pipeline.is_move(candidate.status, to, statuses=meanings):
        return None
    reason = (
        reasons.checked(organization, to, meanings[to], code=grounds.reason) if _is_of_person(by, grounds) else None
    )
    change = step(candidate, to, meanings, by=by, note=note, judges=judges, seen=seen)
    if change is not None:
        decisions.record([(candidate, change)], meanings[to], by=by, grounds=grounds, reason=reason)
    return change


def _is_of_person(by: TeamMember | None, grounds: Grounds) -> bool:
    """Whether someone asked for the move. Else Parley itself moves the candidate, for no reason of the list."""
    return by is not None or grounds.source is Source.API_KEY


def step(
    candidate: Candidate,
    to: str,
    meanings: Mapping[str, Meaning | None],
    *,
    by: TeamMember | None,
    note: str | None = None,
    judges: bool = True,
    seen: str | None = None,
) -> StatusChange | None:
    """As ``move``, without the decision record, which the caller writes. ``meanings``: the organization's statuses.

    Each move takes its number in the same UPDATE that checks the current status.
    """
    if note is not None and len(note) > LONGEST_NOTE:
        raise Rejected(f"The note has {len(note)} characters. The maximum is {LONGEST_NOTE}.", field="note")
    for _ in range(_ATTEMPTS):
        previous = candidate.status
        _refuse_unseen(candidate, seen)
        if not pipeline.is_move(previous, to, statuses=meanings):
            return None
        number = _step(candidate.id, previous, to)
        db.session.refresh(candidate)
        if number is not None:
            _unsay(candidate, previous, meanings)
            if by is not None and judges:
                candidate.reviewed_at = clock.now()
            return _recorded(candidate, StatusChange(number=number, previous=previous, new=to, note=note or None), by)
    raise Conflict("Someone else is moving this candidate. Try again.")


def move_back(candidate: Candidate, moved_to: str, *, by: TeamMember, grounds: Grounds = DEFAULT_GROUNDS) -> bool:
    """Undo the member's own last move. Raises Conflict if the candidate was moved since.

    Within five minutes this withdraws the decision record of that move; after that it is a new move with a record
    of its own. A result that had not been reviewed before that move, according to the history, is to review again.
    """
    meanings = meanings_of(candidate.flow.organization)
    change, undone = step_back(candidate, moved_to, meanings, by=by)
    if undone is not None:
        decisions.withdraw([(candidate, undone)], by=by)
    elif change is not None:
        meaning = meanings[change.new]
        reason = reasons.checked(candidate.flow.organization, change.new, meaning, code=grounds.reason)
        decisions.record([(candidate, change)], meaning, by=by, grounds=grounds, reason=reason)
    return change is not None


def step_back(
    candidate: Candidate, moved_to: str, meanings: Mapping[str, Meaning | None], *, by: TeamMember
) -> tuple[StatusChange | None, int | None]:
    """As ``move_back``, without touching decision records: the move, and the number of the move whose record it
    withdraws (None: too late for that).
    """
    moves = history_of(candidate)
    if candidate.status != moved_to or not moves or moves[0].by_id != by.id:
        raise Conflict(f"This candidate was moved again in the meantime. The status is now {candidate.status}.")
    last, result_at = moves[0], candidate.interviewed_at
    judged = any(one.by_id and result_at and one.at >= result_at for one in moves[1:])
    change = step(candidate, last.previous, meanings, by=by, judges=False)
    if not judged:
        forget_review(candidate)
    return change, last.number if decisions.is_fresh(last) else None


def erase(candidate: Candidate) -> None:
    """Delete a candidate and every move; the caller has detached the interviews.

    Decision records are deleted too, or kept without the person, as the organization's rule says.
    """
    decisions.forget(candidate)
    db.session.execute(
        sa.update(BulkRow).where(BulkRow.candidate_id == candidate.id).values(candidate_id=None, reason=None)
    )
    db.session.execute(sa.delete(StatusChange).where(StatusChange.candidate_id == candidate.id))
    db.session.delete(candidate)
    db.session.flush()


def note_result(
    candidate: Candidate, scores: Mapping[str, float | None] | None, criteria: Sequence[Criterion] = (), *, at: datetime
) -> None:
    """Record a new result: its overall score, if enough was assessed. It is to review."""
    candidate.interviewed_at, candidate.reviewed_at = at, None
    score_again(candidate, scores, criteria)


def score_again(
    candidate: Candidate, scores: Mapping[str, float | None] | None, criteria: Sequence[Criterion] = ()
) -> None:
    """Set the overall score: of a new result, of its scores in force, or of an older result after the newest was
    withdrawn or erased.
    """
    candidate.score = overall(scores, criteria)
    db.session.flush()


def note_review(candidate: Candidate) -> None:
    """Mark the result as reviewed."""
    candidate.reviewed_at = clock.now()
    db.session.flush()


def forget_review(candidate: Candidate) -> None:
    """Mark the result as to review again."""
    candidate.reviewed_at = None
    db.session.flush()


def assign(candidate: Candidate, recruiter: TeamMember | None) -> bool:
    """Assign the candidate to a recruiter of their flow's team, or to no one. False if nothing changes.

    Raises Rejected for a member of another team.
    """
    if recruiter is not None and candidate.team_id not in {team.id for team in recruiter.teams}:
        raise Rejected("This recruiter is not in the team that the candidate's flow belongs to.", field="recruiter")
    before, after = candidate.assigned_recruiter_id, recruiter.id if recruiter else None
    candidate.assigned_recruiter_id = after
    db.session.flush()
    return before != after


def rename(candidate: Candidate, first_name: str, last_name: str) -> bool:
    """Correct the name; empty parts are removed. False if nothing changes. Raises Rejected for one that is too long.

    Interviews keep the names that they were created with, because ``/v1`` promises so.
    """
    given = {"first_name": first_name, "last_name": last_name}
    changed = False
    for field, text in given.items():
        words = " ".join(text.split())
        if len(words) > LONGEST_NAME:
            raise Rejected(f"Enter at most {LONGEST_NAME} characters.", field=field)
        changed = changed or (getattr(candidate, field) or "") != words
        setattr(candidate, field, words or None)
    db.session.flush()
    return changed


def tag(candidate: Candidate, name: str) -> bool:
    """Add a tag. False if the candidate has it already. Raises Rejected beyond 20 tags."""
    word = checked_tag(name)
    if word in {one.name for one in candidate.tags}:
        return False
    if len(candidate.tags) >= MOST_TAGS:
        raise Rejected(f"A candidate can have at most {MOST_TAGS} tags.", field="tag")
    try:
        with db.session.begin_nested():
            candidate.tags.append(CandidateTag(organization_id=candidate.organization_id, name=word))
    except IntegrityError:  # someone else has just added it
        db.session.expire(candidate, ["tags"])
        return False
    return True


def untag(candidate: Candidate, name: str) -> bool:
    """Remove a tag. False if the candidate did not have it."""
    word = checked_tag(name)
    remaining = [one for one in candidate.tags if one.name != word]
    removed = len(remaining) < len(candidate.tags)
    candidate.tags = remaining
    db.session.flush()
    return removed


def checked_tag(name: str) -> str:
    """A tag as it is stored: in lower case, with single spaces. Raises Rejected."""
    word = " ".join(name.lower().split())
    if not word:
        raise Rejected("Enter a tag.", field="tag")
    if len(word) > LONGEST_TAG:
        raise Rejected(f"A tag can have at most {LONGEST_TAG} characters.", field="tag")
    return word


def save_view(member: TeamMember, name: str, query: str) -> SavedView:
    """Save a filter under a name, replacing one of the same name. Raises Rejected, Conflict for two windows at once."""
    words = " ".join(name.split())
    if not words or len(words) > LONGEST_VIEW:
        raise Rejected(f"Give the view a name of 1 to {LONGEST_VIEW} characters.", field="name")
    if len(query) > LONGEST_QUERY:
        raise Rejected("This filter is too long to save.", field="name")
    views = {view.name: view for view in views_of(member)}
    if words not in views and len(views) >= MOST_VIEWS:
        raise Rejected(f"You already have {MOST_VIEWS} views. Delete one first.", field="name")
    view = views.get(words) or SavedView(member_id=member.id, name=words)
    view.query = query
    try:
        with db.session.begin_nested():
            db.session.add(view)
    except IntegrityError:
        raise Conflict("You have just saved a view with this name in another window.") from None
    return view


def _refuse_unseen(candidate: Candidate, seen: str | None) -> None:
    if seen is not None and seen != candidate.status:
        name = candidate.full_name or candidate.email
        raise Conflict(f"{name} was moved to {candidate.status} in the meantime. Nothing was changed. Try again.")


def _step(candidate_id: str, previous: str, to: str) -> int | None:
    statement = (
        sa.update(Candidate)
        .where(Candidate.id == candidate_id, Candidate.status == previous)
        .values(status=to, status_changes=Candidate.status_changes + 1)
        .returning(Candidate.status_changes)
    )
    rows = db.changed_rows(statement)
    return rows[0].status_changes if rows else None


def _unsay(candidate: Candidate, previous: str, meanings: Mapping[str, Meaning | None]) -> None:
    """Someone who is no longer rejected gets no rejection that still waits to be sent."""
    if meanings.get(previous) is Meaning.REJECTED and meanings.get(candidate.status) is not Meaning.REJECTED:
        decision_mail().withdraw([candidate.id])


def _recorded(candidate: Candidate, change: StatusChange, by: TeamMember | None) -> StatusChange:
    change.candidate_id, change.by_id = candidate.id, by.id if by else None
    db.session.add(change)
    db.session.flush()
    events.status_updated([(candidate, change)])
    return change
