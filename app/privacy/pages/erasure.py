"""Where administrators erase an interview and see the proof."""

from typing import Any

from flask import Blueprint, flash, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import current_member, require_admin, require_member
from app.core.db import db
from app.core.errors import Conflict, GatewayError
from app.interviews.queries import interview_seen_by
from app.privacy import actions
from app.privacy.queries import erasure_of

TYPED = "erase"
"""What administrators type to confirm an erasure."""

pages = Blueprint("privacy", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _proofs() -> dict[str, Any]:
    """For the interview's page: the state of its erasure, and the word to type."""
    return {"erasure_of": erasure_of, "erase_typed": TYPED}


@pages.post("/interviews/<interview_id>/erase")
def erase(interview_id: str) -> AnyResponse:
    """Erase the interview, for administrators who typed the word."""
    require_admin()
    member = current_member()
    interview = interview_seen_by(member, interview_id)
    interview_id = interview.id
    answer = redirect(url_for("interviews.show", interview_id=interview_id, _anchor="erasure"), 303)
    if request.form.get("confirm", "").strip().lower() != TYPED:
        flash(f"Nothing was erased. Type “{TYPED}” to confirm.", "bad")
        return answer
    try:
        actions.erase(interview, by=member)
    except Conflict as conflict:
        db.session.rollback()
        flash(conflict.message, "bad")
        return answer
    db.session.commit()  # from here on nothing can be opened, even if deleting the files fails
    try:
        left = actions.sweep_files(interview_id, storage=gateways.current().storage)
    except GatewayError:
        left = 1
    if left:
        flash("The interview can no longer be opened. Its files could not be deleted yet. Parley keeps trying.", "warn")
        return answer
    actions.gone(interview_id)
    db.session.commit()
    flash("The interview was erased. The proof is on this page.", "good")
    return answer
