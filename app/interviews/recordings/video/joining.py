"""Joins the runs of a recorder on one timeline: measures them, then writes sound and picture."""

import itertools
from contextlib import ExitStack
from fractions import Fraction
from typing import Any

import av

from app.interviews.recordings.video import picture, sound
from app.interviews.recordings.video.tracks import Span, Tracks, Undecodable, opened, span_of

Order = dict[str, Any]
_INDEX_FIRST = {"movflags": "+faststart"}

Picture = picture.Copied | picture.Encoded


def measure(order: Order) -> dict[str, Any]:
    """Place and length of each run."""
    return {"runs": _placed(order, _spans(order))}


def assemble(order: Order) -> dict[str, Any]:
    """Write the requested files; returns which of them were written."""
    spans = _spans(order)
    placed = _placed(order, spans)
    if not any(span.duration for span in spans):
        raise Undecodable("the recording contains nothing playable")
    with_picture = order["video"] is not None and any(span.picture is not None for span in spans)
    if order["audio"] is not None:
        _write(order, order["audio"], spans, with_picture=False)
    if with_picture:
        _write(order, order["video"], spans, with_picture=True)
    duration = placed[-1]["offset"] + placed[-1]["duration"]
    return {"runs": placed, "duration": duration, "audio": order["audio"] is not None, "video": with_picture}


def copy(order: Order) -> dict[str, Any]:
    """Copy the coded sound of all runs into one indexed file without decoding; ``audio`` False if codecs differ."""
    spans = _spans(order)
    placed = _placed(order, spans)
    sounds = {span.sound for span in spans if span.sound is not None}
    copied = len(sounds) == 1 and next(iter(sounds))[0] in {"opus", "aac"}
    if copied:
        with (
            av.open(order["audio"], "w", format="mp4", options=_INDEX_FIRST) as container,
            ExitStack() as stack,
        ):
            _copy_sound(order, container, spans, stack=stack)
    return {"runs": placed, "duration": placed[-1]["offset"] + placed[-1]["duration"], "audio": copied}


def _copy_sound(order: Order, container: Any, spans: list[Span], *, stack: ExitStack) -> None:
    stream, last, offset = None, -1, 0.0
    for run, span in zip(order["runs"], spans, strict=True):
        tracks = stack.enter_context(opened(run, limits=order["limits"])) if span.sound is not None else None
        if tracks is not None:
            tracks.origin = span.origin
            stream = stream or container.add_stream_from_template(tracks.audio)
            for packet, time in tracks.packets():
                ticks = round((offset + time) * sound.RATE)
                if packet.stream.type == "audio" and ticks > last:
                    packet.stream, packet.time_base, packet.duration = stream, Fraction(1, sound.RATE), 0
                    packet.pts = packet.dts = last = ticks
                    container.mux(packet)
        offset += span.duration


def _spans(order: Order) -> list[Span]:
    spans = [span_of(run, limits=order["limits"]) for run in order["runs"]]
    if sum(span.duration for span in spans) > order["limits"]["timeline_seconds"]:
        raise Undecodable("the recording claims to be too long")
    return spans


def _placed(order: Order, spans: list[Span]) -> list[dict[str, Any]]:
    offsets = itertools.accumulate((span.duration for span in spans), initial=0.0)
    return [
        {"number": run["number"], "offset": offset, "duration": span.duration}
        for run, span, offset in zip(order["runs"], spans, offsets, strict=False)
    ]


def _write(order: Order, target: str, spans: list[Span], *, with_picture: bool) -> None:
    kind = "mp4" if with_picture else "ipod"
    with av.open(target, "w", format=kind, options=_INDEX_FIRST) as container, ExitStack() as templates:
        screen = _screen(order, container, spans, templates=templates) if with_picture else None
        voice = sound.Voice(container)
        offset = 0.0
        for run, span in zip(order["runs"], spans, strict=True):
            if span.duration:
                with opened(run, limits=order["limits"]) as tracks:
                    if tracks is not None:
                        tracks.origin = span.origin
                        _play(tracks, voice, screen, offset=offset, end=offset + span.duration)
            offset += span.duration
            voice.pause_until(round(offset * sound.RATE))
        voice.end()
        if screen is not None:
            screen.end()


def _screen(order: Order, container: Any, spans: list[Span], *, templates: ExitStack) -> Picture:
    if not picture.can_be_copied(spans):
        return picture.Encoded(container, spans, pixels=order["limits"]["pixels"])
    first = next(run for run, span in zip(order["runs"], spans, strict=True) if span.picture is not None)
    tracks = templates.enter_context(opened(first, limits=order["limits"]))
    if tracks is None:
        raise Undecodable("a recorded part can no longer be read")
    return picture.Copied(container, tracks.video)


def _play(tracks: Tracks, voice: sound.Voice, screen: Picture | None, *, offset: float, end: float) -> None:
    """Write one run into the container, from ``offset`` to ``end`` on the joined timeline."""
    ear = sound.Ear(tracks.audio)
    last = round(end * sound.RATE)
    if screen is not None:
        screen.begin_run()
    for packet, time in tracks.packets():
        if packet.stream.type == "audio":
            for samples in ear.hear(packet, tracks.origin):
                voice.say(samples[: max(0, last - voice.position)])
        elif screen is not None and offset + time >= 0:
            screen.show(packet, offset + time)
    for samples in ear.rest():
        voice.say(samples[: max(0, last - voice.position)])
