"""Starts the processes as an operator would: as programs with an environment, a port and a directory of their own."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests import leftovers
from tests.faults.processes import descendants, is_running

ROOT = Path(__file__).resolve().parents[2]


def until(condition, seconds: float = 30):
    """Wait for what must come true; the limit is there to fail, not to decide."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


class Program:
    """One running process with its own data directory."""

    def __init__(self, what: list[str], data_dir: Path, port: int, **environment: str) -> None:
        self.data_dir, self.port = data_dir, port
        self.output = data_dir.parent / f"{what[-1]}.log"
        given = {
            "PATH": os.environ["PATH"],
            leftovers.MARK: os.environ[leftovers.MARK],
            "DATA_DIR": str(data_dir),
            "PORT": str(port),
            "SWEEP_SECONDS": "0.5",
            "MODELS": "off",
        }
        command = [sys.executable, "-m", *what]
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env={**given, **environment}, stdout=output, stderr=subprocess.STDOUT
            )

    def get(self, path: str, *, timeout: float = 10) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=timeout) as answer:
            return answer.read()

    def is_up(self) -> bool:
        try:
            return self.get("/healthz", timeout=1) == b"ok"
        except OSError:
            return False

    def notes(self, word: str | None = None) -> list[dict]:
        path = self.data_dir / "notes"
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [line for line in lines if word is None or line["word"] == word]

    def end(self, number: int = 15, patience: float = 30) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(patience)


class Starter:
    """Starts programs, and sees that all of them, and all they started, are gone in the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[Program] = []

    def __call__(self, *what: str, **environment: str) -> Program:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        data_dir = self._folder / "data"
        data_dir.mkdir(exist_ok=True)
        self._started.append(Program(list(what), data_dir, port, **environment))
        return self._started[-1]

    def end_all(self) -> None:
        for program in self._started:
            family = descendants(program.process.pid)
            if program.process.poll() is None:
                program.process.kill()
                program.process.wait()
            until(lambda family=family: not any(is_running(pid) for pid in family), 40)


@pytest.fixture
def start(tmp_path):
    """``start("tests.processes.small", "web")``: everything that was started ends with the test."""
    starter = Starter(tmp_path)
    yield starter
    starter.end_all()


@pytest.fixture(scope="module")
def start_once(tmp_path_factory):
    """The same for programs that the tests of one file share."""
    starter = Starter(tmp_path_factory.mktemp("shared"))
    yield starter
    starter.end_all()
