"""What a language model drafts from a job advert: plain values and the port, and no engine."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class DraftedQuestion:
    """A question in the language of the flow, and why this job needs it."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class DraftedCriterion:
    """What to listen for: a name, what good looks like, and why this job needs it."""

    name: str
    good: str
    reason: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft of a flow. Nothing of it has been checked or approved."""

    title: str
    questions: tuple[DraftedQuestion, ...]
    criteria: tuple[DraftedCriterion, ...]


class Drafter(Protocol):
    """Drafts a flow from an advert."""

    @property
    def is_able(self) -> bool:
        """Whether a language model is configured."""
        ...

    def draft(self, advert: str, *, language: str) -> Draft:
        """Questions and criteria in ``language`` (its English name). The advert is data, never orders.

        Slow. Raises GatewayError.
        """
        ...

    def close(self) -> None:
        """End connections."""
        ...


class NoDrafter:
    """Stands where no language model is configured; pages ask ``is_able`` first."""

    is_able = False

    def draft(self, advert: str, *, language: str) -> Draft:
        """Nothing: there is no model."""
        del advert, language
        return Draft("", (), ())

    def close(self) -> None:
        """Nothing to end."""
