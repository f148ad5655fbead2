"""The interview's protocol over HTTP: state, recorder runs and their chunks.

Every call comes from the browser that holds the interview (``access.protocol``) and may be repeated. Bytes are
durable before their row is committed, and the row before the answer is sent.
"""

import re
import secrets
from dataclasses import dataclass
from typing import Any

from flask import Response, jsonify, request
from flask_smorest import abort

from app import gateways
from app.db import db, reading
from app.errors import DomainError, Rejected, sentence
from app.recordings import actions as recordings
from app.recordings import queries as kept
from app.recordings.models import LARGEST_CHUNK, LAST_CHUNK, Track
from app.voice import actions, allowance, schemas
from app.voice.access import holder, linked_interview, linked_script, protocol, settings
from app.voice.actions import Holder
from app.voice.conversation import utterance_key
from app.voice.devices import browser_of
from app.voice.schemas import CHUNK_SAMPLES, LAST_SEGMENT

VOICE_BYTES = CHUNK_SAMPLES * 2
MOST_NAMED = 500
"""Missing numbers named in one answer."""
_HASH = re.compile(r"[0-9a-f]{64}")
_CHUNK_TYPES = ("application/octet-stream", "audio/", "video/")


@protocol.get("/state")
def state() -> Response:
    """Where the interview stands."""
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
    given = schemas.body(schemas.PauseSchema())
    if given["paused"]:
        allowance.pause(holder())
    else:
        allowance.go_on(holder())
    db.session.commit()
    return state()


@protocol.post("/time")
def more_time() -> Response:
    """More time for whoever asks, before or after the limit, as long as the talk is not over."""
    given = schemas.body(schemas.TimeSchema())
    allowance.extend(holder(), number=given["extension"], limit=linked_script().seconds)
    db.session.commit()
    return state()


# --- recording -----------------------------------------------------------------------------------------------------


@protocol.post("/segments")
def open_segment() -> tuple[Response, int]:
    """A new run of the recorder."""
    given = schemas.body(schemas.SegmentSchema())
    actions.hold(holder())
    if len(kept.runs_of(holder().interview_id)) >= LAST_SEGMENT:
        raise Rejected(sentence("The recording was started anew too often. Please go on in writing."))
    run = recordings.open_run(holder().interview_id, mime_type=given["mime_type"], device=_device(given["device"]))
    db.session.commit()
    gateways.current().transcriber.prepare(holder().language)
    return jsonify({"segment": run.number}), 201


def _device(told: dict[str, Any] | None) -> dict[str, Any]:
    """What the browser says of itself in the request, and what the page could find out."""
    known = {name: value for name, value in (told or {}).items() if value is not None}
    return {"browser": browser_of(request.headers.get("User-Agent", "")), **known}


@dataclass(frozen=True, slots=True)
class _Sent:
    """A chunk as the request describes it."""

    segment: int
    number: int
    track: Track
    sha256: str
    size: int


@protocol.put("/segments/<int:segment>/chunks/<int:number>")
def put_chunk(segment: int, number: int) -> Response:
    """Keep a chunk: durable first, then noted, then acknowledged."""
    sent, interview_id = _described(segment, number), holder().interview_id
    storage = gateways.current().storage
    name = kept.chunk_key(interview_id, segment=segment, track=sent.track, number=number, sha256=sent.sha256)
    key = f"{name}-{secrets.token_hex(4)}"
    content = request.stream.read() if sent.track is Track.VOICE else None
    stored = storage.put(key, content if content is not None else request.stream)
    if (stored.size, stored.sha256) != (sent.size, sent.sha256):
        storage.delete(key)
        raise Rejected("The bytes that arrived do not have this hash; send the chunk again.", field="X-Content-SHA256")
    try:
        actions.hold(holder())
        chunk = recordings.keep_chunk(
            interview_id, segment=segment, track=sent.track, number=number, sha256=sent.sha256, size=sent.size,
            storage_key=key,
        )  # fmt: skip
        is_twin = chunk.storage_key != key
        arrived = _arrived(interview_id, sent, duplicate=is_twin)
        db.session.commit()
    except DomainError:
        db.session.rollback()
        storage.delete(key)
        raise
    if is_twin:
        storage.delete(key)
    elif content is not None:
        _feed(holder(), sent, content)
    return jsonify(arrived | _partial(holder(), sent))


def _described(segment: int, number: int) -> _Sent:
    request.max_content_length = LARGEST_CHUNK
    if not 1 <= segment <= LAST_SEGMENT:
        raise Rejected(f"segment must lie between 1 and {LAST_SEGMENT}.", field="segment")
    if number > LAST_CHUNK:
        raise Rejected(f"The number of a chunk must lie between 0 and {LAST_CHUNK}.", field="number")
    try:
        track = Track(request.args.get("track", ""))
    except ValueError:
        raise Rejected("track must be mix or voice.", field="track") from None
    sha256 = request.headers.get("X-Content-SHA256", "").lower()
    if not _HASH.fullmatch(sha256):
        raise Rejected("X-Content-SHA256 must be the SHA-256 of the bytes, 64 hex digits.", field="X-Content-SHA256")
    return _Sent(segment, number, track, sha256, _size_of(track))


def _size_of(track: Track) -> int:
    if not request.mimetype.startswith(_CHUNK_TYPES):
        abort(415, message="A chunk is sent as application/octet-stream, or with the recorder's own type.")
    size = request.content_length
    if size is None:
        abort(411, message="A chunk needs a Content-Length.")
        raise AssertionError("abort returned")
    if size > LARGEST_CHUNK:
        abort(413, message=f"A chunk may have at most {LARGEST_CHUNK} bytes.")
    if track is Track.VOICE and size != VOICE_BYTES:
        raise Rejected(f"A voice chunk has exactly {CHUNK_SAMPLES} samples, {VOICE_BYTES} bytes.", field="body")
    if size == 0:
        raise Rejected("A chunk may not be empty.", field="body")
    return size


def _arrived(interview_id: str, sent: _Sent, *, duplicate: bool) -> dict[str, object]:
    """What the server has of the track. Of the candidate's own voice only the turns are sent, so it has no holes."""
    if sent.track is Track.VOICE:
        return {"received": sent.number, "missing": [], "duplicate": duplicate}
    whole, highest = kept.arrived(interview_id, sent.segment, sent.track)
    missing: list[int] = []
    if whole < highest:
        missing = kept.missing_chunks(
            interview_id, segment=sent.segment, track=sent.track, first=whole + 1, last=highest
        )  # fmt: skip
    return {"received": whole, "missing": missing[:MOST_NAMED], "duplicate": duplicate}


def _feed(held: Holder, sent: _Sent, content: bytes) -> None:
    key = utterance_key(held.interview_id, turn=held.next_turn, segment=sent.segment)
    transcriber = gateways.current().transcriber
    if transcriber.supports(held.language):
        transcriber.feed(key, sent.number, content, language=held.language)


def _partial(held: Holder, sent: _Sent) -> dict[str, object]:
    """The words of the open answer as far as they are understood, to be shown while it is spoken."""
    if sent.track is not Track.VOICE:
        return {}
    key = utterance_key(held.interview_id, turn=held.next_turn, segment=sent.segment)
    text = gateways.current().transcriber.partial(key)
    return {"partial": text} if text else {}
