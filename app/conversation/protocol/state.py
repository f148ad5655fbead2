"""The interview's protocol over HTTP: state, pauses and recorder runs.

Every call comes from the browser that holds the interview (``access.protocol``) and may be repeated.
"""

from typing import Any

from flask import Response, jsonify, request

from app import gateways
from app.conversation import actions, silences, time_limit
from app.conversation.access import holder, linked_interview, linked_script, protocol, settings
from app.conversation.devices import browser_of
from app.conversation.protocol import schemas
from app.conversation.protocol.schemas import LAST_SEGMENT, RETRY_MS
from app.conversation.queries import is_being_answered
from app.core.db import db, reading
from app.core.errors import Rejected, sentence
from app.interviews.recordings import actions as recordings
from app.interviews.recordings import queries as recording_queries


@protocol.get("/state")
def state() -> Response | tuple[Response, int]:
    """The interview's state for a page that was just loaded; 202 while a reply is being made."""
    with reading():
        if is_being_answered(holder().sitting_id, holder().next_turn):
            return jsonify({"retry_after_ms": RETRY_MS}), 202
        return _state()


def _state() -> Response:
    with reading():
        return jsonify(schemas.state(linked_interview(), settings=settings()))


@protocol.post("/heartbeat")
def heartbeat() -> tuple[str, int]:
    """A sign of life."""
    actions.hold(holder())
    db.session.commit()
    return "", 204


@protocol.post("/pause")
def pause() -> Response:
    """Pause, or go on: while it lasts, the time limit waits. Any turn ends it too."""
    body = schemas.body(schemas.PauseSchema())
    if body["paused"]:
        time_limit.pause(holder())
    else:
        time_limit.go_on(holder())
    db.session.commit()
    return _state()


@protocol.post("/time")
def more_time() -> Response:
    """Add an extension on request, before or after the limit, until the interview is over."""
    body = schemas.body(schemas.TimeSchema())
    time_limit.extend(holder(), number=body["extension"], limit=linked_script().seconds)
    db.session.commit()
    return _state()


# --- recording -----------------------------------------------------------------------------------------------------


@protocol.post("/segments")
def open_segment() -> tuple[Response, int]:
    """A new run of the recorder."""
    body = schemas.body(schemas.SegmentSchema())
    actions.hold(holder())
    if len(recording_queries.runs_of(holder().interview_id)) >= LAST_SEGMENT:
        raise Rejected(sentence("The recording was restarted too often. Please continue in writing."))
    run = recordings.open_run(holder().interview_id, mime_type=body["mime_type"], device=_device(body["device"]))
    script = linked_script()
    db.session.commit()
    built = gateways.current()
    built.transcriber.prepare(script.language)
    built.speaker.prepare(voice_id=script.voice_id, language=script.language, steady=script.voice)
    is_heard_well = silences.is_heard_well(built.transcriber, script.language)
    return jsonify({"segment": run.number, "is_heard_well": is_heard_well}), 201


def _device(device: dict[str, Any] | None) -> dict[str, Any]:
    """The browser by its User-Agent, and the facts that the page found out."""
    facts = {name: value for name, value in (device or {}).items() if value is not None}
    return {"browser": browser_of(request.headers.get("User-Agent", "")), **facts}
