"""Engines that know what the demo's candidates say, and a receiver of webhooks without a network.

All their results name ``demo`` as the engine.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from app.gateways.outbound import Answer as Received
from app.gateways.speech.ports import SPEECH_RATE, Heard, Judged, Judgement, Material, Quote, Sayings, Spoken, Word
from app.gateways.speech.sound import resample
from app.operations.demo.content import Answer, Script

NAME = "demo"
LOUD = 300
"""Samples above this are speech, not room noise."""
LANGUAGE_SCORES = (
    "language_vocabulary_and_expression",
    "language_grammar_and_structure",
    "language_comprehension",
)


class KnowingTranscriber:
    """Recognises the words that the candidate was made to say, at the times at which the voice spoke them."""

    name = NAME

    def __init__(self) -> None:
        self._next: Spoken | None = None
        self._text = ""

    def expect(self, text: str, spoken: Spoken) -> bytes:
        """Set the next answer; returns its sound at the microphone's rate of 16 kHz."""
        self._text, self._next = text, spoken
        return resample(spoken.pcm, spoken.rate, SPEECH_RATE)

    def is_demonstration(self, language: str) -> bool:  # noqa: ARG002 - it knows every word
        return False

    def improves(self, language: str) -> bool:  # noqa: ARG002 - it knows every word
        return False

    def hear_again(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        return self.transcribe(pcm, rate=rate, language=language)

    def supports(self, language: str) -> bool:  # noqa: ARG002 - every language
        return True

    def transcribe(self, pcm: bytes, *, rate: int, language: str) -> Heard:  # noqa: ARG002
        spoken = self._next
        if spoken is None:
            return Heard("", (), NAME)
        shift = max(0.0, (_onset(pcm) - _onset(resample(spoken.pcm, spoken.rate, SPEECH_RATE))) / SPEECH_RATE)
        words = tuple(Word(one.word, one.start + shift, one.end + shift, 0.93) for one in spoken.words)
        return Heard(self._text, words, NAME, 0.93)

    def prepare(self, language: str) -> None:
        """Nothing to load."""

    def feed(self, key: str, number: int, pcm: bytes, *, language: str) -> None:
        """Does nothing: the words are known."""

    def peek(self, key: str, *, last: int, language: str, seconds: float, begun: bytes = b"") -> str | None:  # noqa: ARG002
        return None

    def finish(self, key: str, *, first: int, last: int, language: str, pcm: Callable[[], bytes]) -> Heard:  # noqa: ARG002
        return self.transcribe(pcm(), rate=SPEECH_RATE, language=language)

    def choose(self, heard: Heard, *, language: str, among: Sayings, pcm: Callable[[], bytes]) -> Heard | None:  # noqa: ARG002
        return None

    def partial(self, key: str) -> str | None:  # noqa: ARG002
        return None

    def drop(self, key: str) -> None:
        """Nothing to drop."""

    def close(self) -> None:
        """Nothing is open."""


def _onset(pcm: bytes) -> int:
    loud = np.abs(np.frombuffer(pcm, "<i2").astype(np.int32)) > LOUD
    return int(np.argmax(loud)) if loud.any() else 0


class KnowingAnalyst:
    """Scores each answer as the file says. Parley's own checks and caps follow, as after any engine.

    A criterion is shown by the answer to one question.
    """

    name = NAME

    def __init__(self, scripts: tuple[Script, ...]) -> None:
        self._known: dict[str, tuple[str, Answer]] = {
            answer.text: (question.score, answer)
            for script in scripts
            for question in script.questions
            for answer in question.answers
        }
        self._shown = {
            (one.criterion.key, answer.text)
            for script in scripts
            for one in script.criteria
            for answer in script.questions[one.question].answers
        }

    def summarize(self, material: Material) -> str | None:
        """One sentence for each answer, in order."""
        return " ".join(answer.says for _, _, answer in self._said(material)) or None

    def judge(self, material: Material, *, scores: tuple[str, ...]) -> Judgement:
        """One score for each answer; the language score uses all of them."""
        said = self._said(material)
        judged = [
            Judged(score, answer.value, answer.reason, (Quote(answer.quote, index),))
            for index, score, answer in said
            if score in scores
        ]
        judged += [
            Judged(one.key, answer.value, answer.reason, (Quote(answer.quote, index),))
            for one in material.criteria
            for index, _, answer in said
            if (one.key, answer.text) in self._shown
        ]
        if said:
            mean = sum(answer.value for _, _, answer in said) / len(said)
            index, _, longest = max(said, key=lambda one: len(one[2].text))
            quotes = (Quote(longest.quote, index),)
            judged += [
                Judged(name, round(min(5.0, mean + 0.2 * place), 1), "Clear sentences, little searching.", quotes)
                for place, name in enumerate(LANGUAGE_SCORES)
                if name in scores
            ]
        return Judgement(NAME, tuple(judged))

    def _said(self, material: Material) -> list[tuple[int, str, Answer]]:
        answers = ((one.index, self._known.get(one.content)) for one in material.passages if one.role == "user")
        return [(index, *answer) for index, answer in answers if answer is not None]

    def close(self) -> None:
        """Nothing is open."""


class Receiver:
    """Accepts every webhook without a network. The first answer to each fifth event is an error."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    async def post(self, url: str, *, body: bytes, headers: Mapping[str, str], **_: Any) -> Received:  # noqa: ARG002
        event = headers["webhook-id"]
        tries = self._seen[event] = self._seen.get(event, 0) + 1
        is_down = tries == 1 and len(self._seen) % 5 == 0
        said = b'{"error": "try again"}' if is_down else b'{"ok": true}'
        return Received(503 if is_down else 200, None, said, too_large=False, address="192.0.2.10")
