"""``parley up``: one command, everything, and nothing left behind."""

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.faults.processes import descendants, is_running

from .conftest import until

pytestmark = pytest.mark.platform


def is_ready(program) -> bool:
    return "Parley is ready" in program.output.read_text()


def test_it_comes_up_says_where_it_is_and_leaves_nothing_behind(start):
    program = start("app.operations.cli", "up")
    until(lambda: is_ready(program), 60)
    assert program.get("/healthz")
    said = program.output.read_text()
    order = ["Preparing the database", "Starting the embedded Redis", "works once", "Parley is ready"]
    places = [said.find(words) for words in order]
    assert -1 not in places
    assert places == sorted(places)
    assert f"Parley is ready: http://127.0.0.1:{program.port}" in said
    family = descendants(program.process.pid)
    assert len(family) >= 8
    began = time.monotonic()
    assert program.end(signal.SIGINT) == 0
    assert time.monotonic() - began < 30
    assert not any(is_running(pid) for pid in family)
    assert "Stopped." in program.output.read_text()


def test_a_killed_web_server_comes_back(start):
    program = start("app.operations.cli", "up")
    until(lambda: is_ready(program), 60)
    web = min(pid for pid in descendants(program.process.pid) if is_listening(pid, program.port))
    os.kill(web, signal.SIGKILL)

    def answers() -> bool:
        try:
            return bool(program.get("/healthz", timeout=1)) and not is_running(web)
        except OSError:
            return False

    until(answers, 60)
    assert program.end(signal.SIGTERM) == 0


def test_a_port_in_use_stops_it_before_anything_starts(start, free_port):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free_port))
        taken.listen()
        program = start("app.operations.cli", "up", PORT=str(free_port))
        assert program.process.wait(60) != 0
    assert f"Port {free_port} on 127.0.0.1 is in use" in program.output.read_text()
    assert f"PORT={free_port + 1}" in program.output.read_text()
    assert not (program.data_dir / "redis").exists()


def is_listening(pid: int, port: int) -> bool:
    """Whether the process holds the listening socket of the port."""
    inodes = {
        line.split()[9]
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
        if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"
    }
    try:
        links = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return False
    return any(link == f"socket:[{inode}]" for link in links for inode in inodes)
