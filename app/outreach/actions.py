"""Actions that email candidates. Emails are composed here and posted to the outbox, which sends them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

import sqlalchemy as sa
from flask_babel import force_locale, format_date, gettext
from sqlalchemy.exc import IntegrityError

from app.accounts.actions import write_audit
from app.accounts.models import Organization, TeamMember
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.models import FlowStatus, InterviewFlow
from app.gateways.mail import Mail
from app.interviews.models import Interview, Stage
from app.interviews.pending import link_from
from app.mail_outbox import actions as mail_outbox
from app.mail_outbox.models import QueuedMailState
from app.outreach import words as rules
from app.outreach.models import Invited, MailWords, Message, OutreachPlan, Step
from app.outreach.queries import FAILED, Plan, messages_of, own_words
from app.outreach.words import Words
from app.web.languages import DEFAULT, LANGUAGES, LOCALES

LASTS = timedelta(days=2)
"""An email that could not be sent within this time is given up, and its failure is shown."""
TEST_LASTS = timedelta(hours=1)
PAUSE = timedelta(days=1)
MOST_REMINDERS = 3
LONGEST_PLAN = 60
INVITED_KEPT = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Post:
    """Settings of the installation that every email needs."""

    app_url: str
    link_days: int
    can_send: bool

    def ends(self, interview: Interview) -> datetime:
        """When the interview's link expires."""
        return link_from(interview) + timedelta(days=self.link_days)


def write(
    interview: Interview, step: Step, post: Post, *, by: TeamMember | None, sent: Sequence[Message] | None = None
) -> Message:
    """Post the email of this step to the interview's candidate. It is sent after the caller's commit.

    ``sent`` are the earlier emails, if the caller has them. Raises Conflict if ``hindrance`` gives a reason, or
    another worker has just posted it.
    """
    earlier = messages_of(interview.id) if sent is None else sent
    reason = hindrance(interview, step, post, sent=earlier)
    if reason:
        raise Conflict(reason)
    language = language_of(interview)
    words = words_for(interview.organization_id, step, language)
    mail = compose(interview, words, post, language=language, by=by)
    letter = mail_outbox.post(interview.id, mail, lasts=min(LASTS, post.ends(interview) - clock.now()))
    message = Message(
        organization_id=interview.organization_id,
        interview_id=interview.id,
        letter=letter,
        step=step,
        number=sum(one.step is step for one in earlier),
        language=language,
        by_id=by.id if by else None,
    )
    try:
        with db.session.begin_nested():
            db.session.add(message)
    except IntegrityError:
        raise Conflict("Another email to this candidate was just sent.") from None
    return message


def hindrance(interview: Interview, step: Step, post: Post, *, sent: Sequence[Message]) -> str | None:
    """Why this email cannot be sent now, as a sentence for the recruiter; None if it can."""
    of_this = _of_interview(interview) or _of_link(interview, post)
    return of_this or _of_installation(interview, post) or _of_history(step, sent)


def _of_installation(interview: Interview, post: Post) -> str | None:
    if not post.can_send:
        return "This installation cannot send email (SMTP_HOST is not set). Copy the link and send it yourself."
    if interview.is_test:
        return "This is a test interview. It sends no emails."
    if not interview.interviewee_email_address:
        return "There is no email address for this candidate."
    if interview.flow.organization.disabled_at is not None:
        return "The organization is disabled. Its links do not work."
    return None


def _of_interview(interview: Interview) -> str | None:
    if interview.withdrawn_at is not None:
        return "The candidate has withdrawn."
    if interview.erased_at is not None:
        return "The interview was erased."
    if interview.declined_at is not None:
        return "The candidate has declined the interview."
    if interview.stage is not Stage.CREATED:
        return "The candidate has already started this interview."
    return None


def _of_link(interview: Interview, post: Post) -> str | None:
    if interview.closed_at is not None:
        return "The link was closed. Create a new interview."
    if post.ends(interview) <= clock.now():
        return "The link has expired. Create a new interview."
    if interview.flow.status is FlowStatus.ARCHIVED:
        return "The flow is archived. Its links do not work."
    if interview.flow.status is FlowStatus.CLOSED:
        return "The flow is closed. Candidates get no invitations or reminders until it is reopened."
    return None


