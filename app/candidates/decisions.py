"""Decision records: written with the move that decides, withdrawn by an undo, kept or deleted when the person goes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import Organization, TeamMember
from app.candidates.models import DECIDING, Candidate, DecisionRecord, DecisionRule, Meaning, Source, StatusChange
from app.candidates.reasons import Reason
from app.core import clock
from app.core.db import db, new_id
from app.core.rooms import InForce, ratings, scores

UNDO_FOR = timedelta(minutes=5)
"""How long an undo withdraws the record. After that, a move back is a move like any other."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """Where a move was made and why: the ``reason`` is a code of the organization's list, or empty.

    ``decided_by`` is who decided according to the program whose API key moved the candidate.
    """

    source: Source = Source.PAGE
    reason: str = ""
    decided_by: str | None = None


Moved = tuple[Candidate, StatusChange]


def record(
    moves: Sequence[Moved], meaning: Meaning | None, *, by: TeamMember | None, grounds: Grounds, reason: Reason | None
) -> None:
    """Write the records of moves into statuses of one ``meaning``, in one statement. Audited, once for all of them.

    Does nothing for a meaning that does not decide, and for moves that Parley itself makes.
    """
    if not moves or meaning not in DECIDING or (by is None and grounds.decided_by is None):
        return
    ids = [candidate.id for candidate, _change in moves]
    rated, versions = ratings().own_ratings(by.id, ids) if by else {}, scores().versions_in_force(ids)
    rows = [
        {
            "id": new_id(),
            "organization_id": candidate.organization_id,
            "flow_id": candidate.flow_id,
            "candidate_id": candidate.id,
            "number": change.number,
            "previous": change.previous,
            "status": change.new,
            "meaning": meaning,
            "at": change.at,
            "by_id": change.by_id,
            "decided_by": grounds.decided_by,
            "source": grounds.source,
            "reason_code": reason.code if reason else None,
            "reason": reason.label if reason else None,
            **_versions(versions.get(candidate.id)),
            "own_rating": rated.get(candidate.id),
        }
        for candidate, change in moves
    ]
    db.session.execute(sa.insert(DecisionRecord), rows)
    code = reason.code if reason else None
    details: dict[str, object] = {"meaning": meaning.value, "source": grounds.source.value, "reason": code}
    if grounds.source is Source.API_KEY:
        details["through"] = "/v1"
    _note([candidate for candidate, _change in moves], "decision.recorded", details, by=by)


def _versions(in_force: InForce | None) -> dict[str, int | None]:
    return {
        "score_version": in_force.scores if in_force else None,
        "criteria_version": in_force.criteria if in_force else None,
    }


def is_fresh(change: StatusChange, *, asked_at: datetime | None = None) -> bool:
    """Whether an undo of this move, asked for now or at that time, still withdraws its record."""
    return (asked_at or clock.now()) - change.at <= UNDO_FOR


def withdraw(undone: Sequence[tuple[Candidate, int]], *, by: TeamMember) -> int:
    """Mark the records of these moves (candidate and number) as withdrawn, if there are any. Audited.

    Returns how many there were. They stay.
    """
    if not undone:
        return 0
    places = [(candidate.id, number) for candidate, number in undone]
    mine = sa.tuple_(DecisionRecord.candidate_id, DecisionRecord.number).in_(places)
    statement = sa.update(DecisionRecord).where(mine, DecisionRecord.withdrawn_at.is_(None))
    statement = statement.values(withdrawn_at=clock.now(), withdrawn_by_id=by.id)
    found = {row.candidate_id for row in db.changed_rows(statement.returning(DecisionRecord.candidate_id))}
    _note([candidate for candidate, _number in undone if candidate.id in found], "decision.withdrawn", {}, by=by)
    return len(found)


def _note(candidates: Sequence[Candidate], action: str, details: dict[str, object], *, by: TeamMember | None) -> None:
    """One entry: about the candidate, or with a number about the organization's candidates."""
    if not candidates:
        return
    organization = db.session.get_one(Organization, candidates[0].organization_id)
    is_one = len(candidates) == 1
    subject = candidates[0].id if is_one else organization.id
    details = details if is_one else {**details, "n": len(candidates)}
    write_audit(organization, action=action, subject=subject, by=by, details=details)


def months_kept(organization_id: str) -> int | None:
    """How many months after a decision its record is kept without the person; None: deleted with the candidate."""
    rule = db.session.get(DecisionRule, organization_id)
    return rule.months if rule else None


def forget(candidate: Candidate) -> None:
    """Before a candidate is erased: delete their records, or keep them without the person, as the rule says.

    What is kept names no one but members: status, time, reason and rating, and a random text that is the same in all
    records of this candidate. The notes go with the moves.
    """
    mine = DecisionRecord.candidate_id == candidate.id
    if months_kept(candidate.organization_id) is None:
        db.session.execute(sa.delete(DecisionRecord).where(mine))
        return
    nameless = {"candidate_id": None, "pseudonym": new_id()}
    db.session.execute(sa.update(DecisionRecord).where(mine).values(nameless))


def delete_kept(organization_id: str, *, before: datetime | None) -> int:
    """Delete records without a person, all or those of decisions ``before`` a time. Returns how many. Audited."""
    old = [DecisionRecord.organization_id == organization_id, DecisionRecord.candidate_id.is_(None)]
    if before is not None:
        old.append(DecisionRecord.at < before)
    count = db.changed(sa.delete(DecisionRecord).where(*old))
    if count:
        organization = db.session.get_one(Organization, organization_id)
        write_audit(organization, action="decision.deleted", subject=organization_id, by=None, details={"n": count})
    return count


def records_kept(organization_id: str) -> int:
    """How many records without a person the organization has."""
    mine = (DecisionRecord.organization_id == organization_id, DecisionRecord.candidate_id.is_(None))
    return db.session.scalar(sa.select(sa.func.count()).select_from(DecisionRecord).where(*mine)) or 0


def set_months(organization: Organization, months: int | None, *, by: TeamMember) -> bool:
    """Set how long records are kept without the person. False if nothing changes. Audited.

    The caller has checked the number.
    """
    rule = db.session.get(DecisionRule, organization.id) or DecisionRule(organization_id=organization.id)
    if rule.months == months:
        return False
    before = rule.months
    if before is not None and (months is None or months < before):
        rule.since = clock.now()
    rule.months = months
    db.session.add(rule)
    db.session.flush()
    details = {"decision_months": {"from": before, "to": months}}
    write_audit(organization, action="decision.rule", subject=organization.id, by=by, details=details)
    return True


def rules_due(*, before: datetime, limit: int) -> list[DecisionRule]:
    """Rules that were last applied ``before`` a time, or never; longest wait first."""
    late = sa.or_(DecisionRule.checked_at.is_(None), DecisionRule.checked_at < before)
    query = sa.select(DecisionRule).where(late).order_by(DecisionRule.checked_at, DecisionRule.organization_id)
    return list(db.session.scalars(query.limit(limit)))
