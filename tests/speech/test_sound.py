"""Sampling rates and WAV files."""

import numpy as np
import pytest

from app.gateways.speech.sound import read_wav, resample, seconds, wav


@pytest.mark.parametrize(
    ("rate", "to"), [(22_050, 16_000), (24_000, 16_000), (48_000, 16_000), (16_000, 24_000), (8_000, 16_000)]
)
def test_a_tone_stays_the_same_tone(rate, to):
    tone = lambda r: 10_000 * np.sin(2 * np.pi * 440 * np.arange(int(9.5 * r)) / r)  # noqa: E731
    result = np.frombuffer(resample(tone(rate).astype("<i2").tobytes(), rate, to), "<i2")
    assert len(result) == int(9.5 * to)
    assert np.abs(result - tone(to))[200:-200].max() < 60


def test_what_the_lower_rate_cannot_hold_is_left_out():
    high = (10_000 * np.sin(2 * np.pi * 10_000 * np.arange(48_000) / 48_000)).astype("<i2").tobytes()
    assert np.abs(np.frombuffer(resample(high, 48_000, 16_000), "<i2"))[200:-200].max() < 100


@pytest.mark.parametrize("pcm", [b"", b"\1", b"\1\2", b"\1\2\3"])
def test_very_little_sound_does_no_harm(pcm):
    assert len(resample(pcm, 48_000, 16_000)) <= 2


def test_a_wav_file_is_read_back():
    pcm = b"\1\2\3\4"
    assert read_wav(wav(pcm, 44_100)) == (pcm, 44_100)
    assert seconds(b"\0\0" * 8_000, 16_000) == 0.5


@pytest.mark.parametrize(("place", "value"), [(22, b"\2\0"), (34, b"\x18\0"), (20, b"\3\0"), (24, b"\1\0\0\0")])
def test_other_formats_than_16_bit_mono_are_refused(place, value):
    file = bytearray(wav(b"\0\0", 16_000))
    file[place : place + len(value)] = value
    with pytest.raises(ValueError, match="16-bit mono"):
        read_wav(bytes(file))
