"""The candidate's page: invitation and consent, the talk, and one clear page for each way in which a link is over.

Opening the page claims nothing and changes nothing, whoever opens it; only Start, after consent, does.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, current_app, jsonify, make_response, redirect, render_template, request, url_for
from flask_babel import gettext, lazy_gettext

from app import clock, gateways
from app.db import db, reading
from app.errors import NotFound
from app.flows.models import FlowStatus
from app.flows.queries import script_of
from app.interviews.models import Interview, Stage
from app.interviews.queries import open_interview
from app.voice import actions, detector, schemas
from app.voice.access import holds, new_token, set_cookie, settings
from app.voice.actions import Agreed
from app.voice.forms import StartForm
from app.voice.models import Mode, Sitting
from app.voice.queries import TAKEOVER_AFTER, sitting_of
from app.web import languages, limits
from app.web.security import allow_devices, keep_private

pages = Blueprint("voice", __name__, url_prefix="/interview/api/<flow_id>/<interview_id>")

CONSENT_VERSION = "1"
OPENS_PER_MINUTE = 30
NO_ROOM = lazy_gettext("No interview can be started right now. Nothing is lost: please try again a little later.")
UNDER_WAY = (Stage.CREATED, Stage.RUNNING, Stage.ABANDONED)


@pages.before_request
def _before() -> None:
    keep_private()
    allow_devices()
    limits.count(current_app._get_current_object(), "interview", most=OPENS_PER_MINUTE)  # type: ignore[attr-defined]  # noqa: SLF001 - the limiter hangs on the application itself


@pages.after_request
def _after(response: Response) -> Response:
    return languages.remember(response, settings=settings())


@dataclass(frozen=True, slots=True)
class View:
    """What a browser sees of an interview; ``page`` is the template's name, ``may_start`` whether Start would work."""

    page: str
    status: int = 200
    context: dict[str, Any] = field(default_factory=dict)
    may_start: bool = False
    is_mine: bool = False


@pages.get("")
def show(flow_id: str, interview_id: str) -> Response:
    """The page, in whatever state the interview is for this browser."""
    with reading():
        interview = _found(flow_id, interview_id)
        if interview is None:
            return _unknown()
        view = _view(interview)
        if view.may_start:
            view.context.update(_invitation(interview, view.context))
        elif view.page == "page":
            now = schemas.state(interview, settings=settings())
            view.context.update(_about(interview), view="live", state=now, errors={}, values={})
        return _rendered(interview, view)


@pages.get("/declined")
def declined(flow_id: str, interview_id: str) -> Response:
    """For those who do not agree: nothing is stored, and the link stays as it is."""
    with reading():
        interview = _found(flow_id, interview_id)
        return _rendered(interview, View("declined")) if interview else _unknown()


@pages.post("/start")
def start(flow_id: str, interview_id: str) -> Response:
    """Claim the link for this browser, after consent. Of many at once exactly one wins."""
    with reading():
        interview = _found(flow_id, interview_id)
        if interview is None:
            return _unknown()
        view = _view(interview)
        if view.is_mine and view.page == "page":
            return _begun(interview)
        if not view.may_start:
            return _rendered(interview, view)
        form = StartForm.of_request()
        if not form.validate():
            return _again(interview, view, form, status=422)
        db.session.rollback()
    if not gateways.current().storage.has_room():
        return _no_room(flow_id, interview_id, form)
    return _claim(flow_id, interview_id, form)


def _claim(flow_id: str, interview_id: str, form: StartForm) -> Response:
    token, token_hash = new_token()
    interview = open_interview(flow_id, interview_id)
    agreed = Agreed(CONSENT_VERSION, form.locale.data or "", Mode(form.mode.data))
    is_ours = actions.claim(interview, token_hash=token_hash, agreed=agreed, **form.names())
    db.session.commit()
    if not is_ours:
        return _rendered(interview, _view(interview))
    return set_cookie(_begun(interview), interview_id, token)


def _begun(interview: Interview) -> Response:
    if request.is_json:
        return jsonify(schemas.state(interview, settings=settings()))
    return make_response(redirect(schemas.base_of(interview), 303))


def _found(flow_id: str, interview_id: str) -> Interview | None:
    """The interview of the link, if there is one; settles the language of the answer either way."""
    try:
        interview = open_interview(flow_id, interview_id)
    except NotFound:
        languages.choose()
        return None
    languages.choose((interview.script or script_of(interview.flow))["language"])
    return interview


def _unknown() -> Response:
    if request.is_json:
        return _plain_answer(404, gettext("There is no interview at this address."), "unknown")
    return make_response(render_template("voice/unknown.html"), 404)


