"""Reads of emails to candidates: those sent and those due."""

from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import Organization, TeamMember
from app.candidates.queries import candidates_named
from app.core import clock
from app.core.db import db
from app.flows.models import FlowStatus, InterviewFlow, Right
from app.interviews.models import Interview, Stage
from app.interviews.pending import LINK_FROM
from app.mail_outbox.models import QueuedMail, QueuedMailState
from app.outreach.models import Invited, MailWords, Message, OutreachPlan, Step

FAILED = frozenset({QueuedMailState.REFUSED, QueuedMailState.EXPIRED})
"""States of emails that certainly did not reach the candidate."""


@dataclass(frozen=True, slots=True)
class Plan:
    """When emails are sent automatically, in days. None means never."""

    remind_after: int | None = 3
    notice_before: int | None = 2


def plan_of(organization_id: str) -> Plan:
    """The organization's plan, or the default."""
    row = db.session.get(OutreachPlan, organization_id)
    return Plan(row.remind_after, row.notice_before) if row else Plan()


def messages_of(interview_id: str) -> list[Message]:
    """Every email about the interview with its outcome, oldest first."""
    query = sa.select(Message).where(Message.interview_id == interview_id).order_by(Message.created_at, Message.id)
    return list(db.session.scalars(query.options(joinedload(Message.letter), joinedload(Message.by))))


def messages_of_many(interview_ids: list[str]) -> dict[str, list[Message]]:
    """Emails of many interviews by interview id, oldest first."""
    query = sa.select(Message).where(Message.interview_id.in_(interview_ids)).options(joinedload(Message.letter))
    by_interview: dict[str, list[Message]] = {}
    for message in db.session.scalars(query.order_by(Message.created_at)):
        by_interview.setdefault(message.interview_id, []).append(message)
    return by_interview


def own_words(organization_id: str, step: Step, language: str) -> MailWords | None:
    """The organization's own text; None if the default is used."""
    return db.session.get(MailWords, (organization_id, step, language))


def all_own_words(organization_id: str) -> set[tuple[Step, str]]:
    """Steps and languages for which the organization has its own text."""
    query = sa.select(MailWords.step, MailWords.language).where(MailWords.organization_id == organization_id)
    return {(row[0], row[1]) for row in db.session.execute(query)}


def standing_invitations(flow: InterviewFlow, addresses: list[str]) -> dict[str, Interview]:
    """The flow's newest interview for each of these addresses, by lower-case address. Leaves out test interviews."""
    spellings = {*addresses, *(address.lower() for address in addresses)}  # SQLite's lower() handles ASCII only
    stored = Interview.interviewee_email_address
    query = sa.select(Interview).where(
        Interview.flow_id == flow.id, stored.in_(spellings) | sa.func.lower(stored).in_(spellings)
    )
    invited = db.session.scalars(query.where(Interview.is_test.is_(False)).order_by(Interview.org_seq))
    return {(one.interviewee_email_address or "").lower(): one for one in invited}


def invited_in(flow: InterviewFlow, batch: str) -> dict[int, Interview]:
    """Interviews created so far from a list of people for the flow, by line number."""
    query = (
        sa.select(Invited.number, Interview)
        .join(Interview, Interview.id == Invited.interview_id)
        .where(Invited.batch == batch, Interview.flow_id == flow.id)
    )
    return {row[0]: row[1] for row in db.session.execute(query)}


def open_interviews_of(member: TeamMember, candidate_ids: list[str]) -> dict[str, Interview | None]:
    """By id of each candidate whom the member may email: the newest interview that was not started, or None."""
    interviews: dict[str, Interview | None] = dict.fromkeys(candidates_named(member, candidate_ids, Right.EDIT))
    query = sa.select(Interview).where(
        Interview.candidate_id.in_(list(interviews)), Interview.stage == Stage.CREATED, Interview.closed_at.is_(None)
    )
    for interview in db.session.scalars(query.order_by(Interview.org_seq)):
        interviews[interview.candidate_id or ""] = interview
    return interviews


def organizations_that_write(*, link_days: int) -> list[str]:
    """Enabled organizations with an emailed invitation whose link may still work."""
    since = clock.now() - timedelta(days=link_days)
    extended = sa.select(Interview.id).where(Interview.link_since > since)
    query = sa.select(Message.organization_id).where(
        Message.step == Step.INVITATION, (Message.created_at > since) | Message.interview_id.in_(extended)
    )
    works = query.join(Organization, Organization.id == Message.organization_id).where(
        Organization.disabled_at.is_(None)
    )
    return list(db.session.scalars(works.distinct()))


def to_write(organization_id: str, step: Step, *, days: int, link_days: int, limit: int = 100) -> list[str]:
    """Interviews due for a reminder or notice: invited by email, not started, and this step was not sent before.

    No candidate gets two emails within a day. Candidates who declined get none.
    """
    now = clock.now()
    ends_after, other = now - timedelta(days=link_days), sa.orm.aliased(Message)
    ended = (Interview.declined_at, Interview.withdrawn_at, Interview.closed_at)
    said_no = sa.or_(*(column.is_not(None) for column in ended))
    again = sa.exists().where(
        other.interview_id == Interview.id, sa.or_(other.step == step, other.created_at > now - timedelta(days=1))
    )
    query = (
        sa.select(Interview.id)
        .join(Message, sa.and_(Message.interview_id == Interview.id, Message.step == Step.INVITATION))
        .join(QueuedMail, QueuedMail.id == Message.letter_id)
        .join(InterviewFlow, InterviewFlow.id == Interview.flow_id)
        .where(
            Message.organization_id == organization_id,
            QueuedMail.state == QueuedMailState.SENT,
            Interview.stage == Stage.CREATED,
            ends_after < LINK_FROM,
            ~said_no,
            Interview.erased_at.is_(None),
            InterviewFlow.status == FlowStatus.OPEN,
            ~again,
        )
    )
    if step is Step.REMINDER:
        query = query.where(Message.created_at <= now - timedelta(days=days))
    else:
        query = query.where(ends_after + timedelta(days=days) >= LINK_FROM)
    return list(db.session.scalars(query.distinct().limit(limit)))
