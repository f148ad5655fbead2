"""Messages: sent through the outbox, cancelled before they are sent, erased; and the templates for them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts.actions import write_audit
from app.accounts.models import Organization, TeamMember
from app.candidates.decisions import UNDO_FOR
from app.core import clock
from app.core.db import db, new_id
from app.core.errors import Conflict, Rejected
from app.gateways.mail import Mail
from app.interviews.models import Interview
from app.mail_outbox import actions as mail_outbox
from app.outreach import words as rules
from app.outreach.actions import LASTS, Post, language_of, logo_url
from app.outreach.messages.models import MessageTemplate, PersonalMessage, Purpose
from app.outreach.messages.queries import Recipient, own_templates, starters, template_of
from app.outreach.messages.words import PLACES
from app.outreach.words import Words
from app.web.languages import LANGUAGES

WAITS = UNDO_FOR + timedelta(seconds=15)
"""How long a rejection waits: a little longer than an undo of the decision withdraws its record."""
LONGEST_NAME = 100
MOST_TEMPLATES = 50


@dataclass(frozen=True, slots=True)
class Draft:
    """What is sent, with placeholders. ``language`` is a template's; without one it is that of each flow."""

    words: Words
    is_rejection: bool = False
    template: str = ""
    language: str = ""


def checked(subject: str, text: str) -> Words:
    """The text as it is stored. Raises Rejected with the field."""
    return rules.checked(subject, text, places=PLACES, needs_link=False)


def mail_to(one: Recipient, draft: Draft, post: Post, *, by: TeamMember) -> Mail:
    """The message as this candidate gets it. Replies go to ``by``."""
    flow = one.interview.flow
    values = {
        "name": one.candidate.first_name or "",
        "last_name": one.candidate.last_name or "",
        "title": flow.title,
        "organization": flow.org_name,
        "sender": by.full_name or by.email,
    }
    full = rules.filled(draft.words, values)
    return Mail(
        to=one.candidate.email,
        subject=full.subject,
        text=full.text,
        language=draft.language or language_of(one.interview),
        sender=flow.org_name,
        logo=logo_url(flow, post),
        reply_to=by.email,
        accent=flow.shown_accent or "",
    )


def send(writes_to: Sequence[Recipient], draft: Draft, post: Post, *, batch: str, by: TeamMember) -> int:
    """Post the message to each recipient; returns how many. A rejection waits for ``WAITS`` first. Audited.

    Raises Conflict if the same batch is sent twice at once.
    """
    for one in writes_to:
        mail = mail_to(one, draft, post, by=by)
        letter = mail_outbox.post(
            one.interview.id,
            mail,
            lasts=LASTS,
            waits=WAITS if draft.is_rejection else mail_outbox.AT_ONCE,
            lapses=False,
        )
        db.session.add(
            PersonalMessage(
                organization_id=one.interview.organization_id,
                batch=batch,
                interview_id=one.interview.id,
                letter=letter,
                by_id=by.id,
                template=draft.template or None,
                is_rejection=draft.is_rejection,
                subject=mail.subject,
                text=mail.text,
                language=mail.language,
            )
        )
    try:
        db.session.flush()
    except IntegrityError:
        raise Conflict("This message is being sent right now.") from None
    details: dict[str, object] = {"rejection": draft.is_rejection, "n": len(writes_to)}
    subject = writes_to[0].candidate.id if len(writes_to) == 1 else by.organization_id
    write_audit(by.organization, action="candidates.messaged", subject=subject, by=by, details=details)
    return len(writes_to)


def cancel(messages: Sequence[PersonalMessage], *, by: TeamMember) -> int:
    """Withdraw those that were not sent yet; returns how many. Audited."""
    cancelled = mail_outbox.cancel([one.letter_id for one in messages])
    if cancelled:
        taken = [one for one in messages if one.letter_id in cancelled]
        subject = taken[0].interview_id if len(taken) == 1 else by.organization_id
        details: dict[str, object] = {"n": len(taken)}
        write_audit(by.organization, action="candidates.message_cancelled", subject=subject, by=by, details=details)
    db.session.expire_all()
    return len(cancelled)


