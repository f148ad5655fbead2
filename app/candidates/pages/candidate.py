"""One candidate, and moves to another status."""

from flask import flash, jsonify, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_recruiter
from app.accounts.models import Role, TeamMember
from app.candidates import actions
from app.candidates.decisions import Grounds
from app.candidates.forms import MoveForm
from app.candidates.models import Candidate, Source
from app.candidates.pages.blueprint import pages
from app.candidates.queries import (
    candidate_seen_by,
    candidate_to_change,
    history_of,
    records_of,
    statuses_of,
)
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.models import Right
from app.flows.queries import may
from app.web.errors import wants_json
from app.web.fields import flaw_of


@pages.get("/candidates/<candidate_id>")
def show(candidate_id: str) -> str:
    """One candidate with interviews, history and the menu of statuses."""
    candidate = candidate_seen_by(current_member(), candidate_id)
    return _page(candidate, MoveForm(status=candidate.status))


@pages.post("/candidates/<candidate_id>/move")
def move(candidate_id: str) -> AnyResponse | tuple[str, int]:
    """Change the status; the history, the webhook and the status commit together or not at all."""
    require_recruiter()
    member, form = current_member(), MoveForm()
    candidate = candidate_to_change(member, candidate_id)
    note = (form.note.data or "").replace("\r\n", "\n").strip()
    try:
        changed = _change(candidate, form.status.data or "", note=note, reason=form.reason.data or "", by=member)
    except (Rejected, Conflict) as refusal:
        if wants_json():
            raise
        db.session.rollback()
        field = refusal.field if isinstance(refusal, Rejected) else ""
        form[field or "status"].errors = [refusal.message]
        return _page(candidate_seen_by(member, candidate_id), form), 422 if isinstance(refusal, Rejected) else 409
    status = candidate.status
    db.session.commit()
    return _moved(candidate_id, status, changed=changed)


@pages.post("/candidates/<candidate_id>/take-back")
def take_back(candidate_id: str) -> AnyResponse:
    """Undo the member's own last move, if the candidate was not moved since."""
    require_recruiter()
    member = current_member()
    candidate = candidate_to_change(member, candidate_id)
    actions.move_back(candidate, request.form.get("status", ""), by=member)
    status = candidate.status
    db.session.commit()
    flash(f"Undone. The status is {status} again.", "good")
    return redirect(url_for("candidates.show", candidate_id=candidate_id), 303)


def _change(candidate: Candidate, to: str, *, note: str, reason: str, by: TeamMember) -> bool:
    """Move the candidate from the status that the page showed, or undo the board's last move. False if nothing changed.

    Raises Rejected, and Conflict if someone else has moved the candidate since.
    """
    seen = request.form.get("from")
    for value, field in ((note, "note"), (reason, "reason"), (to, "status"), (seen or "", "status")):
        flaw = flaw_of(value)
        if flaw:
            raise Rejected(flaw, field=field)
    grounds = Grounds(Source.BOARD if "board" in request.form else Source.PAGE, reason)
    if request.form.get("undo") != "yes":
        return actions.move(candidate, to, by=by, note=note, grounds=grounds, seen=seen) is not None
    return actions.move_back(candidate, seen or "", by=by, grounds=grounds)


def _moved(candidate_id: str, status: str, *, changed: bool) -> AnyResponse:
    if wants_json():
        return jsonify({"status": status, "changed": changed})
    if not changed:
        flash(f"The status was already {status}. Nothing has changed.", "info")
    else:
        flash(f"The status is now {status}.", "good")
    if "board" in request.form:
        flow_id = request.form["board"][:36]
        return redirect(url_for("candidates.board", flow=flow_id or None), 303)
    return redirect(url_for("candidates.show", candidate_id=candidate_id), 303)


def _page(candidate: Candidate, form: MoveForm) -> str:
    member = current_member()
    form.offer(statuses_of(member.organization))
    return render_template(
        "candidates/show.html",
        candidate=candidate,
        history=history_of(candidate),
        records=records_of(candidate),
        form=form if may(member, candidate, Right.EDIT) else None,
        is_admin=member.role is Role.ADMIN,
    )
