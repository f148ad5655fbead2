"""A question that was hardly heard stays open: it is put again, whatever the candidate said meanwhile."""

from typing import Any

import pytest

from app.conversation.models import Turn
from app.conversation.utterances import Piece, Played, heard_of, share_heard
from app.gateways.speech import phrases
from app.gateways.speech.ports import FollowUp
from app.interviews.models import Role
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate, Prompt, Refused, Talk
from app.operations.demo.tape import Tape

from .conftest import interview_of, sound
from .fakes import ScriptedInterviewer, ScriptedTranscriber

FULL = "because i have always wanted to work with people who need help"


@pytest.fixture
def talk(candidate: Candidate) -> Talk:
    return Talk(candidate, Tape(video=False))


def kinds(prompt: Prompt) -> list[str]:
    return [part["kind"] for part in prompt["parts"]]


def heard_for(talk: Talk, prompt: Prompt, seconds: float) -> dict[str, object]:
    """The report of somebody who heard so much of the question, and everything before it."""
    question = next(part for part in prompt["parts"] if part["kind"] == "question")
    return talk.listen(prompt, until=question["offset"] + seconds)


def test_hello_in_the_first_words_is_answered_and_the_question_put_again(
    candidate: Candidate, talk: Talk, hears: ScriptedTranscriber
) -> None:
    first = candidate.turn(1, "begin")
    hears.texts = ["Hello? Can you hear me?", FULL, FULL]
    reply = candidate.turn(2, "answer", played=heard_for(talk, first, 0.3), **talk.answer(sound(2)))
    assert (kinds(reply), reply["question_index"]) == (["here", "question"], 0)
    assert reply["parts"][0]["text"] == "Yes, I can hear you."
    assert reply["parts"][1]["text"] == reply["question"] == first["question"]
    onward = candidate.turn(3, "answer", played=talk.listen(reply), **talk.answer(sound(4)))
    assert onward["question_index"] == 1
    agent = [row.content for row in utterances_of(interview_of(candidate).id) if row.role is Role.AGENT]
    assert agent[-1] == first["question"]


def test_what_was_not_understood_over_the_first_words_costs_no_question(
    candidate: Candidate, talk: Talk, hears: ScriptedTranscriber
) -> None:
    first = candidate.turn(1, "begin")
    hears.texts = ["that low", "that low", FULL]
    whole = candidate.turn(2, "answer", played=heard_for(talk, first, 0.3), **talk.answer(sound(2)))
    assert (kinds(whole), whole["question_index"]) == (["whole", "question"], 0)
    assert whole["parts"][0]["text"] == phrases.phrase("whole", "en-US")
    onward = candidate.turn(3, "answer", played=talk.listen(whole), **talk.answer(sound(2)))
    assert onward["question_index"] == 1


def test_a_question_that_was_heard_for_the_most_part_is_not_put_again(
    candidate: Candidate, talk: Talk, hears: ScriptedTranscriber
) -> None:
    first = candidate.turn(1, "begin")
    seconds = first["parts"][-1]["seconds"]
    hears.texts = [FULL]
    onward = candidate.turn(2, "answer", played=heard_for(talk, first, 0.7 * seconds), **talk.answer(sound(4)))
    assert (kinds(onward)[-1], onward["question_index"]) == ("question", 1)


def test_an_answer_that_is_typed_over_the_question_is_one(candidate: Candidate, talk: Talk) -> None:
    first = candidate.turn(1, "begin")
    onward = candidate.turn(2, "text", text=FULL, played=heard_for(talk, first, 0.3))
    assert onward["question_index"] == 1, "a candidate who writes has read it"
    assert (first["minutes_left"], onward["minutes_left"]) == (5, 0), "about two minutes a question, in steps of five"


def test_repeat_during_a_follow_up_says_the_question_too(
    candidate: Candidate, talk: Talk, hears: ScriptedTranscriber, asks: ScriptedInterviewer
) -> None:
    asks.follow_ups = [FollowUp("What exactly do you like?")]
    first = candidate.turn(1, "begin")
    hears.texts = ["people", "repeat that please"]
    follow_up = candidate.turn(2, "answer", played=talk.listen(first), **talk.answer(sound(1)))
    assert (kinds(follow_up), follow_up["script_question"]) == (["follow_up"], first["question"])
    assert follow_up["question"] == "What exactly do you like?"
    for number, kind in ((3, "answer"), (4, "repeat")):
        body = talk.answer(sound(1)) if kind == "answer" else {}
        again = candidate.turn(number, kind, played=talk.listen(follow_up), **body)
        assert [part["text"] for part in again["parts"]] == [first["question"], "What exactly do you like?"]
        assert again["question_index"] == 0


