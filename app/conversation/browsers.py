"""Which browsers can take a spoken interview. The one list: the device check, the accessibility statement and
``docs/operations.md`` say what this list says, and ``tests/conversation/test_browsers.py`` holds them to it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Feature:
    """Something the page cannot do without, and the first major version that has it (Edge counts as Chrome does)."""

    name: str
    chrome: int
    firefox: int
    safari: float


FEATURES = (
    Feature("AudioWorklet", chrome=66, firefox=76, safari=14.1),
    Feature("MediaRecorder", chrome=49, firefox=25, safari=14.1),
    Feature("crypto.subtle", chrome=37, firefox=34, safari=11),
    Feature("private methods", chrome=84, firefox=90, safari=15),
    Feature("HTMLDialogElement", chrome=37, firefox=98, safari=15.4),
    Feature("Array.findLast", chrome=97, firefox=104, safari=15.4),
    Feature("AbortSignal.timeout", chrome=103, firefox=100, safari=16),
)

OLDEST = {
    "Chrome": max(feature.chrome for feature in FEATURES),
    "Edge": max(feature.chrome for feature in FEATURES),
    "Firefox": max(feature.firefox for feature in FEATURES),
    "Safari": max(feature.safari for feature in FEATURES),
}
"""The oldest version of each browser that has everything."""

NAMED = ", ".join(f"{name} {version:g}" for name, version in OLDEST.items())
"""The same, as candidates read it."""

TESTED = ("Chromium", "Firefox", "WebKitGTK")
"""Engines in which `make browsers-test` takes spoken interviews."""
