"""Background work on interviews: process the interview, make the video, and enqueue overdue work again.

Every job may run twice. It claims its row, commits, works on plain values while the claim is renewed, and writes the
outcome under its token. If the claim was lost, it drops its work.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from flask import Flask, current_app
from sqlalchemy.exc import SQLAlchemyError

from app import gateways
from app.core import claims, queue
from app.core.db import db, for_one, row_security
from app.core.errors import GatewayError, place_of
from app.flows import PREPARE_SPEECH
from app.flows.flow_script import FlowScript
from app.gateways.speech.ports import SPEECH_RATE
from app.gateways.storage import Damaged, read_verified
from app.interviews import PLAY_TEST, PROCESS_INTERVIEW, PROCESS_VIDEO, actions, queries
from app.interviews.documents import queries as document_queries
from app.interviews.documents.jobs import read_documents
from app.interviews.jobs import stuck_jobs
from app.interviews.models import Interview, Scenario, Stage, Utterance, VideoStage
from app.interviews.out_of_memory import NO_MEMORY, is_starved
from app.interviews.processing import NotRecognised, Talk, TurnValue, process
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.media import Workshop
from app.interviews.recordings.queries import Take, is_revoked, takes_of
from app.interviews.recordings.video import PlacedRun
from app.interviews.transcript import offsets_of

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
RENEWED_EVERY = 10.0
"""Seconds. A worker that does not renew its claim for a whole lease loses it."""
CHUNK_SECONDS = 0.5
MOST_OF_DOCUMENTS = 20_000
"""Characters of all documents together that the analyst receives."""
SILENCE = bytes(SPEECH_RATE)
"""Half a second of 16-bit samples."""
BROKEN_OFF = "Processing was interrupted three times. Try again, or ask your operator to check the worker's log."
UNEXPECTED = "Processing failed with an unexpected error. Your operator finds details in the worker's log."

FAILED_AS_ASKED = "the test key requested a failure; try again to complete the interview"
TEST_SCORES = {
    "communication": 4.0,
    "motivation": 3.5,
    "skills": 3.0,
    "language_vocabulary_and_expression": 4.5,
    "language_grammar_and_structure": 4.0,
    "language_fluency_and_pace": 3.5,
    "language_comprehension": None,
}
"""Made-up scores of the scenario ``scores``. One of them is null, as in real results."""


@for_one(Interview)
def process_interview(interview_id: str) -> None:
    """Claim the submitted interview, make its result, publish it, and enqueue its webhook."""
    token = _claimed(Interview.stage, interview_id, expects=Stage.SUBMITTED, becomes=Stage.PROCESSING)
    if token is None:
        return
    with _holding(interview_id, token), _failures(interview_id, token, actions.fail):
        read_documents(interview_id)
        try:
            _process(interview_id, token)
        except NotRecognised:
            db.session.rollback()
            actions.wait_for_recognition(interview_id, token=token)
            db.session.commit()


def _process(interview_id: str, token: int) -> None:
    source, storage = _read(interview_id), gateways.current().storage
    if source.scenario == Scenario.FAILED:
        raise GatewayError(FAILED_AS_ASKED, retryable=False)
    with recordings.workshop(interview_id, source.takes, storage=storage) as shop:
        runs = [run for run in shop.timeline() if run.duration] if source.is_playable else []
        with ThreadPoolExecutor(max_workers=1) as aside:
            # Copying packets is fast and plays in most browsers. The file that plays everywhere replaces it later.
            copied = aside.submit(shop.quick_audio) if runs else None
            talk, engines = source.talk(shop, runs), gateways.current()
            result = process(talk, transcriber=engines.transcriber, analyst=engines.analyst, samples=source.samples)
            if source.scenario == Scenario.SCORES:
                result = replace(result, scores=dict(TEST_SCORES))
            quick = copied.result() if copied else None
        audio = quick or (shop.finish().audio if runs else None)
        finished = actions.Finished(result, audio=audio, with_video=source.with_video and bool(runs))
        done = actions.complete(interview_id, finished, token=token, app_url=_app_url())
        db.session.commit()
        if done and quick:
            _publish_audio(interview_id, source.organization_id, shop, replaces=quick.storage_key)


def _publish_audio(interview_id: str, organization_id: str, shop: Workshop, *, replaces: str) -> None:
    storage = gateways.current().storage
    file = shop.finish().audio
    if file is None:
        return
    published = recordings.publish(interview_id, organization_id=organization_id, file=file)
    db.session.commit()
    if published is None:  # revoked meanwhile
        recordings.destroy(interview_id, storage=storage)
    elif file.storage_key != replaces:
        storage.delete(replaces)


@dataclass(frozen=True, slots=True)
class _Source:
    """Everything that processing needs, read before the slow work."""

    organization_id: str
    script: FlowScript
    turns: tuple[TurnValue, ...]
    takes: list[Take]
    with_video: bool
    abandoned: bool
    is_playable: bool
    documents: tuple[str, ...] = ()
    scenario: str | None = None

    def talk(self, shop: Workshop, runs: list[PlacedRun]) -> Talk:
        """The interview on the clock of its recording, in which each answer is located by the candidate's voice."""
        if not runs:
            return Talk(self.script, self.turns, abandoned=self.abandoned, documents=self.documents)
        shifts: dict[int, float | None] = {}
        for run in runs:
            spoken = [turn for turn in self.turns if turn.segment == run.number and _is_speech(turn)]
            if spoken:
                measured = shop.shifts(run.number, [_chunks(turn.start or 0.0, turn.end or 0.0) for turn in spoken])
                shifts |= {turn.number: shift for turn, shift in zip(spoken, measured, strict=True)}
        offsets = offsets_of(self.turns, runs={run.number: run.offset for run in runs}, shifts=shifts)
        reach = {run.number: round(run.offset + run.duration, 3) for run in runs if run.duration}
        ends = {turn.number: reach[turn.segment] for turn in self.turns if turn.segment in reach}
        duration = round(sum(run.duration for run in runs), 3)
        return Talk(self.script, self.turns, offsets, ends, duration, self.abandoned, self.documents)

    def samples(self, segment: int, start: float, end: float) -> bytes:
        """The candidate's voice between two times of a run; silence where chunks are missing."""
        storage = gateways.current().storage
        voice = {piece.number: piece for take in self.takes if take.number == segment for piece in take.voice}
        first, last = _chunks(start, end)
        wanted = [voice.get(number) for number in range(first, last + 1)]
        read = [read_verified(storage, piece.key, sha256=piece.sha256) if piece else SILENCE for piece in wanted]
        return b"".join(read)


