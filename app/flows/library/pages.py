"""The question bank and an organization's own templates, for recruiters and administrators."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_member, require_recruiter
from app.accounts.models import Team
from app.accounts.queries import teams_seen_by
from app.core.db import db
from app.core.errors import Conflict, Forbidden, Rejected
from app.flows.forbidden_topics import check
from app.flows.forms import language_name
from app.flows.library import actions, queries
from app.flows.library.forms import QuestionForm, form_of
from app.flows.library.models import LONGEST_NAME, BankQuestion
from app.flows.library.queries import BankFilter
from app.flows.models import InterviewFlow
from app.flows.queries import flow_to_change
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE, LANGUAGES
from app.web.fields import flaw_of
from app.web.templating import offset_of_request

PER_PAGE = 25
OFFERED = 20
"""Questions that the editor offers at once."""
NO_TEAM = "You are not in a team yet. Every question belongs to a team: ask an administrator to add you to one."

Answer = str | AnyResponse | tuple[str, int]

pages = Blueprint("library", __name__)
pages.before_request(require_member)
pages.before_request(require_recruiter)


@pages.get("/flows/bank")
def bank() -> str:
    """The question bank, by words, tag and language, with the flows that use each question."""
    member, filters, offset = current_member(), filter_of_request(), offset_of_request()
    questions = queries.questions_seen_by(member, filters, limit=PER_PAGE, offset=offset)
    return render_template(
        "flows/library/bank.html",
        questions=questions,
        usage=queries.usage_of(member, questions),
        filters=filters,
        tags=queries.tags_of_bank(member),
        languages={code: language_name(code) for code in LANGUAGES},
        topics={one.id: [found.topic.name for found in check(one.text, one.language)] for one in questions},
        several_teams=len(teams_seen_by(member)) > 1,
        total=queries.how_many_questions(member, filters),
        offset=offset,
        limit=PER_PAGE,
    )


@pages.get("/flows/bank/find")
def find() -> str:
    """The questions that the flow's editor offers for a search, as a part of its dialog."""
    return render_template("flows/library/_found.html", **offered(filter_of_request()))


@pages.get("/flows/bank/new")
def new() -> str:
    """The form of a new question."""
    return _form_page(QuestionForm(data={"language": DEFAULT_LANGUAGE}), None)


@pages.post("/flows/bank/new")
def add() -> Answer:
    """Add a question to a team's bank, or show the form again with its errors."""
    form = QuestionForm()
    try:
        actions.keep_question(_team(form.team_id.data or ""), form.wording(), by=current_member())
    except (Rejected, Conflict) as refusal:
        return _refused(form, None, refusal)
    db.session.commit()
    flash("The question was added to the bank.", "good")
    return redirect(url_for("library.bank"), 303)


@pages.get("/flows/bank/<question_id>")
def edit(question_id: str) -> str:
    """The form of a question."""
    question = queries.question_seen_by(current_member(), question_id)
    return _form_page(QuestionForm(data=form_of(question)), question)


@pages.post("/flows/bank/<question_id>")
def save(question_id: str) -> Answer:
    """Save the changed question. Flows that use it keep its old words."""
    question, form = queries.question_seen_by(current_member(), question_id), QuestionForm()
    try:
        actions.change_question(question, form.wording(), by=current_member())
    except (Rejected, Conflict) as refusal:
        return _refused(form, question_id, refusal)
    db.session.commit()
    flash("The question was saved.", "good")
    return redirect(url_for("library.bank"), 303)


@pages.post("/flows/bank/<question_id>/delete")
def delete(question_id: str) -> AnyResponse:
    """Delete a question from the bank. Flows that use it keep it."""
    actions.delete_question(queries.question_seen_by(current_member(), question_id), by=current_member())
    db.session.commit()
    flash("The question was deleted from the bank. Flows that use it keep it.", "good")
    return redirect(url_for("library.bank"), 303)


@pages.get("/flows/<flow_id>/bank")
def choose(flow_id: str) -> str:
    """The questions of a flow, to add to the bank of its team."""
    return _choice(flow_to_change(current_member(), flow_id))


@pages.post("/flows/<flow_id>/bank")
def collect(flow_id: str) -> Answer:
    """Add the ticked questions of a flow to the bank of its team."""
    flow = flow_to_change(current_member(), flow_id)
    ticked = set(request.form.getlist("question"))
    texts = [text for number, text in enumerate(flow.questions) if str(number) in ticked]
    if not texts:
        return _choice(flow, error="Select at least one question."), 422
    tags, reasons, language, team = request.form.get("tags", ""), flow.overrules or {}, flow.language, flow.team
    try:
        added, there = actions.keep_all(team, texts, language=language, tags=tags, by=current_member(), reasons=reasons)
    except Rejected as refusal:
        db.session.rollback()
        return _choice(flow_to_change(current_member(), flow_id), error=refusal.message), 422
    db.session.commit()
    already = f" {_questions(there)} already in the bank." if there else ""
    flash(f"{_questions(added)} added to the bank.{already}", "good")
    return redirect(url_for("flows.show", flow_id=flow_id), 303)


