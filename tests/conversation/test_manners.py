"""The greeting, what comes, words after an answer and bridges: in every language, and around the script only."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.conversation.script import guard
from app.conversation.script.machine import Event, Kind, Line, Script, step
from app.conversation.script.manners import LONGEST_NAME, polite, said_name
from app.conversation.script.place import Phase, Place
from app.gateways.speech import manners, phrases
from app.gateways.speech.catalogue import LANGUAGES
from app.interviews.models import Interview
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate, Talk
from app.operations.demo.tape import Tape
from tests.factories import Made

from .conftest import Candidates, interview_of, sound
from .fakes import ScriptedInterviewer, ScriptedSpeaker

THREE = Script(questions=("Why?", "How?", "When?"), seconds=1800, seed="an interview")


def lines(script: Script, place: Place, event: Event) -> tuple[Line, ...]:
    """What is said around the script's own lines, and those."""
    return polite(script, place, event, decided=step(script, place, event, text="because")).lines


def test_the_agent_greets_by_name_says_what_comes_and_asks() -> None:
    said = lines(replace(THREE, name="Maria"), Place(), Event.BEGIN)
    assert [(line.kind, line.text) for line in said] == [
        (Kind.GREETING, "Hello, and welcome to your interview."),
        (Kind.NAME, "Thank you for taking the time, Maria."),
        (
            Kind.GREETING,
            manners.coming("en-US", questions=3, minutes=7),
        ),
        (Kind.QUESTION, "Why?"),
    ]
    assert str(said[2].text).startswith("I have 3 questions for you. It will take about 7 minutes. Take your time")
    nameless = lines(THREE, Place(), Event.BEGIN)
    assert nameless[1] == Line(Kind.GREETING, "Thank you for taking the time.")
    assert (nameless[0], nameless[2:]) == (said[0], said[2:])


def test_a_flows_own_intro_and_outro_are_said_word_for_word_and_nothing_beside_them() -> None:
    own = replace(THREE, name="Maria", intro="Welcome aboard.", outro="So long.")
    assert lines(own, Place(), Event.BEGIN) == (Line(Kind.INTRO, "Welcome aboard."), Line(Kind.QUESTION, "Why?", 0))
    assert lines(own, Place(Phase.QUESTION, 2), Event.ANSWER) == (Line(Kind.OUTRO, "So long."),)


def test_without_questions_nothing_is_announced() -> None:
    said = lines(replace(THREE, questions=()), Place(), Event.BEGIN)
    assert [line.kind for line in said] == [Kind.GREETING, Kind.GREETING, Kind.OUTRO]


@pytest.mark.parametrize("event", [event for event in Event if event not in {Event.BEGIN, Event.ANSWER, Event.SKIP}])
def test_what_leaves_the_question_open_is_said_as_it_was(event: Event) -> None:
    decided = step(THREE, Place(Phase.QUESTION, 0), event, text="because")
    assert polite(THREE, Place(Phase.QUESTION, 0), event, decided=decided) is decided


def test_a_question_that_is_put_again_or_followed_up_gets_no_bridge() -> None:
    unheard = replace(Place(Phase.QUESTION, 0), heard=0.1)
    again = step(THREE, unheard, Event.ANSWER, text="hm")
    assert polite(THREE, unheard, Event.ANSWER, decided=again) is again
    asked = step(THREE, Place(Phase.QUESTION, 0), Event.ANSWER, text="hm", follow_up="Why exactly?")
    assert polite(THREE, Place(Phase.QUESTION, 0), Event.ANSWER, decided=asked) is asked


def test_the_last_question_is_announced_and_a_skipped_one_is_not_thanked_for() -> None:
    kinds = [line.kind for line in lines(THREE, Place(Phase.QUESTION, 1), Event.ANSWER)]
    assert kinds == [Kind.ACKNOWLEDGE, Kind.BRIDGE, Kind.QUESTION]
    for at in (0, 1):
        bridge, question = lines(THREE, Place(Phase.QUESTION, at), Event.SKIP)
        assert (bridge.kind, question.kind) == (Kind.BRIDGE, Kind.QUESTION)
        assert ("last" in str(bridge.text)) == (at == 1)


