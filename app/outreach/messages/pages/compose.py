"""Writing a message to one or many candidates: choose a template, edit, read it as each of them gets it, and send."""

import uuid
from dataclasses import dataclass

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_recruiter
from app.candidates.forms import chosen_ids, filter_parameters
from app.core.db import db
from app.core.errors import Conflict, NotFound, Rejected
from app.outreach import actions as mails
from app.outreach.messages import actions, queries
from app.outreach.messages.actions import Draft
from app.outreach.messages.forms import ComposeForm
from app.outreach.messages.models import MessageTemplate, Purpose
from app.outreach.messages.pages.blueprint import pages, post
from app.outreach.messages.queries import MOST_RECIPIENTS, LeftOut, Recipient
from app.outreach.messages.words import PLACES
from app.web import rate_limits

NO_MAIL = "This installation cannot send email. Ask your operator to set SMTP_HOST."
TESTS_PER_MINUTE = 10


@dataclass(frozen=True, slots=True)
class _Asked:
    """Who the page writes to, who is left out, and whether it is about a rejection."""

    ids: list[str]
    is_rejection: bool
    writes_to: list[Recipient]
    left_out: list[LeftOut]


@pages.route("/candidates/message", methods=["GET", "POST"])
def compose() -> str | AnyResponse | tuple[str, int]:
    """The form with a preview; a template or another recipient shows it again. Nothing is sent."""
    require_recruiter()
    try:
        ids = _ids()
    except Rejected as refusal:
        flash(refusal.message, "bad")
        return redirect(url_for("candidates.index", **filter_parameters()), 303)
    form = ComposeForm()
    if request.method == "GET" or "subject" not in request.form:
        _begin(form)
    elif "use" in request.form:
        _use(form, _template(form.template.data or ""))
    asked = _asked(form, ids)
    try:
        draft = _draft(form) if form.subject.data or form.text.data else None
    except Rejected as refusal:
        form.blame(refusal.field, refusal.message)
        return _page(form, asked, None), 422
    if draft and asked.writes_to and "test" in request.form and post().can_send:
        _send_test(asked, draft)
    return _page(form, asked, draft)


@pages.post("/candidates/message/send")
def send() -> str | AnyResponse | tuple[str, int]:
    """Send it to all who can get it, in one transaction. A form that is sent twice sends once."""
    require_recruiter()
    member, form = current_member(), ComposeForm()
    try:
        batch, ids = _batch(), _ids()
    except Rejected as refusal:
        flash(refusal.message, "bad")
        return redirect(url_for("candidates.index", **filter_parameters()), 303)
    asked = _asked(form, ids, locked=True)
    try:
        draft = _draft(form)
        _refuse(asked)
        count = actions.send(asked.writes_to, draft, post(), batch=batch, by=member)
    except Rejected as refusal:
        db.session.rollback()
        form.blame(refusal.field, refusal.message)
        return _page(form, _asked(form, ids), None), 422
    except Conflict:  # the same form once more, which has sent everything already
        db.session.rollback()
        return redirect(url_for("messages.sent", batch=batch), 303)
    single = asked.writes_to[0].candidate.id if len(ids) == 1 else None
    db.session.commit()
    _say(count, asked)
    if single:
        return redirect(url_for("candidates.show", candidate_id=single, _anchor="emails"), 303)
    return redirect(url_for("messages.sent", batch=batch), 303)


def _say(count: int, asked: _Asked) -> None:
    what = "1 message" if count == 1 else f"{count} messages"
    if asked.is_rejection:
        flash(f"{what} will be sent in five minutes. You can cancel until then.", "good")
    else:
        flash(f"{what} {'is' if count == 1 else 'are'} being sent.", "good")
    if asked.left_out:
        names = "; ".join(f"{one.name}: {one.reason}" for one in asked.left_out[:10])
        more = f" And {len(asked.left_out) - 10} more." if len(asked.left_out) > 10 else ""
        flash(f"Left out: {names}{more}", "warn")


