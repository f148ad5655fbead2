"""What the interview page's JavaScript sends and receives."""

import base64
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import marshmallow as ma
from flask import request
from flask_smorest import abort
from marshmallow import validate

from app import gateways
from app.conversation import time_limit, untaken_speech
from app.conversation.devices import DeviceSchema
from app.conversation.models import Sitting, Turn, TurnKind
from app.conversation.queries import last_reply, sitting_of
from app.conversation.script import patience
from app.conversation.script.commands import spoken_command
from app.conversation.script.machine import Kind, Script, last_answer, so_far
from app.conversation.script.place import Phase, Place
from app.conversation.utterances import Piece, Played
from app.core.errors import NotFound, Rejected
from app.flows.length import minutes_left
from app.interviews.actions import PART_BYTES, count_of
from app.interviews.documents.models import Document, DocumentUpload
from app.interviews.documents.queries import StoredPart, unfinished_uploads
from app.interviews.models import Interview
from app.interviews.recordings.models import LAST_CHUNK
from app.interviews.recordings.queries import runs_of
from app.settings import Settings
from app.web.body import Broken, load_json
from app.web.errors import first_words
from app.web.fields import Flag, Text

LONGEST_TEXT = 20_000
LAST_SEGMENT = 50
MOST_PIECES = 100
"""Pieces in which one reply may come."""
CHUNK_SAMPLES = 8_000
RETRY_MS = 400
"""When a page asks again for what is still being made."""
CHUNKS_PER_MINUTE = 120
A_DAY_MS = 86_400_000
BODY_BYTES = 256 * 1024
_AFTER_ANSWERS = frozenset((Kind.QUESTION, Kind.FOLLOW_UP, Kind.OUTRO))
_NO_WAIT = {"patience_ms": 0, "at_rest_ms": 0, "in_the_air_ms": 0}


class _Strict(ma.Schema):
    class Meta:
        unknown = ma.RAISE


def _whole(lowest: int, highest: int, **kwargs: Any) -> ma.fields.Integer:
    words = f"Must be between {lowest} and {highest}."
    return ma.fields.Integer(strict=True, validate=validate.Range(lowest, highest, error=words), **kwargs)


def _seconds() -> ma.fields.Float:
    return ma.fields.Float(
        required=True, allow_nan=False, validate=validate.Range(0, 86_400, error="Must be seconds between 0 and 86400.")
    )


def _mark() -> ma.fields.Float:
    return ma.fields.Float(load_default=None, allow_none=True, allow_nan=False)


def _rate() -> ma.fields.Float:
    words = "Must be between 0.5 and 1."
    return ma.fields.Float(load_default=1.0, allow_nan=False, validate=validate.Range(0.5, 1.0, error=words))


class PieceSchema(_Strict):
    """How one piece of a reply was heard."""

    number = _whole(0, MOST_PIECES, required=True)
    started = _seconds()
    seconds = _seconds()
    whole = ma.fields.Boolean(load_default=False, truthy={True}, falsy={False})
    rate = _rate()

    @ma.post_load
    def value(self, data: dict[str, Any], **_: Any) -> Piece:
        return Piece(**data)


class PlayedSchema(_Strict):
    """How the previous reply was heard."""

    segment = _whole(1, LAST_SEGMENT, load_default=None, allow_none=True)
    started = _seconds()
    seconds = _seconds()
    whole = ma.fields.Boolean(load_default=False, truthy={True}, falsy={False})
    latency_ms = ma.fields.Float(load_default=None, allow_none=True, allow_nan=False)
    pieces = ma.fields.List(ma.fields.Nested(PieceSchema), load_default=list, validate=validate.Length(max=MOST_PIECES))
    murmurs = _whole(0, 10_000, load_default=0)
    rate = _rate()

    @ma.post_load
    def value(self, data: dict[str, Any], **_: Any) -> Played:
        latency, pieces = data.pop("latency_ms"), tuple(data.pop("pieces"))
        return Played(**data, latency_ms=_milliseconds(latency), pieces=pieces)


class TimingSchema(_Strict):
    """Marks on the browser's own clock, in milliseconds."""

    speech_end_ms = _mark()
    detected_ms = _mark()
    posted_ms = _mark()


