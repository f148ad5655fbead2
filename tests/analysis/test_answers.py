"""The whole analysis on values."""

import json

import pytest

from app.core.errors import GatewayError
from app.gateways.language_model.scripted import ScriptAnalyst
from app.gateways.speech.ports import Judgement, Segment
from app.interviews.analysis.answers import Brief, analyse
from app.interviews.analysis.summary import LONGEST

SEGMENTS = (
    Segment("agent", "Welcome.", (), 0, 1, None),
    Segment("agent", "Why boats?", (), 1, 2, 0),
    Segment("user", "Boats are quiet. Boats are honest work.", (), 3, 6, 0),
)


class Wordy(ScriptAnalyst):
    def __init__(self, text):
        self.text = text

    def summarize(self, material):
        return self.text


class Down(ScriptAnalyst):
    def judge(self, material, *, scores):
        raise GatewayError("the model is away", retryable=True)


def test_mapping_summary_scores_and_evidence_come_together():
    analysis = analyse(Brief(questions=("Why boats?", "And nets?")), SEGMENTS, analyst=ScriptAnalyst())
    assert [part.indices for part in analysis.mapping] == [(1, 2), ()]
    assert "Boats are quiet." in analysis.summary
    assert analysis.summary_source == "script"
    plain = analysis.evidence_json()
    assert json.loads(json.dumps(plain)) == plain | {"scores": json.loads(json.dumps(plain["scores"]))}
    assert len(plain["scores"]) == 7


def test_nothing_said_and_nothing_asked_can_be_analysed_too():
    analysis = analyse(Brief(questions=()), (), analyst=ScriptAnalyst())
    assert analysis.mapping == ()
    assert "no answer" in analysis.summary


@pytest.mark.parametrize(("given", "kept"), [("", None), ("  ", None), (None, None), (" a ", "a")])
def test_an_empty_summary_is_null(given, kept):
    assert analyse(Brief(questions=("Q",)), SEGMENTS, analyst=Wordy(given)).summary == kept


def test_a_summary_is_of_bounded_length_and_ends_at_a_word():
    summary = analyse(Brief(questions=("Q",)), SEGMENTS, analyst=Wordy("word " * 2_000)).summary
    assert len(summary) <= LONGEST
    assert summary.endswith("word…")


def test_a_failing_model_is_the_callers_to_try_again():
    with pytest.raises(GatewayError, match="away") as failure:
        analyse(Brief(questions=("Q",)), SEGMENTS, analyst=Down())
    assert failure.value.retryable


def test_a_judgement_of_unknown_scores_changes_nothing():
    class Odd(ScriptAnalyst):
        def judge(self, material, *, scores):
            from app.gateways.speech.ports import Judged, Quote

            return Judgement("odd", (Judged("charm", 5.0, "", (Quote("Boats", 2),)),))

    analysis = analyse(Brief(questions=("Q",)), SEGMENTS, analyst=Odd())
    assert analysis.scores.skills is None
