"""What a browser sees at an interview's address: which page, with what in it, and whether Start would work.

The views are registered on ``pages`` by three modules: ``pages.interview`` (invitation, Start, the end),
``pages.before`` (everything before the start) and ``pages.after`` (feedback). Nothing here changes anything.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, jsonify, make_response, render_template, request, url_for
from flask_babel import gettext
from werkzeug.exceptions import HTTPException

from app import gateways
from app.candidate_requests.models import Different, RequestKind, RequestState
from app.candidate_requests.queries import has_more_time, requests_of
from app.conversation import browsers, detector
from app.conversation.access import holds, settings
from app.conversation.consent import VERSION
from app.conversation.models import Sitting
from app.conversation.protocol import schemas
from app.conversation.queries import TAKEOVER_AFTER, sitting_of
from app.conversation.script.machine import Script
from app.core import clock
from app.core.errors import NotFound
from app.flows.flow_script import FlowScript
from app.flows.length import likely_minutes
from app.flows.models import FlowStatus, InterviewFlow
from app.interviews.actions.feedback import MOST_REVISIONS
from app.interviews.models import Interview, Stage
from app.interviews.pending import link_from
from app.interviews.queries import open_interview
from app.web import languages, rate_limits

pages = Blueprint("conversation", __name__, url_prefix="/interview/api/<flow_id>/<interview_id>")

OPENS_PER_LINK = 30
CHECKS_PER_LINK = 120
"""Calls a minute by one address."""

UNDER_WAY = (Stage.CREATED, Stage.RUNNING, Stage.ABANDONED)


@dataclass(frozen=True, slots=True)
class View:
    """What a browser sees of an interview; ``page`` is the template's name, ``may_start`` whether Start would work."""

    page: str
    status: int = 200
    context: dict[str, Any] = field(default_factory=dict)
    may_start: bool = False
    is_mine: bool = False


def interview_of_link(flow_id: str, interview_id: str) -> Interview:
    """The interview of the link. Also chooses the language of the response, and counts requests to this link.

    Raises NotFound, which ``unknown`` answers.
    """
    interview = open_interview(flow_id, interview_id)
    languages.choose((interview.script or FlowScript.of(interview.flow)).language)
    kind = "check" if is_check() else "start" if request.endpoint == "conversation.start" else "interview"
    rate_limits.count(kind, most=CHECKS_PER_LINK if is_check() else OPENS_PER_LINK, of=interview.id)
    return interview


def is_check() -> bool:
    """Whether this request is the page's network check."""
    return request.endpoint in {"conversation.check", "conversation.check_upload"}


@pages.errorhandler(429)
def often(_error: HTTPException) -> Response:
    """The response when a link, or all links from one network, are opened too often."""
    if not (request.is_json or is_check()):
        return rate_limits.too_often(url_for("conversation.show", **(request.view_args or {})))
    languages.choose()
    response = plain_answer(429, gettext("Too many requests. Please wait a moment."), "often")
    response.headers["Retry-After"] = "60"
    return response


@pages.errorhandler(NotFound)
def unknown(_error: NotFound) -> Response:
    """The response to an address without an interview."""
    languages.choose()
    if request.is_json:
        return plain_answer(404, gettext("There is no interview at this address."), "unknown")
    return make_response(render_template("conversation/unknown.html"), 404)


def view_of(interview: Interview) -> View:
    """What this browser may see, from the most final state to the most open one."""
    sitting = sitting_of(interview.id)
    is_mine = holds(sitting, interview.id)
    is_over = interview.stage not in UNDER_WAY or interview.erased_at is not None or interview.is_closed
    if is_over or (sitting is not None and sitting.ended_at is not None):
        return _over(interview, sitting, is_mine=is_mine)
    if is_mine:
        return View("page", is_mine=True)
    if interview.flow.status is FlowStatus.ARCHIVED or interview.flow.organization.disabled_at is not None:
        return View("closed", 410, {"reason": "archived"})
    if interview.stage is not Stage.RUNNING and _is_expired(interview):
        return View("closed", 410, {"reason": "expired"})
    is_held = sitting is not None and sitting.token_hash is not None
    wait = _seconds_until_free(sitting) if sitting is not None and is_held else 0
    if wait > 0:
        return View("taken", 409, {"reason": "elsewhere", "wait_seconds": wait})
    return View("page", may_start=True, context={"taking_over": is_held})


def _over(interview: Interview, sitting: Sitting | None, *, is_mine: bool) -> View:
    if interview.erased_at is not None:
        return View("closed", 410, {"reason": "erased"})
    if interview.is_closed:
        return View("closed", 410, {"reason": "revoked"})
    if not is_mine or sitting is None:
        return View("taken", 409, {"reason": "used", "wait_seconds": None})
    if sitting.place["phase"] != "finished":
        return View("closed", 410, {"reason": "ended"})
    url = (interview.script or FlowScript()).redirect_url
    return View("done", 200, {**ending(url, documents=len(interview.documents)), **_feedback(interview)})


def ending(redirect_url: str | None, *, documents: int) -> dict[str, Any]:
    """What the thank-you page says of the way on, and of the files that arrived."""
    host = urlsplit(redirect_url).hostname if redirect_url else None
    return {"documents": documents, "redirect_url": redirect_url, "redirect_host": host}


