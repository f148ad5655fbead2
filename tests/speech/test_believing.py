"""What a recogniser wrote is believed where it can have been said."""

import pytest

from app.gateways.speech import phrases
from app.gateways.speech.believing import can_be, is_said, was_measured
from app.gateways.speech.catalogue import ESPEAK_LANGUAGES
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.ports import SPEECH_RATE, Heard
from app.gateways.speech.sound import resample

from .test_silence import noise


def written(text: str, *, spoken: float | None = None) -> Heard:
    return Heard(text, (), "whisper", spoken=spoken)


def test_the_words_of_real_speech_are_believed(samples):
    for sample in samples:
        assert is_said(written(sample.text), sample.pcm, language="en-US")


@pytest.mark.parametrize("language", [one for one in sorted(ESPEAK_LANGUAGES) if one != "ja-JP"])
def test_every_language_can_be_spoken_quickly(espeak: EspeakSpeaker, language: str) -> None:
    for text in (phrases.SURE[language], phrases.SAMPLE[language]):
        spoken = espeak.speak(text, voice_id=None, language=language)
        pcm = resample(spoken.pcm, spoken.rate, SPEECH_RATE)
        hurried = resample(pcm, SPEECH_RATE * 13 // 10, SPEECH_RATE)
        assert len(hurried) < 0.8 * len(pcm)
        assert is_said(written(text), hurried, language=language)


def test_thai_is_counted_by_letters_and_may_have_more_words_in_a_second(samples):
    begin = samples[0].pcm[: int(2 * 1.8 * SPEECH_RATE)]
    assert is_said(written("ฉันทำงานในทีมเล็ก ๆ เป็นเวลาสามปี"), begin, language="th-TH")


@pytest.mark.parametrize("kind", ["digital silence", "hiss", "hum", "clicks"])
def test_words_without_speech_are_not_believed(kind: str) -> None:
    assert not is_said(written("Thank you."), noise(kind), language="en-US")


def test_more_words_than_the_sound_is_long_are_refused_without_looking(samples):
    def never():
        raise AssertionError("looked")

    assert not can_be("word " * 40, never, seconds=6.0, language="en-US")
    assert can_be("thank you", never, seconds=0.5, language="en-US")


def test_no_more_than_three_seconds_of_speech_are_looked_for(samples):
    read: list[bytes] = []

    def pieces():
        for start in range(0, len(samples[0].pcm) * 20, 16_000):
            read.append(piece := (samples[0].pcm * 20)[start : start + 16_000])
            yield piece

    assert can_be("word " * 300, pieces, seconds=300.0, language="en-US")
    assert len(read) < 16


@pytest.mark.parametrize(
    ("text", "spoken", "is_enough"),
    [
        ("Thank you.", 0.6, True),
        ("Thank you.", 0.2, False),
        ("Thank you.", None, False),
        ("", 0.6, False),
        ("word " * 20, 3.1, True),
        ("word " * 20, 2.9, False),
    ],
)
def test_an_engine_that_measures_speech_is_believed_where_there_is_enough(text, spoken, is_enough) -> None:
    heard = written(text, spoken=spoken)
    assert was_measured(heard, language="en-US") is is_enough
    assert is_said(heard, noise("hiss"), language="en-US") is is_enough
