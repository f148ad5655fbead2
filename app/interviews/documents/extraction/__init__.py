"""Reads the text of a document in a separate process, because the bytes are untrusted.

``child`` is that process: it has no database and no secrets, and is limited in memory and time. This module starts it
and accepts only plain text of bounded length.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import GatewayError

KINDS = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/rtf": "rtf",
    "text/plain": "text",
}
"""Content types that can hold text, and their names in ``child``. Pictures are not read."""

_CHILD = Path(__file__).with_name("child.py")
_LARGEST_ANSWER = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one document: characters kept, pages read, bytes of memory, seconds of CPU and of waiting."""

    characters: int = 100_000
    pages: int = 200
    memory: int = 768 * 1024**2
    cpu_seconds: int = 20
    wall_seconds: int = 60


@dataclass(frozen=True, slots=True)
class Extracted:
    """Plain text; ``whole`` is False where a limit cut it off."""

    text: str
    whole: bool


def extract(content: bytes, content_type: str, *, language: str, limits: Limits | None = None) -> Extracted | None:
    """The text of a document; None for types without text. Slow, and without the database.

    Raises GatewayError: retryable if this machine is the cause, not retryable if the document is.
    """
    kind = KINDS.get(content_type)
    if kind is None:
        return None
    used = limits or Limits()
    numbers = (used.characters, used.pages, used.memory, used.cpu_seconds)
    try:
        done = subprocess.run(  # noqa: S603 - our own program, fixed words, numbers, and the document as input
            [sys.executable, "-I", str(_CHILD), kind, language, *(str(number) for number in numbers)],
            input=content,
            capture_output=True,
            timeout=used.wall_seconds,
            check=False,
            env={},
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise GatewayError("reading the document took too long", retryable=False) from None
    except OSError as error:
        raise GatewayError("the reading process could not be started", retryable=True) from error
    return _understood(done.stdout, done.returncode)


def _understood(answer: bytes, status: int) -> Extracted:
    try:
        reply = json.loads(answer[:_LARGEST_ANSWER])
    except ValueError:
        raise GatewayError(
            f"reading the document took too much time or memory (status {status})", retryable=False
        ) from None
    if "error" in reply:
        raise GatewayError(str(reply["error"]), retryable=False)
    return Extracted(text=str(reply["text"]), whole=bool(reply["whole"]))
