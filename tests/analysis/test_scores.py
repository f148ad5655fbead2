"""Scores: checked, capped and never invented."""

import math
from dataclasses import dataclass, field

import pytest

from app.gateways.language_model.scripted import ScriptAnalyst
from app.gateways.speech.ports import Judged, Judgement, Material, OwnCriterion, Passage, Quote, Segment, Word
from app.interviews.analysis.answers import Brief, analyse
from app.interviews.analysis.scores import FLUENCY, NAMES, is_said

SAID = "I repair old boats, and I don't mind the cold: it keeps me awake."


@dataclass
class Judge:
    """A scripted analyst that remembers what it was shown."""

    judged: tuple = ()
    seen: list = field(default_factory=list)
    asked: list = field(default_factory=list)
    name = "judge"

    def summarize(self, material):
        self.seen.append(material)
        return "summary"

    def judge(self, material, *, scores):
        self.seen.append(material)
        self.asked.append(scores)
        return Judgement("judge:1", self.judged)

    def close(self):
        pass


def words(count, *, seconds):
    step = seconds / count
    return tuple(Word("w", number * step, (number + 1) * step) for number in range(count))


def talk(seconds=90.0, content=SAID, timed=True):
    agent = Segment("agent", "What do you do? I repair nothing.", (), 0, 2, 0)
    spoken = words(max(1, int(seconds * 2.4)), seconds=seconds) if timed else ()
    return (agent, Segment("user", content, spoken, 2, 2 + seconds, 0))


def scored(*judged, segments=None, **brief):
    judge = Judge(judged)
    return analyse(Brief(questions=("Q",), **brief), segments or talk(), analyst=judge), judge


@dataclass
class Wavering(Judge):
    """Gives the next of its values in each round; None stands for no value, a text for a quote that no one said."""

    values: tuple = ()

    def judge(self, material, *, scores):
        value = self.values[len(self.asked)]
        self.asked.append(scores)
        if isinstance(value, str):
            return Judgement("judge:1", (Judged("skills", 4.0, "made up", (Quote(value, 1),)),))
        if value is None:
            return Judgement("judge:1")
        return Judgement("judge:1", (Judged("skills", value, f"gave {value}", (Quote("old boats", 1),)),))


def wavering(*values, segments=None, **brief):
    judge = Wavering(values=values)
    analysis = analyse(Brief(questions=("Q",), **brief), segments or talk(), analyst=judge)
    return next(one for one in analysis.evidence if one.score == "skills"), analysis


def quoted(score, value, text="old boats", segment=1):
    return Judged(score, value, "because", (Quote(text, segment),))


def test_a_judged_score_keeps_its_reason_and_quotes():
    analysis, _ = scored(quoted("skills", 3.44))
    assert analysis.scores.skills == 3.4
    evidence = next(one for one in analysis.evidence if one.score == "skills")
    assert (evidence.method, evidence.source, evidence.reason) == ("judged", "judge:1", "because")
    assert evidence.quotes == (Quote("old boats", 1),)


@pytest.mark.parametrize(
    "quote",
    [
        Quote("I repair new boats", 1),
        Quote("I repair nothing", 0),  # the agent's words
        Quote("old boats", 0),
        Quote("old boats", 7),
        Quote("oat", 1),
        Quote("old boat", 1),  # half a word
        Quote("", 1),
        Quote("?!", 1),
    ],
)
def test_a_score_without_a_quote_that_was_said_is_null(quote):
    analysis, _ = scored(Judged("skills", 4.0, "", (quote,)))
    assert analysis.scores.skills is None
    evidence = next(one for one in analysis.evidence if one.score == "skills")
    assert (evidence.method, evidence.quotes) == ("not assessed", ())
    assert "quote" in evidence.reason


@pytest.mark.parametrize("text", ["OLD BOATS AND", "i don’t mind", "“old boats”", "  the   cold it keeps "])
def test_case_punctuation_and_spaces_of_a_quote_do_not_count(text):
    analysis, _ = scored(quoted("skills", 4, text))
    assert analysis.scores.skills == 4.0


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("我在一家医院工作了六年。", "医院工作"),
        ("病院で六年間働きました。", "六年間働き"),
        ("저는 병원에서 일했습니다.", "병원에서 일했습니다"),
        ("मैंने अस्पताल में काम किया।", "अस्पताल में काम"),
        ("ฉันทำงานที่โรงพยาบาล", "ฉันทำงานที่โรงพยาบาล"),
        ("عملتُ في مستشفى.", "في مستشفى"),
    ],
)
def test_quotes_are_found_in_every_writing(said, quote):
    material = Material(questions=(), passages=(Passage(0, "user", said, 0),))
    assert is_said(Quote(quote, 0), material)
    assert not is_said(Quote(quote[::-1], 0), material)