class TurnSchema(_Strict):
    """A turn."""

    kind = ma.fields.Enum(TurnKind, by_value=True, required=True)
    segment = _whole(1, LAST_SEGMENT, load_default=None, allow_none=True)
    first_chunk = _whole(0, LAST_CHUNK, load_default=None, allow_none=True)
    last_chunk = _whole(0, LAST_CHUNK, load_default=None, allow_none=True)
    text = Text(most=LONGEST_TEXT, load_default=None, allow_none=True)
    continues = Flag(load_default=False)
    unfinished = Flag(load_default=False)
    recovered = Flag(load_default=False)
    again = Flag(load_default=False)
    played = ma.fields.Nested(PlayedSchema, load_default=None, allow_none=True)
    timing = ma.fields.Nested(TimingSchema, load_default=None, allow_none=True)

    @ma.validates_schema
    def fits(self, data: dict[str, Any], **_: Any) -> None:
        if data["kind"] is TurnKind.ANSWER:
            missing = next((name for name in ("segment", "first_chunk", "last_chunk") if data[name] is None), None)
            if missing:
                raise ma.ValidationError("A spoken answer names its segment, first_chunk and last_chunk.", missing)
            if data["last_chunk"] < data["first_chunk"]:
                raise ma.ValidationError("Must not be before first_chunk.", "last_chunk")
        if data["unfinished"] and data["kind"] not in {TurnKind.ANSWER, TurnKind.TEXT}:
            raise ma.ValidationError("Only an answer can be unfinished.", "unfinished")
        if data["recovered"] and not (data["unfinished"] and data["kind"] is TurnKind.ANSWER):
            raise ma.ValidationError("Only a spoken answer that is unfinished can be recovered.", "recovered")
        if data["again"] and data["kind"] is not TurnKind.REPEAT:
            raise ma.ValidationError("Goes only with the kind repeat.", "again")
        if data["kind"] is TurnKind.TEXT and not (data["text"] or "").strip():
            raise ma.ValidationError("Write an answer, or skip the question.", "text")


class FilledChunk(ma.fields.Field[bytes]):
    """A chunk of a voice in base64, in any form (``app/gateways/speech/coding``), or plain samples; loads as bytes."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> bytes:
        del attr, data
        try:
            piece = base64.b64decode(value, validate=True) if isinstance(value, str) else b""
        except ValueError:
            piece = b""
        if not 0 < len(piece) <= CHUNK_SAMPLES * 2:
            raise ma.ValidationError(f"Must be a chunk of {CHUNK_SAMPLES} samples in base64.")
        return piece


class SilenceSchema(_Strict):
    """A silence, or a call over the agent's words, in the chunks of the answer so far.

    ``begun``: the last chunk of a silence, where it is not whole yet and filled up with silence; ``begun_samples`` is
    what there is of it. Without that, ``begun`` is plain samples (from pages of the release before). ``continues``:
    this goes on with an answer that was taken for whole. ``softly``: the call was much softer than the candidate's
    usual voice.
    """

    segment = _whole(1, LAST_SEGMENT, required=True)
    first_chunk = _whole(0, LAST_CHUNK, required=True)
    last_chunk = _whole(0, LAST_CHUNK, required=True)
    interrupts = Flag(load_default=False)
    softly = Flag(load_default=False)
    begun = FilledChunk(load_default=b"")
    begun_samples = _whole(1, CHUNK_SAMPLES - 1, load_default=None)
    continues = Flag(load_default=False)

    @ma.validates_schema
    def fits(self, data: dict[str, Any], **_: Any) -> None:
        if data["last_chunk"] < data["first_chunk"]:
            raise ma.ValidationError("Must not be before first_chunk.", "last_chunk")
        if data["interrupts"] and data["begun"]:
            raise ma.ValidationError("Words over the agent come in whole chunks.", "begun")
        if data["begun_samples"] is None and (len(data["begun"]) % 2 or len(data["begun"]) >= CHUNK_SAMPLES * 2):
            raise ma.ValidationError(f"Must be 1 to {CHUNK_SAMPLES - 1} samples of 16 bits in base64.", "begun")


class SegmentSchema(_Strict):
    """A new run of the recorder."""

    mime_type = Text(most=100, required=True)
    device = ma.fields.Nested(DeviceSchema, load_default=None, allow_none=True)


class UploadSchema(_Strict):
    """A file that is going to be sent in parts."""

    name = Text(most=1000, required=True)
    size = _whole(1, 1_000_000_000, required=True)
    sha256 = ma.fields.String(required=True, validate=validate.Regexp(r"\A[0-9a-f]{64}\Z", error="64 hex digits."))


class RunEndSchema(_Strict):
    """How far a run of the recorder went; -1 for a track without any chunk."""

    segment = _whole(1, LAST_SEGMENT, required=True)
    last_mix_chunk = _whole(-1, LAST_CHUNK, required=True)
    last_voice_chunk = _whole(-1, LAST_CHUNK, load_default=-1, allow_none=True)


class PauseSchema(_Strict):
    """Whether the candidate pauses."""

    paused = Flag(required=True)


class TimeSchema(_Strict):
    """Which extension of the time limit is asked for; numbered, so that asking twice adds one."""

    extension = _whole(1, time_limit.MOST_EXTENSIONS, required=True)


class FinishSchema(_Strict):
    """The end of the talk."""

    segments = ma.fields.List(
        ma.fields.Nested(RunEndSchema), load_default=list, validate=validate.Length(max=LAST_SEGMENT)
    )
    played = ma.fields.Nested(PlayedSchema, load_default=None, allow_none=True)
    no_cv = Flag(load_default=False)


def body(schema: ma.Schema) -> dict[str, Any]:
    """The request's JSON body, checked. Raises Rejected naming the field, or a werkzeug error for 400, 413, 415."""
    if (request.content_length or 0) > BODY_BYTES:
        abort(413, message=f"The body may have at most {BODY_BYTES} bytes.")
    if not request.is_json:
        abort(415, message="The content type of the body must be application/json.")
    try:
        loaded: dict[str, Any] = schema.load(load_json(request.get_data()))
    except Broken as error:
        abort(400, message=str(error))
    except ma.ValidationError as error:
        errors: dict[str, Any] = error.normalized_messages()  # type: ignore[no-untyped-call]  # marshmallow left it out
        raise Rejected(first_words(errors), field=_field(errors)) from None
    return loaded


