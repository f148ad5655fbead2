"""Piper's voices: natural speech in many languages on a plain processor, one model per voice or group of voices."""

from pathlib import Path

from app.gateways.speech.engines.model_speaker import Line, ModelSpeaker, Offers

PROGRAM = Path(__file__).with_name("piper_child.py")


class PiperSpeaker(ModelSpeaker):
    """Speaks through the host's `piper` process."""

    def __init__(self, line: Line, offers: Offers) -> None:
        super().__init__("piper", line, offers, pace=0.25)
