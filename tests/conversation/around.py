"""What the agent says around the script, told from what the script itself says: for tests of the latter."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from app.conversation.script.machine import Event, Kind, Script, step
from app.conversation.script.manners import polite
from app.conversation.script.place import Place
from app.gateways.speech import manners

AROUND = frozenset({Kind.GREETING, Kind.NAME, Kind.ACKNOWLEDGE, Kind.BRIDGE})


def script_parts(parts: Iterable[Any]) -> list[Any]:
    """The lines of a reply that the script itself says, as parts or as JSON."""
    return [part for part in parts if (part["kind"] if isinstance(part, dict) else part.kind) not in AROUND]


def script_text(prompt: dict[str, Any]) -> str:
    """A reply's text without what is said around the script."""
    return "\n\n".join(part["text"] for part in script_parts(prompt["parts"]))


def into_question(prompt: dict[str, Any], seconds: float) -> float:
    """Seconds of a reply after which so much of its question was heard."""
    return float(next(part["offset"] for part in prompt["parts"] if part["kind"] == "question")) + seconds


def greeting(script: Script) -> tuple[str, ...]:
    """What the agent says before the first question of this script."""
    lines = polite(script, Place(), Event.BEGIN, decided=step(script, Place(), Event.BEGIN)).lines
    return tuple(str(line.text) for line in lines if line.kind in AROUND)


def script_rows(rows: Iterable[Any], language: str = "en-US") -> list[Any]:
    """The rows of a transcript without what was said around the script, by its words."""
    return [row for row in rows if row.content not in _around(language)]


@cache
def _around(language: str) -> frozenset[str]:
    comings = (manners.coming(language, questions=n, minutes=m) for n in range(1, 21) for m in range(1, 60))
    return frozenset((*manners.every_manner(language), *comings))
