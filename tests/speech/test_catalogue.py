"""The sixteen voices of the interface."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from app.gateways.speech import catalogue

QUESTION = "Please tell me about a project that you are proud of, and what made it difficult."
CONTRACT = [
    *("vendora-Anna", "vendorb-Onyx", "vendorb-Shimmer", "vendora-Anthony", "vendora-Kate", "vendora-Amy"),
    *("vendora-Rahul", "IPgYtHTNLjC7Bq7IPHrm", "UOIqAnmS11Reiei1Ytkc", "vUmLiNBm6MDcy1NUHaVr", "bhJUNIXWQQ94l8eI2VUf"),
    *("b3jcIbyC3BSnaRu8avEk", "xF681s0UeE04gsf0mVsJ", "uNsWM1StCcpydKYOjKyu", "BGEU6wFi2uNm6Kje1Yhk"),
    "4kCDY3HJwvO7Zp3con83",
]
SEMITONES, DECIBELS, SLOWER = 2.0, 5.0, 1.12
"""Differences that anyone hears: two semitones of pitch, 5 dB of timbre on average, an eighth of pace."""


def test_the_catalogue_has_the_voices_of_the_contract():
    assert list(catalogue.VOICES) == CONTRACT


def median_pitch(samples: np.ndarray, rate: int) -> float:
    found = []
    for start in range(0, len(samples) - 1024, 512):
        frame = samples[start : start + 1024] - samples[start : start + 1024].mean()
        if np.sqrt((frame**2).mean()) < 400:
            continue
        likeness = np.fft.irfft(np.abs(np.fft.rfft(frame, 2048)) ** 2)[:1024]
        low, high = rate // 400, rate // 60
        best = low + int(np.argmax(likeness[low:high]))
        if likeness[best] > 0.5 * likeness[0]:
            found.append(rate / best)
    return float(np.median(found))


def timbre(samples: np.ndarray, rate: int) -> np.ndarray:
    power = np.abs(np.fft.rfft(samples)) ** 2
    bands = np.geomspace(120, 8000, 21)
    places = np.fft.rfftfreq(len(samples), 1 / rate)
    level = [power[(places >= a) & (places < b)].sum() for a, b in pairwise(bands)]
    decibels = 10 * np.log10(np.array(level) + 1)
    return decibels - decibels.mean()


def test_all_sixteen_voices_differ_audibly_from_each_other(espeak):
    heard = {}
    for voice_id in CONTRACT:
        spoken = espeak.speak(QUESTION, voice_id=voice_id, language="en-US")
        samples = np.frombuffer(spoken.pcm, "<i2").astype(float)
        heard[voice_id] = (median_pitch(samples, spoken.rate), timbre(samples, spoken.rate), spoken.duration)
    alike = []
    for one, other in combinations(CONTRACT, 2):
        (pitch, colour, length), (pitch2, colour2, length2) = heard[one], heard[other]
        steps = abs(12 * np.log2(pitch / pitch2))
        apart = float(np.abs(colour - colour2).mean())
        if steps < SEMITONES and apart < DECIBELS and max(length / length2, length2 / length) < SLOWER:
            alike.append((one, other, round(steps, 1), round(apart, 1)))
    assert alike == []


def test_no_voice_is_much_louder_or_quieter_than_the_others(espeak):
    levels = []
    for voice_id in CONTRACT:
        spoken = espeak.speak(QUESTION, voice_id=voice_id, language="en-US")
        levels.append(20 * np.log10(np.sqrt((np.frombuffer(spoken.pcm, "<i2").astype(float) ** 2).mean())))
    assert max(levels) - min(levels) < 12


def test_an_absent_voice_is_the_default_of_the_contract():
    assert catalogue.voice(None).voice_id == "vendora-Kate"


@pytest.mark.parametrize(
    ("engine", "voice_id", "voice_map", "expected"),
    [
        ("openai", "vendorb-Onyx", {}, "onyx"),
        ("openai", "vendorb-Onyx", {"vendorb-Onyx": "af_bella"}, "af_bella"),
        ("openai", "vendora-Amy", {"*": "everyone"}, "everyone"),
        ("openai", "vendora-Amy", {"vendora-Amy": "a", "openai:vendora-Amy": "b"}, "b"),
        ("elevenlabs", "vendora-Amy", {"vendora-Amy": "a", "openai:vendora-Amy": "b"}, "a"),
        ("elevenlabs", "xF681s0UeE04gsf0mVsJ", {}, "xF681s0UeE04gsf0mVsJ"),
    ],
)
def test_a_voice_resolves_to_what_the_engine_calls_it(engine, voice_id, voice_map, expected):
    assert catalogue.engine_voice(engine, voice_id, voice_map) == expected


def test_named_voices_stand_in_as_raw_ids_at_elevenlabs():
    for voice_id in CONTRACT:
        assert len(catalogue.engine_voice("elevenlabs", voice_id, {})) == 20


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("Yes, I do.", "en-US", 3),
        ("— … !", "en-US", 0),
        ("我喜欢编程", "zh-CN", 3),
        ("", "ja-JP", 0),
        ("네 그래요", "ko-KR", 2),
    ],
)
def test_words_are_counted_also_where_they_are_not_spaced(text, language, words):
    assert catalogue.word_count(text, language) == words
