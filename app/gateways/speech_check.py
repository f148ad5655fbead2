"""Whether a configured recogniser measures when words were said, found out with a sentence of Parley's own voice.

Without word times English is aligned with its sound by the embedded recogniser, and other languages keep none: the
operator should know before the first interview, not after it.
"""

import logging
from dataclasses import dataclass

from app.core.errors import GatewayError
from app.gateways.engines import SpeechSettings, make_remote
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.ports import SPEECH_RATE
from app.gateways.speech.sound import resample

log = logging.getLogger(__name__)

SENTENCE = "We finished the project two weeks before the date that we had promised."
LANGUAGE = "en-US"
NOISE = 100.0
"""Under the voice, in 16-bit steps: recognisers do not like digital silence."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What one recogniser did with the sentence; ``failure`` is why nothing is known."""

    engine: str
    has_words: bool = False
    text: str = ""
    failure: str = ""

    @property
    def words(self) -> str:
        """In a sentence for operators."""
        if self.failure:
            return f"{self.engine} could not be tested: {self.failure}"
        if not self.text:
            return f"{self.engine} did not recognize a simple English sentence"
        if self.has_words:
            return f"{self.engine} gives word times"
        return f"{self.engine} gives no word times; Parley measures them for English only"


def probe(settings: SpeechSettings) -> list[Probed]:
    """Every configured recogniser that is a server, in order. Slow; raises nothing for a server that fails."""
    names = [name for name in settings.stt_provider if name in {"openai", "elevenlabs"}]
    if not names:
        return []
    pcm = sample()
    return [_probed(settings, name, pcm) for name in names]


def report(settings: SpeechSettings) -> None:
    """The same for the log, at the start of a process."""
    try:
        findings = probe(settings)
    except GatewayError as error:  # no voice of our own to try it with
        log.warning("recognition engines could not be tested: %s", error.message)
        return
    for one in findings:
        log.log(logging.INFO if one.has_words else logging.WARNING, "recognition: %s", one.words)


def sample() -> bytes:
    """The sentence: s16le, 16 kHz, mono, always the same."""
    speaker = EspeakSpeaker()
    try:
        spoken = speaker.speak(SENTENCE, voice_id="vendora-Anthony", language=LANGUAGE)
    finally:
        speaker.close()
    import numpy as np

    samples = np.frombuffer(resample(spoken.pcm, spoken.rate, SPEECH_RATE), "<i2").astype(np.float64)
    samples += np.random.default_rng(0).normal(0, NOISE, len(samples))
    return bytes(np.clip(samples, -32768, 32767).astype("<i2").tobytes())


def _probed(settings: SpeechSettings, name: str, pcm: bytes) -> Probed:
    engine = make_remote(settings, name)
    try:
        heard = engine.transcribe(pcm, rate=SPEECH_RATE, language=LANGUAGE)
    except GatewayError as error:
        return Probed(name, failure=error.message)
    finally:
        engine.close()
    return Probed(name, has_words=bool(heard.words), text=heard.text)
