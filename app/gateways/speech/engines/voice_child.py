"""What the processes of neural voices share: their loop, the models they hold, and the times of written words.

Siblings of this file run it as programs of their own, so it imports nothing of Parley.
"""

import contextlib
import gc
import os
import re
import runpy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from app.gateways.speech.engines import child_process
else:
    child_process = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("child_process.py"))))

PUNCTUATION = '.,;:!?"()[]¡¿。、，．！？「」『』（）؟،؛…—–।'
UNSPACED = frozenset({"ja-JP", "zh-CN", "th-TH"})
"""Written without spaces: each character counts as a word."""
LONGEST_PIECE = 400
"""Characters that are spoken in one go at most: memory grows with them."""
MOST_MODELS = 3
IDLE_SECONDS = 600.0
SHORT_OF_MEMORY = 0.25
"""Share of the memory below which models that have been idle for ten minutes are given back."""
GRAPH, OUTPUT, NAME = 7, 12, 1
"""Numbers of the fields ModelProto.graph, GraphProto.output and ValueInfoProto.name in ONNX."""
_END = re.compile(r"(?<=[.!?…؟])[\"'”’»)]*\s+|(?<=[。！？।])")

Words = list[tuple[str, float, float]]
"""Word, start and end in seconds."""
Sounds = list[tuple[str, float, float]]
"""Sound, as one letter, start and end in seconds."""
Model = TypeVar("Model")


class Desk(Protocol):
    """Answers the requests of one engine."""

    def speak(self, *request: Any) -> tuple[bytes, int, Words]:
        """Samples (s16le, mono), their rate, the words."""
        ...

    def prepare(self, *request: Any) -> None:
        """Load what `speak` will need."""
        ...

    def rest(self) -> None:
        """Give back what has been idle."""
        ...


@dataclass(slots=True)
class Models(Generic[Model]):
    """The models in memory, least recently used first."""

    load: Callable[[Path], Model]
    _held: dict[str, tuple[Model, float]] = field(default_factory=dict)

    def get(self, directory: str) -> Model:
        """The model of a directory, loaded where it is not there. Raises what loading raises."""
        model, _ = self._held.pop(directory, (None, 0.0))
        if model is None:
            while len(self._held) >= MOST_MODELS:
                del self._held[next(iter(self._held))]
            model = self.load(Path(directory))
        self._held[directory] = (model, time.monotonic())
        return model

    def rest(self, *, available: float) -> None:
        """Drop what nothing has used for ten minutes, where the share of memory that is `available` is small."""
        if available >= SHORT_OF_MEMORY:
            return
        now = time.monotonic()
        idle = [name for name, (_, used) in self._held.items() if now - used >= IDLE_SECONDS]
        for name in idle:
            del self._held[name]
        if idle:
            gc.collect()


def available_memory() -> float:
    """The share of the machine's memory that is free for use; 1.0 where Linux does not say."""
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        total, available = (int(lines[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
    except (OSError, KeyError, ValueError):
        return 1.0
    return available / total


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


def pieces(text: str) -> list[str]:
    """The text cut after its sentences; a longer one is cut at a space."""
    cut: list[str] = []
    begin = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        sentence = text[begin:end].strip()
        begin = end
        while len(sentence) > LONGEST_PIECE:
            space = sentence.rfind(" ", 1, LONGEST_PIECE)
            at = space if space > 0 else LONGEST_PIECE
            cut.append(sentence[:at].strip())
            sentence = sentence[at:].strip()
        if sentence:
            cut.append(sentence)
    return cut


def varint(number: int) -> bytes:
    """A number as protocol buffers have it: seven bits per byte, the lowest first."""
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def length_delimited(number: int, data: bytes) -> bytes:
    """A field of bytes, text or another message."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def with_output(model: bytes, tensor: bytes) -> bytes:
    """An ONNX model that also gives `tensor`, one of its inner values; as it is where it has no such value.

    Two protocol buffers one after the other are one in which repeated fields are joined, so the graph's list of
    outputs grows by what is appended, and no library is needed to rewrite it.
    """
    return (
        model + length_delimited(GRAPH, length_delimited(OUTPUT, length_delimited(NAME, tensor)))
        if tensor in model
        else model
    )


def halves(text: str) -> list[str]:
    """The text cut near its middle, at a space where there is one."""
    middle = len(text) // 2
    space = text.rfind(" ", 1, middle + 1)
    at = space if space > 0 else middle
    return [half for half in (text[:at].strip(), text[at:].strip()) if half]


def written_words(text: str, language: str) -> list[str]:
    """The words of a text without the punctuation around them."""
    tokens = list(text) if language in UNSPACED else text.split()
    stripped = (token.strip().strip(PUNCTUATION) for token in tokens)
    return [word for word in stripped if any(character.isalnum() for character in word)]


def timed(words: Sequence[str], alone: Sequence[str], spoken: Sounds) -> Words:
    """The written words at the times of the sounds that they became.

    `alone` are the sounds of each word spoken by itself, one letter per sound; `spoken` the sounds of the whole, each
    with start and end in seconds, pauses left out. A sentence sounds nearly like its words, so the two are laid on
    each other. A word of which nothing is found lies between its neighbours.
    """
    if not spoken:
        return []
    owner = [number for number, sounds in enumerate(alone) for _ in sounds]
    matcher = SequenceMatcher(None, "".join(alone), "".join(sound for sound, _, _ in spoken), autojunk=False)
    spans: dict[int, tuple[float, float]] = {}
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            number = owner[block.a + step]
            _, start, end = spoken[block.b + step]
            spans[number] = (spans.get(number, (start, end))[0], end)
    return _between([(word, spans.get(number)) for number, word in enumerate(words)], spoken[0][1], spoken[-1][2])


def _between(spans: list[tuple[str, tuple[float, float] | None]], begin: float, end: float) -> Words:
    """Words with a span as they are, those without in even shares of the time between their neighbours."""
    words: Words = []
    last, waiting = begin, []
    for word, span in [*spans, ("", (end, end))]:
        if span is None:
            waiting.append(word)
            continue
        step = max(0.0, span[0] - last) / max(1, len(waiting))
        for number, one in enumerate(waiting):
            words.append((one, round(last + number * step, 3), round(last + (number + 1) * step, 3)))
        waiting = []
        if word:
            words.append((word, round(span[0], 3), round(span[1], 3)))
            last = span[1]
    return words


def serve(desk: Desk) -> None:
    """Answer one request after another until the parent closes the socket."""
    connection = child_process.connected()
    with contextlib.suppress(EOFError, OSError):
        while True:
            while not connection.poll(IDLE_SECONDS / 10):
                desk.rest()
            number, kind, *request = connection.recv()
            try:
                result, problem = (desk.speak if kind == "speak" else desk.prepare)(*request), None
            except Exception as error:  # noqa: BLE001 - onnxruntime raises classes of its own; every one is an answer
                result, problem = None, str(error) or type(error).__name__
            if number is not None:
                connection.send((number, problem, result))
            child_process.trim_memory()
