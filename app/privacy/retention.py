"""Applies an organization's retention rule: cases go into quarantine, come back, or are erased; recordings end earlier.

Every step may be repeated, and by two workers at once: each selects its rows by the state that it changes.
"""

from typing import Any

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import Organization, TeamMember
from app.candidates import actions as candidates
from app.candidates import decisions
from app.candidates.models import Candidate, DecisionRule
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.core.rooms import outbox
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.legal_holds import actions as legal_holds
from app.legal_holds.models import Held
from app.privacy import actions
from app.privacy.idle import FLOOR, Case, awake, earlier, idle, interviews_of, rule_of
from app.privacy.models import RetentionRule

LEAST_MONTHS, USUAL_MONTHS, MOST_MONTHS = 6, 24, 240
"""Records of hiring decisions are kept for at least half a year."""
LEAST_DAYS, USUAL_DAYS, MOST_DAYS = 30, 180, 3_650
RETENTION = "retention"


def set_rule(organization: Organization, *, months: int | None, media_days: int | None, by: TeamMember) -> bool:
    """Set how long data and recordings are kept; None means forever. Returns whether anything changed. Audited.

    A new or shorter period takes effect after ``FLOOR``. Turning the rule off ends all quarantine. Raises Rejected with
    the field.
    """
    check(months, media_days)
    rule = rule_of(organization.id)
    before = (rule.months, rule.media_days)
    if before == (months, media_days):
        return False
    now = clock.now()
    if months is not None and (rule.months is None or months < rule.months):
        rule.since = now
    if media_days is not None and (rule.media_days is None or media_days < rule.media_days):
        rule.media_since = now
    rule.months, rule.media_days, rule.checked_at = months, media_days, None
    db.session.add(rule)
    db.session.flush()
    if months is None:
        _let_out(Candidate.organization_id == organization.id, Interview.organization_id == organization.id)
    details = {"months": months, "media_days": media_days, "before": list(before)}
    write_audit(organization, action="retention.changed", subject=organization.id, by=by, details=details)
    return True


def check_decisions(months: int | None) -> None:
    """Raise Rejected with the field for a number of months for decision records outside the allowed range."""
    if months is not None and not LEAST_MONTHS <= months <= MOST_MONTHS:
        raise Rejected(f"Enter {LEAST_MONTHS} to {MOST_MONTHS} months, or leave this empty.", field="decision_months")


def delete_old_decisions(rule: DecisionRule) -> int:
    """Delete the organization's decision records without a person whose months are over. Returns how many. Audited.

    After the months were shortened or removed, nothing is deleted for ``FLOOR``.
    """
    if rule.since is not None and rule.since > clock.now() - FLOOR:
        return 0
    before = earlier(clock.now(), rule.months) if rule.months is not None else None
    return decisions.delete_kept(rule.organization_id, before=before)


def check(months: int | None, media_days: int | None) -> None:
    """Raise Rejected with the field for periods outside the allowed range."""
    if months is not None and not LEAST_MONTHS <= months <= MOST_MONTHS:
        raise Rejected(f"Enter {LEAST_MONTHS} to {MOST_MONTHS} months, or leave this empty.", field="months")
    if media_days is not None and not LEAST_DAYS <= media_days <= MOST_DAYS:
        raise Rejected(f"Enter {LEAST_DAYS} to {MOST_DAYS} days, or leave this empty.", field="media_days")


def is_in_force(rule: RetentionRule) -> bool:
    """Whether the rule's months are past their grace period."""
    return rule.months is not None and rule.since is not None and rule.since < clock.now() - FLOOR


def is_media_in_force(rule: RetentionRule) -> bool:
    """Whether the rule's days for recordings are past their grace period."""
    return rule.media_days is not None and rule.media_since is not None and rule.media_since < clock.now() - FLOOR


def sort_out(rule: RetentionRule, *, limit: int) -> int:
    """Move active and held cases out of quarantine and inactive ones into it. Audited. Returns how many moved."""
    if rule.months is None:
        return 0
    before, moved = earlier(clock.now(), rule.months), 0
    for case in awake(rule.organization_id, before=before, limit=limit):
        _let_out(*_place(case))
        moved += 1
    if not is_in_force(rule):
        return moved
    organization = db.session.get_one(Organization, rule.organization_id)
    for case in idle(rule.organization_id, before=before, limit=limit):
        if _put_in(case):
            details = {"latest": clock.rfc3339(case.latest), "months": rule.months}
            write_audit(organization, action="retention.quarantined", subject=case.id, by=None, details=details)
            moved += 1
    return moved