@pytest.mark.parametrize("value", [5.1, -0.1, math.nan, math.inf])
def test_a_value_out_of_range_is_null(value):
    analysis, _ = scored(quoted("communication", value))
    assert analysis.scores.communication is None


def test_under_half_a_minute_of_speech_no_score_exceeds_two():
    analysis, _ = scored(quoted("skills", 4.9), quoted("motivation", 1.2), segments=talk(seconds=29))
    assert (analysis.scores.skills, analysis.scores.motivation) == (2.0, 1.2)
    analysis, _ = scored(quoted("skills", 4.9), segments=talk(seconds=31))
    assert analysis.scores.skills == 4.9


@pytest.mark.parametrize(("count", "expected"), [(70, 2.0), (80, 4.9)])
def test_typed_answers_are_capped_by_their_words(count, expected):
    segments = talk(content="old boats " + "word " * (count - 2), timed=False)
    analysis, _ = scored(quoted("skills", 4.9), segments=segments)
    assert analysis.scores.skills == expected


def test_an_abandoned_interview_is_capped():
    analysis, _ = scored(quoted("skills", 4.9), abandoned=True)
    assert analysis.scores.skills == 2.5


@pytest.mark.parametrize("content", ["", "  \n"])
def test_a_silent_interview_has_null_scores_whatever_the_judge_says_and_says_so(content):
    analysis, judge = scored(quoted("skills", 5.0), segments=talk(content=content))
    assert all(getattr(analysis.scores, name) is None for name in NAMES)
    assert all(one.reason == "nothing was answered" for one in analysis.evidence)
    assert judge.asked == []
    honest = analyse(Brief(questions=("Q",)), talk(content=content), analyst=ScriptAnalyst())
    assert "no answer" in honest.summary


def test_the_judge_sees_what_was_said_and_no_documents():
    _, judge = scored(documents=("cv",), title="T", org_name="O", additional_info="info")
    *judged, summarized = judge.seen
    assert ([one.documents for one in judged], summarized.documents) == ([()] * 3, ("cv",))
    for material in judge.seen:
        assert isinstance(material, Material)
        for passage in material.passages:
            assert set(Passage.__slots__) == {"index", "role", "content", "question_index"}
            assert isinstance(passage, Passage)


def test_fluency_is_measured_and_never_asked_for_or_taken_from_the_judge():
    analysis, judge = scored(quoted(FLUENCY, 5.0), segments=talk(seconds=90))
    assert FLUENCY not in judge.asked[0]
    evidence = next(one for one in analysis.evidence if one.score == FLUENCY)
    assert (evidence.method, evidence.source) == ("measured", "word times")
    assert "words a minute" in evidence.reason
    assert 0 <= analysis.scores.language_fluency_and_pace <= 5
    short, _ = scored(quoted(FLUENCY, 5.0), segments=talk(seconds=50))
    assert short.scores.language_fluency_and_pace is None


def test_language_scores_are_left_out_where_language_is_not_assessed():
    everything = [quoted(name, 4) for name in NAMES if name != FLUENCY]
    analysis, judge = scored(*everything, assess_language=False)
    assert judge.asked == [
        ("communication", "motivation", "skills"),
        ("motivation", "skills", "communication"),
        ("skills", "communication", "motivation"),
    ]
    assert analysis.scores.skills == 4.0
    for name in NAMES:
        assert (getattr(analysis.scores, name) is None) == name.startswith("language_")
    analysis, _ = scored(*everything, assess_language=True)
    assert analysis.scores.language_comprehension == 4.0


def test_without_a_model_only_fluency_has_a_value_and_each_null_says_why():
    analysis = analyse(Brief(questions=("Q",)), talk(seconds=90), analyst=ScriptAnalyst())
    values = {name: getattr(analysis.scores, name) for name in NAMES}
    assert [name for name, value in values.items() if value is not None] == [FLUENCY]
    assert all(one.reason for one in analysis.evidence)
    assert [one.score for one in analysis.evidence] == list(NAMES)


