"""Review one result after the other, the oldest first, with highlights and keyboard shortcuts."""

from typing import Any

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_recruiter
from app.accounts.models import Role, TeamMember
from app.candidates import actions as candidates
from app.candidates.decisions import Grounds
from app.candidates.models import Candidate, Meaning, Source
from app.candidates.queries import (
    candidate_seen_by,
    candidate_to_change,
    deciding_statuses,
    next_to_review,
    statuses_of,
    waiting_for_review,
)
from app.core import clock
from app.core.db import db, is_id
from app.core.errors import Conflict, Rejected
from app.flows.models import Right
from app.flows.queries import may, titles_seen_by
from app.interviews import actions, queries
from app.interviews.highlights import reel_of
from app.interviews.pages.interviews import pages
from app.interviews.recordings.models import Media
from app.interviews.recordings.queries import urls_for
from app.review.rate_first.queries import shown_result
from app.web.fields import flaw_of

JUDGED = "judged"
NOTHING = {"interview": None, "data": None, "reel": ()}
"""Template values of a candidate without a result that can be shown."""
KEYS = {Meaning.ADVANCED: "s", Meaning.REJECTED: "r"}
"""The key of the first status with this meaning."""


@pages.get("/candidates/triage")
def triage() -> str:
    """The candidate who has waited longest for a review, or the one after ``after``."""
    member, flow_id = current_member(), _asked("flow")
    at = _asked("at")
    candidate = candidate_seen_by(member, at) if at else next_to_review(member, flow_id=flow_id, after=_asked("after"))
    return _page(member, flow_id, candidate)


@pages.post("/candidates/triage/<candidate_id>")
def decide(candidate_id: str) -> AnyResponse | tuple[str, int]:
    """Move the candidate or only mark them as reviewed, then redirect to the next one."""
    require_recruiter()
    member, flow_id = current_member(), _asked("flow")
    candidate = candidate_to_change(member, candidate_id)
    name, before = candidate.full_name or candidate.email, candidate.status
    following = next_to_review(member, flow_id=flow_id, after=candidate_id)
    try:
        _decided(candidate, by=member)
    except (Rejected, Conflict) as refusal:
        db.session.rollback()
        shown = candidate_seen_by(member, candidate_id)
        code = 409 if isinstance(refusal, Conflict) else 422
        return _page(member, flow_id, shown, error=refusal.message), code
    after = candidate.status
    db.session.commit()
    flash(f"{name} moved to {after}." if after != before else f"{name} marked as reviewed.", "good")
    goes_on = following is not None and following.id != candidate_id
    return redirect(
        url_for(
            "interviews.triage",
            flow=flow_id or None,
            after=candidate_id if goes_on else None,
            undo=candidate_id if after != before else None,
            was=before if after != before else None,
        ),
        303,
    )


@pages.post("/candidates/triage/<candidate_id>/undo")
def take_back(candidate_id: str) -> AnyResponse:
    """Move the candidate back to their previous status and mark the result as not reviewed."""
    require_recruiter()
    member, flow_id = current_member(), _asked("flow")
    candidate = candidate_to_change(member, candidate_id)
    was, seen = request.form.get("was", ""), request.form.get("now", "")
    if candidate.status != seen:
        name = candidate.full_name or candidate.email
        raise Conflict(f"{name} has since been moved to {candidate.status}, so this cannot be undone.")
    if was != seen:  # else the result was only marked as reviewed
        candidates.move_back(candidate, seen, by=member, grounds=Grounds(Source.TRIAGE))
    candidates.forget_review(candidate)
    db.session.commit()
    flash("Decision undone.", "good")
    return redirect(url_for("interviews.triage", at=candidate_id, flow=flow_id or None), 303)


def _decided(candidate: Candidate, *, by: TeamMember) -> None:
    """Do what the form says. Raises Rejected, and Conflict if someone else has moved the candidate since."""
    decision, note, reason = (request.form.get(name, "") for name in ("decision", "note", "reason"))
    seen = request.form.get("from")
    for value in (note, decision, reason, seen or ""):
        flaw = flaw_of(value)
        if flaw:
            raise Rejected(flaw, field="note")
    note, grounds = note.replace("\r\n", "\n").strip(), Grounds(Source.TRIAGE, reason)
    if decision != JUDGED and candidates.move(candidate, decision, by=by, note=note, grounds=grounds, seen=seen):
        return
    if note:
        raise Rejected("Notes are saved with a new status. Choose a status or remove the note.")
    candidates.note_review(candidate)


def keys_of(deciding: dict[str, Meaning]) -> dict[str, str]:
    """Statuses that have a letter, with it."""
    first: dict[Meaning, str] = {}
    for status, meaning in deciding.items():
        first.setdefault(meaning, status)
    return {first[meaning]: key for meaning, key in KEYS.items() if meaning in first}


def _asked(name: str) -> str:
    """An id from the query or the form; "" if it cannot be an id."""
    value = request.values.get(name, "")[:36]
    return "" if flaw_of(value) else value


def _page(member: TeamMember, flow_id: str, candidate: Candidate | None, *, error: str = "") -> str:
    waiting, since = waiting_for_review(member, flow_id=flow_id)
    shown = _shown(member, candidate) if candidate else NOTHING
    statuses = statuses_of(member.organization)
    may_change = may(member, candidate, Right.EDIT) if candidate else member.role is not Role.VIEWER
    return render_template(
        "review/triage.html",
        candidate=candidate,
        waiting=waiting,
        flow_id=flow_id,
        note=request.form.get("note", "") if error else "",
        reason=request.form.get("reason", "") if error else "",
        error=error,
        days=(clock.now() - since).days if since else 0,
        flow_choices=[("", "All flows"), *titles_seen_by(member)],
        statuses=statuses,
        keys=keys_of(deciding_statuses(member.organization)),
        may_change=may_change,
        judged=JUDGED,
        undo=_undo(member),
        **shown,
    )


def _shown(member: TeamMember, candidate: Candidate) -> dict[str, Any]:
    """Template values of the candidate's newest result that is not withheld."""
    interview_id = queries.newest_result(candidate.id)
    if interview_id is None:
        return NOTHING
    interview = queries.interview_seen_by(member, interview_id)
    result, data = actions.result_of(interview), shown_result(interview, member)
    if result is None or data is None:
        return NOTHING
    urls = urls_for(interview.id)
    url = urls.get(Media.VIDEO) or urls.get(Media.AUDIO)
    return {
        "interview": interview,
        "data": data,
        "reel": reel_of(result, data.scores, data.evidence),
        "media": "/" + url.split("/", 3)[3] if url else None,
        "is_video": Media.VIDEO in urls,
    }


def _undo(member: TeamMember) -> dict[str, str] | None:
    """The last move, if it can be undone."""
    candidate_id, was = _asked("undo"), request.args.get("was", "")[:100]
    if not is_id(candidate_id) or was not in statuses_of(member.organization):
        return None
    candidate = candidate_seen_by(member, candidate_id)
    name = candidate.full_name or candidate.email
    is_rejected = deciding_statuses(member.organization).get(candidate.status) is Meaning.REJECTED
    undo = {"id": candidate_id, "was": was, "now": candidate.status, "name": name}
    return {**undo, "rejected": "yes"} if is_rejected else undo
