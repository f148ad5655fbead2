"""Spoken commands: whole short utterances only."""

import pytest

from app.speech.catalogue import LANGUAGES
from app.voice.commands import _SPOKEN, spoken_command
from app.voice.script import Event


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("repeat the question", Event.REPEAT),
        ("Could you please repeat that?", Event.REPEAT),
        ("Say it again, please.", Event.REPEAT),
        ("next question please", Event.SKIP),
        ("stop here", Event.END),
    ],
)
def test_a_whole_short_utterance_is_a_command(text: str, event: Event) -> None:
    assert spoken_command(text, "en-US") is event


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "i had to stop here and there to repeat the question",
        "we always asked the next question",
        "stop",
        "no",
    ],
)
def test_everything_else_is_an_answer(text: str) -> None:
    assert spoken_command(text, "en-US") is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_knows_the_three_commands(language: str) -> None:
    known = _SPOKEN[language.split("-", maxsplit=1)[0]]
    assert set(known) == {Event.REPEAT, Event.SKIP, Event.END}
    for event, phrases in known.items():
        assert all(spoken_command(phrase, language) is event for phrase in phrases)


def test_a_language_without_commands_hears_answers_only() -> None:
    assert spoken_command("repeat", "xx-XX") is None
