"""Reads of what was sent to candidates, and of what is to be sent."""

from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import Organization, TeamMember
from app.candidates.queries import candidates_named
from app.core import clock
from app.core.db import db
from app.flows.models import FlowStatus, InterviewFlow, Right
from app.flows.queries import reach
from app.interviews.models import Interview, Stage
from app.mail_outbox.models import QueuedMail, QueuedMailState
from app.outreach.models import Invited, MailWords, Message, OutreachPlan, Step

FAILED = frozenset({QueuedMailState.REFUSED, QueuedMailState.EXPIRED})
"""The candidate has certainly not got it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the product sends by itself, in days; None: nothing."""

    remind_after: int | None = 3
    notice_before: int | None = 2


def plan_of(organization_id: str) -> Plan:
    """The organization's plan, or the product's own."""
    row = db.session.get(OutreachPlan, organization_id)
    return Plan(row.remind_after, row.notice_before) if row else Plan()


def messages_of(interview_id: str) -> list[Message]:
    """Every mail about the interview with what came of it, oldest first."""
    query = sa.select(Message).where(Message.interview_id == interview_id).order_by(Message.created_at, Message.id)
    return list(db.session.scalars(query.options(joinedload(Message.letter), joinedload(Message.by))))


def messages_seen_by(member: TeamMember, *, limit: int, offset: int) -> tuple[list[Message], int]:
    """One page of the mails that the member may know of, newest first, and how many there are."""
    mine = [Message.organization_id == member.organization_id, *reach(member, Interview)]
    query = sa.select(Message).join(Interview, Interview.id == Message.interview_id).where(*mine)
    total = db.session.scalar(sa.select(sa.func.count()).select_from(query.subquery())) or 0
    page = query.order_by(Message.created_at.desc(), Message.id).limit(limit).offset(offset)
    together = page.options(
        joinedload(Message.letter), joinedload(Message.by), joinedload(Message.interview).joinedload(Interview.flow)
    )
    return list(db.session.scalars(together)), total


def messages_of_many(interview_ids: list[str]) -> dict[str, list[Message]]:
    """The same for many interviews at once."""
    query = sa.select(Message).where(Message.interview_id.in_(interview_ids)).options(joinedload(Message.letter))
    found: dict[str, list[Message]] = {}
    for message in db.session.scalars(query.order_by(Message.created_at)):
        found.setdefault(message.interview_id, []).append(message)
    return found


def own_words(organization_id: str, step: Step, language: str) -> MailWords | None:
    """What the organization wrote itself."""
    return db.session.get(MailWords, (organization_id, step, language))


def all_own_words(organization_id: str) -> set[tuple[Step, str]]:
    """Which steps and languages the organization has words of its own for."""
    query = sa.select(MailWords.step, MailWords.language).where(MailWords.organization_id == organization_id)
    return {(row[0], row[1]) for row in db.session.execute(query)}


def standing_invitations(flow: InterviewFlow, addresses: list[str]) -> dict[str, Interview]:
    """The newest interview of the flow for each of these addresses, by the address in lower case, if there is one."""
    given = {*addresses, *(address.lower() for address in addresses)}  # SQLite knows small letters of ASCII alone
    kept = Interview.interviewee_email_address
    query = sa.select(Interview).where(Interview.flow_id == flow.id, kept.in_(given) | sa.func.lower(kept).in_(given))
    found = db.session.scalars(query.where(Interview.is_test.is_(False)).order_by(Interview.org_seq))
    return {(one.interviewee_email_address or "").lower(): one for one in found}


def invited_in(flow: InterviewFlow, batch: str) -> dict[int, Interview]:
    """What the lines of a list of people for the flow have become so far, by their numbers."""
    query = (
        sa.select(Invited.number, Interview)
        .join(Interview, Interview.id == Invited.interview_id)
        .where(Invited.batch == batch, Interview.flow_id == flow.id)
    )
    return {row[0]: row[1] for row in db.session.execute(query)}


def open_interviews_of(member: TeamMember, candidate_ids: list[str]) -> dict[str, Interview | None]:
    """For each candidate whom the member may write to, by id: the newest interview that was not begun, if any."""
    found: dict[str, Interview | None] = dict.fromkeys(candidates_named(member, candidate_ids, Right.EDIT))
    query = sa.select(Interview).where(
        Interview.candidate_id.in_(list(found)), Interview.stage == Stage.CREATED, Interview.closed_at.is_(None)
    )
    for interview in db.session.scalars(query.order_by(Interview.org_seq)):
        found[interview.candidate_id or ""] = interview
    return found


def organizations_that_write(*, link_days: int) -> list[str]:
    """Organizations that are not shut out, with an invitation by mail whose link may still be good."""
    since = clock.now() - timedelta(days=link_days)
    query = sa.select(Message.organization_id).where(Message.step == Step.INVITATION, Message.created_at > since)
    works = query.join(Organization, Organization.id == Message.organization_id).where(
        Organization.disabled_at.is_(None)
    )
    return list(db.session.scalars(works.distinct()))


def to_write(organization_id: str, step: Step, *, days: int, link_days: int, limit: int = 100) -> list[str]:
    """Interviews that wait for their reminder or notice: invited by mail, not begun, and not written to so before.

    Nobody gets two mails within a day, and nobody who has declined gets any.
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
            Interview.created_at > ends_after,
            ~said_no,
            Interview.erased_at.is_(None),
            InterviewFlow.status == FlowStatus.OPEN,
            ~again,
        )
    )
    if step is Step.REMINDER:
        query = query.where(Message.created_at <= now - timedelta(days=days))
    else:
        query = query.where(Interview.created_at <= ends_after + timedelta(days=days))
    return list(db.session.scalars(query.distinct().limit(limit)))