@pages.post("/flows/<flow_id>/template")
def save_template(flow_id: str) -> AnyResponse:
    """Keep the settings of a flow as a template of its team."""
    flow = flow_to_change(current_member(), flow_id)
    try:
        template = actions.save_template(flow, request.form.get("name", ""), by=current_member())
    except (Rejected, Conflict) as refusal:
        return _back(f"The template was not saved. {refusal.message}", "bad", url_for("flows.show", flow_id=flow_id))
    name, team = template.name, flow.team.name
    db.session.commit()
    return _back(f"The template “{name}” was saved for the {team} team.", "good")


@pages.post("/flows/templates/<template_id>/rename")
def rename_template(template_id: str) -> AnyResponse:
    """Give a template another name."""
    template = queries.template_seen_by(current_member(), template_id)
    try:
        actions.rename_template(template, request.form.get("name", ""), by=current_member())
    except (Rejected, Conflict) as refusal:
        return _back(f"The template was not renamed. {refusal.message}", "bad")
    name = template.name
    db.session.commit()
    return _back(f"The template is now called “{name}”.", "good")


@pages.post("/flows/templates/<template_id>/delete")
def delete_template(template_id: str) -> AnyResponse:
    """Delete a template. Flows that were started from it are not affected."""
    template = queries.template_seen_by(current_member(), template_id)
    name = template.name
    actions.delete_template(template, by=current_member())
    db.session.commit()
    return _back(f"The template “{name}” was deleted. Flows that were started from it are not affected.", "good")


def filter_of_request() -> BankFilter:
    """The filter that the address or the form of the request names; what cannot be one is left out."""
    text, tag, language = (request.values.get(f"bank_{name}", "").strip() for name in ("text", "tag", "language"))
    return BankFilter(
        text="" if flaw_of(text) else text[:200],
        tag="" if flaw_of(tag) else tag[:200].lower(),
        language=language if language in LANGUAGES else "",
    )


def offered(filters: BankFilter) -> dict[str, object]:
    """What ``_found.html`` shows: the newest questions that the filter finds, and how many there are in all."""
    member = current_member()
    questions = queries.questions_seen_by(member, filters, limit=OFFERED, offset=0)
    return {
        "questions": questions,
        "total": queries.how_many_questions(member, filters),
        "filters": filters,
        "languages": {code: language_name(code) for code in LANGUAGES},
    }


def _team(team_id: str) -> Team:
    teams = teams_seen_by(current_member())
    if not teams:
        raise Rejected(NO_TEAM)
    if not team_id and len(teams) == 1:
        return teams[0]
    for team in teams:
        if team.id == team_id:
            return team
    raise Forbidden("You are not in this team.")


def _form_page(form: QuestionForm, question: BankQuestion | None) -> str:
    teams = teams_seen_by(current_member())
    form.team_id.choices = {team.id: team.name for team in teams}
    return render_template(
        "flows/library/question.html",
        form=form,
        question=question,
        teams=teams,
        no_team=NO_TEAM,
        found=check(form.text.data or "", form.language.data or DEFAULT_LANGUAGE),
        usage=queries.usage_of(current_member(), [question]).get(question.id, []) if question else [],
    )


def _refused(form: QuestionForm, question_id: str | None, refusal: Rejected | Conflict) -> tuple[str, int]:
    db.session.rollback()
    field = "text" if isinstance(refusal, Conflict) else refusal.field
    form.show_error(refusal.message, field)
    return _form_page(form, queries.question_seen_by(current_member(), question_id) if question_id else None), 422


def _choice(flow: InterviewFlow, *, error: str = "") -> str:
    return render_template(
        "flows/library/choose.html", flow=flow, kept=queries.kept_texts(flow.team_id, flow.questions), error=error
    )


def _questions(count: int) -> str:
    return "1 question was" if count == 1 else f"{count} questions were"


def _back(words: str, tone: str, to: str = "") -> AnyResponse:
    db.session.rollback()  # after a refusal; a change has been committed
    flash(words, tone)
    return redirect(to or url_for("flows.templates"), 303)


@pages.app_context_processor
def _names() -> dict[str, object]:
    return {"longest_template_name": LONGEST_NAME}
