"""Two releases on one database: while one replaces the other, and while a migration dies in the middle."""

import contextlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import sqlalchemy as sa

from app.core import migrate
from tests.faults.case import Lab, NotRun, Verdict, case, eventually
from tests.faults.checker import check_events, wait_until_delivered
from tests.faults.installation import SECRET_KEY, Installation, RedisServer, Web, found, run_parley
from tests.faults.people import Answered, Customer, Recruiter, candidates_of
from tests.faults.processes import ROOT, Process, Strace, free_port, parley
from tests.faults.receiver import Receiver

WRITES = "pwrite64,fdatasync,fsync,ftruncate,unlink"


def _checkout(lab: Lab) -> Path:
    """The last release with an older schema: the code right before the newest migration."""
    try:
        newest = _git("log", "-1", "--format=%H", "--diff-filter=A", "--", "migrations/versions")
        before = _git("rev-parse", f"{newest}~1")
    except (OSError, subprocess.CalledProcessError):
        raise NotRun("there is no history of an older release here") from None
    place = lab.directory / "old"
    place.mkdir()
    packed = subprocess.run(["git", "archive", before], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(place)], input=packed, check=True)
    return place


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


class _Doors:
    """What a proxy in front does: each call goes to a process that is in service at that moment."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self._turn = 0

    def next(self) -> str:
        self._turn += 1
        return self.urls[self._turn % len(self.urls)]


class _Load(threading.Thread):
    """Books, lists, and moves candidates for as long as it is let."""

    def __init__(self, installation: Installation, doors: _Doors, flow: str, people: list[str]) -> None:
        super().__init__()
        self._doors, self._flow, self._people = doors, flow, people
        self._installation, self.over = installation, threading.Event()
        self.answers: list[Answered] = []
        self.emails: list[tuple[str, Answered]] = []
        self.recruiter = Recruiter(doors.next())
        self.recruiter.sign_in()

    def run(self) -> None:
        number = 0
        while not self.over.is_set():
            number += 1
            customer = Customer(self._installation, self._doors.next())
            email = f"f10-{number}@example.com"
            self.emails.append((email, customer.book(self._flow, email, Idempotency_Key=f"f10-{number}")))
            self.answers.append(customer.call("GET", "/v1/interviews?transcript=none"))
            self.recruiter.url = self._doors.next()
            one = self._people[number % len(self._people)]
            self.recruiter.move(one, self.recruiter.next_status(one))

    def more(self, count: int) -> None:
        """Let it go on for so many rounds."""
        enough = len(self.answers) + count
        eventually(lambda: len(self.answers) >= enough, seconds=60)


@case("F10", "rolling restart, old and new code on one schema", invariants="I1-I4")
def rolling_restart(lab: Lab) -> Verdict:
    verdict, old = Verdict(), _checkout(lab)
    data = lab.directory / "template-old"
    data.mkdir()
    env = {"DATA_DIR": str(data), "SECRET_KEY": SECRET_KEY}
    found(env, data, cwd=old)
    installation = Installation(lab, redis=RedisServer(lab), template=data)
    first = Web(lab, installation.env, port=installation.port, cwd=old)
    worker = Process(lab, parley("worker", cwd=old), env=installation.env, name="worker-old", cwd=old)
    doors = _Doors()
    doors.urls = [first.url]
    customer = Customer(installation, first.url)
    before = _revision(installation)
    with Receiver(lab.directory / "journal") as receiver:
        flow = customer.flow(receiver.url())
        load = _Load(installation, doors, flow, candidates_of(installation, customer, flow, 3))
        load.start()
        load.more(5)
        run_parley("migrate", env=installation.env)
        load.more(8)
        migrated = len(load.answers)
        second = installation.web(port=free_port())
        doors.urls = [first.url, second.url]
        newer = installation.worker()
        load.more(12)
        doors.urls = [second.url]
        time.sleep(1)
        statuses = [first.stop(), worker.stop()]
        load.more(8)
        load.over.set()
        load.join(60)
        wait_until_delivered(installation, seconds=60)
        check_events(verdict, installation, receiver, load.recruiter)
        newer.stop()
    seen = [answer for _email, answer in load.emails] + load.answers
    bad = [answer.status for answer in seen if answer.status != 200]
    refused = [answer.status for answer in load.recruiter.refused]
    kept = {str(row[0]) for row in installation.sql("select interviewee_email_address from interview")}
    lost = [email for email, answer in load.emails if answer.status == 200 and email not in kept]
    after = _revision(installation)
    verdict.fired = f"schema {before} to {after} under {len(seen)} calls" if before != after and migrated else ""
    verdict.figure = f"{len(bad) + len(refused)} of {len(seen) + len(load.recruiter.moved)} calls failed"
    verdict.holds(not bad and not refused, f"answers {sorted(set(bad))}, pages {sorted(set(refused))}")
    verdict.holds(not lost, f"I1 acknowledged and lost: {lost[:5]}")
    verdict.holds(-9 not in statuses, f"the old processes did not stop: {statuses}")
    return verdict


NOBODY = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"
ENQUEUES = """
import sys
from app{core}.queue import {waker}, connect
{jobs}
waker = {waker}(connect(sys.argv[1]))
done = [waker.{enqueue}(job, () if name.endswith(("drain", "sweep")) else (sys.argv[2],)) for name, job in jobs.items()]
print(sum(done))
"""
BEFORE = ENQUEUES.format(
    core="",
    waker="RedisBell",
    enqueue="ring",
    jobs="from app.queue import Job; jobs = {job.value.path: job for job in Job}",
)
NOW = ENQUEUES.format(
    core=".core", waker="RedisWaker", enqueue="enqueue", jobs="from app.core.rooms import jobs; jobs = jobs()"
)


@case("F53", "jobs of the release before in a new worker, and of this one in an old worker", invariants="I12")
def jobs_of_two_releases(lab: Lab) -> Verdict:
    verdict, old = Verdict(), _checkout(lab)
    data = lab.directory / "template-old"
    data.mkdir()
    found({"DATA_DIR": str(data), "SECRET_KEY": SECRET_KEY}, data, cwd=old)
    installation = Installation(lab, redis=RedisServer(lab), template=data)
    run_parley("migrate", env=installation.env)
    to_new = _handed_over(installation, lab, enqueues=BEFORE, enqueued_by=old, run_by=ROOT)
    to_old = _handed_over(installation, lab, enqueues=NOW, enqueued_by=ROOT, run_by=old)
    verdict.fired = f"{to_new.enqueued} jobs of before, {to_old.enqueued} of now"
    verdict.figure = (
        f"run: {to_new.run} by the new worker, {to_old.run} by the old one; {to_new.unknown + to_old.unknown} unknown"
    )
    for way, name in ((to_new, "before"), (to_old, "now")):
        verdict.holds(way.enqueued == way.run > 0, f"I12 of {way.enqueued} jobs of {name} {way.run} were run")
        verdict.holds(not way.unknown, f"I12 {way.unknown} jobs of {name} were unknown")
    return verdict


@dataclass(frozen=True)
class _HandedOver:
    """Jobs that one release enqueued, and what a worker of the other one made of them."""

    enqueued: int
    run: int
    unknown: int


def _handed_over(
    installation: Installation, lab: Lab, *, enqueues: str, enqueued_by: Path, run_by: Path
) -> _HandedOver:
    """Every job that a release knows, for an id that no row has: it finds nothing to do, but it has to be found."""
    env = {**os.environ, **installation.env}
    command = [sys.executable, "-c", enqueues, installation.env["REDIS_URL"], NOBODY]
    said = subprocess.run(command, env=env, cwd=enqueued_by, capture_output=True, text=True, check=True).stdout
    enqueued, name = int(said.split()[-1]), f"worker-{run_by.name}"
    worker = Process(lab, parley("worker", cwd=run_by), env=installation.env, name=name, cwd=run_by)
    log = worker.log
    eventually(lambda: len(_jobs_in(log)) >= enqueued, seconds=60)
    worker.stop()
    return _HandedOver(enqueued, len(_jobs_in(log)), log.read_text().count("UnknownJob"))


def _jobs_in(log: Path) -> set[str]:
    return set(re.findall(r"job ([a-z_.]+)\(", log.read_text()))


def _revision(installation: Installation) -> str:
    return str(installation.one("select version_num from alembic_version"))


@case("F11", "crash in the middle of a migration", invariants="I12")
def migration_dies(lab: Lab) -> Verdict:
    verdict, back = Verdict(), lab.directory / "back"
    back.mkdir()
    shutil.copy(lab.template / "parley.db", back / "parley.db")
    target = f"{int(migrate.head()) - 5:04d}"
    migrate.downgrade(_url(back), target)
    rows = _rows(back)
    statements = _killed_at_statement(lab, back, 0).reached["statement"]
    # strace counts each kind of call by itself.
    writes = [(call, n) for call, total in _killed_at_write(lab, back).reached.items() for n in range(1, total + 1)]
    points = [lambda n=n: _killed_at_statement(lab, back, n) for n in lab.sample(statements, smoke=5)]
    points += [lambda n=n: _killed_at_write(lab, back, *writes[n - 1]) for n in lab.sample(len(writes), smoke=5)]
    killed, well, planned = 0, 0, len(points)
    for kill in points:
        dead = kill()
        killed += dead.died
        well += _begins_again(verdict, dead.place, rows)
        shutil.rmtree(dead.place)
    verdict.fired = (
        f"{killed} kills at {len(writes)} writes and {statements} statements, from {target} to {migrate.head()}"
    )
    verdict.figure = f"{well} of {planned} began again and ended whole"
    verdict.holds(killed == planned, f"{planned - killed} of {planned} migrations were not killed")
    return verdict


@dataclass(frozen=True)
class _Dead:
    """A copy that a migration was killed on, whether it was, and what it had come to, by kind."""

    place: Path
    died: bool
    reached: Counter[str]


def _begins_again(verdict: Verdict, place: Path, rows: list[Any]) -> bool:
    """What ``parley migrate`` does, on what the dead one left behind."""
    try:
        migrate.upgrade(_url(place))
    except (sa.exc.SQLAlchemyError, RuntimeError) as error:
        verdict.flaws.append(f"I12 after {place.name} it does not begin again: {error!r:.200}")
        return False
    whole = not migrate.drift(_url(place)) and _is_at(place, migrate.head()) and _rows(place) == rows
    verdict.holds(whole, f"I12 after {place.name} the schema or the rows are not what they should be")
    return whole


def _url(place: Path) -> str:
    return f"sqlite:///{place / 'parley.db'}"


def _killed_at_write(lab: Lab, source: Path, call: str = "", nth: int = 0) -> _Dead:
    """The migration of a copy, killed at its ``nth`` system call of this name (without: never)."""
    place = shutil.copytree(source, lab.directory / f"{call or 'no call'} {nth}")
    begin, go = os.pipe()
    child = os.fork()
    if not child:
        os.close(go)
        _migrate(place, lambda: os.read(begin, 1))
    os.close(begin)
    options = ["-e", f"inject={call}:signal=KILL:when={nth}"] if call else []
    try:
        trace = Strace(lab, child, *options, calls=WRITES, name="migrate")
    finally:
        os.close(go)
    died = _is_killed(child)
    return _Dead(place, died, Counter(re.findall(r"^\d+ +(\w+)\(", trace.stop(), re.MULTILINE)))


def _killed_at_statement(lab: Lab, source: Path, point: int) -> _Dead:
    """The same, killed right before its ``point``-th statement or COMMIT (0: never)."""
    place = shutil.copytree(source, lab.directory / f"statement {point}")
    reached = lab.directory / "statements"
    reached.write_bytes(b"")

    def count(*_given: object) -> None:
        with reached.open("ab") as log:
            log.write(b".")
        if reached.stat().st_size == point:
            os.kill(os.getpid(), signal.SIGKILL)

    def listen() -> None:
        sa.event.listen(sa.Engine, "before_cursor_execute", count)
        sa.event.listen(sa.Engine, "commit", count)

    child = os.fork()
    if not child:
        _migrate(place, listen)
    died = _is_killed(child)
    return _Dead(place, died, Counter(statement=reached.stat().st_size))


def _migrate(place: Path, before: Callable[[], object]) -> NoReturn:
    """What ``parley migrate`` does, in a child."""
    status = 1
    try:
        before()
        migrate.upgrade(_url(place))
        status = 0
    finally:
        os._exit(status)


def _is_killed(child: int) -> bool:
    _pid, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _rows(place: Path) -> list[Any]:
    with contextlib.closing(sqlite3.connect(place / "parley.db")) as database:
        names = ("organization", "team", "team_member", "api_key")
        return [database.execute(f"select id from {name} order by id").fetchall() for name in names]


def _is_at(place: Path, revision: str) -> bool:
    with contextlib.closing(sqlite3.connect(place / "parley.db")) as database:
        return database.execute("select version_num from alembic_version").fetchall() == [(revision,)]
