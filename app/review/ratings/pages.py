"""The page where a member rates an interview, and the scorecard next to the AI's scores."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_member, require_recruiter
from app.candidates.forms import list_query
from app.core.db import db
from app.core.errors import Conflict
from app.interviews.models import Interview
from app.interviews.queries import interview_to_change
from app.review.ratings import actions
from app.review.ratings.forms import ScorecardForm, filled
from app.review.ratings.queries import can_be_rated, competences_of, hidden_raters, own_assessments, scorecard_of

pages = Blueprint("ratings", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _card() -> dict[str, Any]:
    """Functions for the page of an interview; they query only when called."""
    return {
        "own_scorecard_of": lambda interview: scorecard_of(interview, reader=current_member()),
        "own_hidden_raters": lambda interview: hidden_raters(interview, reader=current_member()),
    }


@pages.get("/interviews/<interview_id>/scorecard")
def scorecard(interview_id: str) -> str | AnyResponse:
    """The member's own ratings of an interview, each next to the AI's score and its reason."""
    require_recruiter()
    member = current_member()
    interview = interview_to_change(member, interview_id)
    if not can_be_rated(interview):
        flash("This interview has no result to rate.", "warn")
        return _back(interview)
    form = ScorecardForm(data=filled(own_assessments(interview, member)))
    form.keep_only(competences_of(interview))
    return _page(interview, form)


@pages.post("/interviews/<interview_id>/scorecard")
def rate(interview_id: str) -> AnyResponse | tuple[str, int]:
    """Save the member's ratings, or show the form again with its errors."""
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
    flash("Ratings saved." if changed else "Nothing to change.", "good" if changed else "info")
    return back


def _back(interview: Interview) -> AnyResponse:
    return redirect(url_for("interviews.show", interview_id=interview.id, _anchor="scorecard", **list_query()), 303)


def _page(interview: Interview, form: ScorecardForm) -> str:
    evidence = ((interview.data.evidence if interview.data else None) or {}).get("scores", {})
    return render_template(
        "review/ratings/scorecard.html",
        interview=interview,
        form=form,
        rows=scorecard_of(interview, reader=current_member()),
        evidence=evidence,
        listed=list_query(),
    )
