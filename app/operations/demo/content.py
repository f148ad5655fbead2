"""The content of the demo data, read from ``data.toml``."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from app.flows.criteria import Criterion, Scale

SOURCE = Path(__file__).with_name("data.toml")

FIRST = {
    "en-US": ("Avery", "Jordan", "Maya", "Theo", "Priya", "Noah", "Grace", "Imani", "Owen", "Leila", "Ruth", "Caleb"),
    "de-DE": ("Lena", "Jonas", "Miriam", "Paul", "Aylin", "Felix"),
    "es-419": ("Lucía", "Mateo", "Camila", "Andrés", "Valeria", "Tomás"),
}
LAST = {
    "en-US": ("Brooks", "Patel", "Okafor", "Lindqvist", "Carver", "Nakamura", "Quinn", "Abara", "Hollis", "Reyes"),
    "de-DE": ("Brandt", "Yıldız", "Hofer", "Seidel", "Krüger"),
    "es-419": ("Rojas", "Molina", "Cárdenas", "Duarte", "Vega"),
}
"""Invented names. Their email addresses are at example.com, which is reserved."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its text, its value, the words that show it, and its sentence in a summary."""

    text: str
    value: float
    quote: str
    reason: str
    says: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the score of its answers, and the answers from the best to the weakest."""

    text: str
    score: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Judgeable:
    """A criterion, and the number from 0 of the question whose answer shows it."""

    criterion: Criterion
    question: int


@dataclass(frozen=True, slots=True)
class Script:
    """A flow: ``share`` of all candidates take it, and speak with one of the voices in ``speaks``."""

    title: str
    org_name: str
    language: str
    voice_id: str
    speaks: tuple[str, ...]
    assess_language: bool
    documents: bool
    webhook: bool
    share: float
    questions: tuple[Question, ...]
    criteria: tuple[Judgeable, ...] = ()


def scripts() -> tuple[Script, ...]:
    """All flows of the file."""
    document = tomllib.loads(SOURCE.read_text(encoding="utf-8"))
    return tuple(
        Script(
            **{name: value for name, value in flow.items() if name not in {"question", "criterion", "speaks"}},
            speaks=tuple(flow["speaks"]),
            questions=tuple(
                Question(one["text"], one["score"], tuple(Answer(**answer) for answer in one["answer"]))
                for one in flow["question"]
            ),
            criteria=tuple(_judgeable(**one) for one in flow["criterion"]),
        )
        for flow in document["flow"]
    )


def _judgeable(*, question: int, scale: str = "points", **values: str | int | bool) -> Judgeable:
    return Judgeable(Criterion(scale=Scale(scale), **values), question - 1)  # type: ignore[arg-type]
