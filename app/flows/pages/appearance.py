"""What candidates will see of a flow, beside its form: made of what is typed, and never stored."""

from flask import render_template, request
from flask_babel import force_locale

from app.accounts.access import current_member, require_recruiter
from app.flows.forms import FlowForm
from app.flows.length import likely_minutes
from app.flows.models import MOST_QUESTIONS
from app.flows.pages.flows import pages, settings
from app.flows.queries import flow_to_change
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE
from app.web.languages import LANGUAGES, LOCALES, RIGHT_TO_LEFT

SHOWN = 1_000
"""Characters of each text: enough to see how it looks."""


@pages.post("/flows/appearance")
def appearance() -> str:
    """The beginning of the candidate's page and what the agent says first, in the flow's language, as a part of a page.

    ``flow``: the flow that is edited, for its logo. Nothing is checked: the form says what is wrong when it is saved.
    """
    require_recruiter()
    flow_id = request.args.get("flow", "")
    flow = flow_to_change(current_member(), flow_id) if flow_id else None
    form = FlowForm()
    typed = form.values()
    language = typed["language"] if typed["language"] in LANGUAGES else DEFAULT_LANGUAGE
    questions = [text[:SHOWN] for text in typed["questions"][:MOST_QUESTIONS]]
    most = form.limit() or settings().interview_minutes
    shown = {
        "org_name": typed["org_name"][:SHOWN],
        "question_count": len(questions),
        "time_limit_seconds": 60 * most,
        "likely_minutes": likely_minutes(len(questions), most=most),
        "is_video_enabled": typed["is_video_enabled"],
    }
    with force_locale(LOCALES[language]):
        return render_template(
            "conversation/_appearance.html",
            flow=shown,
            title=typed["title"][:SHOWN],
            intro=(typed["intro"] or "")[:SHOWN],
            first=questions[0] if questions else "",
            language=language,
            direction="rtl" if language in RIGHT_TO_LEFT else "ltr",
            logo_path=flow.logo_path if flow and flow.company_logo_url == typed["company_logo_url"] else None,
            has_new_logo=bool(typed["company_logo_url"])
            and not (flow and flow.company_logo_url == typed["company_logo_url"]),
        )
