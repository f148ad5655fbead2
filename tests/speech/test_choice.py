"""The second look of the embedded recogniser: its grammar, what it cuts off, and that it neither waits nor breaks."""

import time

import numpy as np
import pytest

from app.gateways.speech.engines import pocketsphinx_choice as choice
from app.gateways.speech.engines.pocketsphinx import PocketsphinxTranscriber
from app.gateways.speech.ports import SPEECH_RATE, Heard, Sayings

from .conftest import CLEAREST, with_noise

AMONG = Sayings(
    ("repeat that", "say that again", "next question", "the next question", "skip"), ("can you",), ("please",)
)
HEARD = Heard("fiesta with half", (), "pocketsphinx")


def all_ways(grammar: choice.Grammar) -> set[str]:
    """Everything that the arcs lead to, following one empty arc between two words, as the decoder does."""
    found, open_ones = set(), [(grammar.begin, (), False)]
    while open_ones:
        state, words, was_empty = open_ones.pop()
        if state == grammar.end:
            found.add(" ".join(word for word in words if word not in choice.QUIET))
        for start, end, _chance, *word in grammar.arcs:
            if start == state and (word or not was_empty):
                open_ones.append((end, (*words, *word), not word))
    return found


def test_the_grammar_says_the_sayings_and_nothing_else():
    ways = all_ways(choice.Grammar((AMONG.whole, AMONG.before, AMONG.after)))
    around = [
        f"{before}{said}{after}"
        for said in AMONG.whole
        for after in ("", " please")
        for before in ("", "can you ", "can you can you ")
    ]
    assert ways == set(around)


def test_unlike_sounds_count_more_inside_than_around():
    here, near, far = ["S", "T", "AA", "P", "HH", "IY", "R"], ["S", "T", "AA", "P", "HH", "EY"], ["TH", "R", "IY", "Y"]
    assert choice.difference(here, here) == 0
    assert 2 * choice.difference(here, near) < choice.difference(here, far)
    assert choice.difference(here, ["F", *here, "IH", "F"]) < choice.difference(here, [*here[:4], "IH", "F", *here[4:]])
    assert choice.difference(here, []) > choice.difference(here, far)


def test_the_room_before_and_after_is_cut_off():
    rng = np.random.default_rng(1)
    room = rng.normal(0, 100, 2 * SPEECH_RATE)
    room[SPEECH_RATE // 2 : SPEECH_RATE] += 3000 * np.sin(np.arange(SPEECH_RATE // 2) / 8)
    first, last = choice.speech_of(room.astype("<i2").tobytes())
    around = choice.AROUND * choice.FRAME
    assert abs(first - (SPEECH_RATE // 2 - around)) <= 2 * choice.FRAME
    assert abs(last - (SPEECH_RATE + around)) <= 2 * choice.FRAME
    assert choice.speech_of(rng.normal(0, 100, SPEECH_RATE).astype("<i2").tobytes()) == (0, 0)
    assert choice.speech_of(b"") == (0, 0)


@pytest.fixture(scope="module")
def spoken(espeak):
    def said(text: str) -> bytes:
        from app.gateways.speech.sound import resample

        made = espeak.speak(text, voice_id=CLEAREST, language="en-US")
        quiet = np.zeros(SPEECH_RATE // 2, "<i2").tobytes()
        return with_noise(quiet + resample(made.pcm, made.rate, SPEECH_RATE) + quiet)

    return said


def test_what_is_like_a_saying_is_chosen_with_its_times(sphinx, spoken):
    pcm = spoken("Can you say that again, please?")
    heard = sphinx.transcribe(pcm, rate=SPEECH_RATE, language="en-US")
    chosen = sphinx.choose(heard, language="en-US", among=AMONG, pcm=lambda: pcm)
    assert chosen.text == "can you say that again please"
    assert [word.word for word in chosen.words] == chosen.text.split()
    assert 0.4 < chosen.words[0].start < chosen.words[-1].end < len(pcm) / 2 / SPEECH_RATE - 0.3
    assert 0 < chosen.confidence <= 1


def test_of_an_answer_nobody_is_sure(sphinx, spoken):
    for text, heard in (("Three years.", "three years"), ("I like the people.", "i like the people")):
        pcm = spoken(text)
        chosen = sphinx.choose(Heard(heard, (), "pocketsphinx"), language="en-US", among=AMONG, pcm=lambda pcm=pcm: pcm)
        assert chosen is None or chosen.confidence < 0.5


def test_long_sound_silence_other_languages_and_no_sayings_give_nothing(sphinx, spoken):
    long = spoken("Can you repeat that? " * 4)
    assert sphinx.choose(HEARD, language="en-US", among=AMONG, pcm=lambda: long) is None
    assert sphinx.choose(HEARD, language="en-US", among=AMONG, pcm=lambda: b"\0\0" * SPEECH_RATE) is None
    assert sphinx.choose(HEARD, language="en-US", among=Sayings(("xyzzyx",)), pcm=lambda: spoken("Yes.")) is None

    def unasked() -> bytes:
        raise AssertionError("the sound was read for nothing")

    assert sphinx.choose(HEARD, language="de-DE", among=AMONG, pcm=unasked) is None
    assert sphinx.choose(HEARD, language="en-US", among=Sayings(()), pcm=unasked) is None


def test_a_closed_recogniser_has_no_choice_and_does_not_complain(spoken):
    pcm = spoken("Skip.")
    closed = PocketsphinxTranscriber(processes=1)
    closed.close()
    began = time.perf_counter()
    assert closed.choose(HEARD, language="en-US", among=AMONG, pcm=lambda: pcm) is None
    assert time.perf_counter() - began < 1
