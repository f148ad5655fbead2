"""The embedded recogniser: English, with word times, in its own processes, fed while the candidate speaks."""

import contextlib
import importlib.util
import threading
import time
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any

from app.core.errors import GatewayError
from app.gateways.speech.engines.children import Child, ChildFailed, ChildLost, Children
from app.gateways.speech.engines.spelling import as_written, sounds_of, tokens_of
from app.gateways.speech.ports import SPEECH_RATE, Heard, Sayings, Word
from app.gateways.speech.silence import has_speech
from app.gateways.speech.sound import resample, seconds

PROGRAM = Path(__file__).with_name("pocketsphinx_child.py")
LANGUAGE = "en-US"
PATIENCE, PATIENCE_PER_SECOND = 30.0, 2.0
"""Seconds to wait for an answer: at least, and for each second of audio."""
LIVE_PATIENCE = 10.0
"""Seconds that a candidate waits for the end of their answer; after that the talk goes on and it is heard later."""
MOST_UNSENT = 32_000_000
"""Bytes of live audio (17 minutes) that may wait for a busy process; beyond that the audio is decoded afterwards."""
CHOICE_PATIENCE = 1.0
"""Seconds to wait for a choice: who is busier than that leaves the text as it is."""
KEEP_PIN_SECONDS = 1_800.0


def is_installed() -> bool:
    """Whether the package is here: on some Pythons and platforms it has no wheel, and Parley does without it."""
    return importlib.util.find_spec("pocketsphinx") is not None


