"""What a silence means: asked while the candidate is still on turn, answered from the words so far. Changes nothing."""

from typing import Any

from flask import Response, jsonify

from app import gateways
from app.db import db, reading
from app.errors import Conflict, GatewayError
from app.recordings import queries as kept
from app.recordings.models import Track
from app.speech.ports import SPEECH_RATE
from app.storage import read_verified
from app.voice import patience, schemas
from app.voice.access import holder, protocol
from app.voice.commands import spoken_command
from app.voice.conversation import utterance_key

WORTH_WAITING = 0.6
"""Seconds for the recogniser to say what it has heard; later the answer would come too late to be of use."""
LONGEST_CALL = 8
"""Chunks of an interruption (4 s): whoever has spoken for longer is not asked what it was."""


@protocol.post("/turns/<int:number>/silence")
def judge_silence(number: int) -> Response:
    """How long to wait for more of this answer, or whether what was said over the agent were words at all.

    ``patience_ms`` and ``counts`` are null where nothing is known; then the page goes by the length alone.
    """
    given = schemas.body(schemas.SilenceSchema())
    held = holder()
    if number != held.next_turn:
        details: dict[str, object] = {"reason": "wrong turn", "expected": held.next_turn}
        raise Conflict("This turn is not the one that is open.", details=details)
    if given["interrupts"]:
        return jsonify(_interruption(given))
    key = utterance_key(held.interview_id, turn=number, segment=given["segment"])
    text = gateways.current().transcriber.peek(
        key, last=given["last_chunk"], language=held.language, seconds=WORTH_WAITING
    )  # fmt: skip
    known = None if text is None else patience.patience(text, held.language)
    return jsonify({"text": text, "patience_ms": known, "counts": None})


def _interruption(given: dict[str, Any]) -> dict[str, Any]:
    """Words said over the agent: a few of them are read apart from the answer's own stream, which stays as it is."""
    held = holder()
    key = utterance_key(held.interview_id, turn=held.next_turn, segment=given["segment"])
    text = _recognised(given)
    counts = None
    if text is not None:
        is_command = spoken_command(text, held.language) is not None
        counts = is_command or not patience.is_backchannel(text, held.language)
    if not counts:
        gateways.current().transcriber.drop(key)
    return {"text": text, "patience_ms": None, "counts": counts}


def _recognised(given: dict[str, Any]) -> str | None:
    held, transcriber = holder(), gateways.current().transcriber
    first, last = given["first_chunk"], given["last_chunk"]
    if not transcriber.supports(held.language) or last - first >= LONGEST_CALL:
        return None
    with reading():
        pieces = kept.pieces_of(held.interview_id, given["segment"], Track.VOICE, first=first, last=last)
        db.session.rollback()
    if len(pieces) != last - first + 1:
        return None
    storage = gateways.current().storage
    try:
        pcm = b"".join(read_verified(storage, piece.key, sha256=piece.sha256) for piece in pieces)
        return transcriber.transcribe(pcm, rate=SPEECH_RATE, language=held.language).text
    except GatewayError:
        return None
