"""From turns to the frozen result, with scripted engines and no database."""

import json
from dataclasses import replace

import pytest

from app.flows.flow_script import FlowScript
from app.gateways.speech.ports import Segment, Word
from app.interviews.analysis.answers import QuestionPart
from app.interviews.processing import NotRecognised, Talk, TurnValue, process
from app.interviews.published_result import DetailsSchema, as_shown, freeze_details, freeze_text
from app.web.json_splice import inflate
from tests.conversation.conftest import sound

from .fakes import ScriptedAnalyst, ScriptedTranscriber

SCRIPT = FlowScript(
    title="Nurse",
    org_name="First Ltd",
    questions=("Why this job?", "What else?"),
    language="en-US",
    additional_info=None,
    assess_language=True,
)
ASKED = TurnValue(
    1, "agent", 0, "Why this job?", (("Why", 0.0, 0.3), ("this", 0.3, 0.5), ("job?", 0.5, 0.9)), 1, 0.0, 1.0
)
UNHEARD = TurnValue(2, "user", None, None, None, 1, 2.0, 5.0)


def no_samples(segment: int, start: float, end: float) -> bytes:
    raise AssertionError("nothing had to be read")


def test_answers_without_text_are_recognised_on_their_own_clock() -> None:
    asked: list[tuple[int, float, float]] = []

    def samples(segment: int, start: float, end: float) -> bytes:
        asked.append((segment, start, end))
        return sound(3)

    talk = Talk(SCRIPT, (ASKED, UNHEARD), offsets={1: 10.0, 2: 10.0}, duration=60.0)
    result = process(talk, transcriber=ScriptedTranscriber(), analyst=ScriptedAnalyst(), samples=samples)
    shown = as_shown(result.text, result.details)
    assert asked == [(1, 2.0, 5.0)]
    assert shown["transcript"] == "agent: Why this job?\nuser: I like to help people"
    answer = shown["transcript_with_timestamp"][1]
    assert answer["words"][0] == {"word": "I", "start": 12.1, "end": 12.3}
    assert result.evidence["speech"] == {
        "recognised_by": ["scripted"],
        "typed": 0,
        "answers": 1,
        "without_word_times": 0,
        "obeyed": [],
        "retakes": {},
    }


def test_words_that_an_engine_invents_for_silence_are_not_published() -> None:
    talk = Talk(SCRIPT, (ASKED, UNHEARD), offsets={1: 10.0, 2: 10.0}, duration=60.0)
    result = process(
        talk, transcriber=ScriptedTranscriber(), analyst=ScriptedAnalyst(), samples=lambda *_: bytes(96_000)
    )
    assert as_shown(result.text, result.details)["transcript"] == "agent: Why this job?"


def test_a_language_without_a_recogniser_waits() -> None:
    talk = Talk(replace(SCRIPT, language="th-TH"), (ASKED, UNHEARD), offsets={1: 0.0, 2: 0.0}, duration=9.0)
    with pytest.raises(NotRecognised):
        process(talk, transcriber=ScriptedTranscriber(), analyst=ScriptedAnalyst(), samples=no_samples)


def test_typed_answers_need_no_recogniser() -> None:
    typed = TurnValue(2, "user", None, "Because of people.", typed=True)
    talk = Talk(replace(SCRIPT, language="th-TH"), (ASKED, typed))
    result = process(talk, transcriber=ScriptedTranscriber(), analyst=ScriptedAnalyst(), samples=no_samples)
    shown = as_shown(result.text, result.details)
    assert shown["transcript_with_timestamp"][1]["words"] == []
    assert shown["questions_to_transcript_mapping"][0]["transcript_item_indices"] == [0, 1]


def test_every_question_is_mapped_once_also_those_never_reached() -> None:
    talk = Talk(SCRIPT, (ASKED,), offsets={1: 0.0}, duration=9.0)
    result = process(talk, transcriber=ScriptedTranscriber(), analyst=ScriptedAnalyst(), samples=no_samples)
    first, second = as_shown(result.text, result.details)["questions_to_transcript_mapping"]
    assert first == {
        "script_question": "Why this job?",
        "transcript_item_indices": [0],
        "start_timestamp": 0.0,
        "end_timestamp": 1.0,
        "transcript_items": [{"content": "Why this job?", "role": "agent"}],
    }
    assert second["transcript_item_indices"] == []


def test_a_silent_interview_has_no_scores_and_says_so() -> None:
    silent = TurnValue(2, "user", None, "", None, 1, 2.0, 5.0)
    talk = Talk(SCRIPT, (ASKED, silent), offsets={1: 0.0, 2: 0.0}, duration=9.0)
    analyst = ScriptedAnalyst(judged={"motivation": (4.0, "people", 1)})
    result = process(talk, transcriber=ScriptedTranscriber(), analyst=analyst, samples=no_samples)
    assert result.scores is not None
    assert set(result.scores.values()) == {None}
    assert result.summary
    assert result.summary != analyst.summary


def test_the_analyst_sees_text_alone() -> None:
    analyst = ScriptedAnalyst()
    answer = TurnValue(2, "user", None, "People matter to me.", (("People", 2.0, 2.4),), 1, 2.0, 5.0)
    talk = Talk(SCRIPT, (ASKED, answer), offsets={1: 0.0, 2: 0.0}, duration=9.0)
    process(talk, transcriber=ScriptedTranscriber(), analyst=analyst, samples=no_samples)
    seen = repr(analyst.materials)
    assert "People matter to me." in seen
    assert "start" not in seen


