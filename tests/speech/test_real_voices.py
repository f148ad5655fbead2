"""Voices that were really fetched: they say the text, and their words lie where the speech is."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from app.gateways.speech.engines.children import Children
from app.gateways.speech.engines.fallback import FallbackSpeaker
from app.gateways.speech.engines.kokoro import PROGRAM as KOKORO
from app.gateways.speech.engines.kokoro import KokoroSpeaker
from app.gateways.speech.engines.piper import PROGRAM, PiperSpeaker
from app.gateways.speech.loudness import TARGET, loudness
from app.gateways.speech.ports import SPEECH_RATE, Spoken
from app.gateways.speech.silence import speech_spans
from app.gateways.speech.sound import resample

from .conftest import word_errors

pytestmark = pytest.mark.models
TEXT = (
    "Thank you for coming. Could you tell me about a project that you were responsible for, from its beginning to its"
    " end? Your answer may be short."
)


@dataclass(frozen=True)
class Model:
    model: str
    path: str


@pytest.fixture
def joe(real_model) -> Spoken:
    place: Path = real_model("piper-en_US-joe-medium")
    children = Children(PROGRAM)
    offers = {"piper": {"en-US": [Model(place.name, str(place))]}}
    try:
        speaker = FallbackSpeaker((PiperSpeaker(children, lambda: offers),))
        return speaker.speak(TEXT, voice_id=None, language="en-US")
    finally:
        children.close()


def test_joe_s_words_lie_where_he_speaks(joe) -> None:
    assert [word.word for word in joe.words] == [word.strip(".,?") for word in TEXT.split()]
    assert all(one.end <= following.start for one, following in zip(joe.words, joe.words[1:], strict=False))
    spans = speech_spans(joe.pcm, joe.rate)
    assert joe.words[0].start == pytest.approx(spans[0].start, abs=0.3)
    assert joe.words[-1].end == pytest.approx(spans[-1].end, abs=0.3)
    inside = [word for word in joe.words if any(span.start - 0.1 <= word.start <= span.end + 0.1 for span in spans)]
    assert len(inside) == len(joe.words)


def test_joe_is_as_loud_as_every_voice(joe) -> None:
    assert loudness(joe.pcm, joe.rate) == pytest.approx(TARGET, abs=1)


def test_joe_is_understood(joe, real_model) -> None:
    import numpy as np
    from faster_whisper import WhisperModel

    ears = WhisperModel(str(real_model("whisper-base")), compute_type="int8", local_files_only=True, cpu_threads=1)
    samples = np.frombuffer(resample(joe.pcm, joe.rate, SPEECH_RATE), "<i2").astype(np.float32) / 32768
    segments, _ = ears.transcribe(samples, language="en", beam_size=1)
    heard = "".join(
        letter for segment in segments for letter in segment.text.lower() if letter.isalpha() or letter in " '"
    )
    assert word_errors(TEXT, heard) <= 0.12


def test_kokoro_reads_japanese(real_model) -> None:
    pytest.importorskip("pyopenjtalk", reason='needs the extra "ja"')
    place: Path = real_model("kokoro")
    children = Children(KOKORO)
    offers = {"kokoro": {"ja-JP": [Model(place.name, str(place))]}}
    try:
        spoken = KokoroSpeaker(children, lambda: offers).speak("少々お待ちください。", voice_id=None, language="ja-JP")
    finally:
        children.close()
    assert [word.word for word in spoken.words] == ["少々", "お待ち", "ください"]
    assert spoken.words[-1].end <= spoken.duration
