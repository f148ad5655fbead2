"""What can be done for one candidate without opening them: message, copy or extend the link, invite again.

The list shows the page in a menu where scripts run.
"""

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_recruiter
from app.candidates.forms import list_query
from app.candidates.models import Candidate
from app.candidates.queries import candidate_to_change
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Forbidden, Rejected
from app.interviews.models import Interview
from app.outreach import invitations
from app.outreach.pages.blueprint import pages, post
from app.web.fields import count_in

DAYS = (7, 14, 30, 60, 90)


@pages.get("/candidates/<candidate_id>/actions")
def person(candidate_id: str) -> str:
    """Only what makes sense for this candidate, and why the rest does not."""
    require_recruiter()
    member = current_member()
    candidate = candidate_to_change(member, candidate_id)
    newest = invitations.newest_of(candidate)
    fixed = invitations.cannot_extend(newest)
    is_over = newest is None or post().ends(newest) <= clock.now()
    return render_template(
        "outreach/person.html",
        candidate=candidate,
        interview=newest,
        link=newest.link(post().app_url) if newest and not fixed and not is_over else None,
        until=post().ends(newest) if newest and not fixed else None,
        is_over=is_over,
        fixed=fixed,
        unwanted=invitations.cannot_invite_again(candidate, newest, post()),
        days=DAYS,
        listed=list_query(),
        can_send=post().can_send,
    )


@pages.post("/candidates/<candidate_id>/extend")
def extend(candidate_id: str) -> AnyResponse:
    """Let the link of the newest interview work longer."""
    require_recruiter()
    member = current_member()
    candidate = candidate_to_change(member, candidate_id)
    newest = invitations.newest_of(candidate)
    try:
        until = invitations.extend(newest, count_in(request.form.get("days", ""), field="days") or 0, post(), by=member)
    except (Conflict, Rejected) as refusal:
        db.session.rollback()
        flash(f"Nothing was changed. {refusal.message}", "bad")
        return _back(candidate_id)
    name = _name(candidate)
    db.session.commit()
    flash(f"{name}'s link works until {until.day} {until:%B %Y}.", "good")
    return _back(candidate_id)


@pages.post("/candidates/<candidate_id>/invite-again")
def invite_again(candidate_id: str) -> AnyResponse:
    """Another interview of the same flow, by email where the installation can send it."""
    require_recruiter()
    member = current_member()
    candidate = candidate_to_change(member, candidate_id)
    try:
        interview: Interview = invitations.invite_again(candidate, post(), by=member)
    except (Conflict, Rejected, Forbidden) as refusal:
        db.session.rollback()
        flash(f"No one was invited. {refusal.message}", "bad")
        return _back(candidate_id)
    name, link = _name(candidate), interview.link(post().app_url)
    db.session.commit()
    flash(f"{name} was invited again by email." if post().can_send else f"{name} has a new link: {link}", "good")
    return _back(candidate_id)


def _name(candidate: Candidate) -> str:
    return candidate.full_name or candidate.email


def _back(candidate_id: str) -> AnyResponse:
    """To the list that the menu was opened in, or to the candidate."""
    listed = list_query()
    if listed:
        return redirect(url_for("candidates.index", **listed), 303)
    return redirect(url_for("candidates.show", candidate_id=candidate_id), 303)
