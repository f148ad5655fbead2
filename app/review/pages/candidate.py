"""One page for a candidate with their newest result; ``/interviews/<id>`` opens it on that interview.

A general interview, or one without an address, has no candidate: then everything about the pipeline is left out.
"""

from typing import Any

from flask import current_app, flash, jsonify, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, note_access, require_recruiter
from app.accounts.actions import write_audit
from app.accounts.models import Role, TeamMember
from app.accounts.queries import members_of
from app.candidates import actions
from app.candidates.decisions import Grounds, is_fresh
from app.candidates.forms import DetailsForm, MoveForm, board_parameters, filter_of_request, list_query
from app.candidates.models import Candidate, Meaning, Source, StatusChange
from app.candidates.neighbors import neighbors
from app.candidates.pages.blueprint import pages as candidate_pages
from app.candidates.queries import (
    Order,
    candidate_seen_by,
    candidate_to_change,
    deciding_statuses,
    elsewhere,
    history_of,
    records_of,
    statuses_of,
)
from app.core.db import db, is_id
from app.core.errors import Conflict, Rejected
from app.flows.models import Right
from app.flows.queries import may
from app.interviews import quality, queries
from app.interviews.actions import result_of
from app.interviews.models import Interview, Stage
from app.interviews.pages.interviews import TYPED
from app.interviews.pages.interviews import pages as interview_pages
from app.interviews.recordings.models import Media
from app.interviews.recordings.queries import is_revoked, recording_of, runs_of, urls_for
from app.review.pages.compare import MOST as MOST_COMPARED
from app.review.pages.triage import keys_of
from app.review.rate_first.queries import shown_result
from app.settings import Settings
from app.web.errors import wants_json
from app.web.fields import flaw_of

MOST_ELSEWHERE = 10
"""Other flows of the same address that the page names."""


@candidate_pages.get("/candidates/<candidate_id>")
def show(candidate_id: str) -> str:
    """The candidate with the newest result, or with the newest interview if there is no result."""
    candidate = candidate_seen_by(current_member(), candidate_id)
    return _page(candidate, _newest(candidate))


@interview_pages.get("/interviews/<interview_id>", endpoint="show")
def show_interview(interview_id: str) -> str:
    """The same page with this interview. Webhooks link here."""
    interview = queries.interview_seen_by(current_member(), interview_id)
    return _page(interview.candidate, interview.id)


@candidate_pages.post("/candidates/<candidate_id>/move")
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
        if "compared" in request.form:
            flash(refusal.message, "bad")
            return _to_comparison()
        field = refusal.field if isinstance(refusal, Rejected) else ""
        form[field or "status"].errors = [refusal.message]
        candidate = candidate_seen_by(member, candidate_id)
        return _page(candidate, _shown(candidate), form), 422 if isinstance(refusal, Rejected) else 409
    status, shown = candidate.status, _shown(candidate)
    db.session.commit()
    if wants_json():
        return jsonify({"status": status, "changed": changed, **_offered(candidate_id, status)})
    return _moved(candidate_id, shown, status, changed=changed)


@candidate_pages.post("/candidates/<candidate_id>/take-back")
def take_back(candidate_id: str) -> AnyResponse:
    """Undo the member's own last move, if the candidate was not moved since."""
    require_recruiter()
    member = current_member()
    candidate = candidate_to_change(member, candidate_id)
    actions.move_back(candidate, request.form.get("status", ""), by=member)
    status, shown = candidate.status, _shown(candidate)
    db.session.commit()
    flash(f"Undone. The status is {status} again.", "good")
    return _back(candidate_id, shown)


@candidate_pages.post("/candidates/<candidate_id>/details")
def edit(candidate_id: str) -> AnyResponse | tuple[str, int]:
    """Correct the candidate's name and assign a recruiter."""
    require_recruiter()
    member, details = current_member(), DetailsForm()
    candidate = candidate_to_change(member, candidate_id)
    try:
        changed = _corrected(candidate, details, member)
    except Rejected as refusal:
        db.session.rollback()
        details[refusal.field or "first_name"].errors = [refusal.message]
        candidate = candidate_seen_by(member, candidate_id)
        return _page(candidate, _shown(candidate), details=details), 422
    if changed:
        write_audit(member.organization, action="candidate.edited", subject=candidate_id, by=member, details={})
    shown = _shown(candidate)
    db.session.commit()
    flash("Details saved." if changed else "Nothing to change.", "good" if changed else "info")
    return _back(candidate_id, shown, anchor="data")


def _corrected(candidate: Candidate, details: DetailsForm, member: TeamMember) -> bool:
    given = {name: details[name].data or "" for name in ("first_name", "last_name", "recruiter")}
    for field, text in given.items():
        flaw = flaw_of(text)
        if flaw:
            raise Rejected(flaw, field=field)
    renamed = actions.rename(candidate, given["first_name"], given["last_name"])
    if given["recruiter"] == (candidate.assigned_recruiter_id or ""):
        return renamed  # also one who has left the team since
    team = {one.id: one for one in members_of(member.organization, candidate.flow.team)}
    if given["recruiter"] and given["recruiter"] not in team:
        raise Rejected("Choose a member of the team that the candidate's flow belongs to.", field="recruiter")
    recruiter = team.get(given["recruiter"])
    return actions.assign(candidate, recruiter) or renamed


