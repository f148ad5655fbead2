"""A small application and its jobs, for trying out the processes without the product; also a program (see the end)."""

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from flask import Flask, current_app

from app.core.queue import Queued
from app.core.rooms import Job
from app.operations import processes
from app.settings import Settings


def application(settings: Settings) -> Flask:
    """Answers, slowly or at length when asked to, and with the size of what it was sent."""
    app = Flask("small")
    app.config["NOTES"] = str(settings.data_dir / "notes")

    @app.get("/healthz")
    def healthz():
        return "ok"

    @app.get("/slow/<int:tenths>")
    def slow(tenths):
        time.sleep(tenths / 10)
        return "done"

    @app.get("/long")
    def long():
        return (b"x" * 65536 for _ in range(1600))

    @app.post("/size")
    def size():
        from flask import request

        return str(len(request.get_data()))

    return app


def note(word: str) -> None:
    """A job: writes down that it ran, and where."""
    with Path(current_app.config["NOTES"]).open("a") as file:
        file.write(json.dumps({"word": word, "pid": os.getpid(), "parent": os.getppid()}) + "\n")


def linger(word: str, seconds: str) -> None:
    """A job that takes its time."""
    note(f"{word} began")
    time.sleep(float(seconds))
    note(f"{word} ended")


def tick() -> None:
    """What the worker calls every SWEEP_SECONDS."""
    note("tick")


def broken_tick() -> None:
    """One that always fails."""
    raise RuntimeError("broken on purpose")


def due(queue: Queued) -> list[tuple[Job, tuple[str, ...]]]:
    """Work that stands in rows: here files whose name is the word to note, in a folder for each queue."""
    waiting = Path(current_app.config["NOTES"]).with_name("due") / queue.value
    work = Job("small.note_due", "tests.processes.small.note_due", queue.value, 60)
    return [(work, (str(path),)) for path in sorted(waiting.glob("*"))]


def note_due(path: str) -> None:
    """A job found in the rows: notes its word, and is due no more. One called "fatal" ends its process."""
    word = Path(path).name
    Path(path).unlink()
    note(word)
    if word.startswith("fatal"):
        os._exit(9)


OURS = {
    f"{module}.{name}": Job(name, f"{module}.{name}", "interviews", 60)
    for module in (__name__, "tests.processes.small")
    for name in ("note", "linger")
}


def main() -> None:
    """``python -m tests.processes.small web|worker|up``: runs one of the processes by the environment."""
    settings = Settings.from_env(os.environ)
    ticks = ("tests.processes.small.broken_tick", "tests.processes.small.tick")
    if sys.argv[1] == "web":
        processes.run_web(settings, application=application)
    elif sys.argv[1] == "worker":
        processes.run_worker(settings, application=application, ticks=ticks, jobs=OURS, find=due)
    else:
        raise SystemExit(f"no such process: {replace(settings, secret_key='')}")


if __name__ == "__main__":
    main()
