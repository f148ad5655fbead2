"""What the worker of a queue does while Redis takes nothing: it finds its due work in the rows, as the sweep would.

Claims decide who does what, so any number of workers on any number of hosts may do this at once.
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
"""Seconds between two looks whether Redis is back."""

Finder = Callable[[Queued], Sequence[tuple[Job, tuple[str, ...]]]]


def work_from_rows(app: Flask, redis: Redis, queue: Queued, *, pause: float, find: Finder = due) -> None:
    """Run what is due in ``queue``, with a look at the rows every ``pause`` seconds, until Redis is back or SIGTERM."""
    until = _Until(redis)
    while not until.is_over():
        for job, ids in _found(app, queue, find):
            if until.is_over():
                return
            run(app, job, ids)
        until.wait(pause)


def _found(app: Flask, queue: Queued, find: Finder) -> list[tuple[Job, tuple[str, ...]]]:
    """By chance in what order: workers then rarely meet, and one that kills its worker does not hold up the others."""
    try:
        with app.app_context(), row_security.everyone():
            found = list(find(queue))
    except Exception as error:  # noqa: BLE001 - told with its place; the text could quote a person
        log.error("%s: due work not found: %s at %s", queue, type(error).__name__, place_of(error))  # noqa: TRY400
        return []
    random.shuffle(found)
    return found


class _Until:
    """Whether to go on: not after SIGTERM or SIGINT, which let the running job finish, and not with Redis back."""

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
