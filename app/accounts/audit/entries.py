"""Reads of the audit log: its entries in words, narrowed, in pieces, and what was noted lately."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import selectinload

from app.accounts.models import AuditCheck, AuditEntry, Organization
from app.core import clock
from app.core.db import db

NOBODY = "none"
"""The filter's word for entries without a member: programs, candidates, and Parley itself."""
NOTED_FOR = timedelta(hours=1)
"""Looking at the same thing again within this time is no new entry."""

WORDS = {
    "organization.founded": "Founded the organization",
    "organization.assess_language": "Changed whether language is assessed",
    "organization.shows_status": "Changed whether candidates see their status",
    "organization.answer_days": "Changed the days for answers",
    "usage.quota": "Changed the monthly quota",
    "usage.reached": "The monthly quota is nearly or wholly used",
    "organization.demo_filled": "Filled the organization with demo data",
    "organization.restored": "Parley was restored from a backup",
    "pipeline.changed": "Changed the statuses of the pipeline",
    "outreach.words": "Changed the words of a mail to candidates",
    "outreach.plan": "Changed when candidates are written to",
    "audit.exported": "Exported the audit log",
    "audit.broken": "Found that the audit log is broken",
    "audit.other_key": "Found that SECRET_KEY was changed",
    "member.signed_in": "Signed in",
    "member.signed_out": "Signed out",
    "member.password_changed": "Changed the own password",
    "member.password_reset": "Set a new password for a member",
    "member.invited": "Invited a member",
    "member.joined": "Followed an invitation",
    "member.reset_link": "Made a link for a new password",
    "member.renamed": "Changed the own name",
    "member.address_asked": "Asked for another address of a member",
    "member.address_changed": "Changed the own address",
    "member.added": "Added a member",
    "member.changed": "Changed role or teams of a member",
    "member.disabled": "Disabled a member",
    "member.enabled": "Enabled a member",
    "member.second_factor_on": "Turned on two-step sign-in",
    "member.second_factor_off": "Turned off two-step sign-in of a member",
    "member.recovery_codes": "Made new recovery codes",
    "member.recovery_code_used": "Signed in with a recovery code",
    "team.added": "Added a team",
    "team.renamed": "Renamed a team",
    "team.deleted": "Deleted a team",
    "api_key.issued": "Issued an API key",
    "api_key.rotated": "Replaced an API key by a new one",
    "api_key.still_used": "A replaced API key is still used near its end",
    "api_key.revoked": "Revoked an API key",
    "api_key.refused": "An API key that no longer works was used",
    "flow.created": "Created a flow",
    "flow.duplicated": "Duplicated a flow",
    "flow.changed": "Changed a flow",
    "flow.closed": "Closed a flow",
    "flow.reopened": "Opened a flow again",
    "flow.spoken_anew": "Had the agent's voice of a flow recorded anew",
    "flow.archived": "Archived a flow",
    "flow.access_given": "Gave a member a right to a flow",
    "flow.access_taken": "Took a member's right to a flow away",
    "flow.access_asked": "Asked for access to a flow",
    "flow.access_refused": "Refused a request for access to a flow",
    "flow.narrowed": "Showed a flow to named members only",
    "flow.widened": "Showed a flow to its whole team again",
    "flow.link_on": "Turned on the share link of a flow",
    "flow.link_off": "Turned off the share link of a flow",
    "flow.link_renewed": "Made a new share link of a flow",
    "flow.link_limited": "Changed the limits of a flow's share link",
    "interview.seen": "Looked at an interview",
    "interview.processed_without_recording": "Had an interview processed without its recording",
    "jobs.retried": "Had stopped work tried again",
    "interview.assessed": "Judged an interview",
    "interview.exported": "Exported an interview",
    "interview.reported": "Opened the report of an interview",
    "interview.noted": "Wrote a note about an interview",
    "interview.note_changed": "Changed a note about an interview",
    "interview.note_deleted": "Deleted a note about an interview",
    "interview.shared": "Made a link to parts of an interview",
    "interview.share_opened": "A link to parts of an interview was opened",
    "interview.unshared": "Ended a link to parts of an interview",
    "interview.erased": "Erased an interview",
    "interview.erasure_proved": "Proved that an erased interview is gone",
    "candidate.erased": "Erased a candidate without interviews",
    "retention.changed": "Changed how long data is kept",
    "retention.quarantined": "Hid what nobody has touched for long",
    "retention.restored": "Took something out of quarantine",
    "hold.placed": "Placed a legal hold",
    "hold.released": "Released a legal hold",
    "document.seen": "Opened a document of a candidate",
    "recording.fetched": "A recording was played or downloaded",
    "recordings.revoked": "Revoked the recordings of an interview",
    "candidates.invited": "Invited candidates",
    "candidates.exported": "Exported candidates",
    "own_page.entered": "A candidate opened the own page with a code",
    "own_page.asked": "A candidate asked for something",
    "own_page.downloaded": "A candidate downloaded everything",
    "wish.answered": "Answered a request of a candidate",
    "webhook.disabled": "Disabled a webhook endpoint",
    "webhook.enabled": "Enabled a webhook endpoint",
    "webhook.failing": "A webhook endpoint is failing",
    "webhook.warned": "Warned that a webhook endpoint will be disabled",
    "webhook.tested": "Sent a test event",
    "webhook.resent": "Sent an event again",
    "webhook.range_resent": "Sent a range of events again",
    "webhook.dismissed": "Gave an event up",
}
"""Every action that is written, as people read it; a test holds the code against it."""

