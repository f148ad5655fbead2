"""The card of a flow's apply link, for recruiters who may change the flow."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from flask import Blueprint, current_app, flash, redirect, url_for
from werkzeug.wrappers import Response

from app.accounts.access import current_member, require_member, require_recruiter
from app.core.db import db
from app.core.errors import Conflict, NotFound, Rejected
from app.flows.models import InterviewFlow
from app.flows.queries import flow_to_change
from app.outreach.apply_links import actions
from app.outreach.apply_links.forms import limits_of_request
from app.outreach.apply_links.models import FlowLink
from app.outreach.apply_links.queries import link_of
from app.settings import Settings
from app.web.templating import qr_code

pages = Blueprint("apply_links", __name__, url_prefix="/flows/<flow_id>/link")
pages.before_request(require_member)


@pages.app_context_processor
def _for_cards() -> dict[str, Any]:
    """For the flow's page."""

    def share_of(flow: InterviewFlow) -> dict[str, Any]:
        link = link_of(flow)
        settings: Settings = current_app.extensions["parley.settings"]
        works = link is not None and link.off_at is None
        address = f"{settings.app_url}/interview/api/open/{link.token}" if link and works else None
        last = (link.expires_at - timedelta(days=1)).date() if link and link.expires_at else ""
        over = actions.over(link) if link and works else None
        picture = qr_code(address, scale=3) if address else None
        return {"link": link, "address": address, "picture": picture, "last_day": last, "over": over}

    return {"share_of": share_of}


def _flow(flow_id: str) -> InterviewFlow:
    require_recruiter()
    return flow_to_change(current_member(), flow_id)


def _link(flow_id: str) -> FlowLink:
    link = link_of(_flow(flow_id))
    if link is None:
        raise NotFound("This flow has no apply link.")
    return link


def _back(flow_id: str, words: str, tone: str = "good") -> Response:
    flash(words, tone)
    return redirect(url_for("flows.show", flow_id=flow_id, _anchor="share"), 303)


def _changed(flow_id: str, words: str, change: Callable[[], object]) -> Response:
    try:
        change()
    except Conflict as refusal:
        db.session.rollback()
        return _back(flow_id, refusal.message, "bad")
    db.session.commit()
    return _back(flow_id, words)


@pages.post("/on")
def turn_on(flow_id: str) -> Response:
    flow, me = _flow(flow_id), current_member()
    return _changed(flow_id, "The apply link is on.", lambda: actions.turn_on(flow, by=me))


@pages.post("/off")
def turn_off(flow_id: str) -> Response:
    link, me = _link(flow_id), current_member()
    words = "The apply link is off. Interviews created with it are kept."
    return _changed(flow_id, words, lambda: actions.turn_off(link, by=me))


@pages.post("/renew")
def renew(flow_id: str) -> Response:
    link, me = _link(flow_id), current_member()
    words = "The apply link was replaced. The old one no longer works."
    return _changed(flow_id, words, lambda: actions.renew(link, by=me))


@pages.post("/limit")
def limit(flow_id: str) -> Response:
    """Set the last day and the number of interviews."""
    link = _link(flow_id)
    try:
        until, most = limits_of_request()
        actions.limit(link, expires_at=until, most=most, by=current_member())
    except Rejected as refusal:
        db.session.rollback()
        named = {"until": "Last day (UTC)", "most": "Maximum number of interviews"}[refusal.field or "most"]
        return _back(flow_id, f"Nothing was changed. {named}: {refusal.message}", "bad")
    db.session.commit()
    return _back(flow_id, "The limits of the apply link were saved.")
