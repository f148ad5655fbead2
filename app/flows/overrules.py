"""Questions of a flow about forbidden topics, and the reasons that people gave for asking them."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.flows.forbidden_topics import Found, check
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE

LONGEST_REASON = 1_000


@dataclass(frozen=True, slots=True)
class Warned:
    """A question with what it asks about. ``reason`` is empty until someone gives one."""

    question: str
    found: tuple[Found, ...]
    reason: str = ""

    @property
    def field(self) -> str:
        """Name of the form's field for the reason. It follows the words, so a changed question wants a new reason."""
        return field_of(self.question)

    @property
    def topics(self) -> str:
        """The names of its topics, after "asks about". Names have commas and "and" in them."""
        return " and about ".join(found.topic.name for found in self.found)


def field_of(question: str) -> str:
    """Name of the form's field for the reason to ask this question."""
    return f"overrule-{hashlib.sha256(question.encode()).hexdigest()[:16]}"


def warned(
    questions: Iterable[str],
    language: str | None,
    *,
    given: Mapping[str, str],
    stored: Mapping[str, str] | None = None,
) -> list[Warned]:
    """The questions to warn of, in their order, each once.

    Reasons come from ``given``, a form by the names of its fields, or else from ``stored``, by question.
    """
    found = {question: check(question, language or DEFAULT_LANGUAGE) for question in questions}
    known = stored or {}
    return [
        Warned(question, topics, given.get(field_of(question), known.get(question, "")).strip()[:LONGEST_REASON])
        for question, topics in found.items()
        if topics
    ]