def _change(candidate: Candidate, to: str, *, note: str, reason: str, by: TeamMember) -> bool:
    """Move the candidate from the status that the page showed, or undo the board's last move. False if nothing changed.

    Raises Rejected, and Conflict if someone else has moved the candidate since.
    """
    seen = request.form.get("from")
    for value, field in ((note, "note"), (reason, "reason"), (to, "status"), (seen or "", "status")):
        flaw = flaw_of(value)
        if flaw:
            raise Rejected(flaw, field=field)
    grounds = Grounds(_source(), reason)
    if request.form.get("undo") != "yes":
        return actions.move(candidate, to, by=by, note=note, grounds=grounds, seen=seen) is not None
    return actions.move_back(candidate, seen or "", by=by, grounds=grounds)


def _source() -> Source:
    if "compared" in request.form:
        return Source.COMPARE
    return Source.BOARD if "board" in request.form else Source.PAGE


def _to_comparison() -> AnyResponse:
    ids = [one for one in request.form.getlist("compared")[:MOST_COMPARED] if is_id(one)]
    return redirect(url_for("interviews.compare", id=ids), 303)


def _offered(candidate_id: str, status: str) -> dict[str, str]:
    """Where to write to someone who is now rejected."""
    if deciding_statuses(current_member().organization).get(status) is not Meaning.REJECTED:
        return {}
    return {"message": url_for("messages.compose", id=candidate_id, rejection="yes")}


def _moved(candidate_id: str, shown: str | None, status: str, *, changed: bool) -> AnyResponse:
    if not changed:
        flash(f"The status was already {status}. Nothing has changed.", "info")
    else:
        flash(f"The status is now {status}.", "good")
    if "board" in request.form:
        return redirect(url_for("candidates.board", **board_parameters()), 303)
    if "compared" in request.form:
        return _to_comparison()
    return _back(candidate_id, shown)


def _back(candidate_id: str, shown: str | None, *, anchor: str | None = None) -> AnyResponse:
    """To the page that the form was on: with the list that it was opened from, and the interview that it showed."""
    if "interview" in request.form and shown:
        return redirect(url_for("interviews.show", interview_id=shown, _anchor=anchor, **list_query()), 303)
    return redirect(url_for("candidates.show", candidate_id=candidate_id, _anchor=anchor, **list_query()), 303)


def _newest(candidate: Candidate) -> str | None:
    newest = candidate.interviews[0].id if candidate.interviews else None
    return queries.newest_result(candidate.id) or newest


def _shown(candidate: Candidate) -> str | None:
    """The interview of the page that the form was on."""
    asked = request.form.get("interview", "")
    return next((one.id for one in candidate.interviews if one.id == asked), None) or _newest(candidate)


def _page(
    candidate: Candidate | None,
    interview_id: str | None,
    form: MoveForm | None = None,
    *,
    details: DetailsForm | None = None,
) -> str:
    member, settings = current_member(), _settings()
    if interview_id is not None:
        note_access(member.organization, "interview.seen", interview_id, by=member)
    interview = queries.interview_seen_by(member, interview_id) if interview_id else None
    listed = list_query()
    return render_template(
        "review/candidate.html",
        candidate=candidate,
        interview=interview,
        listed=listed,
        neighbors=neighbors(member, filter_of_request(), candidate) if candidate and listed else None,
        back={name: value for name, value in listed.items() if (name, value) != ("order", Order.NEWEST)},
        may_change=may(member, interview or candidate, Right.EDIT),
        is_admin=member.role is Role.ADMIN,
        data=shown_result(interview, member) if interview else None,
        **(_pipeline(member, candidate, form=form, details=details) if candidate else {}),
        **(_result(interview, settings) if interview else {}),
    )


def _pipeline(
    member: TeamMember, candidate: Candidate, *, form: MoveForm | None, details: DetailsForm | None
) -> dict[str, Any]:
    """Template values about the candidate."""
    details = details or DetailsForm(formdata=None, obj=candidate, recruiter=candidate.assigned_recruiter_id or "")
    current = candidate.assigned_recruiter
    details.offer([*members_of(member.organization, candidate.flow.team), *([current] if current else [])])
    form = form or MoveForm(formdata=None, status=candidate.status)
    form.offer(statuses_of(member.organization))
    history, deciding = history_of(candidate), deciding_statuses(member.organization)
    return {
        "form": form,
        "details": details,
        "decisions": keys_of(deciding),
        "is_rejected": deciding.get(candidate.status) is Meaning.REJECTED,
        "history": history,
        "records": records_of(candidate),
        "can_undo": bool(history) and _is_undoable(history[0], candidate, member),
        "elsewhere": elsewhere(member, candidate, limit=MOST_ELSEWHERE),
    }


def _is_undoable(last: StatusChange, candidate: Candidate, member: TeamMember) -> bool:
    return last.by_id == member.id and last.new == candidate.status and is_fresh(last)


def _result(interview: Interview, settings: Settings) -> dict[str, Any]:
    """Template values about the interview."""
    signed = {} if interview.withdrawn_at else urls_for(interview.id)
    urls = {media: url.removeprefix(settings.app_url) for media, url in signed.items()}
    sound = recording_of(interview.id, Media.VIDEO) or recording_of(interview.id, Media.AUDIO)
    result, report = result_of(interview), quality.shown(interview)
    return {
        "result": result,
        "quality": report,
        "weak": quality.placed(report, result["transcript_with_timestamp"] if result else []) if report else [],
        "passed_on": [one.heard_text for one in interview.turns if one.reply_kind == "pass_on" and one.heard_text],
        "link": interview.link(settings.app_url),
        "audio": urls.get(Media.AUDIO),
        "video": urls.get(Media.VIDEO),
        "duration": sound.duration if sound else None,
        "revoked": is_revoked(interview.id),
        "typed": TYPED,
        "has_takes": interview.stage is Stage.PROCESSING_FAILED and bool(runs_of(interview.id)),
    }


def _settings() -> Settings:
    settings: Settings = current_app.extensions["parley.settings"]
    return settings
