"""Pages where members see the requests of candidates with their due dates, and answer them."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_admin, require_member, require_recruiter
from app.accounts.models import Role
from app.candidate_requests import actions
from app.candidate_requests.forms import AnswerForm, DeadlinesForm
from app.candidate_requests.models import RequestKind, RequestState
from app.candidate_requests.queries import (
    RequestFilter,
    how_many_requests_seen_by,
    marks_of,
    request_to_change,
    requests_seen_by,
)
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.web.fields import flaw_of
from app.web.templating import offset_of_request

PER_PAGE = 25

pages = Blueprint("candidate_requests", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _waiting() -> dict[str, Any]:
    """``open_requests()`` counts the requests that wait for the member, for the navigation, only when a template calls
    it; ``marks_of`` gives the words of a transcript that the candidate wants corrected."""
    open_requests = RequestFilter(state=RequestState.OPEN)
    return {"open_requests": lambda: how_many_requests_seen_by(current_member(), open_requests), "marks_of": marks_of}


@pages.get("/requests")
def index() -> str:
    """Requests of candidates, overdue ones first; only open ones unless the filter says otherwise."""
    member, offset = current_member(), offset_of_request()
    state, kind = request.args.get("state", RequestState.OPEN.value), request.args.get("kind", "")
    filters = RequestFilter(
        state=RequestState(state) if state in set(RequestState) else None,
        kind=RequestKind(kind) if kind in set(RequestKind) else None,
    )
    return render_template(
        "candidate_requests/index.html",
        candidate_requests=requests_seen_by(member, filters, limit=PER_PAGE, offset=offset),
        now=clock.now(),
        total=how_many_requests_seen_by(member, filters),
        filters=filters,
        offset=offset,
        limit=PER_PAGE,
        is_admin=member.role is Role.ADMIN,
    )


@pages.route("/requests/deadlines", methods=["GET", "POST"])
def deadlines() -> str | AnyResponse | tuple[str, int]:
    """Days for answering requests of each kind."""
    require_admin()
    member = current_member()
    now = {kind.value: actions.days_for(member.organization, kind).days for kind in RequestKind}
    form = DeadlinesForm(data=now) if request.method == "GET" else DeadlinesForm()
    if form.validate_on_submit():
        actions.set_answer_days(member.organization, form.days_by_kind(), by=member)
        db.session.commit()
        flash("The reply deadlines were saved. Open requests keep their deadlines.", "good")
        return redirect(url_for("candidate_requests.deadlines"), 303)
    return render_template("candidate_requests/deadlines.html", form=form), 422 if form.errors else 200


@pages.post("/requests/<wish_id>/answer")
def answer(wish_id: str) -> AnyResponse | tuple[str, int]:
    """Grant, decline or close a request; the candidate sees the answer on their page.

    Where someone else has replied meanwhile, both replies are shown, and the member's own can be sent again.
    """
    require_recruiter()
    member, form = current_member(), AnswerForm()
    candidate_request = request_to_change(member, wish_id)
    interview_id = candidate_request.interview_id
    try:
        state, words = _answer_of(form)
        actions.answer(candidate_request, state=state, words=words, by=member, seen=request.form.get("seen"))
    except Conflict as refusal:
        db.session.rollback()
        newest = request_to_change(member, wish_id)
        shown = {"candidate_request": newest, "state": state, "words": words, "refusal": refusal.message}
        return render_template("candidate_requests/overtaken.html", **shown), 409
    except Rejected as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
    else:
        db.session.commit()
        seen = "the reply" if words else "the new status"
        flash(f"The request is now {state.value}, and the candidate can see {seen}.", "good")
    return redirect(url_for("interviews.show", interview_id=interview_id, _anchor="requests"), 303)


def _answer_of(form: AnswerForm) -> tuple[RequestState, str | None]:
    words = (form.answer.data or "").replace("\r\n", "\n").strip() or None
    flaw = flaw_of(words or "")
    if flaw:
        raise Rejected(flaw, field="answer")
    if form.state.data not in set(RequestState):
        raise Rejected("Choose granted, declined or done.", field="state")
    return RequestState(form.state.data), words
