"""What the flow editor says of the voices."""

import json
from dataclasses import replace
from typing import Any

from flask import Flask

from app.flows import voices
from app.gateways import Gateways
from app.gateways.speech.catalogue import VOICES
from app.gateways.speech.engines import casting
from tests.guards import Guarded
from tests.people import Person


class Cast:
    """Speaks English and German with these models."""

    def __init__(self, *models: str) -> None:
        self.models = models

    def supports(self, language: str) -> bool:
        return language in {"en-US", "de-DE"}

    def identity(self, voice_id: str | None, language: str) -> str:
        actor = casting.cast(voice_id, language, self.models)
        assert actor is not None
        return f"kokoro:{actor.key}" if actor.speaker else f"piper:{actor.key}"


def about(*models: str) -> dict[str, str]:
    speaker: Any = Cast(*models)
    return voices.about(speaker, "en-US")


def test_sixteen_different_voices_are_described_and_share_nothing() -> None:
    said = about("kokoro-voices")
    assert (said["vendora-Kate"], said["vendora-Amy"]) == ("Woman, American", "Woman, British")
    assert len(said) == len(VOICES)
    assert not any("same" in sentence for sentence in said.values())


def test_voices_that_are_one_say_so() -> None:
    said = about("piper-en_US-kristin-medium", "piper-en_US-norman-medium")
    assert said["vendora-Kate"] == (
        "Woman, American. The same voice as Anna, Shimmer, Amy, Annie, Belinda, Stephanie and Agnes"
    )
    assert said["vendora-Rahul"].startswith("Man, American. The same voice as Onyx, Anthony, Arthur")
    assert set(about("piper-en_US-joe-medium").values()) == {"Man, American. The only voice for this language"}


def test_the_editor_shows_it_for_the_flow_s_language_and_knows_the_others(
    app: Flask, engines: Gateways, owner: Person
) -> None:
    app.extensions["parley.gateways"] = replace(engines, speaker=Guarded(Cast("piper-en_US-joe-medium")))
    page = owner.browser.get("/flows/new").text
    assert page.count("Man, American. The only voice for this language</small>") == len(VOICES)
    known = json.loads(page.split('data-about="')[1].split('"')[0].replace("&#34;", '"'))
    assert set(known) == {"en-US", "de-DE"}
