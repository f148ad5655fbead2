"""A hundred stretches without words, by seed: silence, breath, keyboard, hum and music."""

from collections.abc import Iterator

import numpy as np

RATE = 16_000
KINDS = ("silence", "breath", "keyboard", "hum", "music")


def stretches(count: int = 100) -> Iterator[tuple[str, bytes]]:
    """The kind and the samples (16 kHz, signed 16 bit) of each; 2 to 14 seconds."""
    for number in range(count):
        random = np.random.default_rng(number)
        seconds = float(random.uniform(2, 14))
        kind = KINDS[number % len(KINDS)]
        samples = _MAKERS[kind](random, round(seconds * RATE)) + _floor(random, round(seconds * RATE))
        yield kind, np.clip(samples, -32_768, 32_767).astype("<i2").tobytes()


def _floor(random, size):
    """The noise of a microphone; none at all now and then."""
    return random.normal(0, random.choice([0, 3, 20, 80]), size)


def _silence(random, size):
    return random.normal(0, random.choice([0, 1, 10, 300]), size)


def _shaped(random, size, low, high):
    """Noise between two frequencies, of deviation 1."""
    spectrum = np.fft.rfft(random.normal(size=size))
    frequency = np.fft.rfftfreq(size, 1 / RATE)
    spectrum *= np.exp(
        -((np.log(np.maximum(frequency, 1)) - np.log(np.sqrt(low * high))) ** 2) / np.log(high / low) ** 2 * 2
    )
    shaped = np.fft.irfft(spectrum, size)
    return shaped / shaped.std()


def _breath(random, size):
    """In and out, every two to four seconds, some close to the microphone."""
    time = np.arange(size) / RATE
    period = random.uniform(2, 4)
    swell = np.clip(np.sin(2 * np.pi * time / period), 0, None) ** 1.5
    back = 0.7 * np.clip(-np.sin(2 * np.pi * time / period), 0, None) ** 1.5
    strong = random.uniform(200, 2_500)
    return strong * (swell * _shaped(random, size, 400, 3_000) + back * _shaped(random, size, 200, 1_500))


def _keyboard(random, size):
    """Keys going down and up, five to twelve a second."""
    samples = np.zeros(size)
    place = 0
    while place < size:
        for strong, wait in (
            (random.uniform(1_500, 9_000), 0.0),
            (random.uniform(500, 3_000), random.uniform(0.05, 0.12)),
        ):
            start = place + round(wait * RATE)
            length = min(round(random.uniform(0.004, 0.03) * RATE), size - start)
            if length > 8:
                click = _shaped(random, length, 1_000, 6_000) * np.exp(-np.arange(length) / (length / 4))
                samples[start : start + length] += strong * click
        place += round(random.exponential(RATE / random.uniform(5, 12))) + 400
    return samples


def _hum(random, size):
    """Mains and a fan: 50 or 60 Hz with overtones, slowly swelling."""
    time = np.arange(size) / RATE
    base = random.choice([50, 60, 120])
    tones = sum(np.sin(2 * np.pi * base * k * time + random.uniform(0, 6)) / k for k in range(1, 9))
    swell = 1 + 0.4 * np.sin(2 * np.pi * time / random.uniform(1, 5))
    return swell * (random.uniform(100, 3_000) * tones + random.uniform(0, 800) * _shaped(random, size, 80, 900))


def _music(random, size):
    """Chords and a melody of plucked tones, with a drum."""
    samples = np.zeros(size)
    beat = round(RATE * random.uniform(0.25, 0.6))
    scale = np.array([0, 2, 4, 5, 7, 9, 11, 12])
    root = random.uniform(110, 220)
    strong = random.uniform(500, 4_000)
    for number, start in enumerate(range(0, size, beat)):
        length = min(beat * 3, size - start)
        time = np.arange(length) / RATE
        chord = scale[[0, 2, 4]] if number % 4 == 0 else scale[[random.integers(8)]] + 12
        for note in chord:
            pitch = root * 2 ** (note / 12)
            tone = sum(np.sin(2 * np.pi * pitch * k * time) * np.exp(-time * k * 2.5) / k for k in range(1, 7))
            samples[start : start + length] += strong * tone / 2
        drum = min(round(0.05 * RATE), length)
        samples[start : start + drum] += strong * random.normal(0, 0.5, drum) * np.exp(-np.arange(drum) / 200)
    return samples


_MAKERS = {"silence": _silence, "breath": _breath, "keyboard": _keyboard, "hum": _hum, "music": _music}
