"""Which model hears a language, by cores, memory, what is installed and what the operator wants. Pure."""

import pytest

from app.gateways.speech.catalogue import LANGUAGES
from app.gateways.speech.engines.whisper_choice import (
    BASE,
    FAR,
    MEDIUM,
    NEAR,
    SMALL,
    TINY_EN,
    TURBO,
    Choice,
    Machine,
    choose,
    ideal,
    understood,
)

SMALL_MACHINE, LARGE, HUGE = Machine(2, 8_000), Machine(4, 16_000), Machine(8, 32_000)
TIGHT = Machine(4, 1_500)
EVERYTHING = (TINY_EN, BASE, SMALL, MEDIUM, TURBO)


@pytest.mark.parametrize(
    ("language", "machine", "installed", "choice"),
    [
        ("en-US", SMALL_MACHINE, EVERYTHING, Choice(BASE)),
        ("en-US", LARGE, EVERYTHING, Choice(SMALL)),
        ("en-US", HUGE, EVERYTHING, Choice(TURBO)),
        ("en-US", TIGHT, EVERYTHING, Choice(BASE)),
        ("en-US", HUGE, (BASE, TINY_EN), Choice(BASE)),
        ("en-US", SMALL_MACHINE, (SMALL,), Choice(SMALL)),
        ("en-US", SMALL_MACHINE, (TINY_EN,), Choice(TINY_EN, demonstration=True)),
        ("en-US", SMALL_MACHINE, ("piper-en_US-joe-medium",), None),
        ("en-US", Machine(2, 200), EVERYTHING, None),
        ("de-DE", SMALL_MACHINE, EVERYTHING, Choice(SMALL)),
        ("de-DE", TIGHT, EVERYTHING, Choice(BASE, demonstration=True)),
        ("no-NO", SMALL_MACHINE, (BASE,), Choice(BASE, demonstration=True)),
        ("fr-FR", SMALL_MACHINE, (TINY_EN,), None),
        ("hi-IN", SMALL_MACHINE, EVERYTHING, Choice(TURBO)),
        ("ja-JP", SMALL_MACHINE, (BASE, SMALL), Choice(SMALL, demonstration=True)),
        ("th-TH", HUGE, (BASE, TINY_EN), None),
        ("tlh", HUGE, EVERYTHING, None),
    ],
)
def test_the_choice_follows_language_machine_and_what_is_there(language, machine, installed, choice):
    assert choose(language, machine, installed=installed) == choice


def test_the_operator_decides_for_one_language_or_for_all():
    assert choose("en-US", SMALL_MACHINE, installed=EVERYTHING, overrides={"en-US": SMALL, "": TURBO}) == Choice(SMALL)
    assert choose("de-DE", SMALL_MACHINE, installed=EVERYTHING, overrides={"en-US": SMALL, "": TURBO}) == Choice(TURBO)
    assert choose("hi-IN", SMALL_MACHINE, installed=EVERYTHING, overrides={"hi-IN": BASE}) == Choice(
        BASE, demonstration=True
    )


def test_a_wish_that_cannot_be_had_changes_nothing():
    assert choose("en-US", SMALL_MACHINE, installed=(BASE,), overrides={"": TURBO}) == Choice(BASE)
    assert choose("de-DE", SMALL_MACHINE, installed=EVERYTHING, overrides={"": TINY_EN}) == Choice(SMALL)


def test_every_language_of_the_interface_has_an_ideal_and_far_ones_never_the_base_model():
    for language in LANGUAGES:
        best = ideal(language, SMALL_MACHINE)
        assert best is not None
        assert not best.demonstration
    assert {"en-US"} | NEAR | FAR == set(LANGUAGES)
    for machine in (SMALL_MACHINE, LARGE, HUGE, TIGHT):
        assert all(choose(language, machine, installed=(TINY_EN, BASE)) is None for language in FAR)


def test_all_that_can_be_heard_is_listed():
    assert set(understood(SMALL_MACHINE, (BASE,), {})) == {"en-US"} | NEAR
    assert understood(SMALL_MACHINE, (), {}) == {}
