"""Preview as candidate: the whole page and its protocol for members, storing nothing and using no link.

Implements the candidate's protocol, so that the page's scripts run unchanged. The conversation is in ``preview.talk``,
documents are in ``preview.documents``. Only that someone has tried a flow is remembered, without which one.
"""

from dataclasses import replace
from typing import Any

from flask import Blueprint, Response, g, jsonify, make_response, redirect, render_template, request, url_for

from app import gateways
from app.accounts.access import current_member, require_member
from app.accounts.actions import note_preview
from app.conversation import access
from app.conversation.access import settings
from app.conversation.forms import DifferentForm, FeedbackForm, errors_of
from app.conversation.link_state import ending, invitation, offered
from app.conversation.models import Mode
from app.conversation.preview import sittings
from app.conversation.preview.sittings import Preview
from app.conversation.protocol import schemas
from app.conversation.speaking import voice_now
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, DomainError, NotFound, Rejected
from app.flows.flow_script import FlowScript
from app.flows.models import Cv, FlowStatus, InterviewFlow
from app.flows.queries import flow_seen_by
from app.interviews.documents.queries import CvState
from app.interviews.models import Interview, Stage
from app.interviews.recordings.models import LARGEST_CHUNK
from app.web import errors, languages
from app.web.security import allow_devices, keep_private

pages = Blueprint("preview", __name__, url_prefix="/flows/<flow_id>/preview")
PAGES = frozenset(f"preview.{name}" for name in ("fresh", "show", "decline", "different", "feedback"))
NOT_HERE = "This is a preview, so no request was sent. A candidate's request would be in your list now."


@pages.before_request
def guard() -> Any:
    """Members who may see the flow."""
    refused = require_member()
    if refused is not None:
        return refused
    keep_private()
    allow_devices()
    values = request.view_args or {}
    member = current_member()
    flow = flow_seen_by(member, str(values.pop("flow_id", "")))
    g.flow_id, g.member_id, g.preview_id = flow.id, member.id, str(values.pop("preview_id", ""))
    if flow.status is FlowStatus.ARCHIVED:
        raise Rejected("This interview flow is archived, so there is nothing to preview.")
    g.frozen = FlowScript.of(flow)
    languages.choose(g.frozen.language)
    if request.endpoint not in PAGES:
        db.session.rollback()  # no row is needed any more
    return None


@pages.after_request
def remember(response: Response) -> Response:
    """A language that was chosen stays for this flow's preview."""
    return (
        languages.remember(response, settings=settings(), path=f"/flows/{g.flow_id}/preview")
        if "flow_id" in g
        else response
    )


@pages.errorhandler(DomainError)
def refused(error: DomainError) -> Response:
    """A page for people, the protocol's words for its scripts."""
    if request.endpoint in PAGES and not request.is_json:
        db.session.rollback()
        return errors.respond(errors.from_domain(error, api=False))
    return access.refused(error)


def _base() -> str:
    return url_for("preview.show", flow_id=g.flow_id, preview_id=g.preview_id)


def current() -> Preview:
    """The member's preview at this address. Raises Conflict if it is gone, or is over and would be changed."""
    preview = sittings.find(g.preview_id, flow_id=g.flow_id, member_id=g.member_id)
    is_asked = request.method == "GET" or request.endpoint == "preview.finish"
    if preview is None or (preview.is_over and not is_asked):
        raise Conflict("This preview is over. Start it again.", details={"reason": "finished"})
    return preview


@pages.get("")
def fresh() -> Response:
    """The page of a new preview with a new id, which all later requests use."""
    g.preview_id = sittings.new_id()
    return show()


@pages.get("/<preview_id>")
def show() -> Response:
    """The candidate's page: the invitation, the talk that has begun, or the end."""
    preview = sittings.find(g.preview_id, flow_id=g.flow_id, member_id=g.member_id)
    if preview is None:
        return _page("page", **invitation(_interview(), {"taking_over": False}))
    if preview.is_over:
        return _page("done", **_told(preview))
    return _page(
        "page", **{**invitation(_interview(), {"taking_over": False}), "view": "live", "state": _state(preview)}
    )


@pages.post("/<preview_id>/decline")
def decline() -> Response:
    """The page for candidates who do not agree. Nothing is recorded."""
    return _page("declined", **offered(_flow()), **invitation(_interview(), {"taking_over": False}))


@pages.post("/<preview_id>/different")
def different() -> Response:
    """A request for something different, which goes nowhere; the page says so."""
    form = DifferentForm.of_request()
    errors = {} if form.validate() else errors_of(form)
    if request.is_json:
        name, message = next(iter(errors.items()), (None, NOT_HERE))
        raise Rejected(message, field=name)
    shown_before = invitation(_interview(), {"taking_over": False})
    shown = {"different_errors": errors or {"_form": NOT_HERE}, "different_values": form.typed()}
    return _page("page", status=422 if errors else 200, **{**shown_before, **shown})


