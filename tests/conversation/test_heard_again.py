"""A spoken answer is handed to a worker that has it heard again, where the recogniser gains by that."""

from app.core.queue import SilentWaker
from app.interviews import HEAR_AGAIN
from app.interviews.models import Hearing, Role, Utterance
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate

from .conftest import interview_of
from .fakes import ScriptedTranscriber
from .test_late_words import speak


def answers_of(candidate: Candidate) -> list[Utterance]:
    return [one for one in utterances_of(interview_of(candidate).id) if one.role is Role.USER]


def answer(candidate: Candidate, real_speech: bytes) -> dict[str, int]:
    candidate.turn(1, "begin", segment=candidate.open_segment("audio/webm"))
    sound = speak(candidate, real_speech)
    candidate.turn(2, "answer", **sound)
    return sound


def test_an_answer_is_rung_for_once_it_is_written(
    candidate: Candidate, hears: ScriptedTranscriber, real_speech: bytes, waker: SilentWaker
) -> None:
    hears.is_second_better = True
    sound = answer(candidate, real_speech)
    candidate.turn(3, "text", text="I wrote this one.")
    spoken, typed = answers_of(candidate)
    assert (spoken.hearing, typed.hearing) == (Hearing.WAITING, Hearing.NONE)
    assert (spoken.first_chunk, spoken.last_chunk) == (sound["first_chunk"], sound["last_chunk"])
    assert [ids for job, ids in waker.enqueued if job is HEAR_AGAIN] == [(spoken.id,)]


def test_nothing_is_rung_for_where_the_recogniser_gains_nothing(
    candidate: Candidate, hears: ScriptedTranscriber, real_speech: bytes, waker: SilentWaker
) -> None:
    answer(candidate, real_speech)
    (spoken,) = answers_of(candidate)
    assert (spoken.hearing, spoken.first_chunk) == (Hearing.NONE, 2)
    assert [job for job, _ in waker.enqueued if job is HEAR_AGAIN] == []
