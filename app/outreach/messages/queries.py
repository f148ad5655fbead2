"""Reads of messages: templates, who can be written to, and what was sent."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import joinedload
from sqlalchemy.orm.interfaces import ORMOption

from app.accounts.models import Organization, Role, TeamMember
from app.candidates.models import Candidate, Meaning
from app.candidates.queries import candidates_named, meanings_of
from app.core.db import db, is_id
from app.core.errors import NotFound
from app.flows.queries import VIEWED, only_viewed, reach
from app.interviews.models import Interview
from app.mail_outbox.models import QueuedMail, QueuedMailState
from app.outreach.messages.models import MessageTemplate, PersonalMessage
from app.outreach.messages.words import STARTERS
from app.outreach.models import Message
from app.outreach.queries import FAILED
from app.web.languages import DEFAULT

MOST_RECIPIENTS = 500
UNSENT = frozenset({QueuedMailState.WAITING, QueuedMailState.SENDING})


@dataclass(frozen=True, slots=True)
class Recipient:
    """A candidate who can get the message, and the newest interview, which it is about."""

    candidate: Candidate
    interview: Interview


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A candidate who gets no message, and why."""

    name: str
    reason: str
    candidate_id: str = ""


def own_templates(organization: Organization) -> list[MessageTemplate]:
    """The organization's rows by name; empty if it uses the starters."""
    query = sa.select(MessageTemplate).where(MessageTemplate.organization_id == organization.id)
    return list(db.session.scalars(query.order_by(sa.func.lower(MessageTemplate.name), MessageTemplate.id)))


def templates_of(organization: Organization) -> list[MessageTemplate]:
    """The organization's templates by name, or the starters as unsaved rows."""
    return own_templates(organization) or starters(organization)


def starters(organization: Organization) -> list[MessageTemplate]:
    """The templates that every organization begins with, as unsaved rows."""
    return [
        MessageTemplate(
            id=one.id,
            organization_id=organization.id,
            name=one.name,
            purpose=one.purpose.value,
            language=DEFAULT,
            subject=one.words.subject,
            text=one.words.text,
        )
        for one in STARTERS
    ]


def template_of(organization: Organization, template_id: str) -> MessageTemplate:
    """One of the organization's templates. Raises NotFound."""
    for one in templates_of(organization):
        if one.id == template_id:
            return one
    raise NotFound("There is no such message template in your organization.")


def recipients(
    member: TeamMember, ids: Sequence[str], *, is_rejection: bool, locked: bool = False
) -> tuple[list[Recipient], list[LeftOut]]:
    """Who of ``ids`` gets a message, in their order, and who does not. ``locked``: no one is moved until the commit."""
    candidates, view_only = candidates_named(member, ids, locked=locked), only_viewed(member)
    newest, meanings = _newest_interviews(candidates), meanings_of(member.organization)
    rejected = _rejected_before(list(newest.values())) if is_rejection else set()
    writes_to, left_out, names = [], [], dict[str, str]()
    for candidate in (candidates[one] for one in ids if one in candidates):
        interview, name = newest.get(candidate.id), candidate.full_name or candidate.email
        reason = VIEWED if candidate.flow_id in view_only else _unreachable(candidate, interview)
        if not reason and is_rejection:
            reason = _not_rejected(candidate, meanings.get(candidate.status))
        if not reason and interview and interview.id in rejected:
            reason = "A rejection message was already sent, or is about to be sent."
        if not reason and candidate.address in names:
            reason = f"Same email address as {names[candidate.address]}, who gets the message."
        if reason or interview is None:
            left_out.append(LeftOut(name, reason, candidate.id))
        else:
            writes_to.append(Recipient(candidate, interview))
            names[candidate.address] = name
    gone = len(ids) - len(candidates)
    if gone:
        who = "1 candidate" if gone == 1 else f"{gone} candidates"
        lost = "This candidate no longer exists" if gone == 1 else "These candidates no longer exist"
        left_out.append(LeftOut(who, f"{lost}, or you do not have access to them."))
    return writes_to, left_out


def _newest_interviews(candidates: dict[str, Candidate]) -> dict[str, Interview]:
    query = sa.select(Interview).where(Interview.candidate_id.in_(list(candidates)), Interview.erased_at.is_(None))
    found = db.session.scalars(query.order_by(Interview.org_seq).options(joinedload(Interview.flow)))
    return {str(one.candidate_id): one for one in found}


