"""Probes a video in a separate process: run as a script that limits itself, with the file as standard input.

Usage: ``python -I probe.py mov|matroska < file``. Prints one line of JSON and exits 0, or exits 1 on anything else. The
demuxer is forced and the file comes as an open descriptor, so nothing in it can make FFmpeg open another one.
"""

import json
import resource
import sys

MEMORY_BYTES = 2 * 1024**3
CPU_SECONDS = 10


def limit_myself() -> None:
    """Limit CPU time and memory, and forbid writing files."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def look(demuxer: str) -> dict[str, object]:
    """Format and size of the first frame. A file without a frame that decodes is not a video: raises."""
    import av

    with av.open(sys.stdin.buffer, mode="r", format=demuxer) as container:
        if not container.streams.video:
            raise ValueError("no video track")
        stream = container.streams.video[0]
        stream.thread_type = "NONE"
        picture = next(container.decode(stream))
        return {"format": container.format.name, "width": picture.width, "height": picture.height}


def main(demuxer: str) -> int:
    """Returns the exit status. The reason of a failure is not printed, because it may quote the file."""
    limit_myself()
    try:
        print(json.dumps(look(demuxer)))  # noqa: T201 - the one line that the parent reads
    except Exception:  # noqa: BLE001 - a hostile file may fail in any way
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
