"""Keeps child processes alive: forks them, restarts dead ones with growing pauses, and ends all of them together.

Children are forked from the main thread of a process without other threads. They end when it does, however it ends.
"""

import gc
import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from types import FrameType

from app.gateways.redis.embedded import ends_with_parent

log = logging.getLogger(__name__)

_fork = multiprocessing.get_context("fork")

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 5.0
HEALTHY_AFTER = 10.0


@dataclass
class _Member:
    name: str
    work: Callable[[], None]
    process: BaseProcess | None = None
    born: float = 0.0
    pause: float = FIRST_PAUSE
    due: float = 0.0
    is_passing: bool = False


class Family:
    """Runs ``works`` (name to function) in one process each until SIGTERM, SIGINT or ``stop``.

    ``patience`` is the number of seconds that a child has to end by itself before it is killed.
    """

    def __init__(self, works: Mapping[str, Callable[[], None]], *, patience: float = 20.0) -> None:
        self._members = [_Member(name, work) for name, work in works.items()]
        self._patience = patience
        self._stopping = False

    def once(self, name: str, work: Callable[[], None]) -> None:
        """Also run ``work`` in a process that is not started again when it ends. Called before ``run``."""
        self._members.append(_Member(name, work, is_passing=True))

    def run(self, *, every_second: Callable[[], None] | None = None) -> None:
        """Run until all have ended. ``every_second`` is called about that often in this thread, the main one."""
        before = {number: signal.signal(number, self._on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
        gc.freeze()  # or a collection in a child writes to, and so copies, every page that it shares
        try:
            while not self._stopping:
                self._start_due()
                wait([member.process.sentinel for member in self._members if member.process], timeout=self._nap())
                self._bury_dead()
                if every_second is not None and not self._stopping:
                    every_second()
        finally:
            self._end_all()
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop(self) -> None:
        """Make ``run`` end; may be called from ``every_second``."""
        self._stopping = True

    def pids(self) -> dict[str, int]:
        """Process ids of the living children."""
        return {m.name: m.process.pid for m in self._members if m.process is not None and m.process.pid is not None}

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self._stopping:  # a second signal: wait no longer
            self._patience = 0.0
        self._stopping = True

    def _nap(self) -> float:
        waiting = [member.due - time.monotonic() for member in self._members if member.process is None]
        return max(0.02, min([1.0, *waiting]))

    def _start_due(self) -> None:
        for member in self._members:
            if member.process is None and member.due <= time.monotonic():
                self._start(member)

    def _start(self, member: _Member) -> None:
        sys.stdout.flush()
        member.process = _fork.Process(
            target=_live, args=(member.work, ends_with_parent()), name=f"parley-{member.name}"
        )
        member.process.start()
        member.born = time.monotonic()

    def _bury_dead(self) -> None:
        for member in list(self._members):
            if member.process is None or member.process.is_alive():
                continue
            if member.is_passing:
                if member.process.exitcode and not self._stopping:
                    log.warning("%s ended with %s", member.name, member.process.exitcode)
                member.process.close()
                self._members.remove(member)
                continue
            lived = time.monotonic() - member.born
            clean = member.process.exitcode == 0
            member.pause = FIRST_PAUSE if clean or lived > HEALTHY_AFTER else min(member.pause * 2, LONGEST_PAUSE)
            member.due = time.monotonic() + (0.0 if clean and lived > HEALTHY_AFTER else member.pause)
            if not self._stopping and not clean:
                log.warning("%s ended with %s; restarting it", member.name, member.process.exitcode)
            member.process.close()
            member.process = None

    def _end_all(self) -> None:
        living = [member.process for member in self._members if member.process is not None]
        for process in living:
            if process.is_alive():
                process.terminate()
        until = time.monotonic() + self._patience
        while any(process.is_alive() for process in living) and time.monotonic() < until and self._patience:
            wait([process.sentinel for process in living if process.is_alive()], timeout=0.2)
            until = min(until, time.monotonic() + self._patience)
        for process in living:
            _kill_group(process)
            process.join()


def _live(work: Callable[[], None], hold_on: Callable[[], None] | None) -> None:
    """Run a child: in its own session, with default signals, and until its parent ends."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    if hold_on is not None:
        hold_on()
    work()


def _kill_group(process: BaseProcess) -> None:
    """Kill a child that did not end in time, and every process of its session."""
    if process.pid is not None and process.is_alive():
        log.warning("%s did not stop in time and was killed", process.name)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
