"""How long a silence may last: unfinished words wait, whole ones do not, and nobody knows means patience."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.conversation.script import unfinished_words
from app.conversation.script.patience import (
    COMPLETE,
    SHORT,
    THINKING_TIME,
    UNFINISHED,
    UNKNOWN,
    at_rest,
    in_the_air,
    is_backchannel,
    patience,
)
from app.gateways.speech.catalogue import LANGUAGES

BREAKS_OFF = """
I have worked in a small team for three years and
we had to move the whole system because
I was responsible for
my manager told me that
it was the most important
so I decided to
we were eight people in a large
well um
I would say sort of
there was a customer who
I think
we use it mostly for
I started as a nurse then
the first thing that I did was
when the
"""
WHOLE = """
I have worked in a small team for three years and I like to help people every day
last summer our system was very slow in the morning and I found the reason
we were eight people and we met every morning to plan the work of the day
in the end we finished two weeks early and the customer was happy with it
I learned a lot from my colleagues there and I would do it the same way again
"""
FEW_WORDS = ("Yes.", "Yes I have", "no we did not", "in Hamburg", "I liked it", "three years")


@pytest.mark.parametrize("text", BREAKS_OFF.strip().splitlines())
def test_words_that_break_off_are_waited_for(text: str) -> None:
    assert patience(text, "en-US") == UNFINISHED


@pytest.mark.parametrize("text", WHOLE.strip().splitlines())
def test_whole_answers_are_answered_at_once(text: str) -> None:
    assert patience(text, "en-US") == COMPLETE


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (WHOLE.strip().splitlines()[0].lower(), 600),
        ("three years", 600),
        ("I was responsible for".lower(), 870),
        (None, 780),
        ("", 780),
        (f"{WHOLE.strip().splitlines()[0]}.", 650),
        ("Three years.", 1_200),
        ("I was responsible for...", 2_700),
        ("We were eight people.", 2_400),
        ("I would first listen to the customer and then I would look for a way to help her.", 650),
        ("I would help her.", 2_400),
        ("I can start in the first week of March, or two weeks earlier if you need me then.", 650),
        ("I was in the kitchen that day and I looked for the reason for an hour and then.", 2_700),
        ("I would first listen to the customer and then I would look for a way to help her...", 2_700),
        (WHOLE.strip().splitlines()[0].lower().replace(" ", "\n", 1), 600),
        ("I would first listen to the customer and then I would look for a way to help her,", 2_700),
        ("Could you repeat the question, please?", 650),
        ("Yo era responsable de la", 2_900 - 200),
        ("let me think", THINKING_TIME),
        ("Let me think.", THINKING_TIME),
    ],
)
def test_a_voice_at_rest_shortens_the_wait_by_little_where_last_words_are_heard_well(text: str, wanted: int) -> None:
    assert at_rest(text, "es-419" if text and text.startswith("Yo") else "en-US") == wanted


@pytest.mark.parametrize("text", FEW_WORDS)
def test_after_few_words_more_may_come(text: str) -> None:
    assert patience(text, "en-US") == SHORT


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Could you repeat the question, please?", COMPLETE),
        ("Can you hear me?", COMPLETE),
        ("Let me think.", THINKING_TIME),
        ("I have worked there for five years.", UNKNOWN),
        ("I was responsible for...", 2_900),
        (None, UNKNOWN),
    ],
)
def test_a_voice_that_stays_up_is_waited_for_unless_it_asks_the_agent_something(text: str | None, wanted: int) -> None:
    assert in_the_air(text, "en-US") == wanted


def test_unknown_words_mean_patience() -> None:
    assert patience(None, "fr-FR") == patience("", "en-US") == UNKNOWN > SHORT > COMPLETE


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_knows_its_own_endings(language: str) -> None:
    tag = language.split("-", maxsplit=1)[0]
    unspaced = {"ja": "私は東京で働いていました", "zh": "我在北京工作了三年", "th": "ผมทำงานที่กรุงเทพ"}
    begins = unspaced.get(tag, "abcde fghij ")
    for word in unfinished_words.OPEN[tag]:
        assert patience(f"{begins}{word}", language) == UNFINISHED, word
    for filler in unfinished_words.FILLERS[tag]:
        assert patience(f"{begins}{filler}", language) == UNFINISHED, filler
    for asked in unfinished_words.THINKING[tag]:
        assert patience(f"{begins}{asked}", language) == THINKING_TIME, asked
        assert patience(asked, language) == THINKING_TIME, asked
    for call in unfinished_words.BACKCHANNELS[tag]:
        assert is_backchannel(call, language), call


def test_case_and_punctuation_do_not_matter_but_commas_do() -> None:
    assert patience("I worked there, AND …", "en-US") == UNFINISHED
    assert patience("I worked in the harbour,", "en-US") == UNFINISHED
    assert patience("I worked in the harbour.", "en-US") == SHORT


def test_backchannels_are_whole_utterances() -> None:
    assert is_backchannel("Mm-hm.", "en-US")
    assert is_backchannel("", "en-US")
    assert is_backchannel("Okay. Mm-hm, mm-hm.", "en-US")
    assert not is_backchannel("okay but I never said that", "en-US")
    assert not is_backchannel("next question", "en-US")


@given(st.text(max_size=300), st.sampled_from(sorted(LANGUAGES)))
def test_any_text_gets_a_sensible_time(text: str, language: str) -> None:
    assert patience(text, language) in {COMPLETE, SHORT, UNKNOWN, UNFINISHED, THINKING_TIME}
    is_backchannel(text, language)
