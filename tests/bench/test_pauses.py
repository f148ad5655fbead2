"""The table of silences: what each was, and what a rule would make of the server's judgement."""

import numpy as np
import pytest

from app.conversation.script.patience import COMPLETE, SHORT, UNFINISHED, waits
from bench.interview import pauses
from bench.interview.voices import Sound

TO = 24_000
"""1.5 s: a second after the beginning of the sound."""


class Heard:
    """An answer of 4 s with a pause of 2 s after its first second, and the end."""

    sound = Sound(np.zeros(64_000), pauses=((1.0, 3.0),))

    def __init__(self, text: str, *, falls: bool | None) -> None:
        said = waits(text, "en-US")
        self.lulls = [{"to": TO, "falls": falls}, {"to": 72_000, "falls": True}]
        self.hints = [{"to": TO, "judged": said, "said": said, "text": text}]


def test_each_silence_has_its_kind_and_its_judges() -> None:
    answer = Heard("I was responsible for the", falls=False)
    found = list(pauses.seen(answer, {(answer, TO): 0.1, (answer, 72_000): 0.9}))
    assert [(one.kind, one.melody, one.words, one.chance) for one in found] == [
        ("2 s", "stayed up", "open", 0.1),
        ("end", "fell", "unknown", 0.9),
    ]
    assert list(pauses.table(found))[2:] == [
        "| end | fell | unknown | 1 | 1 | 0 | 0 |",
        "| pause | stayed up | open | 1 | 0 | 0 | 1 |",
    ]


@pytest.mark.parametrize(
    ("chance", "words", "least"),
    [(0.9, UNFINISHED, 0), (0.3, COMPLETE, 1_200), (0.1, COMPLETE, 0), (0.1, SHORT, 3_000), (0.1, UNFINISHED, 3_000)],
)
def test_smart_turn_only_lengthens_and_clear_words_win(chance: float, words: int, least: int) -> None:
    assert pauses.as_asked(chance, words) == least
    hint = {"to": TO, "judged": {"patience_ms": words, "at_rest_ms": 600}, "said": None, "text": ""}
    judged = pauses.with_rule(hint, chance, pauses.as_asked)["judged"]
    assert judged == {"patience_ms": max(words, least), "at_rest_ms": max(600, least)}
    assert pauses.with_rule({**hint, "judged": None}, chance, pauses.as_asked)["judged"] is None
    assert pauses.with_rule(hint, chance, None) is hint
