"""Keep-alive clients that send requests to a server on this machine as fast as it responds."""

import http.client
import json
import statistics
import threading
import time
from typing import Any, NamedTuple

import _ground as ground


class Asked(NamedTuple):
    """One request to make; a ``body`` goes as JSON."""

    path: str
    method: str = "GET"
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()


class Took(NamedTuple):
    """The cost of a run: requests a second, the server's CPU ms each, median and p99 ms."""

    rate: float
    cpu: float
    median: float
    p99: float


def load(port: int, pid: int, asked: list[Asked], headers: dict[str, str], *, clients: int = 4) -> Took:
    """All of them, dealt out among the clients. Ends the run when one is not answered 200."""
    left, lock = iter(asked), threading.Lock()
    times: list[float] = []
    failed: list[str] = []

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while True:
            with lock:
                one = next(left, None)
            if one is None or failed:
                return
            body = None if one.body is None else json.dumps(one.body)
            kind = {} if body is None else {"Content-Type": "application/json"}
            began = time.perf_counter()
            connection.request(one.method, one.path, body=body, headers={**headers, **kind, **dict(one.headers)})
            answer = connection.getresponse()
            content = answer.read()
            times.append(time.perf_counter() - began)
            if answer.status != 200:
                failed.append(f"{one.method} {one.path} was answered {answer.status}: {content[:200]!r}")

    before, began = ground.cpu_of(pid), time.perf_counter()
    workers = [threading.Thread(target=client) for _ in range(min(clients, len(asked)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds, used = time.perf_counter() - began, ground.cpu_of(pid) - before
    if failed:
        raise SystemExit(failed[0])
    middle, late = statistics.median(times) * 1000, float(ground.percentile(times, 99)) * 1000
    return Took(len(asked) / seconds, used / len(asked) * 1000, middle, late)


def in_turns(
    port: int, pid: int, kinds: dict[str, tuple[list[Asked], dict[str, str]]], *, turns: int = 10
) -> dict[str, Took]:
    """Several turns of each kind: rate and times by their median, CPU by its mean, since the kernel counts it in steps
    of 10 ms. The kinds alternate, so that other work on the machine slows all alike. The first turn is for warming up.
    """
    found: dict[str, list[Took]] = {name: [] for name in kinds}
    for turn in range(turns + 1):
        for name, (asked, headers) in kinds.items():
            found[name].append(load(port, pid, asked[turn :: turns + 1], headers))
    return {name: _together(taken[1:]) for name, taken in found.items()}


def _together(taken: list[Took]) -> Took:
    rate, _cpu, median, p99 = (statistics.median(column) for column in zip(*taken, strict=True))
    return Took(rate, statistics.mean(one.cpu for one in taken), median, p99)
