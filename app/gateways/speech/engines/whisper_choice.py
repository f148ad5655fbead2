"""Which Whisper model hears a language on this machine. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from app.gateways.speech.catalogue import LANGUAGES

TINY_EN, BASE, SMALL, MEDIUM, TURBO = (
    "whisper-tiny.en",
    "whisper-base",
    "whisper-small",
    "whisper-medium",
    "whisper-large-v3-turbo",
)
NEEDS_MB = {TINY_EN: 300, BASE: 500, SMALL: 3_000, MEDIUM: 5_000, TURBO: 5_000}
"""Memory that has to be available before it is loaded, with what else a machine does in an interview."""
SMALL_CORES, TURBO_CORES = 4, 8
"""Cores from which on English is heard by the larger models, each as fast as people speak."""
NEAR = frozenset({"de-DE", "es-419", "fr-FR", "no-NO", "pt-BR"})
"""Languages that small hears well; the base model hears them as a demonstration."""
FAR = frozenset(LANGUAGES) - NEAR - {"en-US"}
"""Languages with another script or tones: base writes nonsense there."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What counts: cores that may be used, and megabytes of memory that are available."""

    cores: int
    memory_mb: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that hears a language; `demonstration`: it makes too many mistakes for real interviews."""

    model: str
    demonstration: bool = False


def choose(
    language: str, machine: Machine, *, installed: Collection[str], overrides: Mapping[str, str] | None = None
) -> Choice | None:
    """The best of the `installed` models; None where none of them can hear the language.

    `overrides`: the operator's model for a language, or for all others under ""; where it is not installed, or does
    not know the language, the choice is made as without it.
    """
    overrides = overrides or {}
    wanted = overrides.get(language) or overrides.get("")
    if wanted in installed and wanted is not None and (wanted != TINY_EN or language == "en-US"):
        return Choice(wanted, _is_demonstration(wanted, language))
    for model in _order(language, machine):
        if model in installed and NEEDS_MB[model] <= machine.memory_mb:
            return Choice(model, _is_demonstration(model, language))
    return None


def ideal(language: str, machine: Machine) -> Choice | None:
    """What `choose` would take if everything were installed: what is worth fetching."""
    return choose(language, machine, installed=tuple(NEEDS_MB))


def understood(machine: Machine, installed: Collection[str], overrides: Mapping[str, str]) -> dict[str, Choice]:
    """The choice for each language of the interface that can be heard."""
    choices = {language: choose(language, machine, installed=installed, overrides=overrides) for language in LANGUAGES}
    return {language: choice for language, choice in choices.items() if choice is not None}


def _order(language: str, machine: Machine) -> tuple[str, ...]:
    if language == "en-US":
        if machine.cores >= TURBO_CORES:
            return TURBO, MEDIUM, SMALL, BASE, TINY_EN
        return (SMALL, BASE, TINY_EN) if machine.cores >= SMALL_CORES else (BASE, SMALL, TINY_EN)
    if language in NEAR:
        larger = (TURBO, MEDIUM) if machine.cores >= TURBO_CORES else ()
        return (*larger, SMALL, BASE) if machine.cores > 1 else (BASE,)
    return (TURBO, MEDIUM, SMALL) if language in FAR else ()


def _is_demonstration(model: str, language: str) -> bool:
    if language == "en-US":
        return model == TINY_EN
    return model not in (SMALL, MEDIUM, TURBO) if language in NEAR else model != TURBO
