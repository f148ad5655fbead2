"""Turns and the end of the talk: claim, commit, think and speak without a transaction, record, commit, answer."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from flask import Flask, Response, current_app, jsonify

from app import gateways
from app.conversation import actions, thinking, time_limit, utterances
from app.conversation.access import holder, linked_interview, linked_script, protocol, settings
from app.conversation.actions import Holder, Outcome
from app.conversation.models import Sitting, Turn, TurnKind, TurnState
from app.conversation.protocol import ahead, schemas, under_way
from app.conversation.protocol.chunks import MOST_BUNDLED
from app.conversation.protocol.sound import form_along, keep, sent_along
from app.conversation.queries import turn_of
from app.conversation.script.machine import Kind, Script
from app.conversation.script.place import Place
from app.conversation.turn import Answer, Audio, Engines, Reply, respond, utterance_key
from app.conversation.utterances import Heard, Played
from app.core import counters
from app.core.claims import PARKED_AFTER
from app.core.db import db, reading, row_security
from app.core.errors import Conflict, NotFound, Rejected, sentence
from app.flows.flow_script import FlowScript
from app.gateways.language_model.usage import Used, counted
from app.gateways.storage import Storage, read_verified
from app.interviews.actions.documents import see_cv
from app.interviews.documents.queries import document_texts
from app.interviews.models import Interview
from app.interviews.recordings import actions as recordings
from app.interviews.recordings import queries as recording_queries
from app.interviews.recordings.models import LAST_CHUNK, Track

log = logging.getLogger(__name__)

RENEW_SECONDS = 6.0
MOST_OF_DOCUMENTS = 4_000
"""Characters of the candidate's documents sent with an answer. Few, because the candidate waits for the model."""


@dataclass(frozen=True, slots=True)
class _Work:
    """A claimed turn as plain values: nothing here touches the database."""

    turn_id: str
    number: int
    token: int
    script: Script
    place: Place
    answer: Answer
    heard: Heard
    sound: dict[str, int | None]
    is_awaited: bool
    is_plain: bool


@protocol.post("/turns/<int:number>")
def post_turn(number: int) -> Response | tuple[Response, int]:
    """The agent's reply to what the candidate did. The same turn always gets the same reply."""
    body = schemas.body(schemas.TurnSchema())
    _check_number(number, body)
    if body["kind"] is TurnKind.ANSWER:
        wait_for_chunks(body, seconds=under_way.LONGEST)
    began = time.perf_counter()
    interview = linked_interview()
    time_limit.go_on(holder())
    goes_back = body["continues"] or body["again"]
    claimed = actions.take_turn(holder(), number=number, kind=body["kind"], continues=goes_back)
    if claimed.token is None:
        response = _answered_or_busy(claimed.turn, interview)
        db.session.commit()
        return response
    work = _work(interview, claimed.turn, claimed.token, body=body)
    base = schemas.base_of(interview)
    db.session.commit()
    with _kept(work), counted() as used:
        reply = respond(work.script, work.place, work.answer, engines=_engines(is_plain=work.is_plain))
        outcome = Outcome(
            number=number,
            script=work.script,
            reply=reply,
            audio_key=_keep_audio(work, reply),
            heard=work.heard,
            played=body["played"],
            detected_ms=schemas.detection_ms(body["timing"]),
            answered_ms=round((time.perf_counter() - began) * 1000),
            sound=work.sound,
            is_awaited=work.is_awaited,
            hears_again=_hears_again(work),
            model=_spent(used),
        )
        turn = actions.record_reply(holder(), work.turn_id, work.token, outcome=outcome)
        answer, key = (_told(turn, base, work.script), turn.audio_key) if turn else (None, None)
        db.session.commit()
    return jsonify(_with_sound(work, reply, answer, key=key)) if answer is not None else _overtaken(number)


def _with_sound(work: _Work, reply: Reply, answer: dict[str, Any], *, key: str | None) -> dict[str, Any]:
    """The answer with its sound; that of the likely next one is begun."""
    told = answer | sent_along(key)
    if not work.is_plain:
        ahead.begin(gateways.current(), work.script, reply.step.place, form=form_along())
    return told


def wait_for_chunks(body: dict[str, Any], *, seconds: float) -> None:
    """Wait for those chunks of an answer that the page is sending, which are its last ones. Without a transaction."""
    first = max(body["first_chunk"], body["last_chunk"] - MOST_BUNDLED + 1)
    names = {"segment": body["segment"], "track": Track.VOICE, "first": first, "last": body["last_chunk"]}

    def have_arrived() -> bool:
        with reading():
            missing = recording_queries.missing_chunks(holder().interview_id, **names)
            db.session.rollback()
        return not missing

    under_way.wait_for(holder().interview_id, have_arrived, seconds=seconds)