GROUPS = {
    "organization": "Settings",
    "member": "Members and sign-ins",
    "api_key": "API keys",
    "flow": "Flows",
    "interview": "Interviews and recordings",
    "candidate": "Candidates",
    "own_page": "What candidates did",
    "webhook": "Webhooks",
    "audit": "The log itself",
}
"""What the page offers to choose from; the first word of an action decides, after ``ALSO``."""
ALSO = {
    "organization": ("pipeline", "outreach", "usage"),
    "member": ("team",),
    "interview": ("document", "recording", "recordings", "jobs"),
    "candidate": ("candidates", "wish", "retention", "hold"),
}


@dataclass(frozen=True, slots=True)
class TrailFilter:
    """Which entries; empty means any. Days are in UTC, both included."""

    group: str = ""
    member_id: str = ""
    subject: str = ""
    first: date | None = None
    last: date | None = None


def entries_of(
    organization: Organization, found_by: TrailFilter, *, limit: int, offset: int = 0, below: int | None = None
) -> Sequence[AuditEntry]:
    """Entries, the newest first; ``below`` goes on where a piece ended."""
    found = sa.select(AuditEntry).options(selectinload(AuditEntry.member)).where(*_narrowed(organization, found_by))
    if below is not None:
        found = found.where(AuditEntry.number < below)
    return db.session.scalars(found.order_by(AuditEntry.number.desc()).limit(limit).offset(offset)).all()


def how_many_entries(organization: Organization, found_by: TrailFilter) -> int:
    """How many there are in all."""
    found = sa.select(sa.func.count()).select_from(AuditEntry).where(*_narrowed(organization, found_by))
    return db.session.scalar(found) or 0


def _narrowed(organization: Organization, found_by: TrailFilter) -> list[sa.ColumnElement[bool]]:
    rules: list[sa.ColumnElement[bool]] = [AuditEntry.organization_id == organization.id]
    if found_by.group:
        starts = (found_by.group, *ALSO.get(found_by.group, ()))
        rules.append(sa.or_(*(AuditEntry.action.startswith(f"{one}.", autoescape=True) for one in starts)))
    if found_by.member_id == NOBODY:
        rules.append(AuditEntry.member_id.is_(None))
    elif found_by.member_id:
        rules.append(AuditEntry.member_id == found_by.member_id)
    if found_by.subject:
        rules.append(AuditEntry.subject == found_by.subject)
    if found_by.first:
        rules.append(AuditEntry.at >= datetime.combine(found_by.first, time(), UTC))
    if found_by.last:
        rules.append(AuditEntry.at < datetime.combine(found_by.last, time(), UTC) + timedelta(days=1))
    return rules


def check_of(organization: Organization) -> AuditCheck | None:
    """What came of the last check of the chain; None before the first."""
    return db.session.get(AuditCheck, organization.id)


def seals() -> Sequence[str]:
    """The seals of all organizations' last checks."""
    return db.session.scalars(sa.select(AuditCheck.seal)).all()


def unchecked(before: datetime, limit: int) -> Sequence[str]:
    """Ids of organizations whose chain was not checked since ``before``, those that wait the longest first."""
    checked = sa.outerjoin(Organization, AuditCheck, AuditCheck.organization_id == Organization.id)
    due = sa.or_(AuditCheck.checked_at.is_(None), AuditCheck.checked_at < before)
    found = sa.select(Organization.id).select_from(checked).where(due)
    return db.session.scalars(found.order_by(AuditCheck.checked_at, Organization.id).limit(limit)).all()


def was_noted(organization_id: str, action: str, subject: str, *, member_id: str | None) -> bool:
    """Whether the same was written within ``NOTED_FOR``."""
    since = clock.now() - NOTED_FOR
    same = sa.select(AuditEntry.id).where(
        AuditEntry.organization_id == organization_id,
        AuditEntry.subject == subject,
        AuditEntry.at > since,
        AuditEntry.action == action,
        AuditEntry.member_id == member_id,
    )
    return db.session.scalar(same.limit(1)) is not None