def restore(kind: Held, case_id: str, *, by: TeamMember) -> bool:
    """Restore a case from quarantine, which counts as activity. False if it was not in quarantine. Audited."""
    is_candidate = kind is Held.CANDIDATE
    case = Case(case_id, clock.now(), None, is_candidate=is_candidate, name="")
    if not _let_out(*_place(case), kept_at=clock.now()):
        return False
    write_audit(by.organization, action="retention.restored", subject=case_id, by=by, details={"kind": kind.value})
    return True


def forget_candidate(case: Case) -> bool:
    """Erase a candidate who has no interviews left. False if the case left quarantine meanwhile. Audited.

    Raises Conflict under a legal hold.
    """
    candidate = db.session.get(Candidate, case.id, with_for_update={"of": Candidate}, populate_existing=True)
    if candidate is None or candidate.quarantined_at is None or interviews_of(case):
        return False
    legal_holds.refuse_held(candidate.id)
    legal_holds.erase(candidate.id)
    organization = db.session.get_one(Organization, candidate.organization_id)
    outbox().forget(candidate.id)
    candidates.erase(candidate)
    write_audit(organization, action="candidate.erased", subject=case.id, by=None, details={"through": RETENTION})
    return True


def erase(interview_id: str) -> bool:
    """Erase an interview whose quarantine is over. False if it was restored or erased meanwhile. Audited."""
    interview = db.session.get(Interview, interview_id, with_for_update=True, populate_existing=True)
    if interview is None or interview.quarantined_at is None or interview.erased_at is not None:
        return False
    actions.erase(interview, by=None, through=RETENTION)
    return True


def revoke(interview_id: str) -> bool:
    """Revoke the recordings of an interview. False under a legal hold. Audited."""
    interview = db.session.get_one(Interview, interview_id)
    try:
        interviews.revoke_recordings(interview)
    except Conflict:
        return False
    organization = db.session.get_one(Organization, interview.organization_id)
    through = {"through": RETENTION}
    write_audit(organization, action="recordings.revoked", subject=interview_id, by=None, details=through)
    return True


def lock(kind: Held, subject_id: str) -> None:
    """Lock the rows that an erasure locks, so that a legal hold comes either before or after it.

    Raises Conflict if the data is already erased.
    """
    place = Interview.candidate_id if kind is Held.CANDIDATE else Interview.id
    rows = sa.select(Interview.erased_at).where(place == subject_id).order_by(Interview.id)
    erased_times = list(db.session.scalars(rows.with_for_update(key_share=True)))
    if kind is Held.INTERVIEW:
        is_gone = any(erased_times)
    else:  # the candidate's row too, because there may be no interview to lock
        themselves = sa.select(Candidate.id).where(Candidate.id == subject_id)
        is_gone = db.session.scalar(themselves.with_for_update(key_share=True)) is None
    if is_gone:
        raise Conflict("This is already erased.")


def _place(case: Case) -> tuple[Any, Any]:
    mine = Interview.candidate_id if case.is_candidate else Interview.id
    return Candidate.id == case.id, mine == case.id


def _put_in(case: Case) -> bool:
    return _mark(_place(case), is_in=False, quarantined_at=clock.now())


def _let_out(*places: Any, **more: Any) -> bool:
    return _mark(places, is_in=True, quarantined_at=None, **more)


def _mark(places: tuple[Any, ...], *, is_in: bool, **values: Any) -> bool:
    """Update candidates and interviews at these places that are (``is_in``) or are not in quarantine. True if any."""
    changed = 0
    models: tuple[Any, ...] = (Candidate, Interview)
    for model, place in zip(models, places, strict=True):
        column = model.quarantined_at
        rows = sa.update(model).where(place, column.is_not(None) if is_in else column.is_(None))
        changed += db.changed(rows.values(values))
    db.session.expire_all()
    return changed > 0