def _check_number(number: int, body: dict[str, Any]) -> None:
    if not 1 <= number <= LAST_CHUNK:
        raise Rejected(f"The number of a turn must be between 1 and {LAST_CHUNK}.", field="turn")
    if (number == 1) != (body["kind"] is TurnKind.BEGIN):
        raise Rejected("The first turn, and only that one, is of the kind begin.", field="kind")


def _answered_or_busy(turn: Turn, interview: Interview) -> Response | tuple[Response, int]:
    if turn.state is not TurnState.ANSWERED:
        return jsonify({"retry_after_ms": schemas.RETRY_MS}), 202
    return jsonify(_told(turn, schemas.base_of(interview), linked_script()))


def _told(turn: Turn, base: str, script: Script) -> dict[str, Any]:
    # nosemgrep: row-by-id-in-edge - the sitting of a turn that its holder was let in to
    sitting = db.session.get_one(Sitting, turn.sitting_id)
    return schemas.prompt(
        turn, base=base, script=script, place=Place.from_json(sitting.place), is_taken_over=sitting.is_taken_over
    )


def _work(interview: Interview, turn: Turn, token: int, *, body: dict[str, Any]) -> _Work:
    """Everything the turn needs. Raises Conflict with the missing chunks of a spoken answer."""
    # nosemgrep: row-by-id-in-edge - the sitting of a turn that its holder was let in to
    sitting = db.session.get_one(Sitting, turn.sitting_id)
    script = linked_script()
    place = Place.from_json(sitting.place)
    is_over = time_limit.elapsed(sitting, interview.started_at) > script.seconds + sitting.extra_seconds
    kind: TurnKind = body["kind"]
    heard = Heard(_asked(place, body), typed=kind is TurnKind.TEXT)
    audio, is_awaited = None, _is_awaited(turn, body)
    if kind is TurnKind.ANSWER:
        audio = _audio(interview.id, turn.number - is_awaited, body)
        heard = Heard(_asked(place, body), body["segment"], body["first_chunk"], body["last_chunk"])
    played: Played | None = body["played"]
    before = turn_of(turn.sitting_id, turn.number - 1)
    answer = Answer(
        kind.value,
        audio=audio,
        text=(body["text"] or "").strip(),
        time_over=is_over,
        continues=body["continues"],
        unfinished=body["unfinished"],
        recovered=body["recovered"],
        again=body["again"],
        interrupts=_interrupts(body),
        awaited=is_awaited,
        known=before.heard_text if before and is_awaited else None,
        cut=utterances.heard_text(before, played) if before else "",
        heard=utterances.share_heard(before, played),
        documents=documents_of(interview) if kind in {TurnKind.ANSWER, TurnKind.TEXT} else "",
    )
    is_plain = turn.recoveries >= PARKED_AFTER
    sound = {name: body[name] for name in ("segment", "first_chunk", "last_chunk")}
    return _Work(turn.id, turn.number, token, script, place, answer, heard, sound, is_awaited, is_plain)


def _is_awaited(turn: Turn, body: dict[str, Any]) -> bool:
    """Whether this is the answer of the turn before once more, to which there was no whole reply yet."""
    before = turn_of(turn.sitting_id, turn.number - 1) if body["kind"] is TurnKind.ANSWER else None
    if before is None or before.reply_kind != Kind.MOMENT:
        return False
    return all(getattr(before, name) == body[name] for name in ("segment", "first_chunk", "last_chunk"))


def _interrupts(body: dict[str, Any]) -> bool:
    played: Played | None = body["played"]
    return played is not None and not played.whole and not body["continues"]


def documents_of(interview: Interview) -> str:
    """What an interviewer is given of the candidate's documents."""
    may_have_some = (interview.script or FlowScript()).is_doc_upload_enabled
    return "\n\n".join(document_texts(interview.id, most=MOST_OF_DOCUMENTS)) if may_have_some else ""


def _asked(place: Place, body: dict[str, Any]) -> int | None:
    """The question that an answer belongs to: the open one, or that of the answer it continues."""
    former = place.former if body["continues"] else None
    return (Place.from_json(former) if former else place).question_index


def _audio(interview_id: str, number: int, body: dict[str, Any]) -> Audio:
    segment, first, last = body["segment"], body["first_chunk"], body["last_chunk"]
    if last - first >= schemas.longest_answer(settings()) + schemas.CHUNKS_PER_MINUTE:
        raise Rejected(
            sentence("This answer is too long. An answer can be at most %(minutes)s minutes long."),
            field="last_chunk",
            minutes=settings().answer_minutes,
        )
    pieces = recording_queries.pieces_of(interview_id, segment, Track.VOICE, first=first, last=last)
    missing = sorted(set(range(first, last + 1)) - {piece.number for piece in pieces})
    if missing:
        details: dict[str, object] = {"reason": "missing", "missing": missing}
        raise Conflict("Parts of the answer have not arrived yet.", details=details)
    storage = gateways.current().storage
    key = utterance_key(interview_id, turn=number, segment=segment)
    return Audio(key, first, last, lambda: _bytes_of(pieces, storage))


