"""Hears each answer again as soon as it is over, with the care that there was no time for while it was spoken.

The talk goes on meanwhile, and the result is made of this text. An answer that is not heard again before the interview
is submitted is heard by the processing; where that fails, the text of the live talk stays.
"""

import logging
import time
from dataclasses import dataclass
from typing import Any

from app import gateways
from app.core import claims
from app.core.db import db, for_one
from app.flows.flow_script import FlowScript
from app.gateways.speech import believing
from app.gateways.speech.ports import SPEECH_RATE, Heard
from app.gateways.storage import read_verified
from app.interviews import queries
from app.interviews.actions.hearing import CHUNK_SECONDS, await_hearing, place_words
from app.interviews.jobs.claim_renewal import LEASE, renewing
from app.interviews.models import Hearing, Interview, Utterance
from app.interviews.recordings.models import Track
from app.interviews.recordings.queries import Piece, is_revoked, pieces_of

log = logging.getLogger(__name__)

LOOKS_AGAIN = 0.25
"""Seconds until the processing looks again whether another worker has heard an answer."""
SILENCE = bytes(round(CHUNK_SECONDS * SPEECH_RATE) * 2)

_HEARING = claims.Work(
    Utterance.hearing, waits=Hearing.WAITING, works=Hearing.HEARING, failed=Hearing.FAILED, lease=LEASE
)


@dataclass(frozen=True, slots=True)
class _Answer:
    """A claimed answer as plain values. ``pieces`` is None where its sound is not to be heard any more."""

    utterance_id: str
    token: int
    language: str
    first: int
    last: int
    pieces: tuple[Piece, ...] | None
    is_known: bool
    """Whether the live talk has understood it."""


@for_one(Utterance)
def hear_again(utterance_id: str) -> None:
    """Hear one answer again. May run twice; an absent answer is ignored."""
    claims.run(_HEARING, utterance_id, read=_answer, do=_heard)


def hear_answers(interview_id: str) -> None:
    """Hear all answers of an interview that were not heard again yet, and wait for those that other workers hear."""
    interview = db.session.get_one(Interview, interview_id)
    language, is_test = (interview.script or FlowScript()).language, interview.is_test
    db.session.rollback()
    if is_test or not gateways.current().transcriber.improves(language):
        return
    await_hearing(interview_id)
    db.session.commit()
    while unheard := _unheard(interview_id):
        for utterance_id in (one for one, is_free in unheard if is_free):
            hear_again(utterance_id)
        if not any(is_free for _, is_free in unheard):
            time.sleep(LOOKS_AGAIN)


def _unheard(interview_id: str) -> list[tuple[str, bool]]:
    unheard = queries.unheard_of(interview_id)
    db.session.rollback()
    return unheard


def _answer(row: Utterance, token: int) -> _Answer:
    interview = db.session.get_one(Interview, row.interview_id)
    is_gone = interview.withdrawn_at or interview.erased_at or is_revoked(interview.id) or row.first_chunk is None
    first, last = row.first_chunk or 0, row.last_chunk or 0
    pieces = None if is_gone else pieces_of(interview.id, row.segment or 0, Track.VOICE, first=first, last=last)
    language = (interview.script or FlowScript()).language
    return _Answer(row.id, token, language, first, last, pieces, is_known=row.content is not None)


def _heard(answer: _Answer) -> dict[str, Any] | None:
    transcriber = gateways.current().transcriber
    if not answer.pieces or not transcriber.improves(answer.language):
        return {"hearing": Hearing.NONE}
    with renewing(Utterance, answer.utterance_id, answer.token):
        pcm = _sound(answer)
        heard = transcriber.hear_again(pcm, rate=SPEECH_RATE, language=answer.language)
        is_said = believing.is_said(heard, pcm, language=answer.language)
    if is_said:
        return {"hearing": Hearing.HEARD, "recoveries": 0, **_columns(answer, heard)}
    # What was understood in the live talk is never taken away: an engine may miss a word that was said.
    return {"hearing": Hearing.HEARD, "recoveries": 0, **({} if answer.is_known else {"content": ""})}


def _sound(answer: _Answer) -> bytes:
    """All of it, with silence where chunks are missing."""
    storage = gateways.current().storage
    pieces = {piece.number: piece for piece in answer.pieces or ()}
    wanted = (pieces.get(number) for number in range(answer.first, answer.last + 1))
    return b"".join(read_verified(storage, one.key, sha256=one.sha256) if one else SILENCE for one in wanted)


def _columns(answer: _Answer, heard: Heard) -> dict[str, Any]:
    row = Utterance(first_chunk=answer.first, last_chunk=answer.last)
    place_words(row, heard.words)
    placed = {name: getattr(row, name) for name in ("words", "start", "end", "weak")}
    return {"content": heard.text, "engine": heard.engine, "confidence": heard.confidence, **placed}
