"""Reads one run of the recorder: packets with their times on the run's clock."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
from av.error import EOFError as AvEndError
from av.error import FFmpegError

_MATROSKA = b"\x1aE\xdf\xa3"
_LATE_START = 10.0
_UNSTATED = 0.02
_DEMUXERS = {"webm": "matroska", "mp4": "mov"}
_LARGEST_HEADER, _MOST_BOXES = 1 << 20, 100_000


class Undecodable(Exception):
    """The bytes cannot be decoded; the message says why and contains none of them."""


@dataclass(slots=True)
class Tracks:
    """An open run. ``origin`` is the container's time at the run's zero, in seconds."""

    number: int
    container: Any
    audio: Any
    video: Any
    origin: float = 0.0

    def packets(self) -> Iterator[tuple[Any, float]]:
        """Packets of both tracks with their times. Skips damaged ones and stops at a truncated end."""
        streams = [stream for stream in (self.audio, self.video) if stream is not None]
        demuxed = self.container.demux(streams)
        while True:
            try:
                packet = next(demuxed)
            except (StopIteration, AvEndError):
                return
            except FFmpegError:
                return  # the browser was killed in the middle of a chunk
            stamp = packet.pts if packet.pts is not None else packet.dts
            if stamp is not None and packet.size:
                yield packet, float(stamp * packet.time_base) - self.origin


def sniffed(path: Path) -> str:
    """``webm`` or ``mp4`` by content, whatever the name and the browser say."""
    with path.open("rb") as file:
        head = file.read(12)
    if head[:4] == _MATROSKA:
        return "webm"
    if head[4:8] == b"ftyp":
        return "mp4"
    raise Undecodable("a recorded part is neither WebM nor MP4, or its beginning is missing")


def _hide_repeated_headers(path: Path) -> None:
    """Make the first of two equal ``moof`` boxes in a row a ``free`` box, which every reader skips.

    WebKitGTK writes the header of the last fragment twice. The samples' offset counts from the beginning of their
    header (ISO/IEC 14496-12, 8.8.7), so those of the first header are the second one instead of sound.
    """
    with path.open("r+b") as file:
        at, before = 0, b""
        for _ in range(_MOST_BOXES):  # a recorder makes two a second
            file.seek(at)
            size, kind = int.from_bytes(file.read(4), "big"), file.read(4)
            if size == 1:  # the size stands behind the kind
                size = int.from_bytes(file.read(8), "big")
            if size < 8:  # there are no more, or this one goes to the end of the file
                return
            header = b""
            if kind == b"moof" and size <= _LARGEST_HEADER:
                file.seek(at)
                header = file.read(size)
                if header == before:
                    file.seek(at - size + 4)
                    file.write(b"free")
            at, before = at + size, header


@contextmanager
def opened(run: dict[str, Any], *, limits: dict[str, Any]) -> Iterator[Tracks | None]:
    """The run's tracks, or None when the file holds only a header.

    The first bytes decide the demuxer, which reads this open file and may not open any other. Changes the file if it
    is an MP4 that repeats the header of a fragment.
    """
    path = Path(run["path"])
    demuxer = _DEMUXERS[sniffed(path)]
    if demuxer == "mov":
        _hide_repeated_headers(path)
    with path.open("rb") as file:
        try:
            container = av.open(file, format=demuxer, options={"protocol_whitelist": "none"})
        except FFmpegError:
            yield None
            return
        with container:
            audio = next(iter(container.streams.audio), None)
            video = next(iter(container.streams.video), None)
            if video is not None and video.codec_context.width * video.codec_context.height > limits["pixels"]:
                raise Undecodable("the picture is too large")
            if audio is None and video is None:
                yield None
                return
            yield Tracks(number=run["number"], container=container, audio=audio, video=video)


@dataclass(frozen=True, slots=True)
class Span:
    """Result of a first read: when the run begins and how long it is, in seconds, and how its tracks are coded."""

    origin: float
    duration: float
    picture: tuple[str, int, int, bytes] | None
    sound: tuple[str, int, int] | None = None


def span_of(run: dict[str, Any], *, limits: dict[str, Any]) -> Span:
    """Read the run once without decoding. A run without anything playable has the duration 0."""
    first = last = None
    picture = coded = None
    with opened(run, limits=limits) as tracks:
        if tracks is None:
            return Span(0.0, 0.0, None)
        for packet, time in tracks.packets():
            length = float(packet.duration * packet.time_base) if packet.duration else _UNSTATED
            first = time if first is None else min(first, time)
            last = max(last or 0.0, time + length)
        if tracks.video is not None:
            context = tracks.video.codec_context
            picture = (context.name, context.width, context.height, bytes(context.extradata or b""))
        if tracks.audio is not None:
            coded = (tracks.audio.codec_context.name, tracks.audio.rate or 0, tracks.audio.channels or 0)
    if first is None or last is None:
        return Span(0.0, 0.0, None)
    origin = first if first > _LATE_START else 0.0
    duration = last - origin
    if not 0 <= duration <= limits["timeline_seconds"]:
        raise Undecodable("the recording claims to be too long")
    return Span(origin, duration, picture, coded)
