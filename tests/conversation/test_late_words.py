"""A recogniser that is late: what the next step needs, "One moment, please", and where the words go in the end."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from app.conversation import hearing
from app.conversation.models import Sitting
from app.conversation.queries import sitting_of
from app.conversation.script.machine import Event, Kind, Script, step, taken_up
from app.conversation.script.place import Phase, Place
from app.core.queue import SilentWaker
from app.gateways.speech import phrases
from app.gateways.speech.catalogue import LANGUAGES
from app.gateways.speech.ports import Heard
from app.interviews import HEAR_AGAIN
from app.interviews.models import Hearing, Role
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate

from .around import script_rows
from .conftest import interview_of
from .fakes import ScriptedInterviewer, ScriptedTranscriber

CHUNK = 16_000
MOMENT = "One moment, please."
FIRST, SECOND = "Why do you want this job?", "Tell me about your last team."


@dataclass
class LateTranscriber(ScriptedTranscriber):
    """Understands, but only once ``ready`` is set."""

    ready: threading.Event = field(default_factory=threading.Event)

    def finish(self, key: str, *, first: int, last: int, language: str, pcm: Callable[[], bytes]) -> Heard:
        assert self.ready.wait(60)
        return super().finish(key, first=first, last=last, language=language, pcm=pcm)


@pytest.fixture
def hears() -> LateTranscriber:
    return LateTranscriber()


@pytest.fixture(autouse=True)
def _in_no_time(monkeypatch: pytest.MonkeyPatch, hears: LateTranscriber) -> Any:
    monkeypatch.setattr(hearing, "SOON", 0.0)
    monkeypatch.setattr(hearing, "WAITS", 0.0)
    monkeypatch.setattr(hearing, "WAITS_MORE", 0.0)
    yield
    hears.ready.set()


@pytest.fixture
def talking(candidate: Candidate) -> Candidate:
    """Somebody who has been asked the first question."""
    candidate.turn(1, "begin", segment=candidate.open_segment("audio/webm"))
    return candidate


def chunks_of(pcm: bytes) -> list[bytes]:
    padded = pcm + bytes(-len(pcm) % CHUNK)
    return [padded[at : at + CHUNK] for at in range(0, len(padded), CHUNK)]


def speak(candidate: Candidate, pcm: bytes, *, first: int = 2) -> dict[str, int]:
    """Send it; what names it in a turn."""
    pieces = chunks_of(pcm)
    for number, piece in enumerate(pieces, start=first):
        candidate.put_chunk(1, number, piece, track="voice")
    return {"segment": 1, "first_chunk": first, "last_chunk": first + len(pieces) - 1}


def said(candidate: Candidate) -> list[tuple[Role, int | None, str | None]]:
    rows = script_rows(utterances_of(interview_of(candidate).id))
    return [(one.role, one.question_index, one.content) for one in rows]


def answers(candidate: Candidate) -> int:
    sitting: Sitting | None = sitting_of(interview_of(candidate).id)
    assert sitting is not None
    return sitting.answers


def test_the_agent_asks_for_a_moment_and_the_words_come(
    talking: Candidate,
    hears: LateTranscriber,
    asks: ScriptedInterviewer,
    real_speech: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hears.texts = ["i have worked in a small team"]
    given = speak(talking, real_speech)
    moment = talking.turn(2, "answer", **given)
    assert (moment["kind"], moment["text"], moment["question"]) == ("moment", MOMENT, FIRST)
    assert (moment["awaits"], moment["expects"], moment["patience_ms"]) == (given, "answer", 0)
    assert moment["audio_urls"]
    assert said(talking) == [(Role.AGENT, 0, FIRST), (Role.USER, 0, None)]
    hears.ready.set()
    monkeypatch.setattr(hearing, "WAITS_MORE", 60.0)
    reply = talking.turn(3, "answer", **given)
    assert (reply["kind"], reply["question_index"]) == ("question", 1)
    assert asks.asked[-1].answer == "i have worked in a small team"
    assert said(talking) == [
        (Role.AGENT, 0, FIRST),
        (Role.USER, 0, "i have worked in a small team"),
        (Role.AGENT, 0, MOMENT),
    ]
    assert len(hears.finished) == 1, "the sound is not recognised twice"
    assert answers(talking) == 1


def test_an_answer_whose_words_are_awaited_is_heard_again_once(
    talking: Candidate, hears: LateTranscriber, real_speech: bytes, monkeypatch: pytest.MonkeyPatch, waker: SilentWaker
) -> None:
    hears.is_second_better = True
    given = speak(talking, real_speech)
    talking.turn(2, "answer", **given)
    (late,) = [one for one in utterances_of(interview_of(talking).id) if one.role is Role.USER]
    assert (late.content, late.hearing) == (None, Hearing.NONE)
    hears.ready.set()
    monkeypatch.setattr(hearing, "WAITS_MORE", 60.0)
    talking.turn(3, "answer", **given)
    (spoken,) = [one for one in utterances_of(interview_of(talking).id) if one.role is Role.USER]
    assert spoken.hearing == Hearing.WAITING
    assert [ids for job, ids in waker.enqueued if job is HEAR_AGAIN] == [(spoken.id,)]


def test_words_that_never_come_are_left_to_the_processing(
    talking: Candidate, asks: ScriptedInterviewer, real_speech: bytes
) -> None:
    given = speak(talking, real_speech)
    assert talking.turn(2, "answer", **given)["kind"] == "moment"
    reply = talking.turn(3, "answer", **given)
    assert (reply["kind"], reply["question_index"], asks.asked) == ("question", 1, [])
    user = [one for one in utterances_of(interview_of(talking).id) if one.role is Role.USER]
    assert [(one.content, one.start, one.end) for one in user] == [(None, 1.0, (given["last_chunk"] + 1) / 2)]
    assert answers(talking) == 1


def test_after_six_seconds_of_speech_nobody_waits_where_no_model_decides(
    talking: Candidate, asks: ScriptedInterviewer, real_speech: bytes
) -> None:
    asks.name = "script"
    reply = talking.turn(2, "answer", **speak(talking, real_speech * 6))
    assert (reply["kind"], reply["question_index"]) == ("question", 1)
    assert said(talking) == [(Role.AGENT, 0, FIRST), (Role.USER, 0, None)]


@pytest.mark.parametrize("reason", ["a model decides", "less speech", "the question was cut off", "shall we end?"])
def test_otherwise_the_words_are_waited_for(
    talking: Candidate, hears: LateTranscriber, asks: ScriptedInterviewer, real_speech: bytes, reason: str
) -> None:
    asks.name = "scripted" if reason == "a model decides" else "script"
    number, more = 2, {}
    if reason == "shall we end?":
        assert talking.turn(number, "text", text="please stop the interview")["kind"] == "sure"
        number = 3
    if reason == "the question was cut off":
        more = {"played": {"segment": 1, "started": 0.0, "seconds": 0.5, "whole": False}}
    pcm = real_speech if reason == "less speech" else real_speech * 6
    given = speak(talking, pcm)
    assert talking.turn(number, "answer", **given, **more)["kind"] == "moment"
    if reason == "shall we end?":
        hears.texts = ["yes please"]
        hears.ready.set()
        hearing.WAITS_MORE = 60.0
        assert talking.turn(number + 1, "answer", **given)["kind"] == "outro"


def test_silence_is_no_matter_of_words(talking: Candidate) -> None:
    quiet = np.random.default_rng(1).normal(0, 20, 32_000).astype("<i2").tobytes()
    assert talking.turn(2, "answer", **speak(talking, quiet))["kind"] == "not_heard"


def test_what_is_said_after_the_sentence_is_another_part_of_the_same_answer(
    talking: Candidate, hears: LateTranscriber, real_speech: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = speak(talking, real_speech)
    assert talking.turn(2, "answer", **first)["kind"] == "moment"
    second = speak(talking, real_speech, first=first["last_chunk"] + 1)
    hears.ready.set()
    hears.texts = ["it was a hospital", "and eight nurses worked there"]
    monkeypatch.setattr(hearing, "SOON", 60.0)
    reply = talking.turn(3, "answer", **second)
    assert (reply["kind"], reply["question_index"]) == ("question", 1)
    kept = [(index, content) for role, index, content in said(talking) if role is Role.USER]
    assert [index for index, _ in kept] == [0, 0]
    assert kept[0][1] is None
    assert kept[1][1] is not None


def test_a_part_is_kept_without_a_word_of_the_agent(talking: Candidate, real_speech: bytes) -> None:
    reply = talking.turn(2, "answer", unfinished=True, **speak(talking, real_speech))
    assert (reply["kind"], reply["parts"]) == ("kept", [])
    assert said(talking)[-1] == (Role.USER, 0, None)


def test_a_candidate_without_a_browser_waits_as_the_page_does(
    candidate: Candidate, hears: LateTranscriber, real_speech: bytes
) -> None:
    heard: list[str] = []
    candidate.take([real_speech, real_speech], on_turn=lambda text, _: heard.append(text))
    assert heard.count(MOMENT) == 2
    assert interview_of(candidate).submitted_at is not None


@pytest.mark.parametrize("stopping", [True, False])
def test_asking_for_a_moment_leaves_everything_as_it_was(stopping: bool) -> None:
    script = Script(questions=("Why?",), seconds=60)
    place = Place(Phase.QUESTION, 0, asked=("How?",), said="so far", stopping=stopping)
    after = step(script, place, Event.LATE)
    assert (after.place, [line.kind for line in after.lines]) == (place, [Kind.MOMENT])
    former = Place(Phase.QUESTION, 0, former=place.to_json())
    assert taken_up(former, Event.LATE) == (place, Event.LATE)


def test_the_sentence_is_there_in_every_language() -> None:
    sentences = {phrases.phrase("moment", language) for language in LANGUAGES}
    assert len(sentences) == len(LANGUAGES) == 13
    for language in LANGUAGES:
        assert phrases.phrase("moment", language) in phrases.all_of(language), "spoken beforehand"
