"""Pages of emails to candidates: the log, the texts, and the schedule of automatic emails."""

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_admin, require_recruiter
from app.accounts.models import Role
from app.candidates.forms import chosen_ids, filter_parameters
from app.candidates.queries import candidates_named
from app.core.db import db
from app.core.errors import Conflict, NotFound, Rejected
from app.flows.models import InterviewFlow
from app.flows.queries import VIEWED
from app.gateways.mail import Mail
from app.interviews.models import Interview
from app.interviews.queries import interview_to_change
from app.outreach import actions, invitations, queries
from app.outreach import words as rules
from app.outreach.forms import PlanForm, WordsForm
from app.outreach.messages.queries import log_seen_by
from app.outreach.models import Step
from app.outreach.pages.blueprint import mails_of, pages, post, pretended, sent_test
from app.outreach.words import Words
from app.web.languages import ENGLISH_NAMES, LANGUAGES
from app.web.templating import offset_of_request

PER_PAGE = 50


@pages.post("/candidates/remind")
def remind_many() -> str | tuple[str, int] | AnyResponse:
    """Send a reminder to each selected candidate, or to all that match the filter, and list the outcomes."""
    require_recruiter()
    member = current_member()
    try:
        ids = chosen_ids(member)
    except Rejected as refusal:
        flash(refusal.message, "bad")
        return redirect(url_for("candidates.index", **filter_parameters()), 303)
    interviews = queries.open_interviews_of(member, ids)
    names = {one.id: one.full_name or one.email for one in candidates_named(member, ids).values()}
    rows = []
    for candidate_id, name in names.items():
        outcome, reason = "refused", VIEWED
        if candidate_id in interviews:
            outcome, reason = invitations.write_to(interviews[candidate_id], post(), by=member)
        if outcome == "done":
            db.session.commit()
        else:
            db.session.rollback()
        rows.append({"candidate_id": candidate_id, "name": name, "outcome": outcome, "reason": reason})
    page = render_template("outreach/reminded.html", rows=rows, back=url_for("candidates.index", **filter_parameters()))
    return page, 422 if all(row["outcome"] == "refused" for row in rows) else 200


@pages.get("/interviews/<interview_id>/mail")
def preview(interview_id: str) -> str:
    """The next email to the candidate as it arrives, with the button that sends it or the reason why there is none."""
    require_recruiter()
    interview = interview_to_change(current_member(), interview_id)
    mails = mails_of(interview)
    return render_template(
        "outreach/preview.html",
        interview=interview,
        step=mails["next"],
        hindrance=mails["hindrance"],
        sample=_next_mail(interview, mails["next"]),
        can_send=post().can_send,
    )


def _next_mail(interview: Interview, step: Step, *, link: str = "") -> Mail:
    language = actions.language_of(interview)
    words = actions.words_for(interview.organization_id, step, language)
    return actions.compose(interview, words, post(), language=language, by=current_member(), link=link)


@pages.post("/interviews/<interview_id>/mail")
def write(interview_id: str) -> AnyResponse:
    """Send the invitation or a reminder for one interview; ``test`` sends the email to the member instead.

    A test links the interview's page for recruiters, so that no one starts the interview by accident.
    """
    require_recruiter()
    member = current_member()
    interview = interview_to_change(member, interview_id)
    if "test" in request.form and post().can_send:
        sent_test(_next_mail(interview, mails_of(interview)["next"], link=interview.page_link(post().app_url)))
        return redirect(url_for("outreach.preview", interview_id=interview_id), 303)
    answer = redirect(url_for("interviews.show", interview_id=interview_id, _anchor="mails"), 303)
    name = request.form.get("step", "")
    step = Step(name) if name in {Step.INVITATION, Step.REMINDER} else Step.INVITATION
    try:
        actions.write(interview, step, post(), by=member)
    except Conflict as refusal:
        db.session.rollback()
        flash(f"Nothing was sent. {refusal.message}", "bad")
        return answer
    db.session.commit()
    flash(f"The {step.value} is being sent.", "good")
    return answer


