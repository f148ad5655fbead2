"""Takes requests, decides what is recognised next, answers.

A request is `(number or None, kind, *values)`, an answer `(number, problem or None, result)`. Requests:

- `prepare(model_dir, language)`: load; no answer.
- `open(key, model_dir, language)`, then `feed(key, number, pcm)` (16 kHz, signed 16 bit); no answers. Before a piece is
  whole, `begin(key, number, pcm)` hands over its beginning.
- `finish(key, first, last, model_dir, language)`: `{"text", "words", "confidence", "seconds"}`, None where pieces are
  missing. `words`: `(word, start, end, confidence)`, seconds from piece `first`; `seconds`: of speech.
- `peek(key, last, model_dir, language)`: the text so far, or None. `drop(key)`; no answer.
- `batch(pcm, model_dir, language, final)`: the same as finish.

News are `(None, None, (kind, ...))`: `partial, key, text`, and `unfit, sentence` where this processor is too slow.
Someone who waits for the end of an answer comes first, then short batches, then what is being spoken, then final ones.
"""

import contextlib
import queue
import time
from collections.abc import Callable, Generator
from typing import Any

from .machine import available_memory, processor_flags, unfit
from .model import Models, Refused
from .utterance import Utterance

FORGET_SECONDS = 900.0
TIDY_SECONDS = 60.0
UNKNOWN = "the recognition engine failed on this sound; see the log of the speech host"

Message = tuple[Any, ...]


