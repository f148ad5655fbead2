"""Pages where recruiters create links to parts of an interview, see when they were opened, and end them."""

from typing import Any

from flask import Blueprint, current_app, flash, redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_member, require_recruiter
from app.core.db import db
from app.core.errors import Conflict
from app.interviews.models import Interview
from app.interviews.queries import interview_to_change
from app.review.rate_first.queries import are_hidden
from app.review.share_links import actions, queries
from app.review.share_links.forms import ShareForm
from app.review.share_links.models import PARTS
from app.settings import Settings
from app.web import one_time

_NEW_LINK = "new_share"

pages = Blueprint("share_links", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _card() -> dict[str, Any]:
    """Functions for the page of an interview; they query only when called."""
    return {"live_shares": queries.live_shares}


@pages.get("/interviews/<interview_id>/shares")
def index(interview_id: str) -> str:
    """The links of an interview with their openings, the address of a new one (once), and the form for another."""
    require_recruiter()
    interview = interview_to_change(current_member(), interview_id)
    new_share = one_time.pop(_NEW_LINK)
    return _page(
        interview,
        ShareForm(),
        new_link=new_share[1] if new_share is not None and new_share[0] == interview.id else None,
    )


@pages.post("/interviews/<interview_id>/shares")
def make(interview_id: str) -> AnyResponse | tuple[str, int]:
    """Create a link, or show the form again with its errors."""
    require_recruiter()
    member, form = current_member(), ShareForm()
    interview = interview_to_change(member, interview_id)
    if not form.validate():
        return _page(interview, form), 422
    label = (form.label.data or "").strip() or None
    try:
        _share, token = actions.make(interview, form.parts.data, days=form.days.data, label=label, by=member)
    except Conflict as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
        return _back(interview_id)
    db.session.commit()
    settings: Settings = current_app.extensions["parley.settings"]
    one_time.keep(_NEW_LINK, [interview_id, settings.app_url + url_for("shared.page", token=token)])
    return _back(interview_id)


@pages.post("/interviews/<interview_id>/shares/<share_id>/revoke")
def revoke(interview_id: str, share_id: str) -> AnyResponse:
    """End a link immediately."""
    require_recruiter()
    member = current_member()
    share = queries.share_of(interview_to_change(member, interview_id), share_id)
    ended = actions.revoke(share, by=member)
    db.session.commit()
    flash("Link revoked." if ended else "The link had already been revoked.", "good" if ended else "info")
    return _back(interview_id)


def _back(interview_id: str) -> AnyResponse:
    return redirect(url_for("share_links.index", interview_id=interview_id), 303)


def _page(interview: Interview, form: ShareForm, *, new_link: str | None = None) -> str:
    shares = queries.shares_of(interview)
    return render_template(
        "review/share_links/index.html",
        interview=interview,
        form=form,
        new_link=new_link,
        names=PARTS,
        listed=queries.LISTED,
        shares=[(share, queries.ending_of(share)) for share in shares],
        openings=queries.openings_of(interview),
        scores_hidden=are_hidden(current_member(), interview),
        can_share=interview.data is not None and not interview.withdrawn_at and not interview.erased_at,
    )
