"""Plays an interview that a test key created, by the same actions that a candidate's browser causes.

May run twice, and again after a crash: the sitting belongs to one run at a time, and the next one continues it.
"""

import io
import logging
import time
import wave
from dataclasses import dataclass, replace
from datetime import timedelta

from flask import current_app

from app import gateways
from app.conversation import actions as voice
from app.conversation.access import new_token
from app.conversation.actions import Agreed, Holder, Outcome
from app.conversation.models import Mode, TurnKind
from app.conversation.queries import TAKEOVER_AFTER, sitting_of
from app.conversation.script.machine import Event, Script
from app.conversation.script.place import Phase, Place
from app.conversation.turn import Answer, Engines, Reply, Said, respond
from app.conversation.utterances import Heard, Played
from app.core import clock
from app.core.db import db, for_one
from app.core.errors import Conflict, GatewayError
from app.flows.flow_script import FlowScript
from app.gateways.speech.ports import Speaker, Spoken
from app.interviews import actions as interviews
from app.interviews.models import Interview, Scenario, Stage
from app.interviews.recordings import actions as recordings
from app.operations.test_interviews.answers import AGREED, ENGINE, LANGUAGE, VOICE, answer_to
from app.operations.test_interviews.jobs.sound import Recorder
from app.settings import Settings

log = logging.getLogger(__name__)

AGAIN_AFTER = TAKEOVER_AFTER + timedelta(seconds=30)
"""When the sweep looks for a silent run, whose sitting may then be taken over."""
MOST_FAILURES = 3
FAILED = "the test interview could not be run; see the worker's log"
TRIES = 5
ELSEWHERE = frozenset({"taken over", "finished"})
"""Reasons to stop a run: another one continues the interview, or it is over or erased."""


@dataclass(slots=True)
class _Talk:
    """A run as plain values."""

    holder: Holder
    script: Script
    place: Place
    number: int
    video: bool
    scenario: str | None
    played: Played | None = None


@for_one(Interview)
def play(interview_id: str) -> None:
    """Take the interview from the beginning, or from where an earlier run ended, and hand it in."""
    talk = _begun(interview_id)
    if talk is None:
        return
    try:
        _take(talk)
    except Exception as error:  # noqa: BLE001 - noted, and tried again a few times
        db.session.rollback()
        reason = error.details.get("reason") if isinstance(error, Conflict) else None
        if reason in ELSEWHERE:
            log.info("test interview %s not continued: %s", interview_id, reason)
            return
        log.warning("test interview %s failed: %s", interview_id, reason or type(error).__name__)
        _note_failure(interview_id)


def _begun(interview_id: str) -> _Talk | None:
    """Claim the sitting as a browser does; None if there is nothing to play or another run has it."""
    interview = db.session.get(Interview, interview_id)
    waits = interview is not None and interview.is_test and interview.stage in {Stage.CREATED, Stage.RUNNING}
    if interview is None or not waits or interview.failures >= MOST_FAILURES or interview.withdrawn_at is not None:
        db.session.rollback()
        return None
    _token, token_hash = new_token()
    agreed = Agreed("test", "en", Mode.VOICE, shown=AGREED)
    if not voice.claim(interview, token_hash=token_hash, agreed=agreed):
        db.session.rollback()
        return None
    interview.due_at = clock.now() + AGAIN_AFTER
    sitting = sitting_of(interview_id)
    frozen, minutes = interview.script or FlowScript(), _settings().interview_minutes
    talk = None
    if sitting is not None:
        holder = Holder(
            sitting.id, interview_id, sitting.fence, sitting.heartbeat_at or clock.now(), sitting.next_turn, LANGUAGE
        )
        talk = _Talk(
            holder,
            Script.of(frozen, minutes=minutes, seed=interview_id),
            Place.from_json(sitting.place),
            sitting.next_turn,
            video=bool(frozen.is_video_enabled),
            scenario=interview.scenario,
        )
    db.session.commit()
    return talk


def _settings() -> Settings:
    settings: Settings = current_app.extensions["parley.settings"]
    return settings


def _take(talk: _Talk) -> None:
    outside = gateways.current()
    recorder = Recorder(talk.holder.interview_id, video=talk.video, storage=outside.storage)
    while talk.place.phase in {Phase.INTRO, Phase.QUESTION}:
        reply = _turn(talk, recorder, outside.speaker)
        talk.place, talk.number = reply.step.place, talk.number + 1
        talk.played = recorder.listen(*_sound(reply))
        if talk.scenario == Scenario.ABANDONED:
            interviews.abandon(db.session.get_one(Interview, talk.holder.interview_id))
            db.session.commit()
            return
    last = recorder.stop()
    recordings.seal(talk.holder.interview_id, segment=recorder.segment, last_mix_chunk=last)
    interview = db.session.get_one(Interview, talk.holder.interview_id)
    voice.finish_sitting(talk.holder, interview, played=talk.played)
    db.session.commit()


def _turn(talk: _Talk, recorder: Recorder, speaker: Speaker) -> Reply:
    """One turn: what the canned candidate says, and the agent's reply to it, recorded like any other."""
    began = time.perf_counter()
    if talk.number == 1:
        kind, heard, answer, said = TurnKind.BEGIN, Heard(), Answer("begin"), None
    else:
        text = answer_to(talk.place.question)
        spoken = _spoken(text, speaker)
        kind, answer, said = TurnKind.TEXT, Answer("text", text=text), None
        heard = Heard(talk.place.question_index, typed=True)
        if spoken is not None:
            heard, words = recorder.answer(spoken, question=talk.place.question)
            kind, said = TurnKind.ANSWER, Said(Event.ANSWER, text, words, ENGINE)
    reply = _reply(talk, answer, speaker)
    reply = replace(reply, said=said) if said else reply
    outcome = Outcome(
        number=talk.number,
        script=talk.script,
        reply=reply,
        audio_key=None,
        heard=heard,
        played=talk.played,
        detected_ms=None,
        answered_ms=round((time.perf_counter() - began) * 1000),
    )
    turn = voice.take_turn(talk.holder, number=talk.number, kind=kind)
    if turn.token is None or voice.record_reply(talk.holder, turn.turn.id, turn.token, outcome=outcome) is None:
        raise voice.taken_over()
    db.session.commit()
    return reply


def _spoken(text: str, speaker: Speaker) -> Spoken | None:
    """The canned answer as sound; None without a voice, in which case it counts as typed."""
    try:
        return speaker.speak(text, voice_id=VOICE, language=LANGUAGE, remember=True)
    except GatewayError:
        return None


def _reply(talk: _Talk, answer: Answer, speaker: Speaker) -> Reply:
    """As for any candidate, but as a whole: lines that would come in pieces are remembered, for the next try."""
    for _ in range(TRIES):
        reply = respond(talk.script, talk.place, answer, engines=Engines(speaker=speaker))
        if not any(part.stretches for part in reply.parts):
            return reply
    return respond(talk.script, talk.place, answer, engines=Engines())


def _sound(reply: Reply) -> tuple[bytes, int]:
    if reply.wav is None:
        return b"", 16_000
    with wave.open(io.BytesIO(reply.wav)) as sound:
        return sound.readframes(sound.getnframes()), sound.getframerate()


def _note_failure(interview_id: str) -> None:
    interview = db.session.get_one(Interview, interview_id, populate_existing=True)
    interview.failures += 1
    interview.failure = FAILED
    interview.due_at = None if interview.failures >= MOST_FAILURES else clock.now() + AGAIN_AFTER
    db.session.commit()
