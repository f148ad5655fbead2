"""What the demo's candidate says, as text and as sound."""

import numpy as np

from app.gateways.engines import build_speaker
from app.settings import Settings

ANSWERS = {
    "Why would you like to work with us?": (
        "I have worked in a small team for three years and I like to help people every day. "
        "I want to learn new things and I think that this is a good place for me. "
        "My last company was far away from home, and I would like to have more time for my family in the evening. "
        "I also like that people here stay for a long time and that they talk about their work with a smile."
    ),
    "Tell me about a problem that you have solved.": (
        "Last summer our system was very slow in the morning. I looked at the numbers and found the reason. "
        "Then we changed one part and the work was done in half the time. "
        "It was not easy, because two of my friends did not believe me at first. "
        "So we tried it for one week, and after that week everybody could see the difference. "
        "I learned that a small test is better than a long talk. "
        "Since then I always begin with the smallest change that could help, and I measure before and after it."
    ),
    "How do you work with other people?": (
        "I try to listen first and to speak later. When somebody needs help, I take the time to sit down together. "
        "If we do not agree, I write down what each of us wants and we look for a way that works for both. "
        "At the end of the day I say thank you, because nobody can do a good job alone. "
        "In my last team we had a short meeting every morning, and everyone said what they needed from the others."
    ),
}
NOISE = 100
"""Standard deviation of the noise under the synthetic voice. Recognition is worse with digital silence."""


def spoken_answers(settings: Settings) -> list[bytes]:
    """The answers as sound: s16le, mono, 16 kHz."""
    speaker = build_speaker(settings)
    random = np.random.default_rng(7)
    try:
        spoken = [speaker.speak(text, voice_id="vendora-Anthony", language="en-US") for text in ANSWERS.values()]
    finally:
        speaker.close()
    return [_at_16_khz(item.pcm, item.rate, random=random) for item in spoken]


def _at_16_khz(pcm: bytes, rate: int, *, random: np.random.Generator) -> bytes:
    samples = np.frombuffer(pcm, dtype="<i2").astype(np.float64)
    positions = np.arange(0, len(samples), rate / 16_000)
    resampled = np.interp(positions, np.arange(len(samples)), samples)
    noisy = resampled + random.normal(0, NOISE, len(resampled))
    return bytes(np.clip(noisy, -32_768, 32_767).astype("<i2").tobytes())