@given(
    st.sampled_from(LANGUAGES),
    st.text(max_size=40),
    st.lists(st.sampled_from((Event.ANSWER, Event.SKIP)), min_size=2, max_size=20),
)
def test_nothing_is_said_twice_in_a_row_and_a_retry_says_the_same(
    language: str, seed: str, events: list[Event]
) -> None:
    script = Script(questions=("A?",) * (1 + len(events)), seconds=6000, language=language, seed=seed)
    former: dict[Kind, str | None] = {}
    for at, event in enumerate(events):
        place = Place(Phase.QUESTION, at)
        said = lines(script, place, event)
        assert said == lines(script, Place.from_json(place.to_json()), event)
        assert said[-1] == Line(Kind.QUESTION, "A?", at + 1), "the script's own words, last"
        for line in said[:-1]:
            assert line.question_index is None, "no part of any question"
            assert former.get(line.kind) != line.text
            former[line.kind] = line.text
        if event is Event.SKIP:
            former.pop(Kind.ACKNOWLEDGE, None)  # something else was said in between


def test_two_interviews_do_not_sound_alike() -> None:
    first = {
        tuple(line.text for line in lines(replace(THREE, seed=str(seed)), Place(Phase.QUESTION, 0), Event.ANSWER))
        for seed in range(40)
    }
    assert len(first) >= 5


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_sentences_of_its_own_that_neither_judge_nor_promise(language: str) -> None:
    around = manners.every_manner(language)
    assert len(set(around)) == len(around) >= 12
    if language != "en-US":
        assert not set(around) & set(manners.every_manner("en-US"))
    comings = [manners.coming(language, questions=n, minutes=m) for n in (1, 2, 5, 20) for m in (3, 5, 10, 15, 40)]
    assert len(set(comings)) == len(comings), "each number is said"
    named = manners.thanks(language, "Maria")
    assert "Maria" in named
    assert named != manners.thanks(language)
    for text in (*around, *comings, named):
        assert text.strip() == text
        assert "{" not in text
        assert guard.said_of(text, language) not in {"promise", "verdict", "private", "role"}, text


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_of_it_but_the_name_is_spoken_beforehand(language: str) -> None:
    assert set(manners.every_manner(language)) <= set(phrases.all_of(language))


def test_arabic_counts_in_its_own_way() -> None:
    said = [manners.coming("ar-AE", questions=n, minutes=m) for n, m in ((1, 3), (2, 5), (5, 10), (12, 25))]
    assert [text.split(".")[0] for text in said] == [
        "لديّ سؤال واحد لك",
        "لديّ سؤالان لك",
        "لديّ 5 أسئلة لك",
        "لديّ 12 سؤالًا لك",
    ]
    assert "10 دقائق" in said[2]
    assert "25 دقيقة" in said[3]


@pytest.mark.parametrize(
    ("first", "last", "language", "said"),
    [
        ("Maria", "Smith", "en-US", "Maria"),
        (" Maria ", None, "en-US", "Maria"),
        (None, "Smith", "en-US", "Smith"),
        ("Maria", "Smith", "de-DE", "Maria Smith"),
        ("太郎", "山田", "ja-JP", "山田太郎"),
        ("伟", "张", "zh-CN", "张伟"),
        ("민수", "김", "ko-KR", "김민수"),
        ("Maria", "Smith", "ko-KR", "Maria Smith"),
        ("Mary-Jane", "O'Neil", "fr-FR", "Mary-Jane O'Neil"),
        ("अनिल", "शर्मा", "hi-IN", "अनिल"),
        ("สมชาย", "ใจดี", "th-TH", "สมชาย"),
        ("محمد", "علي", "ar-AE", "محمد"),
        ("Nguyễn", "", "vi-VN", "Nguyễn"),
    ],
)
def test_a_name_is_said_as_the_language_addresses_people(
    first: str | None, last: str | None, language: str, said: str
) -> None:
    assert said_name(first, last, language) == said


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "  ",
        "x" * (LONGEST_NAME + 1),
        "one two three four five",
        "Maria123",
        "http://evil.example",
        "evil.example",
        "<b>Maria</b>",
        "{name}",
        "Maria\u202eevil",
        "Maria\x00",
        "'); DROP TABLE",
        "😀",
        "-",
        "you are hired",
        "welcome to the team",
        "goodbye",
        "system prompt",
        "Иван",  # the English voice does not read these letters
        "太郎",
    ],
)
def test_what_cannot_safely_be_said_is_no_name(name: str | None) -> None:
    assert said_name(name, None, "en-US") is None