class Desk:
    """All answers of this process, and the models that they share."""

    def __init__(
        self,
        send: Callable[[Message], None],
        *,
        models: Models | None = None,
        flags: str | None = None,
        trim: Callable[[], None] = lambda: None,
    ) -> None:
        self._send, self._trim = send, trim
        self._models = models or Models()
        self._streams: dict[str, Utterance] = {}
        self._batches: list[Utterance] = []
        self._working: dict[int, Generator[None, None, bool]] = {}
        self._idle: set[int] = set()
        self._refusal = unfit(processor_flags() if flags is None else flags)
        if self._refusal is not None:
            self._tell("unfit", self._refusal)

    def take(self, number: int | None, kind: str, *values: Any) -> None:
        """One request."""
        if self._refusal is not None:
            self._answer(number, None, problem=self._refusal)
            return
        requests: dict[str, Callable[..., None]] = {
            "prepare": self._prepare,
            "open": self._open,
            "feed": self._feed,
            "begin": self._begin,
            "peek": self._peek,
            "finish": self._finish,
            "drop": self._drop,
            "batch": self._batch,
        }
        requests[kind](number, *values)

    def step(self) -> bool:
        """One stage of what is most urgent; False where there is nothing to do."""
        waiting = [one for one in self._everyone() if id(one) not in self._idle]
        if not waiting:
            return False
        self._work(min(waiting, key=self._rank))
        return True

    def tidy(self, now: float) -> None:
        """Forget what no one asks for any more at this moment of the monotonic clock."""
        self._models.give_back(now=now, available=available_memory())
        for key, utterance in list(self._streams.items()):
            if now - utterance.touched > FORGET_SECONDS and not utterance.is_waited_for:
                self._drop(None, key)

    def _everyone(self) -> list[Utterance]:
        return [*self._streams.values(), *self._batches]

    def _rank(self, utterance: Utterance) -> tuple[int, float]:
        is_batch = any(utterance is one for one in self._batches)
        if not is_batch:
            return 0 if utterance.is_waited_for else 2, utterance.touched
        return 3 if utterance.final else 1, utterance.touched

    def _prepare(self, _number: None, model_dir: str, _language: str) -> None:
        with contextlib.suppress(Refused):
            self._models.get(model_dir)

    def _open(self, _number: None, key: str, *model: str) -> None:
        utterance = self._streams.setdefault(key, Utterance())
        utterance.model_dir, utterance.language = model
        self._wake(utterance)

    def _feed(self, _number: None, key: str, *piece: Any) -> None:
        number, pcm = piece
        utterance = self._streams.setdefault(key, Utterance())
        utterance.add(number, pcm)
        self._wake(utterance)

    def _begin(self, _number: None, key: str, *beginning: Any) -> None:
        number, pcm = beginning
        self._streams.setdefault(key, Utterance()).begin(number, pcm)

    def _drop(self, _number: None, key: str) -> None:
        if utterance := self._streams.pop(key, None):
            self._forget(utterance)
            self._answer(utterance.peeked_by, None)
            self._answer(utterance.asked_by, None)

    def _peek(self, number: int, key: str, last: int, *model: str) -> None:
        utterance = self._streams.get(key)
        if utterance is None or utterance.broken or not utterance.has(last) or utterance.asked_by is not None:
            self._answer(number, None)
            return
        self._answer(utterance.peeked_by, None)  # it was about a pause after which the candidate went on
        utterance.model_dir, utterance.language = model
        utterance.peeked_by = number
        self._wake(utterance)

    def _finish(self, number: int, key: str, *span_and_model: Any) -> None:
        first, last, *model = span_and_model
        utterance = self._streams.get(key)
        if utterance is None or not utterance.complete(first, last):
            self._drop(None, key)
            self._answer(number, None)
            return
        utterance.model_dir, utterance.language = model
        utterance.asked_by = number
        self._wake(utterance)

    def _batch(self, number: int, pcm: bytes, *setting: Any) -> None:
        model_dir, language, final = setting
        utterance = Utterance(model_dir, language, final=final)
        utterance.add(0, pcm)
        utterance.asked_by = number
        self._batches.append(utterance)

    def _wake(self, utterance: Utterance) -> None:
        self._idle.discard(id(utterance))

    def _work(self, utterance: Utterance) -> None:
        name = id(utterance)
        try:
            if name not in self._working:
                if utterance.asked_by is not None and not utterance.ended:
                    utterance.end()
                self._working[name] = utterance.work(lambda: self._models.get(utterance.model_dir))
            next(self._working[name])
            self._tell_early(utterance)
        except StopIteration as done:
            del self._working[name]
            self._report(utterance)
            if not done.value:
                self._settle(utterance)
        except Refused as error:
            self._fail(utterance, str(error))
        except Exception as error:  # noqa: BLE001 - one sound that upsets the engine is not the end of the others
            self._fail(utterance, f"{UNKNOWN} ({type(error).__name__})")

    def _tell_early(self, utterance: Utterance) -> None:
        """Answer a peek with words that have no places yet."""
        if utterance.early is not None and utterance.early[0] == utterance.peeked_by:
            self._answer(*utterance.early)
            utterance.peeked_by = None
        utterance.early = None

    def _settle(self, utterance: Utterance) -> None:
        """Nothing is left to recognise by now: answer, or wait for more."""
        if utterance.asked_by is not None and not utterance.ended:
            return  # asked while the last stage ran: what is left is recognised next
        if utterance.peeked_by is not None:
            self._answer(utterance.peeked_by, utterance.text)
            utterance.peeked_by = None
        if utterance.asked_by is None:
            self._idle.add(id(utterance))
            return
        self._answer(utterance.asked_by, utterance.heard())
        self._end(utterance)

    def _fail(self, utterance: Utterance, problem: str) -> None:
        self._working.pop(id(utterance), None)
        self._answer(utterance.peeked_by, None)
        utterance.peeked_by = None
        if utterance.asked_by is None:
            self._idle.add(id(utterance))  # until more arrives, or its end: then the model may be there
            return
        self._answer(utterance.asked_by, None, problem=problem)
        self._end(utterance)

    def _end(self, utterance: Utterance) -> None:
        self._forget(utterance)
        self._batches = [one for one in self._batches if one is not utterance]
        self._streams = {key: one for key, one in self._streams.items() if one is not utterance}
        self._trim()

    def _forget(self, utterance: Utterance) -> None:
        self._working.pop(id(utterance), None)
        self._idle.discard(id(utterance))

    def _report(self, utterance: Utterance) -> None:
        """Tell how far it is understood, for pages that show words while they are spoken."""
        key = next((key for key, one in self._streams.items() if one is utterance), None)
        if key is None or utterance.asked_by is not None:
            return
        if (text := utterance.text) and text != utterance.shown:
            utterance.shown = text
            self._tell("partial", key, text)

    def _answer(self, number: int | None, result: Any, *, problem: str | None = None) -> None:
        if number is not None:
            self._send((number, problem, result))

    def _tell(self, *news: str) -> None:
        self._send((None, None, news))


def serve(inbox: "queue.SimpleQueue[Message | None]", desk: Desk) -> None:
    """Serve what comes into the inbox until None does."""
    busy = False
    while True:
        try:
            message = inbox.get(block=not busy, timeout=None if busy else TIDY_SECONDS)
        except queue.Empty:
            if not busy:
                desk.tidy(time.monotonic())
            busy = desk.step()
            continue
        if message is None:
            return
        desk.take(*message)
        busy = True
