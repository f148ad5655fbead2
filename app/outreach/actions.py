"""What is done to write to candidates. Mail goes through the outbox: here it is composed and posted, never sent."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from flask_babel import force_locale, format_date
from sqlalchemy.exc import IntegrityError

from app.accounts.actions import write_audit
from app.accounts.models import Organization, TeamMember
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.models import FlowStatus
from app.gateways.mail import Mail
from app.interviews.models import Interview, Stage
from app.mail_outbox import actions as mail_outbox
from app.mail_outbox.models import QueuedMailState
from app.outreach import words as rules
from app.outreach.models import Invited, MailWords, Message, OutreachPlan, Step
from app.outreach.queries import FAILED, Plan, messages_of, own_words
from app.outreach.words import Words
from app.web.languages import DEFAULT, LANGUAGES, LOCALES

LASTS = timedelta(days=2)
"""A mail that could not be sent for so long is given up; its failure is shown."""
PAUSE = timedelta(days=1)
MOST_REMINDERS = 3
LONGEST_PLAN = 60
INVITED_KEPT = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Post:
    """What every mail needs to know of the installation."""

    app_url: str
    link_days: int
    can_send: bool

    def ends(self, interview: Interview) -> datetime:
        """Until when the interview's link works."""
        return interview.created_at + timedelta(days=self.link_days)


def write(
    interview: Interview, step: Step, post: Post, *, by: TeamMember | None, sent: Sequence[Message] | None = None
) -> Message:
    """Post the mail of this step to the interview's candidate. The letter goes out after the caller's commit.

    Conflict where it makes no sense, or was sent before; ``sent`` are the mails so far, if the caller knows them.
    """
    known = messages_of(interview.id) if sent is None else sent
    reason = hindrance(interview, step, post, sent=known)
    if reason:
        raise Conflict(reason)
    language = language_of(interview)
    mail = compose(interview, words_for(interview.organization_id, step, language), post, language=language)
    letter = mail_outbox.post(interview.id, mail, lasts=min(LASTS, post.ends(interview) - clock.now()))
    message = Message(
        organization_id=interview.organization_id,
        interview_id=interview.id,
        letter=letter,
        step=step,
        number=sum(one.step is step for one in known),
        language=language,
        by_id=by.id if by else None,
    )
    try:
        with db.session.begin_nested():
            db.session.add(message)
    except IntegrityError:
        raise Conflict("Somebody else has just written to this candidate.") from None
    return message


def hindrance(interview: Interview, step: Step, post: Post, *, sent: Sequence[Message]) -> str | None:
    """Why this mail cannot be sent now, in a sentence for the recruiter; None if it can."""
    return _of_interview(interview, post) or _of_installation(interview, post) or _of_history(step, sent)


def _of_installation(interview: Interview, post: Post) -> str | None:
    if not post.can_send:
        return "This installation sends no mail (SMTP_HOST is not set). Copy the link and send it yourself."
    if interview.is_test:
        return "This is a test interview; nobody is written to."
    if not interview.interviewee_email_address:
        return "This interview has no email address."
    if interview.flow.organization.disabled_at is not None:
        return "The organization is shut out; its links do not work."
    return None


def _of_interview(interview: Interview, post: Post) -> str | None:
    if interview.erased_at is not None or interview.withdrawn_at is not None:
        return "The candidate has withdrawn."
    if interview.declined_at is not None:
        return "The candidate has declined the interview."
    if interview.stage is not Stage.CREATED:
        return "The candidate has begun this interview already."
    if interview.closed_at is not None or post.ends(interview) <= clock.now():
        return "The link has ended; book a new interview."
    if interview.flow.status is not FlowStatus.OPEN:
        return f"The flow is {interview.flow.status.value}; its links do not work."
    return None


