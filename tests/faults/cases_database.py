"""PostgreSQL dies, hangs, or loses the answer to a COMMIT."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.faults.case import Lab, Verdict, case, eventually, percentile
from tests.faults.checker import check_events, wait_until_delivered
from tests.faults.installation import Installation, PostgresServer, RedisServer, within
from tests.faults.partition import THERE, Wire
from tests.faults.people import Answered, Customer, Recruiter, candidates_of
from tests.faults.processes import children, free_port, is_running
from tests.faults.proxy import Proxy
from tests.faults.receiver import Receiver

LIMIT_503 = 5.5
OURS = "backend_type = 'client backend' and pid <> pg_backend_pid()"
POOL = 40


def _slowest(answers: list[Answered]) -> float:
    return max((answer.seconds for answer in answers), default=0.0)


def _server(lab: Lab) -> PostgresServer:
    return lab.shared("postgresql", lambda: PostgresServer(lab))


def _booker(
    customer: Customer, flow: str, stop: threading.Event
) -> tuple[threading.Thread, list[tuple[str, Answered]]]:
    """Books one interview after the other, each with a key of its own, until told to stop."""
    seen: list[tuple[str, Answered]] = []

    def work() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            email = f"b{number}-{flow[:6]}@example.com"
            seen.append((email, customer.book(flow, email, Idempotency_Key=f"{flow}-{number}", timeout=30)))
            time.sleep(0.02)

    return threading.Thread(target=work), seen


def _check_bookings(verdict: Verdict, installation: Installation, flow: str, seen: list[tuple[str, Answered]]) -> None:
    rows = installation.sql("select interviewee_email_address, id from interview where flow_id = :f", f=flow)
    kept = {str(row[0]): str(row[1]) for row in rows}
    verdict.holds(len(rows) == len(kept), "I3 an interview was booked twice")
    lost = [email for email, answer in seen if answer.status == 200 and email not in kept]
    verdict.holds(not lost, f"I1 {len(lost)} acknowledged bookings are lost")
    wrong = [a.status for _e, a in seen if a.status not in {200, 409} and not a.is_honest_refusal]
    verdict.holds(not wrong, f"answers other than 200 or 503 with Retry-After: {wrong[:10]}")
    slow = [round(a.seconds, 1) for _e, a in seen if a.status == 503 and a.seconds > LIMIT_503]
    verdict.holds(not slow, f"503 came only after {slow[:5]} s")


@case("F17", "kill one PostgreSQL backend, again and again", invariants="I2 I3", group="postgresql")
def backends_killed(lab: Lab) -> Verdict:
    verdict, server = Verdict(), _server(lab)
    installation = Installation(lab, postgres=server)
    web = installation.web()
    customer, stop = Customer(installation, web.url), threading.Event()
    flow = customer.flow(None)
    thread, seen = _booker(customer, flow, stop)
    thread.start()
    killed = 0
    for number in range(lab.amount(smoke=3, full=15)):
        eventually(lambda: seen and seen[-1][1].status == 200, seconds=30)
        rows = installation.sql(
            "select pid from pg_stat_activity where application_name <> '' or backend_type = 'client backend'"
        )
        victims = [int(row[0]) for row in rows if int(row[0]) in children(server.process.pid)]
        if victims:
            # SIGTERM ends one backend; after SIGKILL the server lets all go and recovers from its log.
            os.kill(lab.random.choice(victims), signal.SIGKILL if number % 3 == 2 else signal.SIGTERM)
            killed += 1
        time.sleep(lab.random.uniform(0.1, 0.6))
    began = time.monotonic()
    well = within(lambda: customer.call("GET", "/v1/interview-flows").status == 200, seconds=30)
    stop.set()
    thread.join(40)
    _check_bookings(verdict, installation, flow, seen)
    verdict.fired = f"{killed} backends ended" if killed else ""
    verdict.figure = f"{len(seen)} bookings; well again after {well or -1:.1f} s"
    verdict.holds(well is not None and time.monotonic() - began < 40 and well <= 10, f"I12 well only after {well} s")
    web.stop()
    return verdict


@case("F18", "kill the postmaster; back after a while", invariants="I1-I6", group="postgresql", smoke=True, takes=62)
def postmaster_killed(lab: Lab) -> Verdict:
    verdict, server = Verdict(), _server(lab)
    installation = Installation(lab, postgres=server, redis=RedisServer(lab))
    web, worker = installation.web(), installation.worker()
    customer, recruiter, stop = Customer(installation, web.url), Recruiter(web.url), threading.Event()
    recruiter.sign_in()
    with Receiver(lab.directory / "journal-f18") as receiver:
        flow = customer.flow(receiver.url())
        people = candidates_of(installation, customer, flow, 3)
        for one in people:
            recruiter.move(one, "shortlisted")
        thread, seen = _booker(customer, flow, stop)
        thread.start()
        eventually(lambda: len(seen) > 10, seconds=30)
        old = children(server.process.pid)
        killed = server.process.kill()
        eventually(lambda: not any(map(is_running, old)), seconds=20)
        mark = len(seen)
        time.sleep(lab.amount(smoke=8, full=20))
        during = [answer for _email, answer in seen[mark + 1 :]]
        clicks = [recruiter.move(one, "accepted") for one in people]
        server.start()
        well = within(lambda: seen[-1][1].status == 200, seconds=30)
        for one in people:
            recruiter.move(one, "accepted")
        stop.set()
        thread.join(40)
        wait_until_delivered(installation, seconds=90)
        _check_bookings(verdict, installation, flow, seen)
        check_events(verdict, installation, receiver, recruiter)
        states = {str(row[0]) for row in installation.sql("select distinct state from webhook_delivery")}
    slowest = max((answer.seconds for answer in during), default=0.0)
    verdict.fired = f"SIGKILL; {len(during)} calls without a database" if killed and during else ""
    verdict.figure = f"503 within {slowest:.1f} s; normal {well or -1:.1f} s after the return; states {sorted(states)}"
    verdict.holds(all(answer.is_honest_refusal for answer in during), "an answer without a database was no 503")
    verdict.holds(not any(clicks), "I1 a move was acknowledged without a database")
    verdict.holds(well is not None and well <= 10, f"I12 normal only after {well} s")
    verdict.holds(states == {"delivered"}, f"I1 states {states}")
    worker.stop()
    web.stop()
    return verdict


COMMITS = 2
"""Of a call with an Idempotency-Key: its first time on record, and what it did together with its answer."""


@case("F21", "COMMIT arrives, its answer does not", invariants="I3", group="postgresql", smoke=True, takes=12)
def ambiguous_commit(lab: Lab) -> Verdict:
    verdict, server = Verdict(), _server(lab)
    with Proxy("127.0.0.1", server.port) as proxy:
        url = server.url.replace(f":{server.port}", f":{proxy.port}")
        installation = Installation(lab, postgres=server, DATABASE_URL=url)
        web = installation.web()
        customer, recruiter = Customer(installation, web.url), Recruiter(web.url)
        recruiter.sign_in()
        flow = customer.flow(f"http://127.0.0.1:{free_port()}/nobody")
        one = candidates_of(installation, customer, flow, 1)[0]
        effects, answers = [], []
        for nth in range(1, COMMITS + 1):
            email, key = f"f21-{nth}@example.com", f"f21-{flow}-{nth}"
            proxy.lose_answer_to(b"COMMIT", nth=nth)
            first = customer.book(flow, email, Idempotency_Key=key)
            proxy.lose_answer_to(b"")
            last = _repeat(installation, lambda e=email, k=key: customer.book(flow, e, Idempotency_Key=k))
            effects.append(installation.count("interview", "interviewee_email_address = :e", e=email))
            answers.append((first.status, last.status))
            wrong = first.status not in {200, 503} or last.status != 200
            verdict.holds(not wrong, f"COMMIT {nth}: answered {first.status}, the repeat {last.status}")
        lost = proxy.counts.lost
        proxy.lose_answer_to(b"COMMIT", nth=1)
        moved = recruiter.move(one, "shortlisted")
        proxy.lose_answer_to(b"")
        again = recruiter.move(one, "shortlisted")
        changes = installation.count("status_change", "candidate_id = :c", c=one)
        rows = installation.count("webhook_delivery", "subject = :c", c=one)
        moves_lost = proxy.counts.lost - lost
        web.stop()
    verdict.fired = f"{proxy.counts.lost} answers to COMMIT lost" if lost == COMMITS and moves_lost else ""
    verdict.figure = f"interviews {effects}; move {moved} then {again}: {changes} change, {rows} outbox row"
    verdict.holds(effects == [1] * COMMITS, f"I3 interviews per key: {effects}")
    verdict.holds((changes, rows) == (1, 1), f"I3 {changes} changes, {rows} outbox rows for one move")
    return verdict


def _repeat(installation: Installation, call: Any) -> Answered:
    answer: Answered = call()
    if answer.status == 409:  # "still running": 100 seconds pass
        installation.sql("update idempotent_call set started_at = now() - interval '1 day' where status is null")
        answer = call()
    return answer


@case("F20", "database behind a network that swallows packets", invariants="I11", group="partition", root=True)
def database_silent(lab: Lab) -> Verdict:
    verdict, wire = Verdict(), Wire(lab)
    with wire.over_there():
        server = PostgresServer(lab, host=THERE)
    installation = Installation(lab, postgres=server)
    web = installation.web()
    customer = Customer(installation, web.url)
    flow = customer.flow(None)
    _at_once(customer, flow, "before", 8)  # so that the pool holds connections that look alive
    wire.cut()
    during = _at_once(customer, flow, "during", 8)
    ping = customer.call("GET", "/healthz")
    during += _at_once(customer, flow, "later", 8)
    swallowed = wire.heal()
    well = within(lambda: customer.book(flow, "f20-after@example.com").status == 200, seconds=30)
    left = eventually(lambda: installation.count("pg_stat_activity", OURS) <= POOL, seconds=60, every=1)
    verdict.fired = f"{swallowed} packets swallowed" if swallowed else ""
    verdict.figure = (
        f"answers {sorted({a.status for a in during})} within {_slowest(during):.1f} s; well after {well or -1:.1f} s"
    )
    verdict.holds(all(a.is_honest_refusal for a in during), f"no honest 503: {during}")
    verdict.holds(_slowest(during) <= 8, "503 came too late (answer 5 s + connect 2 s)")
    verdict.holds(ping.status == 200 and ping.seconds < 1, "the web process itself stood still")
    verdict.holds(well is not None and well <= 10, f"I12 well after {well} s")
    verdict.holds(left, "the server keeps connections whose other end is gone")
    if not lab.is_smoke:
        _stands_still(verdict, server, customer, flow)
    web.stop()
    return verdict


def _stands_still(verdict: Verdict, server: PostgresServer, customer: Customer, flow: str) -> None:
    """The machine goes on acknowledging packets for a server that does not run: TCP notices nothing."""
    family = [server.process.pid, *children(server.process.pid)]
    for pid in family:
        os.kill(pid, signal.SIGSTOP)
    answers = _at_once(customer, flow, "still", 8)
    for pid in family:
        os.kill(pid, signal.SIGCONT)
    well = within(lambda: customer.book(flow, "f20-woken@example.com").status == 200, seconds=30)
    verdict.figure += f"; standing still: {sorted({a.status for a in answers})} within {_slowest(answers):.0f} s"
    honest = all(answer.is_honest_refusal for answer in answers)
    verdict.holds(honest and 30 < _slowest(answers) <= 40, f"a server that stands still: {answers}")
    verdict.holds(well is not None and well <= 10, f"I12 well {well} s after the server was woken")


def _at_once(customer: Customer, flow: str, name: str, count: int) -> list[Answered]:
    """``count`` bookings at the same time."""
    with ThreadPoolExecutor(count) as pool:
        emails = [f"f20-{name}-{number}@example.com" for number in range(count)]
        return list(pool.map(lambda email: customer.book(flow, email, timeout=60), emails))


@case("F22", "max_connections used up", invariants="I11 I12", group="postgresql")
def connections_used_up(lab: Lab) -> Verdict:
    import psycopg

    verdict, server = Verdict(), _server(lab)
    installation = Installation(lab, postgres=server)
    web = installation.web()
    customer = Customer(installation, web.url)
    flow = customer.flow(None)
    installation.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where pid <> pg_backend_pid() and backend_type = 'client backend'"
    )
    hoard, refused = [], False
    while not refused and len(hoard) < 200:
        try:
            hoard.append(psycopg.connect(server.url))
        except psycopg.OperationalError:
            refused = True
    during = [customer.book(flow, f"f22-{n}@example.com") for n in range(3)]
    for one in hoard:
        one.close()
    well = within(lambda: customer.book(flow, "f22-after@example.com").status == 200, seconds=30)
    web.stop()
    verdict.fired = f"{len(hoard)} idle clients" if refused else ""
    verdict.figure = (
        f"answers {[a.status for a in during]} within {_slowest(during):.1f} s; well after {well or -1:.1f} s"
    )
    verdict.holds(all(a.is_honest_refusal and a.seconds < 1 for a in during), f"no quick honest 503: {during}")
    verdict.holds(well is not None and well <= 10, f"I12 well after {well} s")
    return verdict


@case("F24", "exclusive lock held by another client", invariants="I11", group="postgresql")
def table_locked(lab: Lab) -> Verdict:
    import psycopg

    verdict, server = Verdict(), _server(lab)
    installation = Installation(lab, postgres=server)
    web = installation.web()
    customer = Customer(installation, web.url)
    flow = customer.flow(None)
    with psycopg.connect(server.url) as other:
        other.execute("lock table interview in access exclusive mode")
        began = time.monotonic()
        answers: list[Answered] = []
        threads = [
            threading.Thread(target=lambda n=n: answers.append(customer.book(flow, f"f24-{n}@example.com")))
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        health = [customer.call("GET", "/healthz").seconds for _ in range(20)]
        for thread in threads:
            thread.join(60)
        until = began + lab.amount(smoke=0, full=60)
        while time.monotonic() < until:
            answers.append(customer.book(flow, f"f24-{len(answers)}@example.com"))
        waiting = other.execute("select count(*) from pg_locks where not granted").fetchone()
    well = within(lambda: customer.book(flow, "f24-after@example.com").status == 200, seconds=30)
    web.stop()
    verdict.fired = f"ACCESS EXCLUSIVE held against {len(answers)} calls"
    slowest = max(a.seconds for a in answers)
    verdict.figure = (
        f"503 within {slowest:.1f} s; /healthz p99 {percentile(health, 0.99) * 1000:.0f} ms; left waiting {waiting}"
    )
    verdict.holds(all(a.is_honest_refusal for a in answers), f"no honest 503: {[a.status for a in answers]}")
    verdict.holds(slowest <= 4, f"waited {slowest:.1f} s for a lock of which 3 s are allowed")
    verdict.holds(well is not None, "I12 not well after the lock was given back")
    return verdict
