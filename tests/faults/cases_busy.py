"""Two transactions want the same: true deadlocks of PostgreSQL, and SQLite's one writer who is busy."""

import contextlib
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tests.faults.case import Lab, Verdict, case, eventually
from tests.faults.checker import check_events, wait_until_delivered
from tests.faults.installation import Installation, PostgresServer, RedisServer
from tests.faults.people import Answered, Customer, Recruiter, candidates_of
from tests.faults.receiver import Receiver

Row = tuple[str, str]
"""A table and the id of a row."""
LIMIT = 5.0


@case("F23", "true deadlocks of PostgreSQL; SQLite's writer is busy", invariants="I3 I11")
def somebody_else_writes(lab: Lab) -> Verdict:
    verdict = Verdict()
    waited = _sqlite_busy(verdict, lab)
    ended = _deadlocks(verdict, lab)
    wanted = ("move ended", "move won", "claim ended", "claim won", "two bulks met")
    told = ", ".join(f"{ended[word]} x {word}" for word in wanted)
    verdict.fired = f"write lock held; deadlocks: {told}" if waited and all(ended[word] for word in wanted) else ""
    return verdict


def _sqlite_busy(verdict: Verdict, lab: Lab) -> bool:
    installation = Installation(lab)
    web = installation.web()
    customer = Customer(installation, web.url)
    flow = customer.flow(None)
    with contextlib.closing(sqlite3.connect(installation.data_dir / "parley.db", isolation_level=None)) as other:
        other.execute("begin immediate")
        answers: list[Answered] = []
        thread = threading.Thread(target=lambda: answers.append(customer.book(flow, "f23@example.com", timeout=90)))
        thread.start()
        time.sleep(2)
        read = customer.call("GET", "/healthz")
        waited = thread.is_alive()
        other.execute("rollback")
        thread.join(60)
    web.stop()
    verdict.figure = f"SQLite: waited {answers[0].seconds:.1f} s, answered {answers[0].status}"
    verdict.holds(answers[0].status == 200 and read.status == 200, f"{answers}, {read}")
    verdict.holds(installation.count("interview", "interviewee_email_address = 'f23@example.com'") == 1, "I3 not once")
    return waited


@dataclass
class _Scene:
    """An installation whose rows others lock in the opposite order. ``ended`` counts deadlocks, by who was ended."""

    server: PostgresServer
    installation: Installation
    recruiter: Recruiter
    people: list[str]
    endpoint: Row
    answers: list[Answered] = field(default_factory=list)
    ended: Counter[str] = field(default_factory=Counter)

    def cross(self, what: str, first: Row, then: Row, *, ours_ends: bool, begin: Callable[[], object]) -> None:
        """Lock ``first``, let ``what`` of the product run into it, and ask for ``then``, which it holds.

        Who has waited for a ``deadlock_timeout`` looks for a deadlock, and is ended by what is found.
        """
        import psycopg

        before = self.deadlocks()
        with psycopg.connect(self.server.url) as other:
            other.execute(f"set deadlock_timeout = '{'1min' if ours_ends else '10ms'}'")
            _lock(other, first)
            begin()
            self.wait_for_waiting(1)
            try:
                _lock(other, then)
            except psycopg.errors.DeadlockDetected:
                end = "won"
            else:
                end = "ended"
            other.rollback()
        self.ended[f"{what} {end}"] += bool(eventually(lambda: self.deadlocks() > before, seconds=5))

    def wait_for_waiting(self, count: int) -> bool:
        """Until so many transactions wait for locks."""
        import psycopg

        with psycopg.connect(self.server.url, autocommit=True) as look:
            waiting = "select count(distinct pid) from pg_locks where not granted"
            return bool(
                eventually(lambda: (look.execute(waiting).fetchone() or (0,))[0] >= count, seconds=20, every=0.005)
            )

    def deadlocks(self) -> int:
        return int(self.installation.one("select deadlocks from pg_stat_database where datname = current_database()"))

    def move(self, one: str, to: str) -> None:
        """Once, and once more after a refusal, as a person would."""
        refused = len(self.recruiter.refused)
        self.recruiter.move(one, to)
        self.answers += self.recruiter.refused[refused:]


def _lock(connection: object, row: Row) -> None:
    connection.execute(f"select id from {row[0]} where id = %s for update", [row[1]])  # type: ignore[attr-defined]