def test_the_name_given_at_start_is_said_and_stays_with_the_interview(
    candidates: Candidates, book: Made, speaks: ScriptedSpeaker
) -> None:
    interview: Interview = book()
    candidate = candidates(interview)
    candidate.start(first_name="Maria", last_name="Smith")
    prompt = candidate.turn(1, "begin")
    named = "Thank you for taking the time, Maria."
    assert [part["kind"] for part in prompt["parts"]] == ["greeting", "name", "greeting", "question"]
    assert (prompt["kind"], prompt["parts"][1]["text"]) == ("question", named)
    assert dict(speaks.spoken)[named] is False, "not in the cache that all share"
    assert all(remembered for text, remembered in speaks.spoken if text != named)
    assert candidate.turn(1, "begin") == prompt
    rows = utterances_of(interview_of(candidate).id)
    assert list(rows) == []
    candidate.turn(2, "text", text="I like it.")
    said = [(row.question_index, row.content) for row in utterances_of(interview_of(candidate).id)]
    assert said[1] == (None, named)
    assert said[3:] == [(0, "Why do you want this job?"), (0, "I like it.")]


def test_a_name_that_is_an_order_is_not_said(candidates: Candidates, book: Made) -> None:
    candidate = candidates(book())
    candidate.start(first_name="You are hired", last_name="http://evil.example")
    prompt = candidate.turn(1, "begin")
    assert "hired" not in prompt["text"]
    assert prompt["parts"][1] == {**prompt["parts"][1], "kind": "greeting", "text": "Thank you for taking the time."}


def test_a_slow_voice_is_not_waited_for_and_the_prepared_words_come_first(
    candidates: Candidates, book: Made, speaks: ScriptedSpeaker
) -> None:
    speaks.name = "piper"
    interview: Interview = book()
    candidate = candidates(interview)
    candidate.start(first_name="Maria")
    prompt = candidate.turn(1, "begin")
    assert [text for text, _ in speaks.spoken] == ["Hello, and welcome to your interview."]
    assert len(prompt["audio_urls"]) == 4
    assert candidate.sounds_of(prompt)
    assert [text for text, _ in speaks.spoken][1] == "Thank you for taking the time, Maria."
    talk = Talk(candidate, Tape(video=False))
    played = talk.listen(prompt)
    onward = candidate.turn(2, "text", text="I like it.", played=played)
    assert onward["question_index"] == 1, "the question was heard to its end"


def test_a_language_model_does_not_read_the_name_in_what_was_cut_off(
    candidates: Candidates, book: Made, asks: ScriptedInterviewer
) -> None:
    candidate = candidates(book())
    candidate.start(first_name="Maria")
    talk = Talk(candidate, Tape(video=False))
    prompt = candidate.turn(1, "begin")
    played = talk.listen(prompt, until=prompt["seconds"] - 0.2)
    candidate.turn(2, "text", text="the sea", played=played)
    assert asks.asked[0].cut.startswith("Hello, and welcome")
    assert "Maria" not in asks.asked[0].cut


def test_a_greeting_that_was_talked_over_costs_no_question(candidate: Candidate, talk: Talk) -> None:
    prompt = candidate.turn(1, "begin")
    over = candidate.turn(2, "answer", played=talk.listen(prompt, until=1.0), **talk.answer(sound(2)))
    assert [part["kind"] for part in over["parts"]] == ["whole", "question"]
    onward = candidate.turn(3, "answer", played=talk.listen(over), **talk.answer(sound(2, seed=1)))
    assert onward["question_index"] == 1
    again = candidate.turn(4, "repeat")
    assert [part["kind"] for part in again["parts"]] == ["question"], "neither the greeting nor the bridge"


@pytest.fixture
def talk(candidate: Candidate) -> Talk:
    return Talk(candidate, Tape(video=False))
