"""The page that people without an account see. The secret in its address is the permission, checked at every request.

Files are served below the same address and not at signed URLs, so that access to them ends with the link.
"""

from collections.abc import Generator

from flask import Blueprint, Flask, Response, current_app, g, make_response, render_template, request
from werkzeug.exceptions import NotFound as Missing

from app import gateways
from app.accounts.access import READING, note_access
from app.accounts.models import Organization
from app.core import clock
from app.core.db import db, reading, row_security, set_reading
from app.core.errors import GatewayError, NotFound
from app.interviews.documents.queries import document_for
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.download import CHECK_AFTER, GoesOn, Served, sent
from app.interviews.recordings.models import Media
from app.interviews.recordings.queries import recording_of
from app.review.share_links import actions, queries
from app.review.share_links.models import Share
from app.web import rate_limits
from app.web.attachments import attachment
from app.web.browsers import browser_name
from app.web.security import keep_private
from app.web.streaming_slots import Lasting, places

OPENS_PER_MINUTE, FILES_PER_MINUTE, MISSES_PER_MINUTE = 60, 600, 20
"""Per network address. Players request a file in many pieces; guessing secrets is stopped early."""

pages = Blueprint("shared", __name__, url_prefix="/shared/<token>")


@pages.before_request
def guard() -> Response | None:
    """Let only working links through; all others get a page that says why."""
    keep_private()
    is_page = request.endpoint == "shared.page"
    rate_limits.count("shared", most=OPENS_PER_MINUTE if is_page else FILES_PER_MINUTE)
    token = str((request.view_args or {}).get("token"))
    with reading():
        with row_security.finding():
            share = queries.share_with(token)
        if share is not None:
            row_security.settle(share.organization_id)
        ending = queries.ending_of(share) if share is not None else None
        shown = share.id if share is not None and ending is None else None
        db.session.rollback()
    if shown is not None:
        g.share_id = shown
        return None
    if share is None:
        rate_limits.count("shared in vain", most=MISSES_PER_MINUTE)
    return make_response(render_template("review/share_links/over.html", ending=ending), 404 if share is None else 410)


@pages.after_request
def _after(response: Response) -> Response:
    """Keep the secret address from caches, search engines and other sites."""
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    response.headers["Cache-Control"] = "no-store"
    return response


@pages.get("")
def page(token: str) -> str:
    """The selected parts, read-only."""
    if request.method == "GET":
        _note()
    share = _share()
    shown = queries.shown_of(share)
    media = {kind.value: recording_of(share.interview_id, kind) is not None for kind in Media}
    return render_template(
        "review/share_links/page.html",
        shown=shown,
        token=token,
        expires_at=share.expires_at,
        media=media if "recording" in shown["parts"] else {},
        interview_id=share.interview_id,
        chapters=[
            (one["start"], f"Question {number}")
            for number, one in enumerate(shown.get("answers", []), 1)
            if one["start"] is not None
        ],
    )


def _note() -> None:
    """Record the opening: every one in the link's own list, at most one an hour in the audit log."""
    share = _share()
    # nosemgrep: row-by-id-in-edge - the organization of the link at hand
    organization = db.session.get_one(Organization, share.organization_id)
    note_access(organization, "interview.share_opened", share.id, by=None, interview=share.interview_id)
    db.session.rollback()
    set_reading(False)
    try:
        browser = browser_name(request.user_agent.string)
        actions.note_opening(g.share_id, browser=browser, address=rate_limits.address_of_request())
        db.session.commit()
    finally:
        set_reading(request.method in READING)


def _share(part: str | None = None) -> Share:
    """The link of this request; NotFound where it does not show ``part``."""
    # nosemgrep: row-by-id-in-edge - the link whose secret the guard has checked
    share = db.session.get(Share, g.share_id)
    if share is None or (part is not None and part not in share.parts):
        raise NotFound("This link does not include that part of the interview.")
    return share


@pages.get("/recording/<kind>")
def recording(token: str, kind: str) -> Response:  # noqa: ARG001 - the guard has read the token
    """The audio or video, while the link works."""
    if kind not in set(Media):
        raise Missing
    with reading():
        row = recording_of(_share("recording").interview_id, Media(kind))
        if row is None:
            raise NotFound("The recordings of this interview were deleted.")
        served = Served.of(row, "share")
        db.session.rollback()
    return sent(served, damaged=_damaged, goes_on=_goes_on(g.share_id, "recording"))


def _damaged(recording_id: str, key: str) -> None:
    recordings.mark_damaged(recording_id, storage_key=key)
    db.session.commit()


@pages.get("/documents/<document_id>")
def document(token: str, document_id: str) -> Response:  # noqa: ARG001 - as above
    """A document of the candidate, as a download that a browser never runs."""
    with reading():
        share = _share("documents")
        row = document_for(share.interview, document_id)
        key, name, size, kind = row.storage_key, row.name, row.size, row.content_type
        # nosemgrep: row-by-id-in-edge - the organization of the link at hand
        organization = db.session.get_one(Organization, share.organization_id)
        note_access(organization, "document.seen", row.id, by=None, interview=share.interview_id, share=share.id)
        db.session.rollback()
    place = places("shared documents", share=4).take()
    if place is None:
        raise GatewayError("Too many downloads are running. Try again in a few minutes.", retryable=True)
    pieces = Lasting(_pieces(key, _goes_on(g.share_id, "documents")), place).begun()
    return attachment(pieces, name=name, content_type=kind, size=size)


def _pieces(key: str, goes_on: GoesOn) -> Generator[bytes, None, None]:
    """The file, until ``goes_on`` returns False."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - for the time after the request
    goes_on = row_security.as_chosen(goes_on)
    pieces, looked = gateways.current().storage.open(key), clock.now()

    def flow() -> Generator[bytes, None, None]:
        nonlocal looked
        for piece in pieces:
            if clock.now() - looked >= CHECK_AFTER:
                with app.app_context(), reading():
                    is_open = goes_on()
                    db.session.rollback()
                if not is_open:
                    return
                looked = clock.now()
            yield piece

    return flow()


def _goes_on(share_id: str, part: str) -> GoesOn:
    """Whether the link still shows the part; called while bytes flow, in the caller's transaction."""

    def is_open() -> bool:
        # nosemgrep: row-by-id-in-edge - the link of this request, checked again while bytes flow
        share = db.session.get(Share, share_id, populate_existing=True)
        return share is not None and part in share.parts and queries.ending_of(share) is None

    return is_open
