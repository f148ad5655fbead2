"""Chunks of a recorder's run: one in a request, or a bundle of those that wait in the browser.

Bytes are durable before their rows are committed, and the rows before the answer is sent. A bundle costs one request
and one transaction, so a browser that is behind catches up; each chunk of it is judged as if it had come alone. Pieces
of answers come in a codec (0289) and are stored as samples: nothing behind this module knows in which form they came.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass, field
from typing import IO, Any

from flask import Response, jsonify, request
from flask_smorest import abort

from app import gateways
from app.conversation import actions, thinking
from app.conversation.access import holder, protocol, refusal_of
from app.conversation.actions import Holder
from app.conversation.protocol import under_way
from app.conversation.protocol.schemas import CHUNK_SAMPLES, LAST_SEGMENT
from app.conversation.turn import utterance_key
from app.core.db import db
from app.core.errors import DomainError, Rejected
from app.gateways.speech.coding import LONGEST_PIECE, Undecodable, is_coded
from app.interviews.recordings import actions as recordings
from app.interviews.recordings import queries as recording_queries
from app.interviews.recordings.actions import Arrival
from app.interviews.recordings.models import LARGEST_CHUNK, LAST_CHUNK, Track
from app.interviews.recordings.queries import Kept

VOICE_BYTES = CHUNK_SAMPLES * 2
MOST_NAMED = 500
"""Missing numbers named in one answer."""
MOST_BUNDLED, LARGEST_BUNDLE = 10, 1024 * 1024
"""Chunks and bytes of a bundle; ``outbox.js`` keeps to them."""
_HASH = re.compile(r"[0-9a-f]{64}")
_LISTED = re.compile(r"([0-9]{1,9}) ([0-9]{1,9}) ([0-9a-f]{64})")
_DAMAGED = "The bytes that arrived do not have this hash; send the chunk again."
_FORM = f"A voice chunk has exactly {CHUNK_SAMPLES} samples: {VOICE_BYTES} bytes, or a piece in a known codec."
_TYPES = ("application/octet-stream", "audio/", "video/")


@dataclass(frozen=True, slots=True)
class _Sent:
    """A chunk as the request describes it, and its bytes."""

    number: int
    size: int
    sha256: str
    content: bytes | IO[bytes]


@dataclass(frozen=True, slots=True)
class _Bundle:
    """What a request brings: chunks of one track, each number once."""

    segment: int
    track: Track
    chunks: list[_Sent]


@protocol.put("/segments/<int:segment>/chunks/<int:number>")
def put_chunk(segment: int, number: int) -> Response:
    """Keep a chunk: durable first, then noted, then acknowledged."""
    track, size = _track_of(segment, most=LARGEST_CHUNK)
    sha256 = request.headers.get("X-Content-SHA256", "").lower()
    if not _HASH.fullmatch(sha256):
        raise Rejected("X-Content-SHA256 must be the SHA-256 of the bytes, 64 hex digits.", field="X-Content-SHA256")
    sent = _Sent(number, size, sha256, request.stream)
    answer, duplicates, _refused = _kept(_Bundle(segment, track, [sent]))
    return jsonify(answer | {"duplicate": bool(duplicates)})


@protocol.put("/segments/<int:segment>/chunks")
def put_chunks(segment: int) -> Response:
    """Keep a bundle: chunks that waited in the browser, their bytes one after the other as ``X-Chunks`` lists them.

    It is refused as a whole where nothing of it can be kept; else ``refused`` says which chunks are not, and why.
    """
    track, size = _track_of(segment, most=LARGEST_BUNDLE)
    listed = [_LISTED.fullmatch(one.strip()) for one in request.headers.get("X-Chunks", "").split(",")]
    parts = [(int(one[1]), int(one[2]), one[3]) for one in listed if one]
    if len(parts) > MOST_BUNDLED:
        abort(413, message=f"A bundle may have at most {MOST_BUNDLED} chunks.")
    if None in listed or len({part[0] for part in parts}) < len(parts) or sum(part[1] for part in parts) != size:
        raise Rejected("X-Chunks must list each chunk once: number, bytes, SHA-256; then a comma.", field="X-Chunks")
    body, sent, at = request.stream.read(), [], 0
    for number, bytes_, sha256 in parts:
        sent.append(_Sent(number, bytes_, sha256, body[at : at + bytes_]))
        at += bytes_
    answer, duplicates, refusals = _kept(_Bundle(segment, track, sent))
    refused_chunks = [(number, *refusal_of(error)) for number, error in refusals.items()]
    refused = [{**why, "number": number, "status": status} for number, status, why in refused_chunks]
    return jsonify(answer | {"duplicates": duplicates, "refused": refused})


def _track_of(segment: int, *, most: int) -> tuple[Track, int]:
    """What address and headers say of the body, which may have ``most`` bytes: its track and its size."""
    request.max_content_length = most
    if not 1 <= segment <= LAST_SEGMENT:
        raise Rejected(f"segment must be between 1 and {LAST_SEGMENT}.", field="segment")
    try:
        track = Track(request.args.get("track", ""))
    except ValueError:
        raise Rejected("track must be mix or voice.", field="track") from None
    if not request.mimetype.startswith(_TYPES):
        abort(415, message="A chunk is sent as application/octet-stream, or with the recorder's own type.")
    size = request.content_length
    if size is None:
        abort(411, message="A chunk needs a Content-Length.")
        raise AssertionError("abort returned")
    if size > most:
        abort(413, message=f"At most {most} bytes are accepted at once.")
    return track, size


def _fault(sent: _Sent, track: Track) -> Rejected | None:
    """Why a chunk cannot be kept, whatever its bytes are."""
    if sent.number > LAST_CHUNK:
        return Rejected(f"The number of a chunk must be between 0 and {LAST_CHUNK}.", field="number")
    if track is Track.VOICE and sent.size != VOICE_BYTES and sent.size > LONGEST_PIECE:
        return Rejected(_FORM, field="body")
    return Rejected("A chunk may not be empty.", field="body") if sent.size == 0 else None


def _kept(bundle: _Bundle) -> tuple[dict[str, object], list[int], dict[int, DomainError]]:
    """Store, note and acknowledge. Gives the answer, numbers that were there before, and chunks that are refused."""
    storage, stored, refusals = gateways.current().storage, _Stored(), dict[int, DomainError]()
    try:
        for sent in bundle.chunks:
            fault = stored.take(sent, bundle)
            if fault is not None:
                refusals[sent.number] = fault
        noted = _noted(bundle, stored.arrivals, refusals)
        duplicates = [number for number, one in noted.items() if one.storage_key not in stored.keys]
        # Before the commit: a turn that waits for the row then finds the sound with the recogniser.
        for number in sorted(set(stored.voices) & set(noted) - set(duplicates)):
            _feed(holder(), bundle.segment, number, content=stored.voices[number])
        answer = _arrived(bundle, max(noted))
        db.session.commit()
        under_way.has_come(holder().interview_id)
    except DomainError:
        db.session.rollback()
        for key in stored.keys:
            storage.delete(key)
        raise
    wanted = {one.storage_key for one in noted.values()}
    for key in stored.keys:
        if key not in wanted:
            storage.delete(key)
    return answer | _partial(holder(), bundle), duplicates, refusals


@dataclass(slots=True)
class _Stored:
    """What a request has put into the storage: every key, what arrived as it was sent, and sound to be heard."""

    keys: list[str] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    voices: dict[int, bytes] = field(default_factory=dict)

    def take(self, sent: _Sent, bundle: _Bundle) -> Rejected | None:
        """Store the next chunk of the body, unless something is wrong with it."""
        fault, content = _fault(sent, bundle.track), sent.content
        if fault is not None:
            return fault
        size, sha256 = sent.size, sent.sha256
        if bundle.track is Track.VOICE:
            content = content if isinstance(content, bytes) else content.read()
            if hashlib.sha256(content).hexdigest() != sha256:
                return Rejected(_DAMAGED, field="X-Content-SHA256")
            try:
                content = decoded(content)
            except Undecodable:
                return Rejected(_FORM, field="body")
            size, sha256 = len(content), hashlib.sha256(content).hexdigest()
            self.voices[sent.number] = content
        name = recording_queries.chunk_key(
            holder().interview_id, segment=bundle.segment, track=bundle.track, number=sent.number, sha256=sha256
        )
        key = f"{name}-{secrets.token_hex(4)}"
        stored = gateways.current().storage.put(key, content)
        self.keys.append(key)
        if (stored.size, stored.sha256) != (size, sha256):
            return Rejected(_DAMAGED, field="X-Content-SHA256")
        self.arrivals.append(Arrival(sent.number, sha256, size, key))
        return None


def decoded(content: bytes) -> bytes:
    """The samples of a piece of the candidate's voice, in whatever form it came. Raises Undecodable. Slow."""
    if len(content) == VOICE_BYTES:
        return content
    if not is_coded(content):
        raise Undecodable("a piece of another length")
    return gateways.current().codec.decode(content)


