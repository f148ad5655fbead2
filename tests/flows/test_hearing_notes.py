"""What the flow editor says of the recognition of a language."""

import html
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app.flows.forms import DEMONSTRATION, NOT_HEARD
from app.gateways import Gateways
from app.gateways.speech.catalogue import LANGUAGES
from app.gateways.speech.engines.whole_answers import WholeAnswers
from tests.guards import Guarded
from tests.people import Person


class Ears(WholeAnswers):
    """Hears English well, German as a demonstration, and nothing else."""

    name = "ears"

    def supports(self, language: str) -> bool:
        return language in {"en-US", "de-DE"}

    def is_demonstration(self, language: str) -> bool:
        return language == "de-DE"

    def close(self) -> None: ...


@pytest.fixture
def _ears(app: Flask, engines: Gateways) -> Iterator[None]:
    before = app.extensions["parley.gateways"]
    ears: Any = Guarded(Ears())
    app.extensions["parley.gateways"] = replace(engines, transcriber=ears)
    yield
    app.extensions["parley.gateways"] = before


def notes(page: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(html.unescape(page.split('data-notes="')[1].split('"', maxsplit=1)[0]))
    return found


@pytest.mark.usefixtures("_ears")
def test_the_editor_knows_how_well_each_language_is_heard(owner: Person) -> None:
    page = owner.browser.get("/flows/new").text
    found = notes(page)
    assert set(found) == set(LANGUAGES)
    assert (found["en-US"], found["de-DE"], found["ja-JP"]) == ("", DEMONSTRATION, NOT_HEARD)
    assert DEMONSTRATION not in html.unescape(page.split("data-notes=")[1].split('">', 1)[1])


@pytest.mark.pocketsphinx
def test_without_models_english_is_a_demonstration(owner: Person) -> None:
    page = owner.browser.get("/flows/new").text
    assert notes(page)["en-US"] == DEMONSTRATION
    assert f">{DEMONSTRATION}</p>" in html.unescape(page)
