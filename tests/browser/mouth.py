"""A candidate's mouth for browser tests: speaks when it is their turn, however slow the machine is.

Chromium's own fake microphone plays a file by the clock: on a busy machine an answer falls into the agent's words.
Here the page's microphone is opened as always (permission, device, settings), and its sound comes from ``mouth.js``.
"""

import base64
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .speech import NOISE, spoken

RATE = 16000
HELLO = "Hello, can you hear me?"


def script(answers: Mapping[str, str], *, automatic: bool = True, room: bytes | None = None) -> str:
    """What ``add_init_script`` takes. ``answers``: sentences by the question's number ("1"), else by ``answer``.

    Unless ``automatic``, nothing is said but by the page's ``mouth.say(name)``. ``room``: its sound, 16-bit samples at
    16 kHz that are repeated (default: a quiet one).
    """
    sounds = {name: _coded(text) for name, text in {"hello": HELLO, **answers}.items()}
    given = {
        "rate": RATE,
        "sounds": sounds,
        "room": base64.b64encode(room).decode() if room else _room(),
        "automatic": automatic,
    }
    return (Path(__file__).parent / "mouth.js").read_text().replace("__GIVEN__", json.dumps(given))


def remembered(page: Any) -> list[dict[str, Any]]:
    """What was said, what of the agent sounded, and what was shown about the connection in this tab, by ``kind``."""
    return list(json.loads(page.evaluate("sessionStorage.getItem('mouth') ?? '[]'")))


@cache
def _coded(text: str) -> str:
    return _bytes(spoken(text))


@cache
def _room() -> str:
    return _bytes(np.random.default_rng(3).normal(0, NOISE, 3 * RATE))


def _bytes(samples: np.ndarray) -> str:
    return base64.b64encode(np.clip(samples, -32768, 32767).astype("<i2").tobytes()).decode()
