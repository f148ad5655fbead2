"""Speech that the tests make themselves, with the noise under it that recognisers and detectors need."""

import numpy as np

from app.gateways.speech.engines.espeak import EspeakSpeaker

NOISE = 60.0
"""Standard deviation of the room's noise, in 16-bit steps."""


def spoken(text: str) -> np.ndarray:
    """The text as samples at 16 kHz, 16-bit range."""
    speaker = EspeakSpeaker()
    try:
        made = speaker.speak(text, voice_id="vendora-Anthony", language="en-US")
    finally:
        speaker.close()
    samples = np.frombuffer(made.pcm, dtype="<i2").astype(np.float64)
    return np.interp(np.arange(0, len(samples), made.rate / 16000), np.arange(len(samples)), samples)