def _is_speech(turn: TurnValue) -> bool:
    return turn.role == "user" and not turn.typed and turn.start is not None and turn.end is not None


def _chunks(start: float, end: float) -> tuple[int, int]:
    """Numbers of the first and last voice chunk of a span."""
    first = int(start / CHUNK_SECONDS)
    return first, max(first, int(end / CHUNK_SECONDS - 1e-6))


def _read(interview_id: str) -> _Source:
    interview = db.session.get_one(Interview, interview_id)
    takes = [] if is_revoked(interview_id) else takes_of(interview_id)
    script = interview.script or FlowScript()
    source = _Source(
        organization_id=interview.organization_id,
        script=script,
        takes=takes,
        turns=tuple(_turn(row) for row in queries.utterances_of(interview_id)),
        abandoned=interview.submitted_at is None,
        is_playable=bool(takes) and not interview.without_recording,
        with_video=script.is_video_enabled and any(take.has_picture for take in takes),
        documents=document_queries.document_texts(interview_id, most=MOST_OF_DOCUMENTS),
        scenario=interview.scenario,
    )
    db.session.rollback()  # ends the read: what follows is slow
    return source


def _turn(row: Utterance) -> TurnValue:
    words = tuple((str(word), float(start), float(end)) for word, start, end in row.words or ()) or None
    return TurnValue(
        number=row.number,
        role=row.role.value,
        question_index=row.question_index,
        content=row.content,
        words=words,
        segment=row.segment,
        start=row.start,
        end=row.end,
        played=row.played,
        typed=row.typed,
        engine=row.engine,
        obeyed=row.obeyed,
    )


@for_one(Interview)
def process_video(interview_id: str) -> None:
    """Claim the waiting video, make it, publish it, and enqueue its webhook, unless recordings are revoked."""
    token = _claimed(Interview.video_stage, interview_id, expects=VideoStage.WAITING, becomes=VideoStage.PROCESSING)
    if token is None:
        return
    with _holding(interview_id, token), _failures(interview_id, token, actions.video_failed):
        _process_video(interview_id, token)


