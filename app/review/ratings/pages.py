"""Where a member rates an interview, and the card beside the machine's scores."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_member, require_recruiter
from app.core.db import db
from app.core.errors import Conflict
from app.interviews.models import Interview
from app.interviews.queries import interview_to_change
from app.review.ratings import actions
from app.review.ratings.forms import ScorecardForm, filled
from app.review.ratings.queries import can_be_rated, competences_of, own_assessments, scorecard_of

pages = Blueprint("ratings", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _card() -> dict[str, Any]:
    """For the page of an interview, asked only where a template calls it."""
    return {"scorecard_of": scorecard_of}


@pages.get("/interviews/<interview_id>/scorecard")
def scorecard(interview_id: str) -> str | AnyResponse:
    """The member's own ratings of an interview, each beside the machine's score and its reasons."""
    require_recruiter()
    member = current_member()
    interview = interview_to_change(member, interview_id)
    if not can_be_rated(interview):
        flash("This interview has no result that could be rated.", "warn")
        return _back(interview)
    form = ScorecardForm(data=filled(own_assessments(interview, member)))
    form.keep_only(competences_of(interview))
    return _page(interview, form)


@pages.post("/interviews/<interview_id>/scorecard")
def rate(interview_id: str) -> AnyResponse | tuple[str, int]:
    """Keep the member's ratings; what cannot be kept is shown again with what is wrong."""
    require_recruiter()
    member = current_member()
    interview = interview_to_change(member, interview_id)
    form, names = ScorecardForm(), competences_of(interview)
    form.keep_only(names)
    opinions, back = form.opinions(names), _back(interview)
    wrong = {**actions.flaws(interview, opinions), **form.flaws(names)} if can_be_rated(interview) else {}
    if wrong:
        form.blame(wrong)
        return _page(interview, form), 422
    try:
        changed = actions.assess(interview, opinions, by=member)
    except Conflict as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
        return back
    db.session.commit()
    flash("Your ratings are saved." if changed else "Nothing has changed.", "good" if changed else "info")
    return back


def _back(interview: Interview) -> AnyResponse:
    return redirect(url_for("interviews.show", interview_id=interview.id, _anchor="scorecard"), 303)


def _page(interview: Interview, form: ScorecardForm) -> str:
    evidence = ((interview.data.evidence if interview.data else None) or {}).get("scores", {})
    return render_template(
        "review/ratings/scorecard.html", interview=interview, form=form, rows=scorecard_of(interview), evidence=evidence
    )
