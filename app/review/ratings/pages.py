"""The page where a member rates an interview, and the scorecard next to the AI's scores."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_member, require_recruiter, safe_next
from app.candidates.forms import list_query
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.interviews.models import Interview
from app.interviews.queries import interview_seen_by, interview_to_change
from app.review.rate_first import actions as rate_first
from app.review.rate_first.queries import HiddenResult, reveals_of, shown_result
from app.review.ratings import actions
from app.review.ratings.forms import ScorecardForm, filled, reasons_in, scorecard_form, value_in
from app.review.ratings.queries import (
    answer_ratings_of,
    can_be_rated,
    competences_of,
    criteria_of,
    differences_of,
    hidden_raters,
    own_assessments,
    questions_of,
    scorecard_of,
)

pages = Blueprint("ratings", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _card() -> dict[str, Any]:
    """Functions for the page of an interview; they query only when called."""
    return {
        "own_scorecard_of": lambda interview: scorecard_of(interview, reader=current_member()),
        "own_hidden_raters": lambda interview: hidden_raters(interview, reader=current_member()),
        "own_answer_ratings_of": lambda interview: answer_ratings_of(interview, reader=current_member()),
        "own_differences_of": lambda interview: differences_of(interview, current_member()),
        "score_reveals": reveals_of,
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
    return _page(interview, _form(interview, filled(own_assessments(interview, member))))


@pages.post("/interviews/<interview_id>/scorecard")
def rate(interview_id: str) -> AnyResponse | tuple[str, int]:
    """Save the member's ratings, or show the form again with its errors."""
    require_recruiter()
    member = current_member()
    interview = interview_to_change(member, interview_id)
    names = [*competences_of(interview), *questions_of(interview)]
    form = _form(interview)
    opinions, back = form.opinions(names), _back(interview)
    wrong = {**actions.flaws(interview, opinions, by=member), **form.flaws(names)} if can_be_rated(interview) else {}
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


@pages.post("/interviews/<interview_id>/rating")
def rate_overall(interview_id: str) -> AnyResponse:
    """Rate the interview as a whole with one press, and return to the page with the button."""
    require_recruiter()
    member = current_member()
    interview = interview_to_change(member, interview_id)
    back = _returned(interview)
    try:
        actions.assess_overall(interview, value_in(request.form.get("value", "")), by=member)
    except (Conflict, Rejected) as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
        return back
    db.session.commit()
    flash("Rating saved.", "good")
    return back


@pages.post("/interviews/<interview_id>/reasons")
def explain(interview_id: str) -> AnyResponse:
    """Save why the member's ratings differ from the scores, which they saw only afterwards."""
    require_recruiter()
    member = current_member()
    interview = interview_to_change(member, interview_id)
    back = _back(interview)
    try:
        changed = actions.explain(interview, reasons_in(request.form, competences_of(interview)), by=member)
    except Rejected as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
        return back
    db.session.commit()
    flash("Reasons saved." if changed else "Nothing to change.", "good" if changed else "info")
    return back


@pages.post("/interviews/<interview_id>/show-scores")
def show_scores(interview_id: str) -> AnyResponse:
    """Show the member the scores of an interview that they have not rated. Viewers cannot rate, and can do this."""
    member = current_member()
    interview = interview_seen_by(member, interview_id)
    back = _returned(interview)
    is_new = can_be_rated(interview) and rate_first.show(interview, to=member)
    db.session.commit()
    if is_new:
        flash("You can now see the scores. The audit log records that you chose to see them without rating.", "info")
    return back


def _form(interview: Interview, data: dict[str, Any] | None = None) -> ScorecardForm:
    return scorecard_form(competences_of(interview), criteria_of(interview), questions_of(interview), data=data)


def _returned(interview: Interview) -> AnyResponse:
    """To the page that the form names, else to the interview."""
    own = url_for("interviews.show", interview_id=interview.id)
    return redirect(safe_next(request.form.get("next")) or own, 303)


def _back(interview: Interview) -> AnyResponse:
    return redirect(url_for("interviews.show", interview_id=interview.id, _anchor="scorecard", **list_query()), 303)


def _page(interview: Interview, form: ScorecardForm) -> str:
    data = shown_result(interview, current_member())
    return render_template(
        "review/ratings/scorecard.html",
        interview=interview,
        form=form,
        rows=scorecard_of(interview, reader=current_member()),
        questions=questions_of(interview),
        evidence=((data.evidence if data else None) or {}).get("scores", {}),
        scores_hidden=isinstance(data, HiddenResult),
        listed=list_query(),
    )