def _view(interview: Interview) -> View:
    """What this browser may see, from the most final state to the most open one."""
    sitting = sitting_of(interview.id)
    is_mine = holds(sitting, interview.id)
    if interview.stage not in UNDER_WAY or (sitting is not None and sitting.ended_at is not None):
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
    if not is_mine or sitting is None:
        return View("taken", 409, {"reason": "used", "wait_seconds": None})
    if sitting.place["phase"] != "finished":
        return View("closed", 410, {"reason": "ended"})
    url = (interview.script or {}).get("redirect_url")
    host = urlsplit(url).hostname if url else None
    told = {"documents": len(interview.documents), "mode": sitting.mode.value}
    return View("done", 200, {"redirect_url": url, "redirect_host": host, **told})


def _is_expired(interview: Interview) -> bool:
    return (clock.now() - interview.created_at).total_seconds() > settings().link_expiry_days * 86_400


def _seconds_until_free(sitting: Sitting) -> int:
    if sitting.heartbeat_at is None:
        return 0
    silent = (clock.now() - sitting.heartbeat_at).total_seconds()
    return max(0, round(TAKEOVER_AFTER.total_seconds() - silent + 0.5))


def _about(interview: Interview) -> dict[str, Any]:
    flow, script = interview.flow, interview.script or script_of(interview.flow)
    built = gateways.current()
    about = {
        "title": script["title"], "org_name": script["org_name"], "language": script["language"],
        "logo_url": url_for("flows.logo", flow_id=flow.id) if flow.logo_key else None,
        "preamble_video_url": url_for("flows.intro_video", flow_id=flow.id) if flow.preamble_video_key else None,
        "preamble_video_type": flow.preamble_video_type, "is_video_enabled": script["is_video_enabled"],
        "is_doc_upload_enabled": script["is_doc_upload_enabled"], "question_count": len(script["questions"]),
        "time_limit_seconds": 60 * (script["time_limit_minutes"] or settings().interview_minutes),
    }  # fmt: skip
    return {
        "flow": about, "speaks": built.speaker.supports(script["language"]), "consent_version": CONSENT_VERSION,
        "hears": built.transcriber.supports(script["language"]), "detector_url": detector.address(),
    }  # fmt: skip


def _invitation(interview: Interview, context: dict[str, Any]) -> dict[str, Any]:
    ask = {
        "email_address": not interview.interviewee_email_address,
        "first_name": not interview.interviewee_first_name, "last_name": not interview.interviewee_last_name,
    }  # fmt: skip
    until = interview.created_at + timedelta(days=settings().link_expiry_days)
    open_until = None if interview.stage is Stage.RUNNING else until
    plain = {"view": "invitation", "state": None, "ask": ask, "errors": {}, "values": {}, "open_until": open_until}
    return {**plain, **_about(interview), **context}


def _again(interview: Interview, view: View, form: StartForm, *, status: int) -> Response:
    """The invitation once more, with what was typed and what is wrong with it."""
    errors = {name or "_form": str(messages[0]) for name, messages in form.errors.items() if messages}
    if request.is_json:
        name, message = next(iter(errors.items()))
        return _plain_answer(status, message, None if status == 422 else "try again", field_name=name)
    wrong = {"errors": errors, "values": form.typed()}
    return _rendered(interview, View("page", status, {**_invitation(interview, view.context), **wrong}))


def _no_room(flow_id: str, interview_id: str, form: StartForm) -> Response:
    with reading():
        interview = open_interview(flow_id, interview_id)
        form.form_errors.append(NO_ROOM)
        response = _again(interview, View("page", may_start=True, context={"taking_over": False}), form, status=503)
        response.headers["Retry-After"] = "60"
        return response


def _rendered(interview: Interview, view: View) -> Response:
    if request.is_json:
        reason = {"taken": "taken over", "closed": "closed"}.get(view.page, view.page)
        return _plain_answer(view.status, gettext("This interview cannot be started in this browser."), reason)
    script = interview.script or script_of(interview.flow)
    shown = {
        "org_name": script["org_name"], "title": script["title"], "language": script["language"],
        "base": schemas.base_of(interview),
    }  # fmt: skip
    return make_response(render_template(f"voice/{view.page}.html", **{**shown, **view.context}), view.status)


def _plain_answer(status: int, message: str, reason: str | None, *, field_name: str | None = None) -> Response:
    response = jsonify({"message": message, "reason": reason, "field": field_name})
    response.status_code = status
    return response