def _process_video(interview_id: str, token: int) -> None:
    if is_revoked(interview_id):
        actions.video_revoked(interview_id, token=token)
        db.session.commit()
        return
    takes, storage = takes_of(interview_id), gateways.current().storage
    db.session.rollback()
    with recordings.workshop(interview_id, takes, storage=storage) as shop:
        video = shop.finish(want_audio=False, want_video=True).video
    if video is None:
        raise GatewayError("The recording holds no picture.", retryable=False)
    published = actions.video_ready(interview_id, video, token=token, app_url=_app_url())
    gone = not published and is_revoked(interview_id)
    db.session.commit()
    if gone:
        recordings.destroy(interview_id, storage=storage)


def _claimed(column: Any, interview_id: str, *, expects: Any, becomes: Any) -> int | None:
    """The token of a committed claim; None when the row cannot be claimed or was parked here."""
    token = claims.take(column, interview_id, expects=[expects], becomes=becomes, lease=LEASE)
    if token is not None:
        interview = db.session.get_one(Interview, interview_id, populate_existing=True)
        if interview.withdrawn_at or interview.erased_at:
            claims.finish(Interview, interview_id, token, due_at=None, **{column.key: expects})
            token = None
        elif interview.recoveries >= claims.PARKED_AFTER:
            park = actions.park if column is Interview.stage else actions.park_video
            park(interview_id, token=token, reason=BROKEN_OFF)
            token = None
    db.session.commit()
    return token


@contextmanager
def _failures(interview_id: str, token: int, fail: Callable[..., bool]) -> Iterator[None]:
    """Store any failure with its reason in the row, so that nothing fails silently."""
    reason, retryable, starved = UNEXPECTED, False, False
    try:
        yield
    except GatewayError as error:
        reason, retryable = error.message, error.retryable
        which = f" at {error.key}" if isinstance(error, Damaged) else ""
        log.warning("interview %s: processing failed: %s%s", interview_id, type(error).__name__, which)
    except SQLAlchemyError as error:
        # The database is unavailable or locked: the lease expires and the sweep retries.
        log.warning("interview %s: processing lost the database: %s", interview_id, type(error).__name__)
        db.session.rollback()
        raise
    except Exception as error:  # noqa: BLE001 - parked with its place in the log; the text could quote the talk
        what, starved = type(error).__name__, is_starved(error)
        log.error("interview %s: processing failed: %s at %s", interview_id, what, place_of(error))  # noqa: TRY400
    else:
        return
    db.session.rollback()
    if starved:
        row = db.session.get_one(Interview, interview_id)
        reason, retryable = NO_MEMORY, row.failures + row.recoveries + 1 < claims.PARKED_AFTER
    fail(interview_id, token=token, reason=reason, retryable=retryable)
    db.session.commit()


@contextmanager
def _holding(interview_id: str, token: int, *, every: float = RENEWED_EVERY) -> Iterator[None]:
    """Renew the claim from a separate thread during the work."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - Flask's own way
    over = threading.Event()
    renew = row_security.as_chosen(lambda: _renew(app, interview_id, token, is_over=lambda: over.wait(every)))
    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _renew(app: Flask, interview_id: str, token: int, *, is_over: Callable[[], bool]) -> None:
    while not is_over():
        with app.app_context():
            try:
                is_held = claims.renew(Interview, interview_id, token, lease=LEASE)
                db.session.commit()
            except SQLAlchemyError as error:
                log.warning("interview %s: claim not renewed: %s", interview_id, type(error).__name__)
                continue
        if not is_held:
            return


def _app_url() -> str:
    return str(current_app.extensions["parley.settings"].app_url)


def unprocessed() -> list[str]:
    """Ids of interviews that wait for processing, or whose worker died."""
    return [*queries.overdue(Stage.SUBMITTED), *queries.overdue(Stage.PROCESSING)]


def unplayed() -> list[str]:
    """Ids of test interviews that wait to be played, or whose worker died; only tests are due in these stages."""
    return [*queries.overdue(Stage.CREATED), *queries.overdue(Stage.RUNNING)]


def sweep() -> None:
    """Enqueue overdue work without a lease again, park stuck work, and check for engines that interviews wait for."""
    waiting = queries.overdue(Stage.WAITS_FOR_RECOGNITION)
    stuck_jobs.park(lease=LEASE)
    queue.enqueue_overdue(PROCESS_INTERVIEW, PROCESS_VIDEO, PREPARE_SPEECH, PLAY_TEST)
    for interview_id in waiting:
        _look_for_recogniser(interview_id)


def _look_for_recogniser(interview_id: str) -> None:
    interview = db.session.get_one(Interview, interview_id)
    if gateways.current().transcriber.supports((interview.script or FlowScript()).language):
        actions.retry(interview)
    else:
        actions.look_again_later(interview)
    db.session.commit()
