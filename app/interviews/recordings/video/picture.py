"""The picture: copied when all of it is H.264, else encoded again."""

import itertools
from fractions import Fraction
from typing import Any

import av
from av.error import FFmpegError

from app.interviews.recordings.video.tracks import Span, Undecodable

_TICKS = 90_000
_LARGEST = (1280, 720)


def can_be_copied(spans: list[Span]) -> bool:
    """Whether all runs use the same H.264 coding, so that their packets can be joined."""
    pictures = {span.picture for span in spans if span.picture is not None}
    return len(pictures) == 1 and next(iter(pictures))[0] == "h264" and bool(next(iter(pictures))[3])


class Copied:
    """Copies coded pictures to the joined timeline, with strictly rising times."""

    def __init__(self, container: Any, template: Any) -> None:
        self._container = container
        self._stream = container.add_stream_from_template(template)
        self._last = -1
        self._waits_for_key = True

    def begin_run(self) -> None:
        """Skip packets until the next keyframe."""
        self._waits_for_key = True

    def show(self, packet: Any, time: float) -> None:
        """Copy the packet to ``time`` seconds."""
        if self._waits_for_key and not packet.is_keyframe:
            return
        self._waits_for_key = False
        ahead = 0 if packet.pts is None or packet.dts is None else packet.pts - packet.dts
        ticks = round(time * _TICKS)
        decode_at = max(ticks - round(ahead * packet.time_base * _TICKS), self._last + 1)
        packet.stream = self._stream
        packet.time_base = Fraction(1, _TICKS)
        packet.dts, packet.pts, packet.duration = decode_at, max(ticks, decode_at), 0
        self._last = decode_at
        self._container.mux(packet)

    def end(self) -> None:
        """Nothing is buffered."""


class Encoded:
    """Decodes the pictures and encodes them as H.264 at their own times; skips late and duplicate ones."""

    def __init__(self, container: Any, spans: list[Span], *, pixels: int) -> None:
        self._container = container
        self._pixels = pixels
        self._size = _size_of(spans)
        self._stream = container.add_stream("libx264", rate=30, options={"preset": "veryfast", "crf": "26"})
        self._stream.width, self._stream.height = self._size
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.time_base = Fraction(1, _TICKS)
        self._stream.codec_context.gop_size = 60
        self._frame: _Frame | None = None
        self._last = -1

    def begin_run(self) -> None:
        """Allow another picture size."""
        self._frame = None

    def show(self, packet: Any, time: float) -> None:
        """Decode the packet and encode its pictures; ``time`` is the packet's place on the joined timeline."""
        shift = time - float((packet.pts if packet.pts is not None else packet.dts) * packet.time_base)
        try:
            pictures = packet.decode()
        except FFmpegError:
            return
        for picture in pictures:
            if picture.pts is not None:
                self._show(picture, round((float(picture.pts * picture.time_base) + shift) * _TICKS))

    def end(self) -> None:
        """Flush the encoder."""
        self._container.mux(self._stream.encode(None))

    def _show(self, picture: Any, ticks: int) -> None:
        if ticks <= self._last:
            return
        if picture.width * picture.height > self._pixels:
            raise Undecodable("the picture is too large")
        self._last = ticks
        shown = self._fitted(picture)
        shown.pts, shown.time_base, shown.pict_type = ticks, Fraction(1, _TICKS), 0
        self._container.mux(self._stream.encode(shown))

    def _fitted(self, picture: Any) -> Any:
        if self._frame is None or not self._frame.takes(picture):
            self._frame = _Frame(picture, self._size)
        return self._frame.around(picture)


class _Frame:
    """Scales pictures of one format to the published size, with black bars where the proportions differ."""

    def __init__(self, picture: Any, size: tuple[int, int]) -> None:
        self._form = (picture.width, picture.height, picture.format.name)
        width, height = size
        graph = av.filter.Graph()
        chain = [
            graph.add_buffer(
                width=picture.width, height=picture.height, format=picture.format, time_base=Fraction(1, _TICKS)
            ),
            graph.add("scale", f"{width}:{height}:force_original_aspect_ratio=decrease:force_divisible_by=2"),
            graph.add("pad", f"{width}:{height}:-1:-1"),
            graph.add("setsar", "1"),
            graph.add("format", "yuv420p"),
            graph.add("buffersink"),
        ]
        for before, after in itertools.pairwise(chain):
            before.link_to(after)
        graph.configure()
        self._graph = graph

    def takes(self, picture: Any) -> bool:
        return self._form == (picture.width, picture.height, picture.format.name)

    def around(self, picture: Any) -> Any:
        self._graph.push(picture)
        return self._graph.pull()


def _size_of(spans: list[Span]) -> tuple[int, int]:
    """The first picture's size, with even width and height, at most 1280 by 720 or 720 by 1280."""
    _codec, width, height, _extra = next(span.picture for span in spans if span.picture is not None)
    longest, shortest = _LARGEST
    scale = min(1.0, longest / max(width, height, 1), shortest / max(min(width, height), 1))
    return max(2, round(width * scale / 2) * 2), max(2, round(height * scale / 2) * 2)