@pages.get("/candidates/mails")
def log() -> str:
    """Sent emails, newest first, with their outcomes; for administrators also links to texts and schedule."""
    member, offset = current_member(), offset_of_request()
    messages, total = log_seen_by(member, limit=PER_PAGE, offset=offset)
    return render_template(
        "outreach/log.html",
        messages=messages,
        total=total,
        offset=offset,
        limit=PER_PAGE,
        is_admin=member.role is Role.ADMIN,
        can_send=post().can_send,
    )


@pages.route("/candidates/mails/plan", methods=["GET", "POST"])
def plan() -> str | AnyResponse | tuple[str, int]:
    """When emails are sent automatically, and the text of each email in each language."""
    require_admin()
    member = current_member()
    present = queries.plan_of(member.organization_id)
    form = PlanForm(data={"remind_after": present.remind_after, "notice_before": present.notice_before})
    if form.is_submitted():
        try:
            actions.set_plan(member.organization, form.plan(), by=member)
        except Rejected as refusal:
            db.session.rollback()
            form.blame(refusal.field, refusal.message)
        else:
            db.session.commit()
            flash("The schedule was saved.", "good")
            return redirect(url_for("outreach.plan"), 303)
    own = queries.all_own_words(member.organization_id)
    page = render_template("outreach/plan.html", form=form, steps=list(Step), languages=LANGUAGES, own=own)
    return page, 422 if form.errors else 200


@pages.get("/candidates/mails/<step>/<language>")
def words(step: str, language: str) -> str:
    """The text of one email in one language, with a sample."""
    require_admin()
    kind = _step(step, language)
    now = actions.words_for(current_member().organization_id, kind, language)
    return _words_page(kind, language, WordsForm(data={"subject": now.subject, "text": now.text}))


@pages.post("/candidates/mails/<step>/<language>")
def keep_words(step: str, language: str) -> str | AnyResponse | tuple[str, int]:
    """Show a sample of the entered text, send it to the member, save the text, or restore the default."""
    require_admin()
    member, form, kind = current_member(), WordsForm(), _step(step, language)
    try:
        chosen = None if "reset" in request.form else rules.checked(*form.subject_and_text())
    except Rejected as refusal:
        form.blame(refusal.field, refusal.message)
        return _words_page(kind, language, form), 422
    if "look" in request.form:
        return _words_page(kind, language, form)
    if chosen and "test" in request.form and post().can_send:
        sent_test(_sample(chosen, language, link=f"{post().app_url}{url_for('outreach.plan')}"))
        return _words_page(kind, language, form)
    actions.keep_words(member.organization, kind, chosen, language=language, by=member)
    db.session.commit()
    flash("The text was saved. The next email uses it." if chosen else "The default text was restored.", "good")
    return redirect(url_for("outreach.words", step=step, language=language), 303)


def _step(step: str, language: str) -> Step:
    if step not in set(Step) or language not in LANGUAGES:
        raise NotFound("There is no such email.")
    return Step(step)


def _words_page(step: Step, language: str, form: WordsForm) -> str:
    try:
        shown = rules.checked(*form.subject_and_text())
    except Rejected:
        shown = None
    return render_template(
        "outreach/words.html",
        step=step,
        language=language,
        language_name=ENGLISH_NAMES[language],
        form=form,
        places=rules.PLACES,
        own=queries.own_words(current_member().organization_id, step, language) is not None,
        sample=_sample(shown, language) if shown else None,
        can_send=post().can_send,
    )


def _sample(words: Words, language: str, *, link: str = "") -> Mail:
    me = current_member()
    named = {"org_name": me.organization.name, "title": "Nurse", "language": language}
    flow = InterviewFlow(id="…", organization=me.organization, **named)
    return actions.compose(pretended(flow), words, post(), language=language, by=me, link=link)