def _rejected_before(interviews: list[Interview]) -> set[str]:
    ids = [one.id for one in interviews]
    query = (
        sa.select(PersonalMessage.interview_id)
        .join(PersonalMessage.letter)
        .where(
            PersonalMessage.interview_id.in_(ids),
            PersonalMessage.is_rejection.is_(True),
            QueuedMail.state.not_in(FAILED),
        )
    )
    return set(db.session.scalars(query))


def _unreachable(candidate: Candidate, interview: Interview | None) -> str:
    if interview is None:
        return "The interview was erased."
    if interview.withdrawn_at is not None:
        return "The candidate has withdrawn their consent."
    if candidate.is_test:
        return "Test interviews send no emails."
    if candidate.flow.organization.disabled_at is not None:
        return "The organization is disabled."
    return "" if candidate.email else "There is no email address."


def _not_rejected(candidate: Candidate, meaning: Meaning | None) -> str:
    if meaning is Meaning.REJECTED:
        return ""
    return f"The status is {candidate.status}. Only rejected candidates get a rejection message."


def messages_to(candidate_id: str) -> list[PersonalMessage]:
    """Every message to the candidate, newest first."""
    query = sa.select(PersonalMessage).join(Interview).where(Interview.candidate_id == candidate_id)
    return _all(query.order_by(PersonalMessage.created_at.desc(), PersonalMessage.id))


def messages_about(interview_id: str) -> list[PersonalMessage]:
    """Every message that belongs to the interview, oldest first."""
    query = sa.select(PersonalMessage).where(PersonalMessage.interview_id == interview_id)
    return _all(query.order_by(PersonalMessage.created_at, PersonalMessage.id))


def waiting_rejection(candidate_id: str) -> PersonalMessage | None:
    """The rejection message to the candidate that can still be cancelled."""
    waiting = (one for one in messages_to(candidate_id) if one.is_rejection)
    return next((one for one in waiting if one.letter.state is QueuedMailState.WAITING), None)


def message_seen_by(member: TeamMember, message_id: str) -> PersonalMessage:
    """A message about an interview that the member may see. Raises NotFound."""
    query = sa.select(PersonalMessage).join(Interview).where(PersonalMessage.id == message_id, *_mine(member))
    found = db.session.scalar(query) if is_id(message_id) else None
    if found is None:
        raise NotFound("There is no such message.")
    return found


def batch_seen_by(member: TeamMember, batch: str) -> list[PersonalMessage]:
    """The messages that were sent together, of those about interviews that the member may see, in their order.

    Raises NotFound for anyone but the member who sent them and administrators.
    """
    query = sa.select(PersonalMessage).join(Interview).where(PersonalMessage.batch == batch, *_mine(member))
    if member.role is not Role.ADMIN:
        query = query.where(PersonalMessage.by_id == member.id)
    found = _all(query.order_by(PersonalMessage.created_at, PersonalMessage.id))
    if not found:
        raise NotFound("There are no such messages.")
    return found


def log_seen_by(member: TeamMember, *, limit: int, offset: int) -> tuple[list[Message | PersonalMessage], int]:
    """One page of all emails about interviews that the member sees, newest first, and their total."""
    # Messages first: SQLite, which knows no numbers of rows, would begin with all interviews of the organization.
    both = [
        sa.select(model.id, model.created_at).where(
            model.organization_id == member.organization_id,
            sa.exists().where(Interview.id == model.interview_id, *_mine(member)),
        )
        for model in (Message, PersonalMessage)
    ]
    together = sa.union_all(*both).subquery()
    total = db.session.scalar(sa.select(sa.func.count()).select_from(together)) or 0
    order = (together.c.created_at.desc(), together.c.id)
    ids = list(db.session.scalars(sa.select(together.c.id).order_by(*order).limit(limit).offset(offset)))
    found: dict[str, Message | PersonalMessage] = {}
    for one in db.session.scalars(sa.select(Message).where(Message.id.in_(ids)).options(*_people(Message))):
        found[one.id] = one
    for message in _all(sa.select(PersonalMessage).where(PersonalMessage.id.in_(ids))):
        found[message.id] = message
    return [found[one] for one in ids], total


def _all(query: sa.Select[PersonalMessage]) -> list[PersonalMessage]:
    return list(db.session.scalars(query.options(*_people(PersonalMessage))))


def _mine(member: TeamMember) -> tuple[sa.ColumnElement[bool], ...]:
    return (Interview.organization_id == member.organization_id, *reach(member, Interview))


def _people(model: type[Message] | type[PersonalMessage]) -> tuple[ORMOption, ...]:
    """What a log shows, loaded without a query per row."""
    return (
        joinedload(model.letter),
        joinedload(model.by),
        joinedload(model.interview).joinedload(Interview.flow),
    )