def _bytes_of(pieces: tuple[recording_queries.Piece, ...], storage: Storage) -> Iterator[bytes]:
    for piece in pieces:
        yield read_verified(storage, piece.key, sha256=piece.sha256)


def _engines(*, is_plain: bool) -> Engines:
    """The configured engines. None after repeated crashes of a turn, so that the interview can continue."""
    built = gateways.current()
    return Engines() if is_plain else Engines(built.transcriber, built.interviewer, built.speaker)


def _hears_again(work: _Work) -> bool:
    """Whether a worker should have the answer heard again: only where the recogniser gains by it."""
    return work.answer.audio is not None and gateways.current().transcriber.improves(work.script.language)


def _keep_audio(work: _Work, reply: Reply) -> str | None:
    if reply.wav is None:
        return None
    kinds = [part.kind for part in reply.parts]
    return keep(gateways.current().storage, reply.wav, name=f"{work.number}-{work.token}", kinds=kinds)


def _spent(used: Used) -> Used:
    """What the language model has cost: in this request, and in threads since the turn before."""
    used.add(thinking.spent(holder().interview_id))
    return used


@contextmanager
def _kept(work: _Work) -> Iterator[None]:
    """Renew the claim while the engines work. Release it at once if they fail, so that the next attempt can start."""
    began, outcome = time.perf_counter(), "failed"
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - Flask's documented way to hand an app to a thread
    done = threading.Event()
    renewing = threading.Thread(target=row_security.as_chosen(_renew), args=(app, work, done), daemon=True)
    renewing.start()
    try:
        yield
        outcome = "answered"
    except BaseException:
        db.session.rollback()
        actions.release_turn(work.turn_id, work.token)
        db.session.commit()
        raise
    finally:
        done.set()
        counters.current().time("turn", work.answer.kind, outcome, seconds=time.perf_counter() - began)


def _renew(app: Flask, work: _Work, done: threading.Event) -> None:
    while not done.wait(RENEW_SECONDS):
        with app.app_context():
            is_ours = actions.renew_turn(work.turn_id, work.token)
            db.session.commit()
        if not is_ours:
            return


def _overtaken(number: int) -> Response | tuple[Response, int]:
    """Another process was faster: answer with its reply."""
    with reading():
        turn = turn_of(holder().sitting_id, number)
        if turn is None:
            raise NotFound("This turn is gone.")
        return _answered_or_busy(turn, linked_interview())


@protocol.post("/finish")
def finish() -> Response:
    """Submit the interview. If parts have not arrived yet, Conflict names them and nothing is closed.

    The same while a required CV is missing, unless the candidate says that they have none.
    """
    body = schemas.body(schemas.FinishSchema())
    interview = linked_interview()
    # nosemgrep: row-by-id-in-edge - the sitting of the holder, whom the guard has let in
    sitting = db.session.get_one(Sitting, holder().sitting_id)
    if sitting.ended_at is None:
        _seal(holder(), body["segments"])
        see_cv(interview, has_none=body["no_cv"])
        actions.count_model(holder(), thinking.spent(holder().interview_id))
        actions.finish_sitting(holder(), interview, played=body["played"])
        db.session.commit()
        log.info("interview %s submitted", interview.id)
    return jsonify({"redirect_url": (interview.script or FlowScript()).redirect_url})


def _seal(sitting_holder: Holder, runs: list[dict[str, Any]]) -> None:
    numbers = {run.number for run in recording_queries.runs_of(sitting_holder.interview_id)}
    unknown = next((run["segment"] for run in runs if run["segment"] not in numbers), None)
    if unknown is not None:
        raise Rejected(f"The interview has no recorder run {unknown}.", field="segments")
    missing = {str(run["segment"]): gaps for run in runs if (gaps := _gaps(sitting_holder.interview_id, run))}
    if missing:
        details: dict[str, object] = {"reason": "missing", "missing": missing}
        raise Conflict("Parts of the recording have not arrived yet.", details=details)
    for run in runs:
        if run["last_mix_chunk"] >= 0:
            recordings.seal(sitting_holder.interview_id, segment=run["segment"], last_mix_chunk=run["last_mix_chunk"])


def _gaps(interview_id: str, run: dict[str, Any]) -> list[int]:
    last = run["last_mix_chunk"]
    if last < 0:
        return []
    return recording_queries.missing_chunks(interview_id, segment=run["segment"], track=Track.MIX, first=0, last=last)