class PocketsphinxTranscriber:
    """Batch, streaming and forced alignment over `processes` children of about 140 MB each."""

    name = "pocketsphinx"

    def __init__(self, *, processes: int = 2) -> None:
        self._is_installed = is_installed()
        self._partials: dict[str, str] = {}
        self._children = Children(PROGRAM, most=processes, on_news=self._reported)
        self._pins: dict[str, tuple[Child, float]] = {}
        self._pinning = threading.Lock()

    def supports(self, language: str) -> bool:
        """US English only: the one model that the package carries. Nothing where the package is not installed."""
        return language == LANGUAGE and self._is_installed

    def is_demonstration(self, language: str) -> bool:
        """It hears 60 to 73 words of 100 right."""
        return self.supports(language)

    def improves(self, language: str) -> bool:
        """The same decoder hears both times."""
        del language
        return False

    def transcribe(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        """Decode one whole answer. Sound without speech has no words, whatever the decoder would make of it."""
        self._check(language)
        audio = resample(pcm, rate, SPEECH_RATE)
        if not has_speech([audio]):
            return Heard("", (), self.name)
        return self._heard(self._call("batch", audio, audio=audio))

    def hear_again(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        """The same as the first time."""
        return self.transcribe(pcm, rate=rate, language=language)

    def prepare(self, language: str) -> None:
        """Start a process, which loads its model at once."""
        if self.supports(language):
            with contextlib.suppress(GatewayError):
                self._children.pick()

    def feed(self, key: str, number: int, pcm: bytes, *, language: str) -> None:
        """Hand a piece to the process that has this utterance; the first piece chooses it."""
        if not self.supports(language):
            return
        try:
            child = self._pinned(key)
        except GatewayError:
            return
        if child.lost or child.pending_bytes > MOST_UNSENT:
            self.drop(key)
            return
        child.post("feed", key, number, pcm, size=len(pcm))

    def peek(self, key: str, *, last: int, language: str, seconds: float, begun: bytes = b"") -> str | None:
        """What the process that has this utterance has made of it by now."""
        with self._pinning:
            child, _ = self._pins.get(key, (None, 0.0))
        if child is None or not self.supports(language):
            return None
        words = child.ask("peek", key, last, begun, timeout=seconds)
        return None if words is None else " ".join(word for word, *_ in words)

    def finish(self, key: str, *, first: int, last: int, language: str, pcm: Callable[[], bytes]) -> Heard:
        """What was decoded meanwhile; the whole audio once more if pieces are missing or the process was lost.

        Raises a retryable GatewayError when the process is too busy to answer in time.
        """
        self._check(language)
        with self._pinning:
            child, _ = self._pins.pop(key, (None, 0.0))
        self._partials.pop(key, None)
        if child is not None:
            try:
                decoded = child.call("finish", key, first, last, timeout=LIVE_PATIENCE)
            except (ChildLost, ChildFailed):  # a process that is only busy would take longer still to begin again
                decoded = None
            if decoded is not None:
                return self._heard(decoded)
        return self.transcribe(pcm(), rate=SPEECH_RATE, language=language)

    def choose(self, heard: Heard, *, language: str, among: Sayings, pcm: Callable[[], bytes]) -> Heard | None:
        """A second decoding by a grammar of the sayings, of a few seconds at most."""
        if not self.supports(language) or not among.whole:
            return None
        chosen = None
        with contextlib.suppress(GatewayError):
            child, sound = self._children.pick(), pcm()
            chosen = child.ask("choose", astuple(among), sound, heard.text, timeout=CHOICE_PATIENCE)
        if chosen is None:
            return None
        decoded, confidence = chosen
        words = tuple(Word(word, start, end, confidence) for word, start, end, _ in decoded)
        return Heard(" ".join(word.word for word in words), words, self.name, confidence)

    def partial(self, key: str) -> str | None:
        """What the process has reported since the first block was decoded."""
        return self._partials.get(key)

    def drop(self, key: str) -> None:
        """Forget an utterance."""
        self._partials.pop(key, None)
        with self._pinning:
            child, _ = self._pins.pop(key, (None, 0.0))
        if child is not None and not child.lost:
            child.post("drop", key)

    def align(self, text: str, pcm: bytes, *, rate: int) -> tuple[Word, ...]:
        """Word times of a known English text; nothing where the audio does not carry it or the package is missing."""
        tokens = tokens_of(text) if self._is_installed else []
        if not tokens:
            return ()
        audio = resample(pcm, rate, SPEECH_RATE)
        spoken = [(word, sounds_of(word)) for token in tokens for word in token.spoken]
        try:
            return as_written(tokens, self._call("align", spoken, audio, audio=audio))
        except GatewayError:
            return ()

    def pids(self) -> list[int]:
        """Process ids of the running children."""
        return self._children.pids()

    def close(self) -> None:
        """End the processes."""
        self._children.close()

    def _pinned(self, key: str) -> Child:
        now = time.monotonic()
        with self._pinning:
            if key in self._pins:
                child, _ = self._pins[key]
            else:
                self._pins = {k: pin for k, pin in self._pins.items() if now - pin[1] < KEEP_PIN_SECONDS}
                self._partials = {k: text for k, text in self._partials.items() if k in self._pins}
                child = self._children.pick()
            self._pins[key] = (child, now)
            return child

    def _reported(self, key: str, text: str) -> None:
        if key in self._pins:
            self._partials[key] = text

    def _call(self, *message: Any, audio: bytes) -> Any:
        patience = PATIENCE + PATIENCE_PER_SECOND * seconds(audio, SPEECH_RATE)
        try:
            return self._children.call(*message, timeout=patience)
        except ChildFailed as error:
            raise GatewayError(f"the embedded recognition engine failed: {error}", retryable=False) from error

    def _check(self, language: str) -> None:
        if not self._is_installed:
            raise GatewayError("pocketsphinx is not installed; add another engine to STT_PROVIDER", retryable=False)
        if not self.supports(language):
            raise GatewayError(
                f"the embedded recognition engine knows only {LANGUAGE}; add one for {language} to STT_PROVIDER",
                retryable=False,
            )

    def _heard(self, found: tuple[float | None, list[tuple[str, float, float, float]]]) -> Heard:
        spoken, decoded = found
        words = tuple(Word(*word) for word in decoded)
        sure = [word.confidence for word in words if word.confidence is not None]
        confidence = round(sum(sure) / len(sure), 3) if sure else None
        return Heard(" ".join(word.word for word in words), words, self.name, confidence, spoken=spoken)
