"""An organization's own pipeline: add, rename, reorder and remove statuses.

Moves send events, renames do not, because no candidate moves. The history keeps the names of its time.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts.actions import write_audit
from app.accounts.models import Organization, TeamMember
from app.candidates import actions, decisions
from app.candidates.decisions import Grounds, Moved
from app.candidates.models import (
    DEFAULT_MEANINGS,
    DEFAULT_STATUSES,
    INTERVIEWED,
    INVITED,
    Candidate,
    Meaning,
    PipelineStatus,
    Source,
)
from app.candidates.queries import columns_of, meanings_of
from app.core.db import db
from app.core.errors import Conflict, NotFound, Rejected

MOST_COLUMNS = 20
MOST_MOVED = 200
"""Candidates that move when their status is removed: each move sends an event."""
LONGEST_NAME = 100


def own_columns(organization: Organization) -> list[PipelineStatus]:
    """The organization's rows; before the first change they are created from the six defaults."""
    columns = columns_of(organization)
    if columns:
        return columns
    purposes = {INVITED, INTERVIEWED}
    defaults = [
        PipelineStatus(
            organization_id=organization.id,
            name=name,
            position=position,
            purpose=name if name in purposes else None,
            meaning=DEFAULT_MEANINGS[name].value,
        )
        for position, name in enumerate(DEFAULT_STATUSES)
    ]
    try:
        with db.session.begin_nested():
            db.session.add_all(defaults)
    except IntegrityError:  # two administrators began at the same moment
        return columns_of(organization)
    return defaults


def add(organization: Organization, name: str, *, by: TeamMember, meaning: str = Meaning.OPEN) -> PipelineStatus:
    """Add a status at the end. Raises Rejected for a name that is empty, too long or in use, for a meaning that is
    none, and beyond 20.
    """
    columns = own_columns(organization)
    if len(columns) >= MOST_COLUMNS:
        raise Rejected(f"A pipeline can have at most {MOST_COLUMNS} statuses. Remove one first.", field="name")
    column = PipelineStatus(
        organization_id=organization.id,
        name=_checked(name, columns),
        position=columns[-1].position + 1,
        meaning=_meaning(meaning).value,
    )
    _save(column)
    _note(column, organization, {"added": column.id}, by=by)
    return column


def rename(organization: Organization, column_id: str, name: str, *, by: TeamMember) -> None:
    """Rename a status together with its candidates' status, without events. Raises Rejected."""
    columns = own_columns(organization)
    column = _one(columns, column_id)
    new = _checked(name, [other for other in columns if other is not column])
    if new == column.name:
        return
    old, column.name = column.name, new
    _save(column)
    db.session.execute(
        sa.update(Candidate)
        .where(Candidate.organization_id == organization.id, Candidate.status == old)
        .values(status=new)
        .execution_options(synchronize_session="fetch")
    )
    _note(column, organization, {"renamed": column.id}, by=by)


def set_meaning(organization: Organization, column_id: str, meaning: str, *, by: TeamMember) -> None:
    """Say what a status means. No candidate moves, and records of earlier decisions stay as they are.

    Raises Rejected for a word that is no meaning, and for the two that Parley itself moves candidates to, which are
    always open.
    """
    columns = own_columns(organization)
    column = _one(columns, column_id)
    wanted = _meaning(meaning)
    if column.purpose is not None and wanted is not Meaning.OPEN:
        raise Rejected(
            f"Parley itself moves candidates to “{column.name}”, so the meaning of this status is always “open”.",
            field="meaning",
        )
    if column.meaning == wanted:
        return
    before, column.meaning = column.meaning, wanted.value
    _save(column)
    _note(column, organization, {"meaning": {"from": before, "to": wanted.value}}, by=by)


def _meaning(word: str) -> Meaning:
    try:
        return Meaning(word)
    except ValueError:
        raise Rejected("Choose what the status means.", field="meaning") from None


def shift(organization: Organization, column_id: str, steps: int, *, by: TeamMember) -> None:
    """Move a status one place to the left (-1) or to the right (1), if there is one."""
    columns = own_columns(organization)
    column = _one(columns, column_id)
    at = columns.index(column)
    to = max(0, min(len(columns) - 1, at + (1 if steps > 0 else -1)))
    columns.insert(to, columns.pop(at))
    for position, one in enumerate(columns):
        one.position = position
    db.session.flush()
    _note(column, organization, {"arranged": column.id}, by=by)


def remove(organization: Organization, column_id: str, *, into: str, by: TeamMember) -> int:
    """Remove a status; its candidates move to ``into``, with an event for each. Returns the number of moves.

    Raises Rejected for the two that Parley itself needs, for too many candidates, and without a valid ``into``.
    """
    columns = own_columns(organization)
    column = _one(columns, column_id)
    if column.purpose is not None:
        raise Rejected(
            f"Parley itself moves candidates to “{column.name}”, so this status cannot be removed. Rename it instead.",
            field="into",
        )
    there = sa.select(Candidate).where(Candidate.organization_id == organization.id, Candidate.status == column.name)
    in_order = there.order_by(Candidate.id).with_for_update(key_share=True)  # as bulk changes do
    people = list(db.session.scalars(in_order.limit(MOST_MOVED + 1)))
    if len(people) > MOST_MOVED:
        raise Rejected(f"More than {MOST_MOVED} candidates are in “{column.name}”. Move them first.", field="into")
    if people and into not in {other.name for other in columns if other is not column}:
        raise Rejected("Choose the status to move its candidates to.", field="into")
    meanings, moves = meanings_of(organization), list[Moved]()
    for candidate in people:
        change = actions.step(candidate, into, meanings, by=by, judges=False)
        moves += [(candidate, change)] if change else []
    if people:  # no reason is asked for: this says something about the pipeline, not about each candidate
        decisions.record(moves, meanings[into], by=by, grounds=Grounds(Source.STATUSES), reason=None)
    db.session.delete(column)
    for position, one in enumerate(other for other in columns if other is not column):
        one.position = position  # `/v1` shows it, and the feed of changes sees what is stored
    db.session.flush()
    _note(column, organization, {"removed": column_id, "moved": len(people)}, by=by)
    return len(people)


def _one(columns: Sequence[PipelineStatus], column_id: str) -> PipelineStatus:
    """By id, or by name if the page still showed the defaults."""
    for column in columns:
        if column_id in {column.id, column.name}:
            return column
    raise NotFound("There is no such status in your pipeline.")


def _checked(name: str, others: Sequence[PipelineStatus]) -> str:
    words = " ".join(name.split())
    if not words:
        raise Rejected("Give the status a name.", field="name")
    if len(words) > LONGEST_NAME:
        raise Rejected(f"The name has {len(words)} characters. The maximum is {LONGEST_NAME}.", field="name")
    if words.casefold() in {other.name.casefold() for other in others}:
        raise Rejected(f"A status called “{words}” already exists.", field="name")
    return words


def _save(column: PipelineStatus) -> None:
    try:
        with db.session.begin_nested():
            db.session.add(column)
            db.session.flush()
    except IntegrityError:
        raise Conflict("Someone else is changing the pipeline. Reload the page.") from None


def _note(column: PipelineStatus, organization: Organization, details: dict[str, object], *, by: TeamMember) -> None:
    write_audit(organization, action="pipeline.changed", subject=column.id, by=by, details=details)
