"""Breaks one installation again and again, for hours, by a seed; then heals it and checks that nothing was lost.

``python -m tests.faults.soak --hours 24``. On PostgreSQL where it is installed, else on SQLite. Prints the seed first,
a line per minute, and at the end what was done, what was acknowledged, what was lost, and how long each kind of process
took to be well again.
"""

import argparse
import hashlib
import os
import random
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress

import requests

from app.operations.demo.candidate import Refused
from tests.faults.case import Lab, NotRun, Verdict, eventually
from tests.faults.checker import check_events, wait_until_delivered
from tests.faults.installation import Installation, PostgresServer, RedisServer, Web, laboratory
from tests.faults.people import Answered, Customer, Recruiter, candidate_at, candidates_of
from tests.faults.processes import Process, children, descendants, is_running
from tests.faults.proxy import Proxy
from tests.faults.receiver import Receiver

PEOPLE = 60
GOALS = {"web": 120.0, "worker": 120.0, "one of the worker's processes": 120.0, "Redis": 60.0, "database": 10.0}
PIECE = 4_000
STILL_SECONDS = 300
"""Nobody's work may stand still for longer: then nothing was proved of it from there on."""
A_TALK = 5_000
"""Chunks of one interview before the next begins: a talk has at most 14,400."""


class Platform:
    """Everything that the nemesis may break, and how it is mended."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.redis = lab, RedisServer(lab)
        try:
            self.database: PostgresServer | None = PostgresServer(lab)
        except NotRun:
            self.database = None
        self.installation = Installation(lab, redis=self.redis, postgres=self.database, SESSION_HOURS="168")
        self.receiver = lab.resources.enter_context(Receiver(lab.directory / "journal"))
        self.proxy = lab.resources.enter_context(Proxy("127.0.0.1", self.receiver.port))
        self.web: Web = self.installation.web()
        self.worker: Process = self.installation.worker()
        self.customer = Customer(self.installation, self.web.url)
        self.flow = self.customer.flow(f"http://127.0.0.1:{self.proxy.port}/soak")
        self.people = candidates_of(self.installation, self.customer, self.flow, PEOPLE)
        self.recruiter = Recruiter(self.web.url)
        self.recruiter.sign_in()

    def serves(self) -> bool:
        return self.customer.call("GET", "/v1/interview-flows", timeout=10).status == 200

    def delivers(self) -> bool:
        """Whether something moves: an attempt that was made a moment ago."""
        before = self.receiver.written()
        return bool(eventually(lambda: self.receiver.written() > before, seconds=5))


class Load:
    """A recruiter, a customer and a candidate who go on whatever happens, and remember what was acknowledged."""

    def __init__(self, platform: Platform) -> None:
        self._on, self._stop = platform, threading.Event()
        self.bookings: list[tuple[str, Answered]] = []
        self.acked: dict[tuple[str, int], bytes] = {}
        """Interview and number of each acknowledged chunk, and the SHA-256 of what was sent."""
        self.stood_still: set[str] = set()
        self._grew: dict[str, tuple[int, float]] = {}
        self._threads = [threading.Thread(target=work) for work in (self._move, self._book, self._upload)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(120)

    def _move(self) -> None:
        while not self._stop.is_set():
            for one in self._on.people:
                self._on.recruiter.move(one, self._on.recruiter.next_status(one), timeout=15)
                if self._stop.wait(0.05):
                    return

    def _book(self) -> None:
        while not self._stop.wait(0.3):
            email = f"soak-{len(self.bookings)}@example.com"
            booked = self._on.customer.book(self._on.flow, email, Idempotency_Key=email, timeout=15)
            self.bookings.append((email, booked))

    def _upload(self) -> None:
        talks = 0
        while not self._stop.is_set():
            with suppress(requests.RequestException, Refused):  # something was broken: then another talk
                talks += 1
                self._talk(f"chunks-{talks}@example.com")
            self._stop.wait(1)

    def _talk(self, email: str) -> None:
        from tests.faults.cases_disk import put

        booked = self._on.customer.book(self._on.flow, email, timeout=15)
        if booked.status != 200:
            return
        self.bookings.append((email, booked))
        one = candidate_at(booked.body["interview_link"])
        segment = one.open_segment("audio/webm")
        random_bytes = random.Random(f"{self._on.lab.seed} {email}").randbytes
        for number in range(A_TALK):
            content = random_bytes(PIECE)
            while not self._stop.wait(0.1):
                status = put(one, segment, number, content)
                if status == 200:
                    self.acked[booked.body["interview_id"], number] = hashlib.sha256(content).digest()
                    break
                if 400 <= status < 500:
                    return

    def look(self) -> None:
        """Note whose work stands still."""
        now = time.monotonic()
        done = {"moves": len(self._on.recruiter.moved), "bookings": len(self.bookings), "chunks": len(self.acked)}
        for what, count in done.items():
            before, since = self._grew.setdefault(what, (count, now))
            if count > before:
                self._grew[what] = (count, now)
            elif now - since > STILL_SECONDS:
                self.stood_still.add(what)


class Nemesis:
    """Chooses by the seed what breaks next."""

    def __init__(self, platform: Platform) -> None:
        self._on, self._random = platform, platform.lab.random
        self.done: dict[str, int] = defaultdict(int)
        self.kills = 0
        self.slowest: dict[str, float] = defaultdict(float)
        self._faults: list[Callable[[], None]] = [
            self._kill_web,
            self._kill_worker,
            self._kill_child,
            self._kill_child,
            self._kill_child,
            self._kill_redis,
            self._flush,
            self._reset_receiver,
            self._refuse,
            self._lose_answers,
            self._stop_child,
        ]
        if platform.database is not None:
            self._faults += [self._kill_backend, self._kill_backend, self._kill_database]

    def strike(self) -> str:
        """One fault, and its mending."""
        fault = self._random.choice(self._faults)
        fault()
        name = fault.__name__.strip("_").replace("_", " ")
        self.done[name] += 1
        return name

    def _well_after(self, kind: str, holds: Callable[[], bool]) -> None:
        began = time.monotonic()
        well = eventually(holds, seconds=GOALS[kind] + 60, every=0.05)
        took = time.monotonic() - began if well else 9_999.0
        self.slowest[kind] = max(self.slowest[kind], took)

    def _kill_web(self) -> None:
        self.kills += self._on.web.kill()
        began = time.monotonic()
        self._on.web = self._on.installation.web()
        eventually(self._on.serves, seconds=60, every=0.05)
        self.slowest["web"] = max(self.slowest["web"], time.monotonic() - began)

    def _kill_worker(self) -> None:
        family = descendants(self._on.worker.pid)
        self.kills += self._on.worker.kill()
        eventually(lambda: not any(map(is_running, family)), seconds=10)
        self._on.worker = self._on.installation.worker()
        self._well_after("worker", self._on.delivers)

    def _kill_child(self) -> None:
        found = descendants(self._on.worker.pid)
        if not found:
            return
        with suppress(ProcessLookupError):
            os.kill(self._random.choice(sorted(found)), signal.SIGKILL)
            self.kills += 1
        self._well_after("one of the worker's processes", self._on.delivers)

    def _stop_child(self) -> None:
        found = sorted(children(self._on.worker.pid))
        if not found:
            return
        chosen = self._random.choice(found)
        with suppress(ProcessLookupError):
            os.kill(chosen, signal.SIGSTOP)
            time.sleep(self._random.uniform(1, 5))
            os.kill(chosen, signal.SIGCONT)

    def _kill_redis(self) -> None:
        self.kills += self._on.redis.process.kill()
        time.sleep(self._random.uniform(0, 3))
        self._on.redis.start()
        self._well_after("Redis", self._on.delivers)

    def _flush(self) -> None:
        with self._on.redis.client() as client:
            client.flushall()

    def _kill_backend(self) -> None:
        if self._on.database is None:
            return
        rows = self._on.installation.sql(
            "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
        )
        if rows:
            with suppress(ProcessLookupError):
                os.kill(int(self._random.choice(rows)[0]), signal.SIGTERM)
                self.kills += 1

    def _kill_database(self) -> None:
        if self._on.database is None:
            return
        old = children(self._on.database.process.pid)
        self.kills += self._on.database.process.kill()
        eventually(lambda: not any(map(is_running, old)), seconds=20)
        time.sleep(self._random.uniform(0, 3))
        self._on.database.start()
        self._well_after("database", self._on.serves)

    def _reset_receiver(self) -> None:
        self._on.proxy.reset_all()

    def _refuse(self) -> None:
        self._on.proxy.faults.refuse = True
        time.sleep(self._random.uniform(0.2, 2))
        self._on.proxy.faults.refuse = False

    def _lose_answers(self) -> None:
        self._on.proxy.lose_answer_to(b"POST /soak", nth=self._random.randint(1, 5))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--seed", type=int)
    given = parser.parse_args()
    with laboratory("soak", given.seed) as lab:
        return _run(lab, seconds=given.hours * 3600)


def _run(lab: Lab, *, seconds: float) -> int:
    platform = Platform(lab)
    load, nemesis = Load(platform), Nemesis(platform)
    until, told = time.monotonic() + seconds, time.monotonic()
    while time.monotonic() < until:
        nemesis.strike()
        load.look()
        time.sleep(lab.random.uniform(0.5, 4))
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(
                f"  {nemesis.kills} kills, {len(platform.recruiter.moved)} moves, {len(load.acked)} chunks", flush=True
            )
    load.end()
    verdict = _checked(platform, load)
    verdict.holds(not load.stood_still, f"for {STILL_SECONDS} s there were no {sorted(load.stood_still)}")
    for kind, slowest in sorted(nemesis.slowest.items()):
        verdict.holds(slowest <= GOALS[kind], f"I12 {kind} was well only after {slowest:.1f} s")
    print(f"{sum(nemesis.done.values())} faults, {nemesis.kills} kills: {dict(sorted(nemesis.done.items()))}")
    print("well again after at most: " + ", ".join(f"{k} {v:.1f} s" for k, v in sorted(nemesis.slowest.items())))
    print(verdict.figure)
    for flaw in verdict.flaws:
        print(f"FLAW: {flaw}")
    print("passed" if not verdict.flaws and nemesis.kills else "FAILED")
    return 1 if verdict.flaws or not nemesis.kills else 0


def _checked(platform: Platform, load: Load) -> Verdict:
    """Heal, wait, compare."""
    verdict, installation = Verdict(), platform.installation
    platform.proxy.lose_answer_to(b"")
    past = "update webhook_delivery set due_at = created_at where state = 'pending'"
    installation.sql(past)  # retries that are minutes away need not be waited for
    installation.sql("update webhook_endpoint set not_before = null")
    drained = wait_until_delivered(installation, seconds=180)
    arrived = check_events(verdict, installation, platform.receiver, platform.recruiter)
    events = installation.count("webhook_delivery")
    rows = {str(row[0]) for row in installation.sql("select interviewee_email_address from interview")}
    booked = [email for email, answer in load.bookings if answer.status == 200]
    lost = [email for email in booked if email not in rows]
    chunks = installation.sql("select interview_id, number, storage_key from chunk")
    kept = {(str(row[0]), int(row[1])): installation.data_dir / "files" / str(row[2]) for row in chunks}
    gone = [
        one
        for one, sha256 in load.acked.items()
        if one not in kept or hashlib.sha256(kept[one].read_bytes()).digest() != sha256
    ]
    verdict.holds(drained is not None, "I12 the backlog did not drain within 180 s")
    verdict.holds(arrived == events, f"I1 {arrived} of {events} events arrived")
    verdict.holds(not lost, f"I1 {len(lost)} acknowledged bookings are lost")
    verdict.holds(not gone, f"I6 {len(gone)} acknowledged chunks are lost")
    sends = [request.event_id for request in platform.receiver.journal()]
    verdict.figure = (
        f"{events - arrived} of {events} events, {len(lost)} of {len(booked)} bookings, {len(gone)} of"
        f" {len(load.acked)} chunks lost; {len(sends) - len(set(sends))} events came again;"
        f" drained in {drained or -1:.0f} s"
    )
    return verdict


if __name__ == "__main__":
    sys.exit(main())
