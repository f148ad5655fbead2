"""What the demo data is made of, read from ``data.toml``."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

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
"""Invented; addresses are made of them at example.com, which belongs to nobody."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One thing that can be said, what it is worth, by which words, and how a summary tells it."""

    text: str
    value: float
    quote: str
    reason: str
    says: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the score that its answers carry, and the answers from the best to the weakest."""

    text: str
    score: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """A flow: ``share`` of all candidates go through it, and speak with one of the voices ``speaks``."""

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


def scripts() -> tuple[Script, ...]:
    """Every flow, as written down."""
    told = tomllib.loads(SOURCE.read_text(encoding="utf-8"))
    return tuple(
        Script(
            **{name: value for name, value in flow.items() if name not in {"question", "speaks"}},
            speaks=tuple(flow["speaks"]),
            questions=tuple(
                Question(one["text"], one["score"], tuple(Answer(**answer) for answer in one["answer"]))
                for one in flow["question"]
            ),
        )
        for flow in told["flow"]
    )
