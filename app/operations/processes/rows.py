"""What the worker of a queue does while Redis is down: it finds its due work in the rows, as the sweep does.

Claims decide which worker does what, so any number of workers on any number of hosts can do this at the same time.
"""

import logging
import random
import signal
import time
from collections.abc import Callable, Sequence
from types import FrameType

from flask import Flask
from redis import Redis

from app.core.db import row_security
from app.core.errors import place_of
from app.core.queue import Queued, due, refusal
from app.core.rooms import Job
from app.operations.processes.runs import run

log = logging.getLogger(__name__)

ASKED_EVERY = 1.0
"""Seconds between checks whether Redis is back."""

Finder = Callable[[Queued], Sequence[tuple[Job, tuple[str, ...]]]]


def work_from_rows(app: Flask, redis: Redis, queue: Queued, *, pause: float, find: Finder = due) -> None:
    """Run what is due in ``queue``, reading the rows every ``pause`` seconds, until Redis is back or SIGTERM."""
    until = _Until(redis)
    while not until.is_over():
        for job, ids in _found(app, queue, find):
            if until.is_over():
                return
            run(app, job, ids)
        until.wait(pause)


def _found(app: Flask, queue: Queued, find: Finder) -> list[tuple[Job, tuple[str, ...]]]:
    """In random order: workers then rarely collide, and a job that kills its worker does not delay the others."""
    try:
        with app.app_context(), row_security.everyone():
            runs = list(find(queue))
    except Exception as error:  # noqa: BLE001 - told with its place; the text could quote a person
        log.error("%s: due work not found: %s at %s", queue, type(error).__name__, place_of(error))  # noqa: TRY400
        return []
    random.shuffle(runs)
    return runs


class _Until:
    """Whether to continue: not after SIGTERM or SIGINT, which let the running job finish, nor once Redis is back."""

    def __init__(self, redis: Redis) -> None:
        self._redis, self._asked, self._is_over = redis, time.monotonic(), False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def is_over(self) -> bool:
        if not self._is_over and time.monotonic() >= self._asked + ASKED_EVERY:
            self._is_over = not refusal(self._redis)
            self._asked = time.monotonic()
        return self._is_over

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.is_over():
            time.sleep(0.1)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._is_over = True
