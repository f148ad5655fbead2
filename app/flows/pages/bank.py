"""The question bank in the editor of a flow: as a page between two rounds of the form; a dialog where scripts run."""

from collections.abc import Sequence

from flask import render_template, request

from app.accounts.access import current_member
from app.accounts.models import Team
from app.accounts.queries import teams_seen_by
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows import overrules
from app.flows.forms import FlowForm
from app.flows.library.actions import Wording, keep_question
from app.flows.library.pages import filter_of_request, offered
from app.flows.library.queries import fingerprint_of, questions_with
from app.flows.models import MOST_QUESTIONS, InterviewFlow
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE

OWN_FIELDS = frozenset(
    {"csrf_token", "bank", "bank_text", "bank_tag", "bank_language", "bank_question", "insert", "keep"}
)
"""Fields of the page in between: the form does not get them back."""


def is_wanted() -> bool:
    """Whether the member asked for the page in between, or searches there."""
    return "bank" in request.form


def picker(flow: InterviewFlow | None) -> str:
    """The bank to choose from. Everything that was entered in the form comes along."""
    entered = [(name, value) for name, value in request.form.items(multi=True) if name not in OWN_FIELDS]
    chosen = questions_with(current_member(), request.form.getlist("bank_question"))
    found = offered(filter_of_request())
    return render_template("flows/library/pick.html", flow=flow, entered=entered, chosen=chosen, **found)


def done(form: FlowForm, flow: InterviewFlow | None) -> str | None:
    """Carry out "Add to the flow" or "Save to bank". Returns what was done as a sentence, or None for other buttons."""
    if "insert" in request.form:
        wanted = request.form.getlist("bank_question") if request.form["insert"] == "yes" else []
        questions = questions_with(current_member(), wanted)
        return _inserted(form, [question.text for question in questions])
    if "keep" in request.form:
        return _kept(form, flow, request.form["keep"])
    return None


def _inserted(form: FlowForm, texts: Sequence[str]) -> str:
    there = {fingerprint_of(entry.data or "") for entry in form.questions if (entry.data or "").strip()}
    wanted = [text for text in texts if fingerprint_of(text) not in there]
    form.grow(by=len(wanted))
    free = [entry for entry in form.questions if not (entry.data or "").strip()]
    for entry, text in zip(free, wanted, strict=False):
        entry.data = text
    if not texts:
        return "No questions were added from the bank."
    words = [f"{_questions(min(len(wanted), len(free)))} added from the bank."]
    if len(wanted) > len(free):
        words.append(
            f"{_questions(len(wanted) - len(free))} left out: a flow can have at most {MOST_QUESTIONS} questions."
        )
    if len(wanted) < len(texts):
        words.append(f"{_questions(len(texts) - len(wanted))} already in the flow.")
    return " ".join(words)


def _kept(form: FlowForm, flow: InterviewFlow | None, number: str) -> str:
    place = int(number) if number.isdecimal() and len(number) < 4 else len(form.questions)
    text = (form.questions[place].data or "").strip() if place < len(form.questions) else ""
    if not text:
        return "An empty question cannot be saved to the bank."
    team = flow.team if flow else _team(form.team_id.data or "")
    if team is None:
        return "The question was not saved to the bank. Choose a team first."
    reason = request.form.get(overrules.field_of(text), "") or ((flow.overrules or {}) if flow else {}).get(text, "")
    try:
        wording = Wording(text, form.language.data or DEFAULT_LANGUAGE, reason=reason)
        keep_question(team, wording, by=current_member())
        db.session.commit()
    except (Rejected, Conflict) as refusal:
        db.session.rollback()
        return f"Question {place + 1} was not saved to the bank. {refusal.message}"
    return f"Question {place + 1} was saved to the bank of the {team.name} team."


def _team(team_id: str) -> Team | None:
    return next((team for team in teams_seen_by(current_member()) if team.id == team_id), None)


def _questions(count: int) -> str:
    return "1 question was" if count == 1 else f"{count} questions were"