def _field(errors: Any) -> str | None:
    name = next(iter(errors), None) if isinstance(errors, dict) else None
    return None if name in {None, "_schema"} else str(name)


def _milliseconds(value: float | None) -> int | None:
    return round(value) if value is not None and 0 <= value <= A_DAY_MS else None


def detection_ms(timing: dict[str, float | None] | None) -> int | None:
    """From the end of speech to its detection, if the browser's marks make sense."""
    end, detected = (timing or {}).get("speech_end_ms"), (timing or {}).get("detected_ms")
    return _milliseconds(detected - end) if end is not None and detected is not None else None


# --- what is sent --------------------------------------------------------------------------------------------------


def prompt(turn: Turn, *, base: str, script: Script, place: Place, is_taken_over: bool = False) -> dict[str, Any]:
    """A reply of the agent as the page gets it; it sounds when the answer has been over for ``patience_ms``.

    ``last_answer`` is what may be said again now (``script.machine.last_answer``), else None. Where another browser has
    taken the interview over, it sees no words of any answer: neither these nor ``heard`` (0050).

    ``question`` is what is open: the script's question or a follow-up to it, ``script_question`` the former always.
    ``minutes_left`` is about how long the questions that are left take, in steps of five (0: a few), or None.
    """
    at = turn.question_index
    again = None if turn.reply_kind == Kind.MOMENT else last_answer(script, place)
    parts = [{k: v for k, v in part.items() if k not in {"words", "stretches"}} for part in turn.parts or []]
    sounds = _sounds(turn, f"{base}/turns/{turn.number}/audio")
    return {
        "turn": turn.number,
        "kind": turn.reply_kind,
        "text": "\n\n".join(part["text"] for part in parts),
        "parts": parts,
        "audio_url": sounds[0] if sounds else None,
        "audio_urls": sounds,
        "seconds": turn.seconds,
        "question_index": at,
        "question_count": len(script.questions),
        "minutes_left": None if at is None else minutes_left(len(script.questions) - at, most=script.seconds / 60),
        "question": turn.question,
        "script_question": None if at is None else script.questions[at],
        "expects": turn.expects,
        "heard": None if turn.heard_text is None or is_taken_over else {"text": turn.heard_text},
        **_waits(turn, script.language, said=so_far(place)),
        "last_answer": "" if again and is_taken_over else again,
        **_awaits(turn),
    }


