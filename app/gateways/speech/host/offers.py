"""What a speech host offers: for each engine and language the models that are there, the preferred one first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Served:
    """A model of an engine on the host's machine: its name, its directory there, and whether it is a demonstration."""

    model: str
    path: str
    is_demonstration: bool = False


Offers = Mapping[str, Mapping[str, tuple[Served, ...]]]
"""By engine, then by language of the interface."""


def as_plain(offers: Offers) -> dict[str, dict[str, list[tuple[str, str, bool]]]]:
    """The same as values that go over a connection."""
    return {
        engine: {
            language: [(one.model, one.path, one.is_demonstration) for one in models]
            for language, models in languages.items()
        }
        for engine, languages in offers.items()
    }


def from_plain(sent: Any) -> Offers:
    """The offers in such values."""
    return {
        engine: {language: tuple(Served(*one) for one in models) for language, models in languages.items()}
        for engine, languages in sent.items()
    }
