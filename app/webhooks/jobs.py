"""The job ``drain``: sends what is due, many at once, until nothing is left.

Sends run as tasks of one event loop. One thread beside it uses the database in short transactions: each step writes the
outcomes that have arrived and claims the next deliveries, in one commit. No transaction is open during a send.
"""

import asyncio
import logging
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from flask import Flask, current_app
from sqlalchemy.exc import OperationalError

from app import gateways
from app.core import clock, counters, queue
from app.core.db import db, reading, row_security
from app.webhooks import DRAIN_WEBHOOKS, actions, delivery, queries
from app.webhooks.actions import Turn, upkeep
from app.webhooks.actions.results import Result

if TYPE_CHECKING:
    from app.gateways.outbound import Outbound

log = logging.getLogger(__name__)

IN_FLIGHT = 500
"""Most concurrent sends of one process."""
SLICE_SECONDS = 30.0
"""After this time a drain ends and enqueues the next one, so that a worker can be stopped between two."""
LONGEST_SECONDS = 600.0
"""A drain waits this much longer for receivers that hang, and serves the others meanwhile."""
LONG_SEND = 1.0
POLL_SECONDS = 0.2
"""How often to look for new events while sends are under way."""
TRIES = 5
PRUNED_EVERY = timedelta(minutes=10)
SWITCH_SECONDS = 0.0005
"""Interpreter switch interval during a drain. With Python's default of 5 ms the database thread waited for the sending
thread after every statement, and held SQLite's only write lock far longer than its work took."""

Found = TypeVar("Found")


def drain(seconds: float = SLICE_SECONDS) -> int:
    """Claim and send what is due until nothing is left, or for ``seconds``. Returns how many attempts were made.

    Any number of drains may run at once, in any process: the claims decide which of them sends what.
    """
    application: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - for the thread
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        return asyncio.run(_Drain(application, gateways.current().http, seconds=seconds).run())
    finally:
        sys.setswitchinterval(usual)


def overdue() -> list[tuple[str, ...]]:
    """One run without ids if ``drain`` has anything to do, otherwise none."""
    return [()] if queries.overdue() else []


def tick() -> None:
    """Enqueue ``drain`` if anything is due. Called by the worker's tick, so that a lost wake-up costs only seconds."""
    queue.enqueue_overdue(DRAIN_WEBHOOKS)


def prune() -> int:
    """Delete what is stored for a limited time. Called by the worker's tick; works at most every ten minutes.

    Returns how many rows changed. Where there are more than one call deletes, the next tick continues.
    """
    worker, now = current_app.extensions.setdefault("parley.webhooks.pruned", {}), clock.now()
    if worker.get("at", now - PRUNED_EVERY) > now - PRUNED_EVERY:
        return 0
    pruned = actions.prune()
    db.session.commit()
    if pruned < upkeep.AT_ONCE:
        worker["at"] = now
    return pruned


class _Drain:
    """One run: the sending tasks, the outcomes still to be written, and the thread that uses the database."""

    def __init__(self, application: Flask, http: "Outbound", *, seconds: float) -> None:
        self._application = application
        self._counters = counters.current()
        self._http = http
        self._leave_at = time.monotonic() + seconds
        self._sending: dict[asyncio.Task[None], float] = {}
        self._outcomes: list[Result] = []
        self._news = asyncio.Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="drain")

    async def run(self) -> int:
        try:
            await self._database(_tidy)
            attempts = await self._send_all()
        finally:
            for task in self._sending:
                task.cancel()
            self._thread.shutdown()
        return attempts

    async def _send_all(self) -> int:
        """Alternate between a database step and waiting for news, until nothing is due and no send is under way."""
        attempts = 0
        while True:
            # Sends that finish during the step append to the new list, so every outcome is recorded exactly once.
            outcomes, self._outcomes = self._outcomes, []
            slots, leaving = self._slots(), time.monotonic() >= self._leave_at
            turns = await self._database(lambda: _step(outcomes, slots, wary=leaving))  # noqa: B023 - awaited here
            attempts += len(turns)
            for turn in turns:
                task = asyncio.create_task(self._send(turn))
                self._sending[task] = time.monotonic()
                task.add_done_callback(self._sending.pop)
            if not self._sending and not self._outcomes and not turns:
                break
            # Nothing awaits between clear and the check, so an outcome either shows in the list or sets the event.
            # The time-out looks for events that were announced meanwhile, while slow receivers keep this run busy.
            self._news.clear()
            if not self._outcomes:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), POLL_SECONDS)
        # Out of time rather than out of work: the next drain continues.
        if time.monotonic() >= self._leave_at:
            await self._database(_enqueue_if_due)
        return attempts

    def _slots(self) -> int:
        """How many deliveries to claim. After the time is up: none, unless a hanging send keeps this run alive."""
        now = time.monotonic()
        if now >= self._leave_at:
            hangs = any(now - began > LONG_SEND for began in self._sending.values())
            if not hangs or now >= self._leave_at + LONGEST_SECONDS:
                return 0
        return IN_FLIGHT - len(self._sending)

    async def _send(self, turn: Turn) -> None:
        outcome = await delivery.attempt(turn.message, http=self._http)
        self._counters.time("webhook", _word_for(outcome), seconds=outcome.seconds)
        _tell_log(turn, outcome)
        self._outcomes.append((turn, outcome))
        self._news.set()

    async def _database(self, work: Callable[[], Found]) -> Found:
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, row_security.as_chosen(self._in_context), work
        )

    def _in_context(self, work: Callable[[], Found]) -> Found:
        for tried in range(TRIES):
            try:
                with self._application.app_context():
                    return work()
            except OperationalError as error:
                # A long lock, a deadlock or a database restart. The claims stay valid meanwhile.
                log.warning("webhooks: the database did not respond: %s", type(error.orig).__name__)
                time.sleep(0.2 * 2**tried)
        with self._application.app_context():
            return work()


def _tell_log(turn: Turn, outcome: delivery.Outcome) -> None:
    """Log under the id of the request or job that caused the event, not of the job that sends it."""
    fields = {
        "event_id": turn.message.event_id,
        "delivery": turn.delivery_id,
        "attempt": turn.attempts + 1,
        "outcome": _word_for(outcome),
        "status": outcome.status or 0,
        "ms": round(outcome.seconds * 1000),
    }
    request = {"request_id": turn.request_id} if turn.request_id else {}
    log.info("webhook %s of delivery %s, attempt %d: %s %d, %d ms", *fields.values(), extra=fields | request)


def _word_for(outcome: delivery.Outcome) -> str:
    return "delivered" if outcome.delivered else outcome.error or "withheld"


def _tidy() -> None:
    actions.tidy()
    db.session.commit()


def _step(outcomes: list[Result], slots: int, *, wary: bool) -> list[Turn]:
    """Write outcomes and claim what is due, in one transaction. A writing one starts only if there is work."""
    if not outcomes and not _is_due():
        return []
    if outcomes:
        actions.record(outcomes)
    turns = actions.take(slots, wary=wary) if slots > 0 else []
    db.session.commit()
    return turns


def _is_due() -> bool:
    with reading():
        due = queries.sendable(queries.present())
        db.session.rollback()
    return due


def _enqueue_if_due() -> None:
    if _is_due():
        queue.enqueue_now(DRAIN_WEBHOOKS)
