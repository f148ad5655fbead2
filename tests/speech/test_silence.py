"""Is there speech at all."""

import numpy as np
import pytest

from app.gateways.speech.ports import SPEECH_RATE
from app.gateways.speech.silence import has_speech, speech_seconds, speech_spans


def noise(kind: str, seconds: float = 4.0) -> bytes:
    count, random = int(seconds * SPEECH_RATE), np.random.default_rng(3)
    samples = {
        "digital silence": np.zeros(count),
        "hiss": random.normal(0, 300, count),
        "hum": 3000 * np.sin(2 * np.pi * 50 * np.arange(count) / SPEECH_RATE),
        "clicks": np.where(random.random(count) < 0.0005, 20000, 0),
    }[kind]
    return samples.astype("<i2").tobytes()


@pytest.mark.parametrize("kind", ["digital silence", "hiss", "hum", "clicks"])
def test_what_is_no_speech_is_refused(kind):
    assert speech_seconds(noise(kind), SPEECH_RATE) == 0
    assert not has_speech([noise(kind)])


def test_speech_is_found_where_it_is(samples):
    sample = samples[0]
    pause = np.frombuffer(noise("hiss", 2.0), "<i2") // 3
    pcm = pause.tobytes() + sample.pcm + pause.tobytes()
    spans = speech_spans(pcm, SPEECH_RATE)
    assert abs(spans[0].start - 2.0) < 0.25
    assert abs(spans[-1].end - (2.0 + sample.spoken.words[-1].end)) < 0.35
    assert speech_seconds(pcm, SPEECH_RATE) > 0.6 * sample.spoken.words[-1].end


def test_another_sampling_rate_gives_the_same_spans(samples):
    spoken = samples[0].spoken
    assert speech_seconds(spoken.pcm, spoken.rate) == pytest.approx(
        speech_seconds(samples[0].pcm, SPEECH_RATE), abs=0.5
    )


def test_pieces_are_read_only_as_far_as_needed(samples):
    read = []

    def pieces():
        for start in range(0, len(samples[0].pcm), 16_000):
            read.append(start)
            yield samples[0].pcm[start : start + 16_000]

    assert has_speech(pieces())
    assert len(read) < 4


@pytest.mark.parametrize("pcm", [b"", b"\1", b"\0\0" * 100])
def test_too_little_sound_is_no_speech(pcm):
    assert speech_spans(pcm, SPEECH_RATE) == []
    assert not has_speech([pcm])