def _refuse(asked: _Asked) -> None:
    if not post().can_send:
        raise Rejected(NO_MAIL, field="text")
    if not asked.writes_to:
        words = "None of the selected candidates can get this message. The reasons are below."
        if len(asked.ids) == 1:
            words = "This candidate cannot get this message. The reason is below."
        raise Rejected(words, field="text")


def _ids() -> list[str]:
    ids = chosen_ids(current_member())
    if len(ids) > MOST_RECIPIENTS:
        raise Rejected(
            f"You selected {len(ids):,} candidates. A message can go to at most {MOST_RECIPIENTS}. Narrow the list.",
            field="id",
        )
    return ids


def _batch() -> str:
    try:
        return str(uuid.UUID(request.form.get("batch", "")))
    except ValueError:
        raise Rejected("Nothing was sent: this form is not complete. Write the message again.", field="id") from None


def _begin(form: ComposeForm) -> None:
    """The empty form. After a rejection it has the first template for one."""
    form.subject.data = form.text.data = form.used.data = form.template.data = ""
    form.rejection.data = "yes" if request.values.get("rejection") == "yes" else ""
    if form.rejection.data:
        templates = queries.templates_of(current_member().organization)
        _use(form, next((one for one in templates if one.purpose == Purpose.REJECTION), None))
        form.rejection.data = "yes"


def _use(form: ComposeForm, template: MessageTemplate | None) -> None:
    form.subject.data, form.text.data = (template.subject, template.text) if template else ("", "")
    form.used.data = form.template.data = template.id if template else ""
    form.rejection.data = "yes" if template and template.purpose == Purpose.REJECTION else ""


def _template(template_id: str) -> MessageTemplate | None:
    """The template, or None for no choice and for one that was deleted while the page was open."""
    try:
        return queries.template_of(current_member().organization, template_id) if template_id else None
    except NotFound:
        return None


def _asked(form: ComposeForm, ids: list[str], *, locked: bool = False) -> _Asked:
    is_rejection = form.rejection.data == "yes"
    writes_to, left_out = queries.recipients(current_member(), ids, is_rejection=is_rejection, locked=locked)
    return _Asked(ids, is_rejection, writes_to, left_out)


def _draft(form: ComposeForm) -> Draft:
    words, template = actions.checked(*form.subject_and_text()), _template(form.used.data or "")
    name, language = (template.name, template.language) if template else ("", "")
    return Draft(words, form.rejection.data == "yes", name, language)


def _send_test(asked: _Asked, draft: Draft) -> None:
    rate_limits.count("test-mail", most=TESTS_PER_MINUTE)
    member = current_member()
    mails.send_test(actions.mail_to(asked.writes_to[_at(asked)], draft, post(), by=member), to=member)
    db.session.commit()
    flash(f"A test email is on its way to {member.email}.", "good")


def _at(asked: _Asked) -> int:
    """The recipient whose message is shown, from 0."""
    value = request.values.get("to") or request.values.get("at", "")
    at = int(value) if value.isascii() and value.isdecimal() and len(value) < 4 else 0
    return min(at, max(len(asked.writes_to) - 1, 0))


def _page(form: ComposeForm, asked: _Asked, draft: Draft | None) -> str:
    member, at = current_member(), _at(asked)
    form.offer(queries.templates_of(member.organization))
    shown = asked.writes_to[at] if asked.writes_to else None
    try:
        batch = _batch()
    except Rejected:
        batch = str(uuid.uuid4())
    return render_template(
        "outreach/messages/compose.html",
        form=form,
        asked=asked,
        at=at,
        shown=shown,
        sample=actions.mail_to(shown, draft, post(), by=member) if shown and draft else None,
        places=PLACES,
        batch=batch,
        can_send=post().can_send,
        no_mail=NO_MAIL,
        filter_parameters=filter_parameters(),
    )
