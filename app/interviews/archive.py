"""Everything of one interview as a ZIP archive that is written while it is sent: no more than a piece is in memory.

Slow, and blind to the database: given plain values.
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
"""How often it is asked, in the middle of a file, whether it may still be had."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file of the archive: its name there, and its bytes, or the storage key where they lie."""

    name: str
    content: bytes | None = None
    key: str | None = None


class Closed(Exception):
    """Access has ended while the archive was being sent: it stays incomplete, and whoever unpacks it is told so."""


class _Sink:
    """What zipfile writes to, and what is then taken away from it."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._waiting.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """There is nothing behind this."""

    def drained(self) -> bytes:
        whole = b"".join(self._waiting)
        self._waiting.clear()
        return whole


def archive(parts: Sequence[Part], storage: Storage, *, is_open: Callable[[], bool]) -> Generator[bytes, None, None]:
    """The bytes of the archive, piece by piece; ``is_open`` is asked again and again, and may end it (Closed)."""
    sink = _Sink()
    # Deflate in blocks that are only stored: a plain stored file of unknown length is what some unpackers refuse.
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
    """Write one file, with a pause after every piece, in which what is ready may be taken away."""
    with packed.open(part.name, "w", force_zip64=part.content is None) as file:
        for piece in _content(part, storage):
            file.write(piece)
            yield


def _content(part: Part, storage: Storage) -> Iterable[bytes]:
    return storage.open(part.key) if part.key is not None else pieces_of(part.content or b"")


def captions(segments: Sequence[dict[str, Any]], *, agent: str, candidate: str) -> str:
    """The transcript as WebVTT: a cue of at most ``CUE_WORDS`` words, by whom it was said; without times no cue."""
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