def _feedback(interview: Interview) -> dict[str, Any]:
    """What the candidate has said about the interview, and whether it may still be changed."""
    feedback = interview.feedback
    values = {"rating": str(feedback.rating or ""), "comment": feedback.comment or ""} if feedback else {}
    sent = request.args.get("feedback", "") if feedback else ""
    may_rate = feedback is None or feedback.revision < MOST_REVISIONS
    return {"has_feedback": feedback is not None, "values": values, "errors": {}, "may_rate": may_rate, "sent": sent}


def _is_expired(interview: Interview) -> bool:
    return (clock.now() - link_from(interview)).total_seconds() > settings().link_expiry_days * 86_400


def _seconds_until_free(sitting: Sitting) -> int:
    if sitting.heartbeat_at is None:
        return 0
    silent = (clock.now() - sitting.heartbeat_at).total_seconds()
    return max(0, round(TAKEOVER_AFTER.total_seconds() - silent + 0.5))


def about(interview: Interview) -> dict[str, Any]:
    """What invitation and talk say about the interview: values for the templates."""
    flow, script = interview.flow, interview.script or FlowScript.of(interview.flow)
    built = gateways.current()
    limit = round(limit_of(interview) / 60) * (1 + has_more_time(interview.id))
    shown = {
        "title": script.title,
        "org_name": script.org_name,
        "language": script.language,
        "logo_url": flow.logo_path,
        "preamble_video_url": url_for("flows.intro_video", flow_id=flow.id) if flow.preamble_video_key else None,
        "preamble_video_type": flow.preamble_video_type,
        "is_video_enabled": script.is_video_enabled,
        "is_doc_upload_enabled": script.is_doc_upload_enabled,
        "cv": script.cv,
        "question_count": len(script.questions),
        "assess_language": script.assess_language,
        "time_limit_seconds": 60 * limit,
        "likely_minutes": likely_minutes(len(script.questions), most=limit),
    }
    return {
        "flow": shown,
        "speaks": built.speaker.supports(script.language),
        "consent_version": VERSION,
        "hears": built.transcriber.supports(script.language),
        "requests": requested(interview),
        "detector_url": detector.address(),
        "oldest_browsers": browsers.NAMED,
    }


def limit_of(interview: Interview) -> float:
    """The flow's time limit in seconds, without extensions."""
    return Script.of(interview.script or FlowScript.of(interview.flow), minutes=settings().interview_minutes).seconds


def offered(flow: InterviewFlow) -> dict[str, Any]:
    """The alternative for candidates who do not agree, and its contact."""
    return {"alternative_text": flow.alternative_text, "alternative_contact": flow.alternative_contact}


def requested(interview: Interview) -> list[dict[str, Any]]:
    """The requested accommodations and their outcomes, without the candidate's words: the link is not a secret."""
    return [
        {
            "id": candidate_request.id,
            "kind": candidate_request.kind.value,
            "choice": candidate_request.details.get("choice"),
            "state": candidate_request.state.value,
            "answer": candidate_request.answer,
        }
        for candidate_request in requests_of(interview.id)
        if candidate_request.kind is RequestKind.ACCOMMODATION
    ]


def invitation(interview: Interview, context: dict[str, Any]) -> dict[str, Any]:
    """Template values for the page of a candidate who may start."""
    ask = {
        "email_address": not interview.interviewee_email_address,
        "first_name": not interview.interviewee_first_name,
        "last_name": not interview.interviewee_last_name,
    }
    facts = about(interview)
    granted = {one["choice"] for one in facts["requests"] if one["state"] == RequestState.GRANTED}
    until = link_from(interview) + timedelta(days=settings().link_expiry_days)
    plain = {
        "view": "invitation",
        "state": None,
        "ask": ask,
        "errors": {},
        "values": {"mode": "text"} if Different.TEXT in granted else {},
        "open_until": None if interview.stage is Stage.RUNNING else until,
        "declined": interview.declined_at is not None and interview.stage is Stage.CREATED,
    }
    return {**plain, **facts, **context}


def rendered(interview: Interview, view: View) -> Response:
    """The response that shows ``view``: a page, or for a script the reason why it cannot use the interview."""
    if request.is_json:
        reason = {"taken": "taken over", "closed": "closed"}.get(view.page, view.page)
        return plain_answer(view.status, gettext("This interview cannot be started in this browser."), reason)
    script = interview.script or FlowScript.of(interview.flow)
    base = schemas.base_of(interview)
    shown = {
        "own_url": f"{base}/own",
        "org_name": script.org_name,
        "title": script.title,
        "language": script.language,
        "base": base,
        "logo_url": interview.flow.logo_path,
        "accent_url": interview.flow.accent_path,
    }
    return make_response(render_template(f"conversation/{view.page}.html", **{**shown, **view.context}), view.status)


def plain_answer(status: int, message: str, reason: str | None, *, field_name: str | None = None) -> Response:
    """A refusal in the protocol's words."""
    response = jsonify({"message": message, "reason": reason, "field": field_name})
    response.status_code = status
    return response
