"""Shows a flow's author which sentences of the background the agent may read out, before anything is saved."""

from typing import Any

from flask import Blueprint, render_template

from app.accounts.access import require_member, require_recruiter
from app.conversation.script import job_questions
from app.conversation.script.machine import Script
from app.flows.forms import FlowForm
from app.flows.models import LONGEST
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE, LANGUAGES

pages = Blueprint("readable", __name__, url_prefix="/flows/readable")


@pages.before_request
def guard() -> Any:
    """A signed-in member."""
    return require_member()


@pages.post("")
def show() -> str:
    """The sentences of the form as it was typed. The editor's script takes the list out of this page."""
    require_recruiter()
    typed = FlowForm().values()
    language = typed["language"] if typed["language"] in LANGUAGES else DEFAULT_LANGUAGE
    script = Script(
        questions=tuple(typed["questions"]),
        seconds=0.0,
        language=language,
        title=typed["title"],
        org_name=typed["org_name"],
        additional_info=(typed["additional_info"] or "")[: LONGEST["additional_info"]],
        additional_instructions=typed["additional_instructions"],
        is_background_private=typed["is_background_private"],
    )
    sentences = job_questions.readable(script)
    return render_template("flows/readable.html", is_private=script.is_background_private, sentences=sentences)
