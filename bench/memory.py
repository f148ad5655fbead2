"""Memory of a whole `parley up` with speech models: at rest once they are loaded, and at its most while people talk.

    MODELS_DIR=/srv/models .venv/bin/python bench/memory.py [--talks 4] [--port 18400]

The sum of the proportional set sizes (PSS) of all its processes, so that shared pages count once. The talks are those
of `parley demo`, whose candidate speaks with the first voice of TTS_PROVIDER; they send their sound faster than people
speak, so the engines are never idle. The processes of the candidates do not count.
"""

import argparse
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from _ground import ROOT, family, folder, machine, serving

PARLEY = [sys.executable, "-m", "app.operations.cli"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--talks", type=int, default=4)
    parser.add_argument("--port", type=int, default=18_400)
    options = parser.parse_args()
    print(machine())
    with folder() as place:
        settings = {"DATA_DIR": str(place / "data"), "PORT": str(options.port), "MODELS": "off"}
        with serving([*PARLEY, "up"], options.port, env=settings) as pid:
            print(f"started, no model loaded: {megabytes(pid)} MB")
            sound = str(place / "said.wav")
            for command in (("say", "I have worked in a small team for three years.", sound), ("hear", sound)):
                run(*command, env=settings).wait()
            print(f"at rest, ears and voice loaded: {megabytes(pid)} MB")
            talks, most = [run("demo", env=settings) for _ in range(options.talks)], 0
            while any(talk.poll() is None for talk in talks):
                most = max(most, megabytes(pid))
                time.sleep(0.5)
            print(f"{options.talks} talks at once, at most: {most} MB; at rest afterwards: {megabytes(pid)} MB")


def run(*command: str, env: dict[str, str]) -> "subprocess.Popen[bytes]":
    quiet = subprocess.DEVNULL
    return subprocess.Popen([*PARLEY, *command], cwd=ROOT, env={**os.environ, **env}, stdout=quiet, stderr=quiet)


def megabytes(root: int) -> int:
    """Of a process and all below it."""
    total = 0
    for pid in family(root):
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total // 1024


if __name__ == "__main__":
    main()
