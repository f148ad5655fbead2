"""Spoken words and the text that writes them: whatever the counts, no sign of the text is lost."""

import random
import time

import pytest

from app.interviews.analysis.alignment import as_written


@pytest.mark.parametrize(
    ("content", "words", "parts"),
    [
        ("Yes, I am.", ["yes", "I", "am"], ["Yes,", "I", "am."]),
        # A recogniser that takes two words for one, as the embedded voice measures them.
        (
            "Three years at a bank, and more.",
            ["three", "years", "at a", "bank", "and", "more"],
            ["Three", "years", "at a", "bank,", "and", "more."],
        ),
        ("I was 25, then.", ["I", "was", "twenty", "five", "then"], ["I", "was", "25,", "", "then."]),
        (
            "My e-mail – well, it failed.",
            ["my", "e", "mail", "well", "it", "failed"],
            ["My", "e-mail –", "", "well,", "it", "failed."],
        ),
        ("“Well”, she said.", ["uh", "well", "she", "said"], ["", "“Well”,", "she", "said."]),
        ("And then we left.", ["then", "we", "left"], ["And then", "we", "left."]),
        ("父は「はい」と言った。", ["父", "は", "はい", "と", "言った"], ["父", "は", "「はい」", "と", "言った。"]),
        ("はい、そうです。", ["はい", "そう", "です"], ["はい、", "そう", "です。"]),
        ("ผมชอบงานนี้ครับ", ["ผม", "ชอบ", "งาน", "นี้", "ครับ"], ["ผม", "ชอบ", "งาน", "นี้", "ครับ"]),
        ("Nothing alike!", ["abc", "def"], ["Nothing", "alike!"]),
        ("", ["uh"], [""]),
        ("…", ["uh"], ["…"]),
        ("No words.", [], []),
    ],
)
def test_each_word_gets_the_part_that_writes_it(content: str, words: list[str], parts: list[str]) -> None:
    assert as_written(content, words) == parts


def test_every_sign_of_the_text_stands_in_exactly_one_part() -> None:
    seed = random.SystemRandom().randrange(10**6)
    chance = random.Random(seed)
    for _round in range(300):
        written = [
            chance.choice(["the", "a", "bank,", "bank.", "–", "e-mail", "25", "「はい」", "I"]) for _ in range(30)
        ]
        spoken = [
            chance.choice(["the", "a", "bank", "at a", "uh", "five", "はい"]) for _ in range(chance.randint(1, 30))
        ]
        parts = as_written(" ".join(written), spoken)
        assert len(parts) == len(spoken), seed
        assert "".join("".join(parts).split()) == "".join(written), seed


def test_a_long_answer_is_no_work() -> None:
    chance = random.Random(7)
    known = [f"word{n}" for n in range(400)]
    words = [chance.choice(known[: chance.choice([5, 40, 400])]) for _ in range(3_000)]
    begun = time.process_time()
    as_written(", ".join(words[:-1]), words)
    assert time.process_time() - begun < 20, "seconds of work for an answer of twenty minutes"
