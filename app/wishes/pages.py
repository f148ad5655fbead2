"""Where a person answers what a candidate asked for."""

from flask import Blueprint, flash, redirect, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_member, require_recruiter
from app.db import db
from app.errors import Conflict, Rejected
from app.web.fields import flaw_of
from app.wishes import actions
from app.wishes.forms import AnswerForm
from app.wishes.models import WishState
from app.wishes.queries import wish_seen_by

pages = Blueprint("wishes", __name__)
pages.before_request(require_member)


@pages.post("/requests/<wish_id>/answer")
def answer(wish_id: str) -> AnyResponse:
    """Grant, decline or settle a request; the candidate sees it on the link's page."""
    require_recruiter()
    member, form = current_member(), AnswerForm()
    wish = wish_seen_by(member, wish_id)
    interview_id = wish.interview_id
    try:
        state, words = _given(form)
        actions.answer(wish, state=state, words=words, by=member)
    except (Rejected, Conflict) as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
    else:
        db.session.commit()
        flash(f"The request is {state.value} now, and the candidate can see it.", "good")
    return redirect(url_for("interviews.show", interview_id=interview_id, _anchor="requests"), 303)


def _given(form: AnswerForm) -> tuple[WishState, str | None]:
    words = (form.answer.data or "").replace("\r\n", "\n").strip() or None
    flaw = flaw_of(words or "")
    if flaw:
        raise Rejected(flaw, field="answer")
    if form.state.data not in set(WishState):
        raise Rejected("Choose granted, declined or done.", field="state")
    return WishState(form.state.data), words