@pytest.mark.parametrize(
    ("values", "score", "is_unstable"),
    [
        ((3.0, 3.0, 3.0), 3.0, False),
        ((3.1, 3.4, 3.2), 3.2, False),  # 0.3 apart is stable, also where 3.4 - 3.1 is a little more in binary
        ((3.1, 3.5, 3.2), 3.2, True),
        ((4.4, 3.6, 4.6), 4.4, True),  # 1.0 apart is still a score
        ((3.0, 4.1, 3.5), None, True),
        ((0.0, 5.0, 2.5), None, True),
        ((3.0, None, 3.2), 3.1, True),
        ((3.0, "never said", 3.0), 3.0, True),
        ((3.0, math.nan, 4.5), None, True),
        ((3.0, None, None), None, False),
        ((None, "never said", 3.0), None, False),
    ],
)
def test_three_scorings_agree_or_there_is_no_score(values, score, is_unstable):
    evidence, analysis = wavering(*values)
    assert (evidence.value, evidence.is_unstable) == (score, is_unstable)
    assert analysis.scores.skills == score
    assert evidence.rounds == tuple(
        value if isinstance(value, float) and math.isfinite(value) else None for value in values
    )
    if score is not None:
        assert float(evidence.reason.removeprefix("gave ")) in values
        assert evidence.quotes == (Quote("old boats", 1),)
        return
    assert (evidence.method, evidence.quotes) == ("not assessed", ())
    assert evidence.reason


def test_scorings_too_far_apart_say_so():
    evidence, _ = wavering(4.5, 3.0, 3.5)
    assert evidence.reason == "3 scorings gave 3.0, 3.5 and 4.5, which are too far apart"


def test_a_cap_hides_no_disagreement():
    evidence, _ = wavering(2.5, 4.0, 5.0, segments=talk(seconds=20))
    assert evidence.value is None
    evidence, _ = wavering(2.5, 2.9, 3.0, segments=talk(seconds=20))
    assert (evidence.value, evidence.is_unstable, evidence.rounds) == (2.0, True, (2.5, 2.9, 3.0))


def test_what_no_scoring_assesses_has_no_rounds():
    evidence, _ = wavering(None, None, None)
    assert (evidence.rounds, evidence.is_unstable) == ((), False)
    assert evidence.reason == "this engine does not assess it"


def own(*values, seconds=90.0, is_yes_no=False):
    """Evidence of one own criterion after three rounds with these values."""
    criterion = OwnCriterion("own_1", "Boats", "Has repaired some.", is_yes_no)

    class Three(Judge):
        def judge(self, material, *, scores):
            assert material.criteria == (criterion,)
            assert set(scores) == {*NAMES, "own_1"} - {FLUENCY}
            value = values[len(self.asked)]
            self.asked.append(scores)
            return Judgement("judge:1", (Judged("own_1", value, "said so", (Quote("old boats", 1),)),))

    analysis = analyse(Brief(questions=("Q",), criteria=(criterion,)), talk(seconds), analyst=Three())
    assert tuple(analysis.values()) == (*NAMES, "own_1")
    return analysis.evidence[-1]


@pytest.mark.parametrize(
    ("values", "value", "is_unstable"),
    [
        ((4.0, 4.2, 4.1), 4.1, False),
        ((3.0, 3.5, 3.4), 3.4, True),
        ((1.0, 4.0, 3.0), None, True),
        ((6, 6, 6), None, False),
    ],
)
def test_an_own_criterion_is_scored_by_the_same_rules(values, value, is_unstable):
    evidence = own(*values)
    assert (evidence.value, evidence.is_unstable) == (value, is_unstable)


@pytest.mark.parametrize(
    ("values", "seconds", "value", "reason"),
    [
        ((5, 4.4, 5), 90, 5.0, "said so"),
        ((0, 1.0, 0), 90, 0.0, "said so"),
        ((5, 5, 0), 90, None, "3 scorings gave 0.0, 5.0 and 5.0, which are too far apart"),
        ((5, None, None), 90, None, "said so"),
        ((5, 5, 5), 20, None, "too little was said to score this as a yes"),
        ((0, 0, 0), 20, 0.0, "said so"),
    ],
)
def test_a_yes_or_no_is_one_of_the_two_or_nothing(values, seconds, value, reason):
    evidence = own(*values, seconds=seconds, is_yes_no=True)
    assert (evidence.value, evidence.reason) == (value, reason)
    assert bool(evidence.quotes) == (value is not None)


def test_what_nobody_answered_is_null_for_own_criteria_too():
    silent = (Segment("agent", "What do you do?", (), 0, 2, 0),)
    analysis = analyse(Brief(questions=("Q",), criteria=(OwnCriterion("own_1", "Boats"),)), silent, analyst=Judge())
    assert analysis.evidence[-1].reason == "nothing was answered"