@pages.post("/<preview_id>/feedback")
def feedback() -> Response:
    """A rating that counts for nothing: checked and answered as a candidate's."""
    preview = sittings.find(g.preview_id, flow_id=g.flow_id, member_id=g.member_id)
    if preview is None or not preview.is_over:
        return make_response(redirect(_base(), 303))
    form = FeedbackForm(formdata=request.form)
    if not form.validate():
        return _page("done", status=422, **{**_told(preview), "errors": errors_of(form), "values": form.typed()})
    return _page("done", **{**_told(preview), "has_feedback": True, "sent": "sent", "values": form.typed()})


def _flow() -> InterviewFlow:
    return flow_seen_by(current_member(), g.flow_id)


def _interview() -> Interview:
    """An unsaved interview that belongs to no session."""
    return Interview(
        id=g.preview_id,
        flow=_flow(),
        flow_id=g.flow_id,
        created_at=clock.now(),
        stage=Stage.CREATED,
        interviewee_email_address="preview",
        interviewee_first_name="preview",
        interviewee_last_name="preview",
        script=g.frozen,
    )


def _page(name: str, *, status: int = 200, **context: Any) -> Response:
    """A candidate's page, marked as a preview."""
    shown: dict[str, Any] = {
        "base": _base(),
        "org_name": g.frozen.org_name,
        "title": g.frozen.title,
        "own_url": None,
        "language": g.frozen.language,
        "logo_url": _flow().logo_path,
        "accent_url": _flow().accent_path,
        "preview_of": url_for("flows.show", flow_id=g.flow_id),
    }
    return make_response(render_template(f"conversation/{name}.html", **{**shown, **context}), status)


def _told(preview: Preview) -> dict[str, Any]:
    """What the end says."""
    return ending(preview.frozen.redirect_url, documents=sum(1 for one in preview.files.values() if one["whole"]))


def _state(preview: Preview) -> dict[str, Any]:
    return {
        **preview.state(),
        "prompt": prompt(preview) if preview.last else None,
        "voice_chunk_samples": schemas.CHUNK_SAMPLES,
        "answer_seconds": 60 * settings().answer_minutes,
    }


def prompt(preview: Preview) -> dict[str, Any]:
    """The agent's last reply as the page gets it. NotFound before the first."""
    if preview.last is None:
        raise NotFound("Nothing has been said yet.")
    return schemas.prompt(preview.last, base=_base(), script=preview.script, place=preview.place)


@pages.post("/<preview_id>/start")
def start() -> Response:
    """Begin, or go on."""
    body = request.get_json(silent=True)
    mode = Mode.TEXT if isinstance(body, dict) and body.get("mode") == "text" else Mode.VOICE
    preview = sittings.find(g.preview_id, flow_id=g.flow_id, member_id=g.member_id)
    if preview is None or preview.is_over:
        preview = sittings.begin(
            g.preview_id,
            flow_id=g.flow_id,
            member_id=g.member_id,
            frozen=replace(g.frozen, voice=voice_now(g.frozen, gateways.current().speaker)),
            minutes=settings().interview_minutes,
            mode=mode,
        )
        note_preview(current_member().organization)
        db.session.commit()
    return jsonify(_state(preview))


@pages.get("/<preview_id>/state")
def state() -> Response:
    """Where the preview stands."""
    return jsonify(_state(current()))


@pages.post("/<preview_id>/heartbeat")
def heartbeat() -> tuple[str, int]:
    """A sign of life."""
    current()
    return "", 204


@pages.get("/<preview_id>/check")
def check() -> Response:
    """The page's check of the network, its way there and back."""
    return jsonify({"received": 0})


@pages.post("/<preview_id>/check")
def check_upload() -> Response:
    """The same with a load, which is thrown away."""
    request.max_content_length = LARGEST_CHUNK
    return jsonify({"received": len(request.get_data(cache=False))})


@pages.post("/<preview_id>/pause")
def pause() -> Response:
    """Pause, or go on."""
    preview = current()
    preview.pause(paused=schemas.body(schemas.PauseSchema())["paused"])
    return jsonify(_state(preview))


@pages.post("/<preview_id>/time")
def more_time() -> Response:
    """More time."""
    preview = current()
    preview.extend(schemas.body(schemas.TimeSchema())["extension"])
    return jsonify(_state(preview))


@pages.post("/<preview_id>/finish")
def finish() -> Response:
    """The end. Nothing is handed in, and a required CV is asked for as candidates are, but not read."""
    preview = current()
    has_none = schemas.body(schemas.FinishSchema())["no_cv"] or any(one["whole"] for one in preview.files.values())
    if preview.frozen.cv == Cv.REQUIRED and not has_none:
        raise Conflict("Add a file, or press “I have none”.", details={"reason": "cv", "cv": CvState.MISSING.value})
    preview.end()
    return jsonify({"redirect_url": None})
