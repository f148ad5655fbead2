"""How far a download is, in sentences that do not follow each other too closely."""

import time
from collections.abc import Callable

from app.gateways.speech.model_files.manifest import KINDS, Model

MB = 1_000_000


class Steps:
    """Says how far a download is, at most every ``pause`` seconds: "Fetching ears: 63 of 145 MB"."""

    def __init__(self, say: Callable[[str], None], *, pause: float = 2.0) -> None:
        self._say = say
        self._pause = pause
        self._latest = time.monotonic()
        self._said = ""

    def __call__(self, model: Model, done: int) -> None:
        """``done`` of the model's bytes are there."""
        words = f"Fetching {KINDS[model.kind]}: {done // MB} of {round(model.bytes / MB)} MB"
        if time.monotonic() - self._latest >= self._pause and words != self._said:
            self._latest, self._said = time.monotonic(), words
            self._say(words)
