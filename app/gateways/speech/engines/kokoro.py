"""Kokoro's voices: more natural than Piper's and dearer to speak, so they are preferred from four cores."""

from importlib.util import find_spec
from pathlib import Path

from app.gateways.speech.engines.model_speaker import Line, ModelSpeaker, Offers

PROGRAM = Path(__file__).with_name("kokoro_child.py")


class KokoroSpeaker(ModelSpeaker):
    """Speaks through the host's `kokoro` process; Japanese only where the extra "ja" is installed."""

    def __init__(self, line: Line, offers: Offers) -> None:
        super().__init__("kokoro", line, offers, pace=1.0)
        self._has_japanese = all(find_spec(name) is not None for name in ("pyopenjtalk", "sudachipy"))

    def supports(self, language: str) -> bool:
        """Whether a model for the language is there, and what reads it."""
        return (language != "ja-JP" or self._has_japanese) and super().supports(language)
