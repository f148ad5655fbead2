"""What a silence means: asked while the candidate is still on turn, answered from the words so far. Writes nothing."""

from typing import Any

from flask import Response, jsonify

from app import gateways
from app.conversation import silences, thinking
from app.conversation.access import holder, linked_interview, linked_script, protocol
from app.conversation.actions import Holder
from app.conversation.protocol import schemas
from app.conversation.protocol.chunks import beginning
from app.conversation.protocol.turns import documents_of, wait_for_chunks
from app.conversation.queries import sitting_of
from app.conversation.script.machine import Event, so_far, taken_up
from app.conversation.script.place import Phase, Place
from app.conversation.turn import utterance_key
from app.core.db import db, reading
from app.core.errors import Conflict
from app.gateways.language_model.scripted import ScriptInterviewer
from app.gateways.storage import read_verified
from app.interviews.recordings import queries as recording_queries
from app.interviews.recordings.models import Track


@protocol.post("/turns/<int:number>/silence")
def judge_silence(number: int) -> Response:
    """How long to wait for more of this answer, or whether what was said over the agent were words at all."""
    body = schemas.body(schemas.SilenceSchema())
    current, transcriber = holder(), gateways.current().transcriber
    if number != current.next_turn:
        details: dict[str, object] = {"reason": "wrong turn", "expected": current.next_turn}
        raise Conflict("This turn is not the one that is open.", details=details)
    whole = body["last_chunk"] - bool(body["begun"])
    wait_for_chunks(body | {"last_chunk": whole}, seconds=silences.WORTH_WAITING)
    key = utterance_key(current.interview_id, turn=number, segment=body["segment"])
    first, last = body["first_chunk"], body["last_chunk"]
    if not body["interrupts"]:
        judged = silences.pause(transcriber, key, last=last, language=current.language, **_answer_so_far(body))
        is_early = body["begun_samples"] is not None  # words that the rest of the chunk often changes
        if not is_early and silences.may_be_over(judged, current.language):
            _think(key, judged["text"], continues=body["continues"])
        return jsonify(_for(current, judged))
    called = silences.call(
        transcriber,
        key,
        chunks=last - first + 1,
        language=current.language,
        softly=body["softly"],
        pcm=lambda: _sound(current.interview_id, body),
    )
    return jsonify(_for(current, called))


def _for(current: Holder, judged: dict[str, Any]) -> dict[str, Any]:
    return {**judged, "text": ""} if judged["text"] and current.has_taken_over else judged


def _answer_so_far(body: dict[str, Any]) -> dict[str, Any]:
    """What the recogniser does not have in its stream: sound of a chunk to come, words of the answer that goes on."""
    begun = beginning(body)
    if not body["continues"]:
        return {"begun": begun}
    with reading():
        sitting = sitting_of(holder().interview_id)
        place = Place.from_json(sitting.place) if sitting else Place()
        db.session.rollback()
    return {"begun": begun, "before": so_far(place)}


def _think(key: str, text: str, *, continues: bool) -> None:
    """Let the interviewer think about an answer that may be over, so that its words are ready when it is."""
    built, script = gateways.current(), linked_script()
    if built.interviewer.name == ScriptInterviewer.name or not built.speaker.supports(script.language):
        return
    with reading():
        sitting = sitting_of(holder().interview_id)
        place = Place.from_json(sitting.place) if sitting else Place()
        documents = documents_of(linked_interview())
        db.session.rollback()
    if continues:
        place, _event = taken_up(place, Event.ANSWER)
    if place.phase is Phase.QUESTION and not place.stopping:
        thinking.begin_early(script, place, text, interviewer=built.interviewer, key=key, documents=documents)


def _sound(interview_id: str, body: dict[str, Any]) -> bytes | None:
    """The chunks that are asked about; None where some have not arrived."""
    first, last = body["first_chunk"], body["last_chunk"]
    with reading():
        pieces = recording_queries.pieces_of(interview_id, body["segment"], Track.VOICE, first=first, last=last)
        db.session.rollback()
    if len(pieces) != last - first + 1:
        return None
    storage = gateways.current().storage
    return b"".join(read_verified(storage, piece.key, sha256=piece.sha256) for piece in pieces)
