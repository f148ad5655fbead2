"""Compares waitress and granian while slow clients hold connections open, on 127.0.0.1 and within stated bounds.

Usage: ``python bench/web_servers.py``. For each server: 40 bad connections of one kind, then the time of a GET from a
fresh client. A figure of "dead" means no response within 3 s.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

CLIENTS = 40
PATIENCE = 3.0
ROUNDS = 10
THREADS = 16

APP = """
def app(environ, start_response):
    if environ["PATH_INFO"] == "/read":
        environ["wsgi.input"].read()
    body = b"x" * 20_000_000 if environ["PATH_INFO"] == "/long" else b"pong"
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
"""

SERVE = {
    "waitress": "from waitress import serve; from bad import app; "
    "serve(app, host='127.0.0.1', port={port}, threads={threads}, connection_limit=2000, asyncore_use_poll=True)",
    "granian": "from granian.server import Server; from granian.constants import Interfaces; "
    "Server('bad:app', address='127.0.0.1', port={port}, interface=Interfaces.WSGI, blocking_threads={threads}, "
    "log_enabled=False, websockets=False).serve()",
}

SLOW: dict[str, bytes] = {
    "idle": b"",
    "slow header": b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
    "slow body": b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nxxxx",
    "slow reader": b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n",
}


def main() -> None:
    print(f"{CLIENTS} bad connections, {THREADS} threads; median and worst of {ROUNDS} GETs in ms")
    print(f"{'':12}" + "".join(f"{kind:>18}" for kind in ("none", *SLOW)))
    for name in SERVE:
        with running(name) as port:
            cells = [measured(port, None), *(measured(port, kind) for kind in SLOW)]
        print(f"{name:12}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


@contextlib.contextmanager
def running(name: str) -> Iterator[int]:
    """The server as a process with its own session, so that all of it ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    folder = Path(__file__).resolve().parent / ".bad"
    folder.mkdir(exist_ok=True)
    (folder / "bad.py").write_text(APP)
    program = SERVE[name].format(port=port, threads=THREADS)
    server = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(lambda: asked(port) is not None)
        yield port
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        for leftover in (folder / "bad.py", *folder.glob("__pycache__/*"), folder / "__pycache__", folder):
            with contextlib.suppress(OSError):
                leftover.unlink() if leftover.is_file() else leftover.rmdir()


def measured(port: int, kind: str | None) -> str:
    """``1.2 / 3.4``, or how many of the rounds were not answered."""
    bad = [dial(port, SLOW[kind]) for _ in range(CLIENTS)] if kind else []
    time.sleep(0.3)
    times = [asked(port) for _ in range(ROUNDS if kind != "slow body" else 3)]
    for connection in bad:
        connection.close()
    wait_for(lambda: asked(port) is not None)
    good = sorted(took for took in times if took is not None)
    return f"{good[len(good) // 2] * 1000:.1f} / {good[-1] * 1000:.1f}" if len(good) == len(times) else "dead"


def dial(port: int, first: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    connection.sendall(first)
    return connection


def asked(port: int) -> float | None:
    """Seconds of one GET, None when it was not answered in time."""
    began = time.perf_counter()
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE) as answer:
            answer.read()
    except OSError:
        return None
    return time.perf_counter() - began


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(100):
        if condition():
            return
        time.sleep(0.1)
    raise SystemExit("the server did not come up")


if __name__ == "__main__":
    main()
