"""How loud speech is: against the standard's own figures and against FFmpeg's meter, and brought to one level."""

import math

import av
import numpy as np
import pytest

from app.gateways.speech.loudness import HIGHEST_PEAK, TARGET, _quick, level, loudness


def tone(hertz: float, decibels: float, *, rate: int, seconds: float = 3.0) -> bytes:
    places = np.arange(int(rate * seconds)) / rate
    return (np.sin(2 * np.pi * hertz * places) * 32767 * 10 ** (decibels / 20)).astype("<i2").tobytes()


def by_ffmpeg(pcm: bytes, rate: int) -> float:
    graph = av.filter.Graph()
    source = graph.add("abuffer", args=f"sample_rate={rate}:sample_fmt=s16:channel_layout=mono:time_base=1/{rate}")
    meter, sink = graph.add("ebur128", "metadata=1"), graph.add("abuffersink")
    source.link_to(meter)
    meter.link_to(sink)
    graph.configure()
    samples, last = np.frombuffer(pcm, "<i2"), math.nan
    for start in range(0, len(samples) - rate // 10 + 1, rate // 10):
        piece = np.ascontiguousarray(samples[start : start + rate // 10].reshape(1, -1))
        frame = av.AudioFrame.from_ndarray(piece, format="s16", layout="mono")
        frame.sample_rate, frame.pts = rate, start
        graph.push(frame)
        while True:
            try:
                last = float(graph.pull().metadata["lavfi.r128.I"])
            except (av.BlockingIOError, KeyError):
                break
    return last


@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000, 48_000])
def test_a_tone_of_997_hertz_has_the_loudness_of_the_standard(rate):
    assert loudness(tone(997, -20, rate=rate), rate) == pytest.approx(-23.0, abs=0.1)


@pytest.mark.parametrize("size", [2, 3, 4_001, 65_537, 353_203, 711_713, 1_048_577])
def test_no_transform_has_a_large_prime_factor(size):
    left = padded = _quick(size)
    for prime in (2, 3, 5, 7, 11, 13):
        while left % prime == 0:
            left //= prime
    assert (left, padded % 2) == (1, 0)
    assert size <= padded <= max(size + 1, size * 9 / 8 + 1)


def test_low_tones_count_less_and_high_ones_more():
    middle = loudness(tone(997, -20, rate=48_000), 48_000)
    assert loudness(tone(40, -20, rate=48_000), 48_000) < middle - 3
    assert loudness(tone(6_000, -20, rate=48_000), 48_000) > middle + 2


@pytest.mark.parametrize("voice_id", ["vendora-Kate", "vendorb-Onyx", "4kCDY3HJwvO7Zp3con83"])
def test_speech_is_measured_as_by_ffmpeg_and_levelled(espeak, voice_id):
    spoken = espeak.speak(
        "Could you tell me about a project? It may be a small one.", voice_id=voice_id, language="en-US"
    )
    assert loudness(spoken.pcm, spoken.rate) == pytest.approx(by_ffmpeg(spoken.pcm, spoken.rate), abs=0.1)
    even = level(spoken.pcm, spoken.rate)
    assert len(even) == len(spoken.pcm)
    assert by_ffmpeg(even, spoken.rate) == pytest.approx(TARGET, abs=0.5)
    assert np.abs(np.frombuffer(even, "<i2").astype(int)).max() <= math.ceil(HIGHEST_PEAK * 32767)


def test_a_quiet_sound_with_a_bang_is_raised_and_the_bang_held():
    pcm = np.frombuffer(tone(440, -40, rate=16_000), "<i2").copy()
    pcm[20_000:20_040] = 30_000
    even = level(pcm.tobytes(), 16_000)
    assert loudness(even, 16_000) == pytest.approx(TARGET, abs=1)
    assert np.abs(np.frombuffer(even, "<i2").astype(int)).max() <= math.ceil(HIGHEST_PEAK * 32767)


def test_silence_and_very_short_sound_stay_as_they_are():
    for pcm in (b"", b"\0", b"\0\0" * 16_000, b"\1\2\n\3"):
        assert level(pcm, 16_000) == pcm
        assert loudness(pcm, 16_000) == -math.inf


def test_noise_that_is_no_speech_is_not_raised_to_it():
    hiss = np.random.default_rng(1).integers(-3, 4, 48_000).astype("<i2").tobytes()
    assert loudness(level(hiss, 16_000), 16_000) < TARGET - 5
