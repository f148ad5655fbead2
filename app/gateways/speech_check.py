"""Whether a configured recogniser measures when words were said, and whether it hears them while they are said.

Both are found out with a sentence of Parley's own voice. Without word times English is aligned with its sound by the
embedded recogniser, and other languages keep none: the operator should know before the first interview, not after it.
"""

import logging
from dataclasses import dataclass

from app.core.errors import GatewayError
from app.gateways.engines import REMOTE, SpeechSettings, make_remote
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.engines.live import HeardLive
from app.gateways.speech.ports import SPEECH_RATE
from app.gateways.speech.sound import resample

log = logging.getLogger(__name__)

SENTENCE = "We finished the project two weeks before the date that we had promised."
LANGUAGE = "en-US"
LIVE_SECONDS = 20.0
"""For the words of the sentence, with the beginning of the connection."""
NOISE = 100.0
"""Under the voice, in 16-bit steps: recognisers do not like digital silence."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What one recogniser did with the sentence; ``failure`` is why nothing is known."""

    engine: str
    has_words: bool = False
    text: str = ""
    failure: str = ""
    is_live: bool = False
    live_failure: str = ""

    @property
    def words(self) -> str:
        """In a sentence for operators."""
        return f"{self._plain}; {self._live}"

    @property
    def _live(self) -> str:
        if self.live_failure:
            return f"{self.engine} does not hear answers while candidates speak: {self.live_failure}"
        if self.is_live:
            return f"{self.engine} hears answers while candidates speak"
        return f"{self.engine} hears answers when they end (STT_REALTIME_MODEL is not set)"

    @property
    def _plain(self) -> str:
        if self.failure:
            return f"{self.engine} could not be tested: {self.failure}"
        if not self.text:
            return f"{self.engine} did not recognize a simple English sentence"
        if self.has_words:
            return f"{self.engine} gives word times"
        return f"{self.engine} gives no word times; Parley measures them for English only"


def probe(settings: SpeechSettings) -> list[Probed]:
    """Every configured recogniser that is a server, in order. Slow; raises nothing for a server that fails."""
    names = [name for name in settings.stt_provider if name in REMOTE]
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
        is_fine = one.has_words and not one.live_failure
        log.log(logging.INFO if is_fine else logging.WARNING, "recognition: %s", one.words)


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
        live_failure = _live_failure(engine, pcm) if engine.hears_live else ""
        is_live = engine.hears_live and not live_failure
        heard = engine.transcribe(pcm, rate=SPEECH_RATE, language=LANGUAGE)
    except GatewayError as error:
        return Probed(name, failure=error.message, is_live=is_live, live_failure=live_failure)
    finally:
        engine.close()
    return Probed(name, bool(heard.words), heard.text, is_live=is_live, live_failure=live_failure)


def _live_failure(engine: HeardLive, pcm: bytes) -> str:
    try:
        text = engine.hear_live(pcm, language=LANGUAGE, seconds=LIVE_SECONDS)
    except GatewayError as error:
        return error.message
    return "" if text else "it heard no words"
