"""Background work on interviews: process the interview, make the video, and enqueue overdue work again.

Every job may run twice. It claims its row, commits, works on plain values while the claim is renewed, and writes the
outcome under its token. If the claim was lost, it drops its work.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from flask import current_app
from sqlalchemy.exc import SQLAlchemyError

from app import gateways
from app.core import claims, queue
from app.core.db import db, for_one
from app.core.errors import GatewayError, place_of
from app.flows import PREPARE_SPEECH
from app.flows.criteria import HIGHEST, Criterion
from app.flows.flow_script import FlowScript
from app.gateways.speech.ports import SPEECH_RATE
from app.gateways.storage import Damaged, read_verified
from app.interviews import HEAR_AGAIN, PLAY_TEST, PROCESS_INTERVIEW, PROCESS_VIDEO, actions, queries
from app.interviews.documents import queries as document_queries
from app.interviews.documents.jobs import read_documents
from app.interviews.jobs import stuck_jobs
from app.interviews.jobs.claim_renewal import LEASE, renewing
from app.interviews.jobs.hearing import hear_answers
from app.interviews.models import Interview, Retake, Role, Scenario, Stage, Utterance, VideoStage
from app.interviews.out_of_memory import NO_MEMORY, is_starved
from app.interviews.processing import NO_ONE, Known, NotRecognised, Talk, TurnValue, process
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.media import Workshop
from app.interviews.recordings.queries import Take, is_revoked, takes_of
from app.interviews.recordings.video import PlacedRun
from app.interviews.transcript import offsets_of

log = logging.getLogger(__name__)

CHUNK_SECONDS = 0.5
MOST_OF_DOCUMENTS = 20_000
"""Characters of all documents together that the analyst receives."""
SILENCE = bytes(SPEECH_RATE)
"""Half a second of 16-bit samples."""
BROKEN_OFF = "Processing was interrupted three times. Try again, or ask your operator to check the worker's log."
UNEXPECTED = "An unexpected error occurred. Your operator can find details in the worker's log."

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


def made_up(criteria: Iterable[Criterion]) -> dict[str, float | None]:
    """The scores of the scenario ``scores``: each of the flow's own criteria has one too."""
    return {**TEST_SCORES, **{one.key: HIGHEST if one.is_yes_no else 4.0 for one in criteria}}


@for_one(Interview)
def process_interview(interview_id: str) -> None:
    """Claim the submitted interview, make its result, publish it, and enqueue its webhook."""
    token = _claimed(Interview.stage, interview_id, expects=Stage.SUBMITTED, becomes=Stage.PROCESSING)
    if token is None:
        return
    with renewing(Interview, interview_id, token), _failures(interview_id, token, actions.fail):
        read_documents(interview_id)
        try:
            _process(interview_id, token)
        except NotRecognised:
            db.session.rollback()
            actions.wait_for_recognition(interview_id, token=token)
            db.session.commit()


def _process(interview_id: str, token: int) -> None:
    recorded, storage = _recorded(interview_id), gateways.current().storage
    with recordings.workshop(interview_id, recorded.takes, storage=storage) as shop:
        runs = [run for run in shop.timeline() if run.duration] if recorded.takes else []
        # Side by side: the recording is placed without words, and words are recognized without the recording.
        with ThreadPoolExecutor(max_workers=2) as aside:
            # Copying packets is fast and plays in most browsers. The file that plays everywhere replaces it later.
            copied = aside.submit(shop.quick_audio) if runs else None
            measured = aside.submit(recorded.shifts, shop, runs)
            hear_answers(interview_id)
            source = _read(interview_id)
            if source.scenario == Scenario.FAILED:
                raise GatewayError(FAILED_AS_ASKED, retryable=False)
            talk, engines = source.talk(runs, shifts=measured.result()), gateways.current()
            result = process(talk, transcriber=engines.transcriber, analyst=engines.analyst, samples=source.samples)
            if source.scenario == Scenario.SCORES:
                result = replace(result, scores=made_up(source.criteria))
            quick = copied.result() if copied else None
        audio = quick or (shop.finish().audio if runs else None)
        finished = actions.Finished(result, audio=audio, with_video=source.with_video and bool(runs))
        done = actions.complete(interview_id, finished, token=token, app_url=_app_url())
        db.session.commit()
        if done and quick:
            _publish_audio(interview_id, source.organization_id, shop)