def _of_history(step: Step, sent: Sequence[Message]) -> str | None:
    arrived = [one for one in sent if one.letter.state not in FAILED]
    waiting = next(
        (one for one in arrived if one.letter.state in {QueuedMailState.WAITING, QueuedMailState.SENDING}), None
    )
    if waiting is not None:
        return "An email to this candidate is being sent."
    if step is Step.INVITATION:
        return f"The invitation was sent on {_day(arrived[0].created_at)}." if arrived else None
    if step is Step.REMINDER and sum(one.step is step for one in arrived) >= MOST_REMINDERS:
        return f"The candidate has already received {MOST_REMINDERS} reminders."
    if arrived and arrived[-1].created_at > clock.now() - PAUSE:
        return "The candidate received an email within the last 24 hours."
    return None


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def language_of(interview: Interview) -> str:
    """Tag of the language for emails to the candidate: the flow's if there are texts in it, else the default."""
    language = interview.flow.language
    return language if language in LANGUAGES else DEFAULT


def words_for(organization_id: str, step: Step, language: str) -> Words:
    """The organization's text, or the default one."""
    own = own_words(organization_id, step, language)
    if own is not None:
        return Words(own.subject, own.text)
    with force_locale(LOCALES[language]):
        return rules.default_words(step)


def compose(
    interview: Interview, words: Words, post: Post, *, language: str, by: TeamMember | None, link: str = ""
) -> Mail:
    """The email as the candidate receives it. Replies go to ``by``, if a member sends it.

    ``link`` takes the place of the interview's link in tests, whose interview does not exist.
    """
    flow = interview.flow
    with force_locale(LOCALES[language]):
        until, button = format_date(post.ends(interview).date(), "long"), gettext("Start the interview")
    values = {
        "name": interview.interviewee_first_name or "",
        "organization": flow.org_name,
        "title": flow.title,
        "link": link or interview.link(post.app_url),
        "until": until,
    }
    full = rules.filled(words, values)
    return Mail(
        to=interview.interviewee_email_address or "",
        subject=full.subject,
        text=full.text,
        language=language,
        link=values["link"],
        button=button,
        sender=flow.org_name,
        logo=logo_url(flow, post),
        reply_to=by.email if by else "",
        accent=flow.shown_accent or "",
    )


def logo_url(flow: InterviewFlow, post: Post) -> str:
    """Where mail programs find the flow's logo; empty without one, and without https."""
    return f"{post.app_url}{flow.logo_path}" if flow.logo_path and post.app_url.startswith("https://") else ""


def send_test(sample: Mail, *, to: TeamMember) -> None:
    """Post a sample to a member, marked as a test. It is sent after the caller's commit."""
    mail_outbox.post(None, replace(sample, to=to.email, subject=f"Test: {sample.subject}"), lasts=TEST_LASTS)


def keep_words(organization: Organization, step: Step, words: Words | None, *, language: str, by: TeamMember) -> None:
    """Save the organization's text for a step in a language; None restores the default. Audited."""
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
    """Set when emails are sent automatically. Raises Rejected with the field. Audited."""
    days_by_name = asdict(plan)
    for name, days in days_by_name.items():
        if days is not None and not 1 <= days <= LONGEST_PLAN:
            raise Rejected(f"Enter 1 to {LONGEST_PLAN} days, or leave this empty.", field=name)
    row = db.session.get(OutreachPlan, organization.id) or OutreachPlan(organization_id=organization.id)
    row.remind_after, row.notice_before = plan.remind_after, plan.notice_before
    _save(row)
    write_audit(organization, action="outreach.plan", subject=organization.id, by=by, details=days_by_name)
    db.session.flush()


def _save(row: MailWords | OutreachPlan) -> None:
    try:
        with db.session.begin_nested():
            db.session.add(row)
    except IntegrityError:
        what = "this text" if isinstance(row, MailWords) else "the schedule"
        raise Conflict(f"Someone else has just changed {what}. Reload the page, then make your change.") from None


def remember(interview: Interview, batch: str, number: int) -> None:
    """Record the interview created for a line of the list. Raises Conflict if the list is sent twice at once."""
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
        raise Conflict("This list is being sent right now.") from None


def forget_lists() -> int:
    """Delete lists older than a week. Returns how many rows."""
    return db.changed(sa.delete(Invited).where(Invited.created_at < clock.now() - INVITED_KEPT))


def erase(interview_id: str) -> None:
    """Erase what was sent about the interview. Call this before the mail outbox erases: these rows point there."""
    for table in (Message, Invited):
        db.changed(sa.delete(table).where(table.interview_id == interview_id))
