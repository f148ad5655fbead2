"""Words to the agent that it follows are in the transcript, and nowhere else."""

import pytest

from app.conversation.models import TurnKind
from app.conversation.queries import sitting_of, turn_of
from app.core import clock
from app.gateways.speech.ports import FollowUp
from app.interviews import quality
from app.interviews.insights import Span, by_question
from app.interviews.models import Interview, Role, Utterance
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate, Talk
from app.operations.demo.tape import Tape
from tests.people import Person

from .conftest import interview_of, sound
from .fakes import ScriptedInterviewer, ScriptedTranscriber

FULL = "because i have always wanted to work with people who need help"


@pytest.fixture
def talk(candidate: Candidate) -> Talk:
    return Talk(candidate, Tape(video=False))


def users(candidate: Candidate) -> list[Utterance]:
    return [row for row in utterances_of(interview_of(candidate).id) if row.role is Role.USER]


@pytest.mark.parametrize(
    ("text", "obeyed"),
    [
        ("could you repeat the question please", True),
        ("let me think", True),
        ("hello can you hear me", True),
        ("who are you", True),
        ("next question", True),
        ("stop here", True),
        (FULL, False),
        ("people", False),
    ],
)
@pytest.mark.parametrize("is_spoken", [True, False], ids=["spoken", "typed"])
def test_only_what_was_obeyed_is_marked(
    candidate: Candidate, talk: Talk, hears: ScriptedTranscriber, text: str, obeyed: bool, is_spoken: bool
) -> None:
    played = talk.listen(candidate.turn(1, "begin"))
    hears.texts = [text]
    body = talk.answer(sound(3)) if is_spoken else {"text": text}
    candidate.turn(2, "answer" if is_spoken else "text", played=played, **body)
    (row,) = users(candidate)
    assert (row.content, row.question_index, row.obeyed) == (text, 0, obeyed)


def test_yes_and_no_to_the_end_and_questions_to_the_agent_are_no_answers(
    candidate: Candidate, asks: ScriptedInterviewer
) -> None:
    asks.follow_ups = [FollowUp(unknown=True), FollowUp(), FollowUp()]
    candidate.turn(1, "begin")
    for number, text in enumerate(("How high is the pay?", "stop here", "no", FULL, "stop here", "yes"), 2):
        candidate.turn(number, "text", text=text)
    assert [(row.content, row.obeyed) for row in users(candidate)] == [
        ("How high is the pay?", True),
        ("stop here", True),
        ("no", True),
        (FULL, False),
        ("stop here", True),
        ("yes", True),
    ]


def test_no_command_reaches_the_language_model_later(candidate: Candidate, asks: ScriptedInterviewer) -> None:
    candidate.turn(1, "begin")
    for number, text in enumerate(("can you hear me", "let me think", "repeat the question please", "the sea"), 2):
        candidate.turn(number, "text", text=text)
    assert [exchange.answer for exchange in asks.asked] == ["the sea"]


def test_figures_and_the_report_count_answers_alone(
    candidate: Candidate, talk: Talk, hears: ScriptedTranscriber, owner: Person
) -> None:
    hears.texts = ["can you hear me", FULL, "next question"]
    played = talk.listen(candidate.turn(1, "begin"))
    for number in (2, 3, 4):
        reply = candidate.turn(number, "answer", played=played, **talk.answer(sound(4)))
        played = talk.listen(reply)
    interview, today = interview_of(candidate), clock.now().date()
    assert quality.report_of(interview)["recognition"]["answers"] == 1
    bars = {
        bar.label: bar.count for bar in by_question(owner.member, Span(today, today, interview.flow_id), interview.flow)
    }
    assert [bars[text] for text in interview.flow.questions] == [1, 0]


def test_murmurs_over_the_agent_are_in_no_utterance_and_counted(candidate: Candidate, talk: Talk) -> None:
    played = talk.listen(candidate.turn(1, "begin"))
    candidate.turn(2, "answer", played={**played, "murmurs": 2}, **talk.answer(sound(4)))
    assert len(users(candidate)) == 1
    interview: Interview = interview_of(candidate)
    sitting = sitting_of(interview.id)
    assert sitting is not None
    first = turn_of(sitting.id, 1)
    assert first is not None
    assert (first.kind, first.murmurs, first.interrupted) == (TurnKind.BEGIN, 2, False)
    assert quality.report_of(interview)["murmurs"] == 2