def withdraw(candidate_ids: Collection[str]) -> int:
    """Withdraw rejections that were not sent yet, because these candidates were moved out of the rejected status."""
    waiting = (
        sa.select(PersonalMessage.letter_id)
        .join(Interview, Interview.id == PersonalMessage.interview_id)
        .where(Interview.candidate_id.in_(candidate_ids), PersonalMessage.is_rejection.is_(True))
    )
    letters = list(db.session.scalars(waiting))
    return len(mail_outbox.cancel(letters)) if letters else 0


def erase(interview_id: str) -> int:
    """Delete the messages that belong to the interview. Call this before the mail outbox erases: rows point there."""
    return db.changed(sa.delete(PersonalMessage).where(PersonalMessage.interview_id == interview_id))


@dataclass(frozen=True, slots=True)
class Entry:
    """What the form of a template says."""

    name: str
    purpose: str
    language: str
    subject: str
    text: str


def add_template(organization: Organization, entry: Entry, *, by: TeamMember) -> MessageTemplate:
    """Add a template to the organization's own, which begin as the starters. Raises Rejected. Audited."""
    rows = _own(organization)
    if len(rows) >= MOST_TEMPLATES:
        raise Rejected(f"You have {MOST_TEMPLATES} templates. Delete one before you add another.", field="name")
    template = MessageTemplate(id=new_id(), organization_id=organization.id)
    _fill(template, entry, others=rows)
    _save([template])
    _note(organization, {"added": template.id}, by=by)
    return template


def change_template(organization: Organization, template_id: str, entry: Entry, *, by: TeamMember) -> MessageTemplate:
    """Change a template. Raises Rejected, NotFound. Audited."""
    template = _kept(organization, template_id)
    _fill(template, entry, others=[one for one in own_templates(organization) if one.id != template.id])
    _save([template])
    _note(organization, {"changed": template.id}, by=by)
    return template


def delete_template(organization: Organization, template_id: str, *, by: TeamMember) -> None:
    """Delete a template; messages that were sent stay. Raises Rejected for the last one, NotFound. Audited."""
    template = _kept(organization, template_id)
    if len(own_templates(organization)) == 1:
        raise Rejected("Keep at least one template. You can change this one.", field="name")
    db.session.delete(template)
    _note(organization, {"deleted": template.id}, by=by)


def _fill(template: MessageTemplate, entry: Entry, *, others: Sequence[MessageTemplate]) -> None:
    name = " ".join(entry.name.split())
    if not name:
        raise Rejected("Enter a name. Members see it when they choose a template.", field="name")
    if len(name) > LONGEST_NAME:
        raise Rejected(f"The name has {len(name)} characters. The limit is {LONGEST_NAME}.", field="name")
    if name.casefold() in {one.name.casefold() for one in others}:
        raise Rejected(f"There is already a template called “{name}”. Choose another name.", field="name")
    if entry.purpose not in set(Purpose):
        raise Rejected("Choose what the template is for.", field="purpose")
    if entry.language not in LANGUAGES:
        raise Rejected("Choose a language from the list.", field="language")
    words = checked(entry.subject, entry.text)
    template.name, template.purpose, template.language = name, entry.purpose, entry.language
    template.subject, template.text, template.changed_at = words.subject, words.text, clock.now()


def _own(organization: Organization) -> list[MessageTemplate]:
    """The organization's rows; before the first change they are created from the starters."""
    rows = own_templates(organization)
    if rows:
        return rows
    made = starters(organization)
    for one in made:
        one.id = new_id()
    _save(made)
    return made


def _kept(organization: Organization, template_id: str) -> MessageTemplate:
    """The row of this template, also if the id is that of a starter."""
    name = template_of(organization, template_id).name
    return next(one for one in _own(organization) if one.name == name)


def _save(rows: Sequence[MessageTemplate]) -> None:
    try:
        with db.session.begin_nested():
            db.session.add_all(rows)
            db.session.flush()
    except IntegrityError:  # two administrators at the same moment
        raise Conflict("Someone else is changing the templates. Reload the page.") from None


def _note(organization: Organization, details: dict[str, object], *, by: TeamMember) -> None:
    write_audit(organization, action="outreach.template", subject=organization.id, by=by, details=details)
    db.session.flush()
