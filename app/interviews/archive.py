"""One interview as a ZIP archive, written while it is sent, so that only one piece at a time is in memory.

Slow, and works on plain values without the database.
"""

import zipfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any, cast

from app.core import clock
from app.gateways.storage import Storage, pieces_of

CUE_WORDS = 12
LOOK_AFTER = timedelta(seconds=2)
"""How often access is checked again in the middle of a file."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file of the archive: its name there, and its bytes or their storage key."""

    name: str
    content: bytes | None = None
    key: str | None = None


class Closed(Exception):
    """Access ended while the archive was being sent. The archive stays incomplete, and unpacking it reports that."""


class _Sink:
    """The file that zipfile writes to; ``drained`` returns what was written since the last call."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._waiting.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """zipfile calls it; nothing is buffered further down."""

    def drained(self) -> bytes:
        whole = b"".join(self._waiting)
        self._waiting.clear()
        return whole


def archive(parts: Sequence[Part], storage: Storage, *, is_open: Callable[[], bool]) -> Generator[bytes, None, None]:
    """The bytes of the archive, piece by piece. ``is_open`` is called repeatedly; raises Closed once it says no."""
    sink = _Sink()
    # Deflate without compression, because some unpackers refuse a stored file whose length is unknown in advance.
    with zipfile.ZipFile(cast("IO[bytes]", sink), "w", zipfile.ZIP_DEFLATED, compresslevel=0) as packed:
        for part in parts:
            _refuse_closed(is_open)
            looked = clock.now()
            for _more in _written(packed, part, storage):
                if clock.now() - looked >= LOOK_AFTER:
                    _refuse_closed(is_open)
                    looked = clock.now()
                yield sink.drained()
    yield sink.drained()


def _refuse_closed(is_open: Callable[[], bool]) -> None:
    if not is_open():
        raise Closed


def _written(packed: zipfile.ZipFile, part: Part, storage: Storage) -> Iterator[None]:
    """Write one file and yield after every piece, so that the caller can send what is ready."""
    with packed.open(part.name, "w", force_zip64=part.content is None) as file:
        for piece in _content(part, storage):
            file.write(piece)
            yield


def _content(part: Part, storage: Storage) -> Iterable[bytes]:
    return storage.open(part.key) if part.key is not None else pieces_of(part.content or b"")


def captions(segments: Sequence[dict[str, Any]], *, agent: str, candidate: str) -> str:
    """The transcript as WebVTT: cues of at most ``CUE_WORDS`` words with their speaker; no cue without times."""
    cues = ["WEBVTT"]
    for segment in segments:
        speaker = agent if segment["role"] == "agent" else candidate
        for begin in range(0, len(segment["shown"]), CUE_WORDS):
            words = segment["shown"][begin : begin + CUE_WORDS]
            text = _escaped(" ".join(word[0] for word in words))
            if not text:
                continue
            start, end = words[0][1], max(words[-1][2], words[0][1] + 0.001)
            cues.append(f"{_stamp(start)} --> {_stamp(end)}\n<v {_escaped(speaker)}>{text}")
    return "\n\n".join(cues) + "\n"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _stamp(seconds: float) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02}.{whole % 1000:03}"