def _deadlocks(verdict: Verdict, lab: Lab) -> Counter[str]:
    server = PostgresServer(lab)
    installation = Installation(lab, postgres=server, redis=RedisServer(lab), SWEEP_SECONDS="1")
    web, worker = installation.web(), installation.worker()
    customer, recruiter = Customer(installation, web.url), Recruiter(web.url)
    recruiter.sign_in()
    with Receiver(lab.directory / "journal") as receiver:
        people = candidates_of(installation, customer, customer.flow(receiver.url()), 2)
        for one in people:
            recruiter.move(one, recruiter.next_status(one))
        wait_until_delivered(installation, seconds=60)
        endpoint = ("webhook_endpoint", str(installation.one("select id from webhook_endpoint")))
        scene = _Scene(server, installation, recruiter, people, endpoint)
        for number in range(lab.amount(smoke=2, full=10)):
            _against_a_move(scene, ours_ends=number % 2 == 0)
            _against_a_claim(scene, ours_ends=number % 2 == 0)
            _two_bulks(scene)
        wait_until_delivered(installation, seconds=60)
        check_events(verdict, installation, receiver, recruiter)
        arrived = Counter(request.event_id for request in receiver.journal())
        states = {str(row[0]) for row in installation.sql("select distinct state from webhook_delivery")}
    _check(verdict, scene, arrived, states)
    told = worker.log.read_text().count("did not respond: DeadlockDetected")
    verdict.holds(told >= scene.ended["claim ended"], f"the worker's log tells of {told} deadlocks")
    worker.stop()
    web.stop()
    return scene.ended


def _against_a_move(scene: _Scene, *, ours_ends: bool) -> None:
    """A move takes the candidate, then (for its event) the endpoint; the other takes them the other way round."""
    one, to = scene.people[0], scene.recruiter.next_status(scene.people[0])
    wait_until_delivered(scene.installation, seconds=60)
    moving = threading.Thread(target=scene.move, args=(one, to))
    scene.cross("move", scene.endpoint, ("candidate", one), ours_ends=ours_ends, begin=moving.start)
    moving.join(60)
    if (one, to) != scene.recruiter.moved[-1]:
        scene.recruiter.move(one, to)


def _against_a_claim(scene: _Scene, *, ours_ends: bool) -> None:
    """The worker takes the endpoint, then its oldest event; the other takes them the other way round."""
    wait_until_delivered(scene.installation, seconds=60)
    scene.installation.sql("update webhook_endpoint set lease_until = now() + interval '2 seconds'")
    one = scene.people[1]
    scene.recruiter.move(one, scene.recruiter.next_status(one))
    waiting = str(scene.installation.one("select id from webhook_delivery where state = 'pending'"))
    scene.cross("claim", ("webhook_delivery", waiting), scene.endpoint, ours_ends=ours_ends, begin=lambda: None)


def _two_bulks(scene: _Scene) -> None:
    """Two recruiters move the same two people, in opposite orders: they wait for each other, and nobody is ended."""
    import psycopg

    wait_until_delivered(scene.installation, seconds=60)
    before, to = scene.deadlocks(), "accepted"
    with ThreadPoolExecutor(2) as pool:
        with psycopg.connect(scene.server.url) as gate:
            _lock(gate, scene.endpoint)  # who holds a candidate waits here for the endpoint
            both = [pool.submit(_bulk, scene, order, to) for order in (scene.people, scene.people[::-1])]
            met = scene.wait_for_waiting(2)
            gate.rollback()
        answers = [one.result() for one in both]
    scene.answers += answers
    time.sleep(1)  # PostgreSQL counts a little later
    scene.ended["two bulks met"] += met
    scene.ended["one of two bulks ended"] += scene.deadlocks() > before
    if 200 in {_bulk(scene, scene.people, to).status, *(answer.status for answer in answers)}:
        scene.recruiter.moved += [(one, to) for one in scene.people]


def _bulk(scene: _Scene, people: list[str], to: str) -> Answered:
    """Several people in one form, in this order."""
    form = {"kind": "move", "status": to, "id": people, "sure": "yes"}
    return scene.recruiter.post("/candidates/bulk", page="/candidates", **form)  # type: ignore[arg-type]


def _check(verdict: Verdict, scene: _Scene, arrived: Counter[str], states: set[str]) -> None:
    wrong = [a.status for a in scene.answers if a.status != 200 and not (a.status == 503 and a.retry_after)]
    slowest = max((answer.seconds for answer in scene.answers), default=0.0)
    changes, events = scene.installation.count("status_change"), scene.installation.count("webhook_delivery")
    made = len(scene.recruiter.moved)
    twice = [event for event, times in arrived.items() if times > 1]
    refused = sum(answer.status == 503 for answer in scene.answers)
    verdict.holds(not scene.ended["one of two bulks ended"], "two changes in bulk ended in a deadlock")
    verdict.holds(not refused, f"{refused} calls answered 503, although the second try would have gone through")
    verdict.figure += f"; PostgreSQL: {refused} calls answered 503 within {slowest:.1f} s, {made} moves once each"
    verdict.holds(not wrong, f"answers other than success or 503 with Retry-After: {wrong}")
    verdict.holds(slowest <= LIMIT, f"I11 an answer took {slowest:.1f} s")
    verdict.holds(changes == events == made, f"I3 {made} moves: {changes} changes, {events} outbox rows")
    verdict.holds(states == {"delivered"} and not twice, f"I1 states {states}; sent twice: {twice}")