def test_words_to_the_agent_stay_in_the_transcript_and_are_judged_by_nobody() -> None:
    asks = TurnValue(2, "user", 0, "Could you repeat it?", (("Could", 2.0, 9.0),), 1, 2.0, 9.0, obeyed=True)
    again = replace(ASKED, number=3, words=None, start=3.0, end=4.0)
    answer = TurnValue(4, "user", 0, "People matter to me.", (("People", 5.0, 5.4),), 1, 5.0, 6.0)
    late = replace(asks, number=5, start=7.0, end=8.0, words=(("Could", 7.0, 8.0),))
    turns = (ASKED, asks, again, answer, late)
    talk = Talk(SCRIPT, turns, offsets=dict.fromkeys(range(1, 6), 0.0), duration=20.0)
    analyst = ScriptedAnalyst()
    result = process(talk, transcriber=ScriptedTranscriber(), analyst=analyst, samples=no_samples)
    material = analyst.materials[0]
    assert [(one.index, one.content) for one in material.passages] == [
        (0, "Why this job?"),
        (2, "Why this job?"),
        (3, "People matter to me."),
    ]
    assert "repeat" not in repr(analyst.materials)
    shown = as_shown(result.text, result.details)
    chapter = shown["questions_to_transcript_mapping"][0]
    assert (chapter["transcript_item_indices"], chapter["start_timestamp"], chapter["end_timestamp"]) == (
        [0, 1, 2, 3, 4],
        0.0,
        6.0,
    )
    assert shown["transcript_with_timestamp"][1].keys() == {"content", "role", "words", "shown", "texts"}
    assert result.evidence["speech"] == {
        "recognised_by": [],
        "typed": 0,
        "answers": 1,
        "without_word_times": 0,
        "obeyed": [1, 4],
        "retakes": {},
    }
    alone = process(
        Talk(SCRIPT, (ASKED, asks), offsets={1: 0.0, 2: 0.0}, duration=20.0),
        transcriber=ScriptedTranscriber(),
        analyst=ScriptedAnalyst(judged={"motivation": (4.0, "repeat", 1)}),
        samples=no_samples,
    )
    assert alone.scores is not None
    assert set(alone.scores.values()) == {None}
    assert alone.evidence["summary"] == {"source": None}, "nothing was answered"


def test_what_is_frozen_fits_the_published_schema() -> None:
    segments = (
        Segment("agent", "Why?", (Word("Why?", 0.0, 0.4),), 0.0, 0.5, 0),
        Segment("user", "So.", (), 1.0, 2.0, 0),
    )
    parts = (QuestionPart(0, "Why?", (0, 1), 0.0, 2.0),)
    raw = inflate(freeze_details(segments, parts, duration=3.0))
    assert raw.startswith(b',"transcript_with_timestamp":')
    found = json.loads(b"{" + raw[1:] + b"}")
    assert DetailsSchema().validate(found) == {}
    assert json.loads(b"{" + inflate(freeze_text("a"))[1:] + b"}") == {"transcript": "a"}


@pytest.mark.parametrize(
    ("words", "indices", "times", "complaint"),
    [
        ((Word("a", 2.0, 2.1), Word("b", 1.0, 1.1)), (0,), (0.0, 1.0), "word times"),
        ((Word("a", 0.0, 9.0),), (0,), (0.0, 1.0), "word times"),
        ((Word("a", 0.5, 0.4),), (0,), (0.0, 1.0), "word times"),
        ((), (0, 1), (0.0, 1.0), "not exist"),
        ((), (0, 0), (0.0, 1.0), "not in order"),
        ((), (0,), (2.0, 1.0), "backwards"),
    ],
)
def test_what_contradicts_itself_is_never_frozen(
    words: tuple[Word, ...], indices: tuple[int, ...], times: tuple[float, float], complaint: str
) -> None:
    segments = (Segment("user", "a b", words, 0.0, 1.0, 0),)
    with pytest.raises(ValueError, match=complaint):
        freeze_details(segments, (QuestionPart(0, "Why?", indices, *times),), duration=3.0)


def test_words_keep_the_punctuation_of_the_text_although_the_recogniser_counts_fewer() -> None:
    words = (Word("I", 0.0, 0.1), Word("was", 0.2, 0.3), Word("at a", 0.4, 0.6), Word("bank", 0.7, 0.9))
    segments = (Segment("user", "I was, at a bank.", words, 0.0, 1.0, 0),)
    (segment,) = as_shown(freeze_text(""), freeze_details(segments, (), duration=1.0))["transcript_with_timestamp"]
    assert segment["shown"] == [("I", 0.0, 0.1), ("was,", 0.2, 0.3), ("at a", 0.4, 0.6), ("bank.", 0.7, 0.9)]
    assert segment["texts"] == ["I", "was,", "at a", "bank."]


def test_a_quotation_mark_or_a_half_letter_does_no_harm() -> None:
    text = 'He said "no" \\ – 日本 \u2028'
    assert as_shown(freeze_text(text), freeze_details((), (), duration=None))["transcript"] == text