def _publish_audio(interview_id: str, organization_id: str, shop: Workshop) -> None:
    file = shop.finish().audio
    if file is None:
        return
    published = recordings.publish(interview_id, organization_id=organization_id, file=file)
    db.session.commit()
    if published is None:  # revoked meanwhile
        recordings.destroy(interview_id, storage=gateways.current().storage)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What of the recording may be played, and the answers in it: by run, their numbers and voice chunks."""

    takes: list[Take]
    answers: dict[int, dict[int, tuple[int, int]]]

    def shifts(self, shop: Workshop, runs: list[PlacedRun]) -> dict[int, float | None]:
        """For each answer, how much later it lies in the recording than its chunks say."""
        found: dict[int, float | None] = {}
        for run in runs:
            if spoken := self.answers.get(run.number):
                found |= zip(spoken, shop.shifts(run.number, list(spoken.values())), strict=True)
        return found


@dataclass(frozen=True, slots=True)
class _Source:
    """Everything that processing needs, read before the slow work."""

    organization_id: str
    script: FlowScript
    turns: tuple[TurnValue, ...]
    takes: list[Take]
    with_video: bool
    abandoned: bool
    documents: tuple[str, ...] = ()
    scenario: str | None = None
    known: Known = NO_ONE
    criteria: tuple[Criterion, ...] = ()
    criteria_id: str | None = None

    def talk(self, runs: list[PlacedRun], *, shifts: dict[int, float | None]) -> Talk:
        """The interview on the clock of its recording, in which each answer is located by the candidate's voice."""
        talk = Talk(
            self.script,
            self.turns,
            abandoned=self.abandoned,
            documents=self.documents,
            known=self.known,
            criteria=self.criteria,
            criteria_id=self.criteria_id,
        )
        if not runs:
            return talk
        offsets = offsets_of(self.turns, runs={run.number: run.offset for run in runs}, shifts=shifts)
        reach = {run.number: round(run.offset + run.duration, 3) for run in runs if run.duration}
        ends = {turn.number: reach[turn.segment] for turn in self.turns if turn.segment in reach}
        duration = round(sum(run.duration for run in runs), 3)
        return replace(talk, offsets=offsets, ends=ends, duration=duration)

    def samples(self, segment: int, start: float, end: float) -> bytes:
        """The candidate's voice between two times of a run; silence where chunks are missing."""
        storage = gateways.current().storage
        voice = {piece.number: piece for take in self.takes if take.number == segment for piece in take.voice}
        first, last = _chunks(start, end)
        wanted = [voice.get(number) for number in range(first, last + 1)]
        read = [read_verified(storage, piece.key, sha256=piece.sha256) if piece else SILENCE for piece in wanted]
        return b"".join(read)


def _chunks(start: float, end: float) -> tuple[int, int]:
    """Numbers of the first and last voice chunk of a span."""
    first = int(start / CHUNK_SECONDS)
    return first, max(first, int(end / CHUNK_SECONDS - 1e-6))


def _recorded(interview_id: str) -> _Recorded:
    interview = db.session.get_one(Interview, interview_id)
    takes = [] if interview.without_recording or is_revoked(interview_id) else takes_of(interview_id)
    answers: dict[int, dict[int, tuple[int, int]]] = {}
    for row in queries.utterances_of(interview_id) if takes else ():
        if row.role is Role.USER and not row.typed and row.segment is not None and (span := _span(row)):
            answers.setdefault(row.segment, {})[row.number] = span
    db.session.rollback()  # ends the read: what follows is slow
    return _Recorded(takes, answers)


def _span(row: Utterance) -> tuple[int, int] | None:
    """First and last voice chunk of an answer; rows of earlier releases have only times."""
    if row.first_chunk is not None and row.last_chunk is not None:
        return row.first_chunk, row.last_chunk
    return None if row.start is None or row.end is None else _chunks(row.start, row.end)


def _read(interview_id: str) -> _Source:
    interview = db.session.get_one(Interview, interview_id)
    takes = [] if is_revoked(interview_id) else takes_of(interview_id)
    script, criteria = interview.script or FlowScript(), interview.flow.criteria
    source = _Source(
        organization_id=interview.organization_id,
        script=script,
        takes=takes,
        turns=tuple(_turn(row) for row in queries.utterances_of(interview_id)),
        abandoned=interview.submitted_at is None,
        with_video=script.is_video_enabled and any(take.has_picture for take in takes),
        documents=document_queries.document_texts(interview_id, most=MOST_OF_DOCUMENTS),
        scenario=interview.scenario,
        known=known_of(interview),
        criteria=criteria.items if criteria else (),
        criteria_id=criteria.id if criteria else None,
    )
    db.session.rollback()  # ends the read: what follows is slow
    return source


def known_of(interview: Interview) -> Known:
    """Names and email addresses of the candidate's record."""
    candidate = interview.candidate
    names = {interview.interviewee_first_name, interview.interviewee_last_name}
    addresses = {interview.interviewee_email_address}
    if candidate is not None:
        names |= {candidate.first_name, candidate.last_name}
        addresses |= {candidate.email, candidate.address}
    return Known(tuple(sorted(filter(None, names))), tuple(sorted(filter(None, addresses))))


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
        retake=None if row.retake is None else Retake(row.retake).value,
    )


@for_one(Interview)
def process_video(interview_id: str) -> None:
    """Claim the waiting video, make it, publish it, and enqueue its webhook, unless recordings are revoked."""
    token = _claimed(Interview.video_stage, interview_id, expects=VideoStage.WAITING, becomes=VideoStage.PROCESSING)
    if token is None:
        return
    with renewing(Interview, interview_id, token), _failures(interview_id, token, actions.video_failed):
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
        raise GatewayError("The recording contains no picture.", retryable=False)
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
    queue.enqueue_overdue(PROCESS_INTERVIEW, HEAR_AGAIN, PROCESS_VIDEO, PREPARE_SPEECH, PLAY_TEST)
    for interview_id in waiting:
        _look_for_recogniser(interview_id)


def _look_for_recogniser(interview_id: str) -> None:
    interview = db.session.get_one(Interview, interview_id)
    if gateways.current().transcriber.supports((interview.script or FlowScript()).language):
        actions.retry(interview)
    else:
        actions.look_again_later(interview)
    db.session.commit()
