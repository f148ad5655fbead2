"""Joins browser recordings into files that play and seek everywhere. Slow work in a separate process.

Browser recordings have gaps, no duration, no index and clocks that jump, and their bytes are untrusted. So all
decoding happens in ``child``, a program without database and secrets that is limited in memory, time and file size.
This module starts it and reads back numbers only.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from app.core.errors import GatewayError

_ROOT = Path(__file__).resolve().parents[4]
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
"""The decoder's whole environment, so that it gets no secrets."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the decoding process: bytes of address space and of one file, seconds of CPU and of waiting."""

    memory: int = 3 * 1024**3
    file_size: int = 4 * 1024**3
    cpu_seconds: int = 3600
    wall_seconds: int = 5400
    timeline_seconds: float = 2.5 * 3600
    pixels: int = 4096 * 2304


@dataclass(frozen=True, slots=True)
class RunFile:
    """One run of the recorder, its chunks joined in a file."""

    number: int
    path: Path


@dataclass(frozen=True, slots=True)
class PlacedRun:
    """Place of a run on the joined timeline, in seconds; ``duration`` 0 when nothing in it is playable."""

    number: int
    offset: float
    duration: float


@dataclass(frozen=True, slots=True)
class Spoken:
    """Samples of the candidate alone (s16le, 16 kHz, mono), and their expected start on the run's clock."""

    path: Path
    start: float


@dataclass(frozen=True, slots=True)
class Assembled:
    """The finished files, the length of the joined timeline in seconds, and the place of each run on it."""

    audio: Path | None
    video: Path | None
    duration: float
    runs: list[PlacedRun] = field(default_factory=list)


def measure(runs: Sequence[RunFile], *, limits: Limits | None = None) -> list[PlacedRun]:
    """Place of each run on the joined timeline. Reads only the containers, so half an hour takes under a second."""
    answer = _in_sandbox({"work": "measure", "runs": _named(runs)}, limits)
    return [PlacedRun(**run) for run in answer["runs"]]


def assemble(
    runs: Sequence[RunFile],
    *,
    directory: Path,
    want_audio: bool = True,
    want_video: bool = False,
    limits: Limits | None = None,
) -> Assembled:
    """Join the runs into one .m4a (AAC) and, with ``want_video`` and a picture, one .mp4 (H.264 and AAC).

    Both start with their index and have a duration; the time between runs is cut out. GatewayError(retryable=False)
    when nothing is playable, a run is not WebM or MP4, or a limit was reached.
    """
    audio, video = directory / "audio.m4a", directory / "video.mp4"
    answer = _in_sandbox(
        {
            "work": "assemble",
            "runs": _named(runs),
            "audio": str(audio) if want_audio else None,
            "video": str(video) if want_video else None,
        },
        limits,
    )
    return Assembled(
        audio=audio if answer["audio"] else None,
        video=video if answer["video"] else None,
        duration=answer["duration"],
        runs=[PlacedRun(**run) for run in answer["runs"]],
    )


def copy_sound(runs: Sequence[RunFile], *, directory: Path, limits: Limits | None = None) -> Assembled:
    """Copy the coded sound of all runs into one indexed MP4 without decoding: a second for half an hour.

    Browsers record Opus, which not every player supports in an MP4, so ``assemble`` replaces this file. ``audio`` is
    None when the runs' codecs differ.
    """
    target = directory / "copied.mp4"
    answer = _in_sandbox({"work": "copy", "runs": _named(runs), "audio": str(target)}, limits)
    runs_there = [PlacedRun(**run) for run in answer["runs"]]
    return Assembled(
        audio=target if answer["audio"] else None, video=None, duration=answer["duration"], runs=runs_there
    )


def place(run: RunFile, spoken: Sequence[Spoken], *, limits: Limits | None = None) -> list[float | None]:
    """How many seconds later than expected each piece of speech lies in the recording; None when not found.

    Uses cross-correlation with the recording, because the clocks of a browser are unreliable.
    """
    pieces = [{"path": str(piece.path), "start": piece.start} for piece in spoken]
    answer = _in_sandbox({"work": "place", "runs": _named([run]), "spoken": pieces}, limits)
    return [None if shift is None else float(shift) for shift in answer["shifts"]]


def peaks(path: Path, *, seconds: float, count: int, limits: Limits | None = None) -> bytes:
    """Loudness of a published file in ``count`` bars of 0 to 255 from beginning to end; empty without sound."""
    file = RunFile(number=1, path=path)
    return bytes(
        _in_sandbox({"work": "peaks", "runs": _named([file]), "seconds": seconds, "count": count}, limits)["peaks"]
    )


def is_cut_off() -> bool:
    """Whether the decoding process of this machine gives up the network; the kernel or a container may forbid that."""
    return bool(_in_sandbox({"work": "confine"}, None)["is_cut_off"])


def _named(runs: Sequence[RunFile]) -> list[dict[str, Any]]:
    return [{"number": run.number, "path": str(run.path)} for run in runs]


def _in_sandbox(order: Mapping[str, Any], limits: Limits | None) -> dict[str, Any]:
    used = limits or Limits()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "app.interviews.recordings.video.child"],
            input=json.dumps({**order, "limits": asdict(used)}).encode(),
            cwd=_ROOT,
            env=_ENVIRONMENT,
            capture_output=True,
            timeout=used.wall_seconds,
            start_new_session=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GatewayError("decoding the recording took too long", retryable=False) from None
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise GatewayError(
            f"decoding the recording exceeded its limits (status {done.returncode})", retryable=False
        ) from None
    if "error" in answer:
        raise GatewayError(str(answer["error"]), retryable=bool(answer["retryable"]))
    return answer
