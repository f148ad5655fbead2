"""What slow clients do to others: hundreds of connections that drip, next to the time of a ``GET /v1/ping``.

    python bench/slow_clients.py [--quick] [--connections 600] [--pings 400]

One unchanged ``parley web``. First no client is slow, which is the floor. Then many connections of one kind are slow: a
request head that arrives at a byte a second, a body that does, and a response of 1.8 MB (twenty long results) of which
1 kB a second is read. Meanwhile, pings on fresh connections, one after the other. Goal: the p99 below 250 ms with 600 of
any kind. ``--quick``: 100 connections. How waitress compares with granian: ``bench/web_servers.py``.

SQLite; PostgreSQL as well if BENCH_POSTGRES_URL names a server. Last figures: docs/figures/scale.md.
"""

import argparse
import resource
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import _ground as ground
import sqlalchemy as sa
from interviews import QUESTIONS, seed_results
from v1 import fill

from app.core.db import db
from app.interviews.models import Interview

GOAL = 250.0
HEAD = b"POST /v1/interviews HTTP/1.1\r\nHost: x\r\n"
KINDS = ("none", "head", "body", "answer")


@contextmanager
def slow(kind: str, port: int, key: str, count: int) -> Iterator[None]:
    """``count`` connections, each of which moves a little every second; all must be alive at the end."""
    ends: list[socket.socket] = []
    over = threading.Event()
    for _ in range(0 if kind == "none" else count):
        end = socket.socket()
        if kind == "answer":
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        end.connect(("127.0.0.1", port))
        bearer = f"Authorization: Bearer {key}\r\n".encode()
        end.sendall(
            {
                "head": HEAD + b"X-Slow: ",
                "body": HEAD + bearer + b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
                "answer": b"GET /v1/interviews?limit=20&transcript=full HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n"
                + bearer
                + b"\r\n",
            }[kind]
        )
        end.settimeout(0.01)
        ends.append(end)

    def drip() -> None:
        while not over.wait(1):
            for end in ends:
                with suppress(TimeoutError, OSError):
                    end.recv(1_000) if kind == "answer" else end.sendall(b"x")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        dead = sum(_is_dead(end, kind) for end in ends)
        for end in ends:
            end.close()
    if dead:
        raise SystemExit(f"{dead} of {len(ends)} slow connections had been closed: nothing was shown")


def _is_dead(end: socket.socket, kind: str) -> bool:
    try:
        return end.recv(1) == b"" or kind != "answer"  # to a request that is not whole there is no answer
    except TimeoutError:
        return False
    except OSError:
        return True


def pings(port: int, key: str, count: int) -> list[float]:
    """Milliseconds of each; every one must be answered."""
    times = []
    for _ in range(count):
        request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/ping", headers={"Authorization": f"Bearer {key}"})
        began = time.perf_counter()
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()
        times.append((time.perf_counter() - began) * 1000)
        time.sleep(0.01)
    return times


def measure(kind: str, given: argparse.Namespace) -> bool:
    """One database; whether the goal is kept."""
    with ground.database(kind) as url, ground.folder() as directory:
        port = ground.free_port()
        env = ground.env_for(url, directory, PORT=str(port), APP_URL=f"http://127.0.0.1:{port}")
        with ground.application(env):
            owner = ground.customer(QUESTIONS)
            fill(owner, 20)
            db.session.execute(sa.update(Interview).values(status="completed", stage="completed"))
            seed_results(owner.organization, interviews=20)
            key = owner.key
        floor, kept = 0.0, True
        for who in KINDS:
            with ground.serving(ground.parley("web"), port, env=env) as pid:
                pings(port, key, 20)
                before = ground.memory_of(pid)
                with slow(who, port, key, given.connections):
                    time.sleep(2)
                    times, grown = pings(port, key, given.pings), ground.memory_of(pid) - before
            middle, p99 = float(ground.percentile(times, 50)), float(ground.percentile(times, 99))
            floor, kept = floor or p99, kept and p99 < GOAL
            print(
                f"  {kind}, slow: {who:7} ping median {middle:6.1f}, p99 {p99:6.1f}, worst {max(times):6.1f} ms; p99 {p99 / floor:4.1f} x floor; "
                f"the process grew by {grown:.0f} MB",
                flush=True,
            )
    return kept


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="100 connections, 100 pings")
    options.add_argument("--connections", type=int, default=600)
    options.add_argument("--pings", type=int, default=400)
    given = options.parse_args()
    if given.quick:
        given.connections, given.pings = 100, 100
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    print(f"{ground.machine()}; {given.connections} slow connections of one kind, {given.pings} pings")
    kept = [measure(kind, given) for kind in ground.KINDS]
    print(f"goal, p99 below {GOAL:.0f} ms: {'reached' if all(kept) else 'MISSED'}")


if __name__ == "__main__":
    main()