def _awaits(turn: Turn) -> dict[str, Any]:
    """After "One moment, please" or the beginning of a reply: the answer that the page posts once more for the rest."""
    names = ("segment", "first_chunk", "last_chunk")
    return {"awaits": {name: getattr(turn, name) for name in names}} if turn.reply_kind == Kind.MOMENT else {}


def _sounds(turn: Turn, address: str) -> list[str]:
    """Where the pieces of the reply's sound are, in the order in which they are played."""
    if not turn.audio_key:
        return []
    pieces = {stretch["piece"] for part in turn.parts or [] for stretch in part.get("stretches", ())}
    return [address, *(f"{address}/{piece}" for piece in sorted(pieces - {0}))]


def _waits(turn: Turn, language: str, *, said: str) -> dict[str, int]:
    """None is needed where nothing can be cut short: buttons, written answers, silence, words to the agent.

    ``said``: what the turn's words are the end of, if its answer came in parts.
    """
    is_begun = turn.reply_kind == Kind.MOMENT and bool(turn.heard_text)
    if turn.kind is not TurnKind.ANSWER or (turn.reply_kind not in _AFTER_ANSWERS and not is_begun):
        return _NO_WAIT
    if turn.heard_text and spoken_command(turn.heard_text, language) is not None:
        return _NO_WAIT
    is_part = bool(turn.heard_text) and said.endswith(turn.heard_text or "")
    is_heard_well = not gateways.current().transcriber.is_demonstration(language)
    return patience.waits(said if is_part else turn.heard_text, language, is_heard_well=is_heard_well)


def base_of(interview: Interview) -> str:
    """Path of the interview's page, under which the whole protocol lies."""
    return f"/interview/api/{interview.flow_id}/{interview.id}"


def state(interview: Interview, *, settings: Settings) -> dict[str, Any]:
    """Where the interview stands, for a page that was just loaded."""
    sitting = sitting_of(interview.id)
    if sitting is None or interview.script is None:
        raise NotFound("The interview has not begun.")
    script, place = Script.of(interview.script, minutes=settings.interview_minutes), Place.from_json(sitting.place)
    runs, last = runs_of(interview.id), last_reply(sitting.id)
    is_over = sitting.ended_at is not None
    return {
        "stage": "finished" if is_over else "outro" if place.phase is Phase.OUTRO else "live",
        "mode": sitting.mode.value,
        "language": script.language,
        "video": interview.script.is_video_enabled,
        "documents_allowed": interview.script.is_doc_upload_enabled,
        "documents": [document(one) for one in interview.documents],
        "uploads": [upload(one) for one in unfinished_uploads(interview.id)],
        "turn": sitting.next_turn,
        "prompt": None
        if last is None
        else prompt(last, base=base_of(interview), script=script, place=place, is_taken_over=sitting.is_taken_over),
        "question_index": place.question_index,
        "question_count": len(script.questions),
        "next_segment": (runs[-1].number if runs else 0) + 1,
        "voice_chunk_samples": CHUNK_SAMPLES,
        **time_limit.page_fields(sitting, limit=script.seconds, started_at=interview.started_at),
        "answer_seconds": 60 * settings.answer_minutes,
        "open_speech": None if is_over else _open_speech(sitting, most=longest_answer(settings)),
        "redirect_url": interview.script.redirect_url if is_over else None,
    }


def longest_answer(settings: Settings) -> int:
    """Voice chunks of the longest answer."""
    return settings.answer_minutes * CHUNKS_PER_MINUTE


def _open_speech(sitting: Sitting, *, most: int) -> dict[str, int] | None:
    """What was spoken before the page was left, oldest first; the page posts it as a part of the answer."""
    open_speech = untaken_speech.stretches(sitting, most=most)
    return None if not open_speech else asdict(open_speech[0])


def upload(
    row: DocumentUpload, *, documents: Sequence[Document] = (), parts: Sequence[StoredPart] = ()
) -> dict[str, Any]:
    """A file on its way: which of its ``parts`` are there, and its document once it has arrived."""
    done = next((one for one in documents if one.id == row.document_id), None)
    return {
        "id": row.id,
        "name": row.name,
        "size": row.size,
        "sha256": row.sha256,
        "part_bytes": PART_BYTES,
        "parts": count_of(row),
        "received": [part.number for part in parts],
        "document": document(done) if done else None,
    }


def document(row: Document) -> dict[str, Any]:
    """A document that the candidate has added."""
    return {"id": row.id, "name": row.name, "size": row.size}
