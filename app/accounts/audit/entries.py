"""Reads of the audit log: filtered entries, page by page, and their actions in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import selectinload

from app.accounts.models import AuditCheck, AuditEntry, Organization
from app.core import clock
from app.core.db import db

NO_MEMBER = "none"
"""Filter value for entries without a member: programs, candidates, and Parley."""
NOTED_FOR = timedelta(hours=1)
"""Viewing the same subject again within this time adds no entry."""

WORDS = {
    "organization.founded": "Created the organization",
    "organization.assess_language": "Changed whether language is assessed",
    "organization.branding": "Changed the organization's branding",
    "organization.shows_status": "Changed whether candidates see their status",
    "organization.rates_first": "Changed whether members rate before they see scores",
    "organization.answer_days": "Changed the reply deadlines for requests",
    "usage.quota": "Changed the monthly quota",
    "usage.reached": "The monthly quota is used up or nearly used up",
    "organization.demo_filled": "Created the organization's demo data",
    "organization.restored": "Parley was restored from a backup",
    "pipeline.changed": "Changed the statuses of the pipeline",
    "decision.recorded": "Made a decision about one or more candidates",
    "decision.withdrawn": "Withdrew a decision about one or more candidates",
    "decision.reasons": "Changed the reasons for decisions",
    "decision.rule": "Changed the rules for decisions",
    "decision.deleted": "Deleted decision records at the end of their retention",
    "decision.exported": "Exported decision records",
    "outreach.words": "Changed the text of an email to candidates",
    "outreach.template": "Changed the message templates",
    "outreach.plan": "Changed the email schedule for candidates",
    "audit.exported": "Exported the audit log",
    "audit.broken": "The audit log failed its check",
    "audit.other_key": "SECRET_KEY was changed",
    "member.signed_in": "Signed in",
    "member.signed_out": "Signed out",
    "member.password_changed": "Changed their password",
    "member.password_reset": "Set a new password for a member",
    "member.invited": "Invited a member",
    "member.joined": "Accepted an invitation",
    "member.reset_link": "Created a password reset link",
    "member.renamed": "Changed their name",
    "member.address_asked": "Requested a new email address for a member",
    "member.address_changed": "Changed their email address",
    "member.added": "Added a member",
    "member.changed": "Changed a member's role or teams",
    "member.disabled": "Disabled a member",
    "member.enabled": "Enabled a member",
    "member.second_factor_on": "Turned on two-step sign-in",
    "member.second_factor_off": "Turned off two-step sign-in for a member",
    "member.recovery_codes": "Created new recovery codes",
    "member.recovery_code_used": "Signed in with a recovery code",
    "team.added": "Added a team",
    "team.renamed": "Renamed a team",
    "team.deleted": "Deleted a team",
    "api_key.issued": "Created an API key",
    "api_key.rotated": "Replaced an API key",
    "api_key.still_used": "A replaced API key expires soon but is still in use",
    "api_key.revoked": "Revoked an API key",
    "api_key.refused": "An API key that no longer works was used",
    "api_key.mcp_called": "Called a parley mcp tool with an API key",
    "flow.created": "Created a flow",
    "flow.duplicated": "Duplicated a flow",
    "flow.changed": "Changed a flow",
    "flow.topic_overruled": "Kept a question or criterion about a forbidden topic",
    "flow.template_saved": "Saved a flow as a template",
    "flow.template_renamed": "Renamed a template",
    "flow.template_deleted": "Deleted a template",
    "flow.question_kept": "Added a question to the question bank",
    "flow.question_changed": "Changed a question in the question bank",
    "flow.question_deleted": "Deleted a question from the question bank",
    "flow.closed": "Closed a flow",
    "flow.reopened": "Reopened a flow",
    "flow.spoken_anew": "Generated the agent's speech for a flow again",
    "flow.archived": "Archived a flow",
    "flow.access_given": "Gave a member access to a flow",
    "flow.access_taken": "Removed a member's access to a flow",
    "flow.access_asked": "Requested access to a flow",
    "flow.access_refused": "Declined a request for access to a flow",
    "flow.narrowed": "Restricted a flow to named members",
    "flow.widened": "Opened a flow to its whole team again",
    "flow.link_on": "Turned on a flow's apply link",
    "flow.link_off": "Turned off a flow's apply link",
    "flow.link_renewed": "Created a new apply link for a flow",
    "flow.link_limited": "Changed the limits of a flow's apply link",
    "interview.seen": "Viewed an interview",
    "interview.processed_without_recording": "Processed an interview without its recording",
    "jobs.retried": "Retried jobs that had stopped",
    "interview.cancelled": "Cancelled an interview before it started",
    "interview.metadata": "Changed the metadata of an interview",
    "interview.link_extended": "Extended the link of an interview",
    "interview.assessed": "Rated an interview",
    "scores.shown_unrated": "Showed scores without rating",
    "scores.shown_in_lists": "Showed scores in lists without rating",
    "scores.rescoring": "Scored results again",
    "scores.rescoring_cancelled": "Cancelled a re-scoring",
    "scores.adopted": "Put a version of the scores in force",
    "interview.exported": "Exported an interview",
    "interview.reported": "Opened the report of an interview",
    "interview.noted": "Wrote a note on an interview",
    "interview.note_changed": "Changed a note on an interview",
    "interview.note_deleted": "Deleted a note on an interview",
    "interview.shared": "Created a share link to an interview",
    "interview.share_opened": "A share link to an interview was opened",
    "interview.unshared": "Revoked a share link to an interview",
    "interview.erased": "Erased an interview",
    "interview.erasure_proved": "Verified that an erased interview is gone",
    "candidate.erased": "Erased a candidate without interviews",
    "retention.changed": "Changed the retention rule",
    "retention.quarantined": "Quarantined old data",
    "retention.restored": "Restored data from quarantine",
    "hold.placed": "Placed a legal hold",
    "hold.released": "Released a legal hold",
    "document.seen": "Opened a candidate's document",
    "recording.fetched": "A recording was played or downloaded",
    "recordings.revoked": "Revoked the recordings of an interview",
    "candidates.cvs_confirmed": "Invited candidates from their CVs",
    "candidates.invited": "Invited candidates",
    "candidates.messaged": "Sent messages to candidates",
    "candidates.message_cancelled": "Cancelled messages to candidates",
    "candidate.moved": "Used an API key to move a candidate",
    "candidate.edited": "Edited a candidate's name or recruiter",
    "candidates.exported": "Exported candidates",
    "own_page.entered": "A candidate opened their own page with a code",
    "own_page.asked": "A candidate made a request",
    "own_page.downloaded": "A candidate downloaded their data",
    "wish.answered": "Replied to a candidate's request",
    "webhook.endpoint_added": "Added a webhook endpoint for all flows",
    "webhook.endpoint_removed": "Removed a webhook endpoint",
    "webhook.secret_rotated": "Rotated a webhook secret",
    "webhook.secret_switched": "Switched to the new webhook secret",
    "webhook.disabled": "Disabled a webhook endpoint",
    "webhook.enabled": "Enabled a webhook endpoint",
    "webhook.failing": "A webhook endpoint is failing",
    "webhook.warned": "Warned that a webhook endpoint will be disabled",
    "webhook.tested": "Sent a test event",
    "webhook.resent": "Replayed a delivery",
    "webhook.range_resent": "Replayed a range of deliveries",
    "webhook.dismissed": "Dismissed an event",
    "notices.channel_added": "Added a channel in Slack or Microsoft Teams",
    "notices.channel_changed": "Changed a channel in Slack or Microsoft Teams",
    "notices.channel_on": "Turned on a channel in Slack or Microsoft Teams",
    "notices.channel_off": "Turned off a channel in Slack or Microsoft Teams",
    "notices.channel_tested": "Sent a test notice to Slack or Microsoft Teams",
    "notices.channel_removed": "Removed a channel in Slack or Microsoft Teams",
}
"""Every action in words; a test checks that none is missing."""

GROUPS = {
    "organization": "Settings",
    "member": "Members and sign-ins",
    "api_key": "API keys",
    "flow": "Flows",
    "interview": "Interviews and recordings",
    "candidate": "Candidates",
    "own_page": "Candidates' own pages",
    "webhook": "Webhooks, Slack and Microsoft Teams",
    "audit": "Audit log",
}
"""Groups of the page's filter, by the first word of the action; ``ALSO`` adds more words."""
ALSO = {
    "organization": ("pipeline", "outreach", "usage"),
    "member": ("team",),
    "interview": ("document", "recording", "recordings", "scores", "jobs"),
    "candidate": ("candidates", "decision", "wish", "retention", "hold"),
    "webhook": ("notices",),
}


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Empty means any. Days are in UTC, both included."""

    group: str = ""
    member_id: str = ""
    subject: str = ""
    first: date | None = None
    last: date | None = None


def entries_of(
    organization: Organization, filters: AuditFilter, *, limit: int, offset: int = 0, below: int | None = None
) -> Sequence[AuditEntry]:
    """Entries, the newest first; ``below`` is the number before which to continue."""
    query = sa.select(AuditEntry).options(selectinload(AuditEntry.member)).where(*_narrowed(organization, filters))
    if below is not None:
        query = query.where(AuditEntry.number < below)
    return db.session.scalars(query.order_by(AuditEntry.number.desc()).limit(limit).offset(offset)).all()


def how_many_entries(organization: Organization, filters: AuditFilter) -> int:
    if filters == AuditFilter():
        return (
            organization.audit_seq
        )  # numbers have no gaps, and counting two million entries takes a sixth of a second
    query = sa.select(sa.func.count()).select_from(AuditEntry).where(*_narrowed(organization, filters))
    return db.session.scalar(query) or 0


def _narrowed(organization: Organization, filters: AuditFilter) -> list[sa.ColumnElement[bool]]:
    rules: list[sa.ColumnElement[bool]] = [AuditEntry.organization_id == organization.id]
    if filters.group:
        starts = (filters.group, *ALSO.get(filters.group, ()))
        rules.append(sa.or_(*(AuditEntry.action.startswith(f"{one}.", autoescape=True) for one in starts)))
    if filters.member_id == NO_MEMBER:
        rules.append(AuditEntry.member_id.is_(None))
    elif filters.member_id:
        rules.append(AuditEntry.member_id == filters.member_id)
    if filters.subject:
        rules.append(AuditEntry.subject == filters.subject)
    if filters.first:
        rules.append(AuditEntry.at >= datetime.combine(filters.first, time(), UTC))
    if filters.last:
        rules.append(AuditEntry.at < datetime.combine(filters.last, time(), UTC) + timedelta(days=1))
    return rules


def check_of(organization: Organization) -> AuditCheck | None:
    """Result of the last check; None before the first."""
    return db.session.get(AuditCheck, organization.id)


def seals() -> Sequence[str]:
    """The seals of the last checks of all organizations."""
    return db.session.scalars(sa.select(AuditCheck.seal)).all()


def unchecked(before: datetime, limit: int) -> Sequence[str]:
    """Ids of organizations whose log was not checked since ``before``, those waiting longest first."""
    checked = sa.outerjoin(Organization, AuditCheck, AuditCheck.organization_id == Organization.id)
    due = sa.or_(AuditCheck.checked_at.is_(None), AuditCheck.checked_at < before)
    query = sa.select(Organization.id).select_from(checked).where(due)
    return db.session.scalars(query.order_by(AuditCheck.checked_at, Organization.id).limit(limit)).all()


def was_noted(organization_id: str, action: str, subject: str, *, member_id: str | None) -> bool:
    """Whether the same entry was written within ``NOTED_FOR``."""
    since = clock.now() - NOTED_FOR
    same = sa.select(AuditEntry.id).where(
        AuditEntry.organization_id == organization_id,
        AuditEntry.subject == subject,
        AuditEntry.at > since,
        AuditEntry.action == action,
        AuditEntry.member_id == member_id,
    )
    return db.session.scalar(same.limit(1)) is not None
