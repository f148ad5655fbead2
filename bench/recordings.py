"""How long recordings take from chunks to files: measured on generated recordings, as multiples of real time.

Usage: ``python bench/recordings.py [MINUTES]`` (default 5). Prints seconds for the timeline, the quick file, the
final audio, and a minute of VP8 and H.264 video at 640 by 480. Then it prints the cost of storing one chunk durably.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.gateways.storage import LocalStorage
from app.interviews.recordings import video
from tests.recordings import recorder

CHUNKS = 200


def main() -> None:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sound = recorder.sound(minutes * 60, [1.0])
        run = [video.RunFile(1, recorder.record(folder / "a.webm", sound))]
        print(f"{minutes:g} minutes of sound")
        shown("timeline", minutes * 60, lambda: video.measure(run))
        shown("quick audio", minutes * 60, lambda: video.copy_sound(run, directory=folder))
        shown("lasting audio", minutes * 60, lambda: video.assemble(run, directory=folder))
        for codec in ("libvpx", "libx264"):
            path = recorder.record(
                folder / f"{codec}.bin", sound[: 60 * recorder.RATE], video=codec, size=(640, 480), container="matroska"
            )
            seen = [video.RunFile(1, path)]
            shown(
                f"video {codec}",
                min(60, minutes * 60),
                lambda seen=seen: video.assemble(seen, directory=folder, want_audio=False, want_video=True),
            )
        chunks(LocalStorage(folder / "files"))


def shown(what: str, seconds: float, work: Callable[[], object]) -> None:
    began = time.perf_counter()
    work()
    took = time.perf_counter() - began
    print(f"  {what:16} {took:7.2f} s  {seconds / took:7.0f} x real time", flush=True)


def chunks(storage: LocalStorage) -> None:
    """Median and worst milliseconds of a durable put of 60 kB."""
    times = []
    for number in range(CHUNKS):
        content = os.urandom(60_000)
        began = time.perf_counter()
        storage.put(f"bench/{number}", content)
        times.append((time.perf_counter() - began) * 1000)
    print(f"  durable chunk    median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms of {CHUNKS}")


if __name__ == "__main__":
    main()