def beginning(body: dict[str, Any]) -> bytes:
    """The samples of the chunk that had ``begun`` before a silence. Raises Rejected and GatewayError. Slow."""
    if body["begun_samples"] is None:
        return bytes(body["begun"])
    try:
        return decoded(body["begun"])[: 2 * body["begun_samples"]]
    except Undecodable:
        raise Rejected(_FORM, field="begun") from None


def _noted(bundle: _Bundle, arrivals: list[Arrival], refusals: dict[int, DomainError]) -> dict[int, Kept]:
    """Rows of the chunks, by number; what gets none is added to ``refusals``. Raises the first of them if none does."""
    noted: dict[int, Kept] = {}
    if arrivals:
        actions.hold(holder())
        outcomes = recordings.keep_chunks(
            holder().interview_id, segment=bundle.segment, track=bundle.track, arrivals=arrivals
        )
        for arrival, outcome in zip(arrivals, outcomes, strict=True):
            if isinstance(outcome, DomainError):
                refusals[arrival.number] = outcome
            else:
                noted[arrival.number] = outcome
    if not noted:
        raise refusals[bundle.chunks[0].number]
    return noted


def _arrived(bundle: _Bundle, last: int) -> dict[str, object]:
    """What the server has of the track. Of the candidate's own voice only the turns are sent, so it has no holes."""
    if bundle.track is Track.VOICE:
        return {"received": last, "missing": []}
    interview_id, missing = holder().interview_id, list[int]()
    whole, highest = recording_queries.arrived(interview_id, bundle.segment, bundle.track)
    if whole < highest:
        missing = recording_queries.missing_chunks(
            interview_id, segment=bundle.segment, track=bundle.track, first=whole + 1, last=highest
        )
    return {"received": whole, "missing": missing[:MOST_NAMED]}


def _feed(sitting_holder: Holder, segment: int, number: int, *, content: bytes) -> None:
    key = utterance_key(sitting_holder.interview_id, turn=sitting_holder.next_turn, segment=segment)
    transcriber = gateways.current().transcriber
    if transcriber.supports(sitting_holder.language):
        transcriber.feed(key, number, content, language=sitting_holder.language)


def _partial(sitting_holder: Holder, bundle: _Bundle) -> dict[str, object]:
    """The words of the open answer as far as they are understood, to be shown while it is spoken."""
    if bundle.track is not Track.VOICE:
        return {}
    key = utterance_key(sitting_holder.interview_id, turn=sitting_holder.next_turn, segment=bundle.segment)
    text = gateways.current().transcriber.partial(key)
    if text:
        thinking.goes_on(key, text)
    return {"partial": text} if text and not sitting_holder.has_taken_over else {}