QUESTION = {"kind": "question", "text": "Why do you want this job?", "offset": 1.0, "seconds": 2.0, "words": []}
IN_PIECES = {
    **QUESTION,
    "stretches": [
        {"piece": 1, "text": "Why do you want this job?", "offset": 0.0, "seconds": 2.0, "words": [], "silent": False}
    ],
}


@pytest.mark.parametrize(
    ("part", "played", "share"),
    [
        (QUESTION, None, 1.0),
        (QUESTION, Played(1, 10.0, 3.0, whole=True), 1.0),
        (QUESTION, Played(1, 10.0, 0.9, whole=False), 0.0),
        (QUESTION, Played(1, 10.0, 2.0, whole=False), 0.5),
        (QUESTION, Played(1, 10.0, 2.5, whole=False, rate=0.8), 0.5),
        (QUESTION, Played(1, 10.0, 3.75, whole=True, rate=0.8), 1.0),
        (
            IN_PIECES,
            Played(1, 10.0, 2.5, whole=False, pieces=(Piece(1, 11.0, 1.25, whole=False, rate=0.8),), rate=0.8),
            0.5,
        ),
        ({**QUESTION, "seconds": 0.0}, Played(1, 10.0, 0.0, whole=False), 1.0),
        (IN_PIECES, Played(1, 10.0, 1.0, whole=False, pieces=(Piece(0, 10.0, 1.0, whole=True),)), 0.0),
        (IN_PIECES, Played(1, 10.0, 2.0, whole=False, pieces=(Piece(1, 11.0, 1.0, whole=False),)), 0.5),
        ({**QUESTION, "kind": "follow_up"}, Played(1, 10.0, 0.1, whole=False), None),
    ],
)
def test_the_share_of_a_question_is_that_of_its_own_sound(part: dict[str, Any], played: Played, share: float) -> None:
    assert share_heard(Turn(parts=[part]), played) == (None if share is None else pytest.approx(share))
    assert share_heard(None, played) is None


WORDS = [["Why", 0.0, 0.4], ["not", 0.5, 0.8], ["now", 1.0, 2.0]]
SPOKEN = {"kind": "question", "text": "Why not now?", "offset": 1.0, "seconds": 2.0, "words": WORDS}


def test_words_that_were_spoken_more_slowly_lie_where_they_were_heard() -> None:
    heard = heard_of(SPOKEN, Played(1, 10.0, 3.75, whole=True, rate=0.8))
    assert heard is not None
    assert (heard["content"], heard["start"], heard["end"], heard["played"]) == ("Why not now?", 11.25, 13.75, 2.5)
    assert heard["words"] == [["Why", 11.25, 11.75], ["not", 11.875, 12.25], ["now", 12.5, 13.75]]


def test_words_of_a_slow_voice_are_cut_where_it_was_interrupted() -> None:
    heard = heard_of(SPOKEN, Played(1, 10.0, 2.3, whole=False, rate=0.8))
    assert heard is not None
    assert (heard["content"], heard["played"]) == ("Why not", 1.05)
    assert heard["words"] == [["Why", 11.25, 11.75], ["not", 11.875, 12.25]]


def test_a_talk_heard_slowly_is_written_down_on_the_recording_s_clock(candidate: Candidate, talk: Talk) -> None:
    first = candidate.turn(1, "begin")
    heard = talk.listen(first)
    candidate.turn(2, "text", text=FULL, played={**heard, "seconds": heard["seconds"] / 0.8, "rate": 0.8})
    question = first["parts"][-1]
    line = [one for one in utterances_of(interview_of(candidate).id) if one.role is Role.AGENT][-1]
    assert line.start == pytest.approx(heard["started"] + question["offset"] / 0.8, abs=0.002)
    assert line.end - line.start == pytest.approx(question["seconds"] / 0.8, abs=0.002)


@pytest.mark.parametrize("rate", [0.4, 1.1, "fast", None])
def test_other_rates_are_refused_with_their_limits(candidate: Candidate, talk: Talk, rate: Any) -> None:
    heard = talk.listen(candidate.turn(1, "begin"))
    with pytest.raises(Refused) as caught:
        candidate.turn(2, "text", text=FULL, played={**heard, "rate": rate})
    assert caught.value.status == 422