def _of_history(step: Step, sent: Sequence[Message]) -> str | None:
    arrived = [one for one in sent if one.letter.state not in FAILED]
    waiting = next(
        (one for one in arrived if one.letter.state in {QueuedMailState.WAITING, QueuedMailState.SENDING}), None
    )
    if waiting is not None:
        return "A mail to this candidate is on its way."
    if step is Step.INVITATION:
        return f"The invitation was sent on {_day(arrived[0].created_at)}." if arrived else None
    if step is Step.REMINDER and sum(one.step is step for one in arrived) >= MOST_REMINDERS:
        return f"The candidate has had {MOST_REMINDERS} reminders."
    if arrived and arrived[-1].created_at > clock.now() - PAUSE:
        return "The candidate has had a mail within the last 24 hours."
    return None


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def language_of(interview: Interview) -> str:
    """The tag of the language that the candidate is written in: the flow's, as far as there are words in it."""
    language = interview.flow.language
    return language if language in LANGUAGES else DEFAULT


def words_for(organization_id: str, step: Step, language: str) -> Words:
    """The organization's words, or the product's own."""
    own = own_words(organization_id, step, language)
    if own is not None:
        return Words(own.subject, own.text)
    with force_locale(LOCALES[language]):
        return rules.default_words(step)


def compose(interview: Interview, words: Words, post: Post, *, language: str) -> Mail:
    """The mail as the candidate gets it."""
    with force_locale(LOCALES[language]):
        until = format_date(post.ends(interview).date(), "long")
    values = {
        "name": interview.interviewee_first_name or "",
        "organization": interview.flow.org_name,
        "title": interview.flow.title,
        "link": interview.link(post.app_url),
        "until": until,
    }
    full = rules.filled(words, values)
    return Mail(to=interview.interviewee_email_address or "", subject=full.subject, text=full.text)


def keep_words(organization: Organization, step: Step, words: Words | None, *, language: str, by: TeamMember) -> None:
    """The organization's words for a step in a language, or the product's own again (None). Audited."""
    own = own_words(organization.id, step, language)
    if words is None:
        if own is not None:
            db.session.delete(own)
    else:
        own = own or MailWords(organization_id=organization.id, step=step, language=language)
        own.subject, own.text, own.changed_at = words.subject, words.text, clock.now()
        _save(own)
    details = {"step": step.value, "language": language, "own": words is not None}
    write_audit(organization, action="outreach.words", subject=organization.id, by=by, details=details)
    db.session.flush()


def set_plan(organization: Organization, plan: Plan, *, by: TeamMember) -> None:
    """When the product writes by itself. Raises Rejected naming the field. Audited."""
    given = asdict(plan)
    for name, days in given.items():
        if days is not None and not 1 <= days <= LONGEST_PLAN:
            raise Rejected(f"must lie between 1 and {LONGEST_PLAN} days, or be empty", field=name)
    row = db.session.get(OutreachPlan, organization.id) or OutreachPlan(organization_id=organization.id)
    row.remind_after, row.notice_before = plan.remind_after, plan.notice_before
    _save(row)
    write_audit(organization, action="outreach.plan", subject=organization.id, by=by, details=given)
    db.session.flush()


def _save(row: MailWords | OutreachPlan) -> None:
    try:
        with db.session.begin_nested():
            db.session.add(row)
    except IntegrityError:
        raise Conflict("Somebody else has just saved this as well. Look at it again before you change it.") from None


def remember(interview: Interview, batch: str, number: int) -> None:
    """This line of the list has become this interview. Conflict when someone sends the same list at once."""
    row = Invited(
        organization_id=interview.organization_id,
        batch=batch,
        number=number,
        interview_id=interview.id,
        created_at=clock.now(),
    )
    try:
        with db.session.begin_nested():
            db.session.add(row)
    except IntegrityError:
        raise Conflict("This list is being sent at this very moment.") from None


def forget_lists() -> int:
    """Lists of more than a week ago will not be sent again."""
    return db.changed(sa.delete(Invited).where(Invited.created_at < clock.now() - INVITED_KEPT))


def erase(interview_id: str) -> None:
    """Forget what was sent about the interview; before its letters are forgotten, to which these rows point."""
    for table in (Message, Invited):
        db.changed(sa.delete(table).where(table.interview_id == interview_id))
