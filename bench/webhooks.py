"""Webhooks: deliveries per second, delay from commit to first attempt, and what hanging receivers do to a healthy one.

    python bench/webhooks.py [--quick] [--organizations 100] [--endpoints 8] [--deliveries 16000] [--drains 1,2,3,4]

Everything runs on this machine: receivers (raw asyncio, new connection per request) share its cores with the drains.
Each drain is what one worker process runs. The floor is bare aiohttp that posts the same bytes to the same receivers,
without database, guard, signature or order, from the same number of processes. That of a healthy receiver next to 100
dead ones is the same receiver without them. SQLite always; PostgreSQL as well if BENCH_POSTGRES_URL names a server.

Last figures: docs/figures/scale.md; why 4,000/s on two cores is not reached: docs/decisions/0034.
"""

import argparse
import asyncio
import multiprocessing
import random
import resource
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, NamedTuple

import _ground as ground
import aiohttp
import sqlalchemy as sa
from flask import Flask

from app.core import clock, encryption, queue
from app.core.db import db, engine_options, new_id, prepare, reading, row_security
from app.flows.models import InterviewFlow
from app.flows.queries import secret_context
from app.gateways.outbound import Outbound
from app.settings import Settings
from app.webhooks import actions, jobs
from app.webhooks.actions.outbox import endpoint_for, serialise
from app.webhooks.models import Attempt, Delivery, DeliveryState, EventType, Route, new_event_id

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
PROCESSES = multiprocessing.get_context("spawn")


def payload(interview_id: str) -> dict[str, Any]:
    """A body of ordinary length."""
    return {
        "event_type": "interview_processed",
        "interview_flow_id": str(uuid.UUID(int=1)),
        "interview_id": interview_id,
        "interview_link": f"https://parley.example.com/interviews/{interview_id}",
        "interview_flow_name": "Night nurse",
        "interviewee_email_address": "someone@example.com",
        "interviewee_first_name": "Some",
        "interviewee_last_name": "One",
        "status": "completed",
    }


class Start(NamedTuple):
    """What the timed processes and the one that times them tell each other."""

    ready: Any
    go: Any
    told: Any


class Receiver(asyncio.Protocol):
    """Answers 200 as soon as the whole body is there, or never."""

    def __init__(self, *, answers: bool) -> None:
        self.answers, self.got = answers, b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.got += data
        end = self.got.find(b"\r\n\r\n")
        if not self.answers or end < 0:
            return
        start = self.got.lower().find(b"content-length: ") + 16
        if len(self.got) >= end + 4 + int(self.got[start : self.got.find(b"\r", start)]):
            self.transport.write(ANSWER)
            self.transport.close()


def receive(ready: Any) -> None:
    """Process: one port that answers, one that hangs; tells both."""

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        servers = [
            await loop.create_server(lambda answers=answers: Receiver(answers=answers), "127.0.0.1", 0, backlog=4096)
            for answers in (True, False)
        ]
        ready.put([server.sockets[0].getsockname()[1] for server in servers])
        await asyncio.gather(*(server.serve_forever() for server in servers))

    asyncio.run(serve())


def application(url: str) -> Flask:
    """As much of the application as webhooks need."""
    settings = Settings.from_env({"DATA_DIR": tempfile.mkdtemp(), "SECRET_KEY": "bench-" * 8, "DATABASE_URL": url})
    app = Flask("bench")
    app.config.update(
        SECRET_KEY=settings.secret_key,
        SQLALCHEMY_DATABASE_URI=settings.database_url,
        SQLALCHEMY_ENGINE_OPTIONS=engine_options(settings.database_url),
    )
    app.extensions["parley.bell"] = queue.SilentWaker()
    app.extensions["parley.gateways"] = SimpleNamespace(http=Outbound(settings))
    db.init_app(app)
    with app.app_context(), row_security.everyone():
        prepare(db.engine)
    return app


def flows(addresses: list[list[str]]) -> list[str]:
    """An organization per inner list, a flow with a secret per address; ids of the flows."""
    ids = []
    for urls in addresses:
        organization, team = ground.founded()
        for url in urls:
            flow = InterviewFlow(
                id=new_id(),
                organization_id=organization.id,
                team_id=team.id,
                org_name="Bench",
                title="Night nurse",
                questions=["Why?"],
                webhook_url=url,
            )
            flow.webhook_secret_sealed = encryption.seal("bench-secret-" * 3, context=secret_context(flow.id))
            db.session.add(flow)
            db.session.flush()
            endpoint = endpoint_for(organization.id, url)
            db.session.add(Route(flow_id=flow.id, endpoint_id=endpoint.id))
            ids.append(flow.id)
    db.session.commit()
    return ids


def fill(count: int, only: list[str] | None = None) -> None:
    """``count`` deliveries that are due, spread evenly over all flows, or ``only`` over some."""
    found = sa.select(Route.flow_id, Route.endpoint_id, InterviewFlow.organization_id).join(
        InterviewFlow, InterviewFlow.id == Route.flow_id
    )
    routes = db.session.execute(found if only is None else found.where(Route.flow_id.in_(only))).all()
    now = clock.now()
    rows = []
    for number in range(count):
        flow_id, endpoint_id, organization_id = routes[number % len(routes)]
        subject = new_id()
        rows.append(
            {
                "id": new_id(),
                "event_id": new_event_id(),
                "organization_id": organization_id,
                "flow_id": flow_id,
                "endpoint_id": endpoint_id,
                "event_type": EventType.INTERVIEW_PROCESSED,
                "subject": subject,
                "sequence": 1,
                "body": serialise(EventType.INTERVIEW_PROCESSED, payload(subject)),
                "state": DeliveryState.PENDING,
                "due_at": now,
                "created_at": now,
                "changed_at": now,
                "attempts": 0,
                "fence": 0,
                "recoveries": 0,
            }
        )
    for start in range(0, count, 2000):
        db.session.execute(sa.insert(Delivery), rows[start : start + 2000])
    db.session.commit()


def drain(url: str, start: Start) -> None:
    """Process: one drain; tells its attempts and CPU seconds."""
    app = application(url)
    with app.app_context(), row_security.everyone():
        db.session.execute(sa.select(1))
        db.session.rollback()
        start.ready.put(1)
        start.go.wait()
        before = time.process_time()
        attempts = jobs.drain(seconds=300)
        start.told.put((attempts, time.process_time() - before))


def bare(ports: list[int], count: int, start: Start) -> None:
    """Process: bare aiohttp, a new connection per request, as many in flight as a drain may have."""

    async def post_all() -> None:
        body = serialise(EventType.INTERVIEW_PROCESSED, payload(new_id()))
        left = iter(range(count))
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        async with aiohttp.ClientSession(connector=connector, trust_env=False) as session:

            async def one_after_the_other() -> None:
                for number in left:
                    url = f"http://127.0.0.1:{ports[number % len(ports)]}/hook"
                    async with session.post(url, data=body, headers={"Content-Type": "application/json"}) as answer:
                        await answer.read()

            await asyncio.gather(*(one_after_the_other() for _ in range(jobs.IN_FLIGHT)))

    start.ready.put(1)
    start.go.wait()
    before = time.process_time()
    asyncio.run(post_all())
    start.told.put((count, time.process_time() - before))


def beside_dead(kind: str, ports: list[int], hanging: list[int], options: argparse.Namespace) -> None:
    """What one healthy receiver gets a second: alone, then beside 100 that take the connection and never answer."""
    for processes in options.drains:
        rates = []
        for dead in (0, 100):
            with ground.database(kind) as url:
                app = application(url)
                with app.app_context(), row_security.everyone():
                    healthy = flows([[f"http://127.0.0.1:{ports[0]}/healthy"]])
                    fill(options.deliveries // 4, healthy)
                    if dead:
                        fill(
                            dead * 4,
                            flows(
                                [
                                    [f"http://127.0.0.1:{random.choice(hanging)}/{n}/{e}" for e in range(4)]
                                    for n in range(25)
                                ]
                            ),
                        )
                    rates.append(options.deliveries // 4 / _until_delivered(url, healthy[0], processes))
                    db.engine.dispose()
        print(
            f"{kind}: {processes} x drain, one healthy receiver: {rates[0]:,.0f}/s alone, {rates[1]:,.0f}/s beside 100 dead: "
            f"{rates[1] / rates[0]:.2f} of that"
        )


def _until_delivered(url: str, flow_id: str, processes: int) -> float:
    """Seconds until the flow's events are delivered; the drains, which the dead keep longer, are ended then."""
    start = Start(PROCESSES.Queue(), PROCESSES.Event(), PROCESSES.Queue())
    running = [PROCESSES.Process(target=drain, args=(url, start), daemon=True) for _ in range(processes)]
    for process in running:
        process.start()
    for _ in running:
        start.ready.get(timeout=120)
    left = sa.select(sa.func.count()).where(Delivery.flow_id == flow_id, Delivery.state != DeliveryState.DELIVERED)
    began = time.perf_counter()
    start.go.set()
    with reading():
        while db.session.scalar(left) and time.perf_counter() - began < 300:
            db.session.rollback()
            time.sleep(0.05)
        seconds, lost = time.perf_counter() - began, db.session.scalar(left)
        db.session.rollback()
    for process in running:
        process.terminate()
        process.join()
    assert not lost, f"{lost} events of the healthy receiver are left"
    return seconds


def timed(work: Callable[..., None], calls: list[tuple[Any, ...]]) -> tuple[float, float, int]:
    """Run ``work`` in a process per call, all starting at once. Seconds, CPU seconds, and what they did."""
    start = Start(PROCESSES.Queue(), PROCESSES.Event(), PROCESSES.Queue())
    running = [PROCESSES.Process(target=work, args=(*call, start)) for call in calls]
    for process in running:
        process.start()
    for _ in running:
        start.ready.get(timeout=120)
    began = time.perf_counter()
    start.go.set()
    results = [start.told.get(timeout=600) for _ in running]
    seconds = time.perf_counter() - began
    for process in running:
        process.join()
    return seconds, sum(cpu for _, cpu in results), sum(done for done, _ in results)


def throughput(kind: str, ports: list[int], options: argparse.Namespace) -> None:
    """Drains beside the floor of the same run, with as many processes each."""
    for processes in options.drains:
        share = options.deliveries // processes
        seconds, cpu, done = timed(bare, [(ports, share)] * processes)
        floor = done / seconds
        print(f"{kind}: floor, {processes} x bare aiohttp: {floor:,.0f}/s, {cpu / done * 1e6:.0f} us CPU each")
        with ground.database(kind) as url:
            app = application(url)
            with app.app_context(), row_security.everyone():
                flows(
                    [
                        [
                            f"http://127.0.0.1:{random.choice(ports)}/{number}/{place}"
                            for place in range(options.endpoints)
                        ]
                        for number in range(options.organizations)
                    ]
                )
                fill(options.deliveries)
                seconds, cpu, done = timed(drain, [(url,)] * processes)
                left = db.session.scalar(sa.select(sa.func.count()).where(Delivery.state != DeliveryState.DELIVERED))
                told = sa.select(Delivery.state, Delivery.attempts, sa.func.count()).group_by(
                    Delivery.state, Delivery.attempts
                )
                states = [tuple(row) for row in db.session.execute(told)]
                assert left == 0, f"{left} deliveries are left: {states}"
                assert done == options.deliveries, f"{done} attempts for {options.deliveries} deliveries"
                db.session.rollback()
                db.engine.dispose()
        print(
            f"{kind}: {processes} x drain: {done / seconds:,.0f} deliveries/s, {cpu / done * 1e6:.0f} us CPU each, "
            f"{done / seconds / floor:.2f} of the floor; 0 lost, 0 doubled"
        )


def delays(kind: str, ports: list[int], hanging: list[int]) -> None:
    """Commit to first attempt while one event per 50 ms comes in: alone, then beside 100 receivers that hang."""
    for hangs in (0, 100):
        with ground.database(kind) as url:
            app = application(url)
            with app.app_context(), row_security.everyone():
                healthy = flows([[f"http://127.0.0.1:{ports[0]}/healthy"]])[0]
                if hangs:
                    flows([[f"http://127.0.0.1:{random.choice(hanging)}/{n}/{e}" for e in range(4)] for n in range(25)])
                    fill(hangs * 4)
                took = _announced_one_by_one(app, healthy)
                db.engine.dispose()
        took.sort()
        beside = f"beside {hangs} hanging receivers" if hangs else "alone"
        print(
            f"{kind}: commit to first attempt, {beside}: median {statistics.median(took) * 1e3:.0f} ms, "
            f"p95 {took[int(len(took) * 0.95)] * 1e3:.0f} ms, worst {took[-1] * 1e3:.0f} ms"
        )


def _announced_one_by_one(app: Flask, flow_id: str) -> list[float]:
    stop = threading.Event()

    def work() -> None:
        with app.app_context(), row_security.everyone():
            while not stop.is_set():
                jobs.drain(seconds=5)
                time.sleep(0.02)

    worker = threading.Thread(target=work)
    worker.start()
    committed: dict[str, datetime] = {}
    for _ in range(200):
        subject = new_id()
        flow = db.session.get_one(InterviewFlow, flow_id)
        made = actions.announce(
            flow, event_type="interview_processed", payload=payload(subject), subject=subject, sequence=1
        )
        assert made is not None
        delivery_id = made.id
        db.session.commit()
        committed[delivery_id] = datetime.now(UTC)
        time.sleep(0.05)
    until = time.monotonic() + 40
    attempts: dict[str, datetime] = {}
    while len(attempts) < len(committed) and time.monotonic() < until:
        rows = db.session.execute(sa.select(Attempt.delivery_id, Attempt.at)).all()
        attempts = {row.delivery_id: row.at for row in rows if row.delivery_id in committed}
        db.session.rollback()
        time.sleep(0.2)
    stop.set()
    worker.join()
    assert len(attempts) == len(committed), "an event was not attempted within 40 s"
    nothing = timedelta(0)
    return [max(attempts[one] - at, nothing).total_seconds() for one, at in committed.items()]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--organizations", type=int, default=100)
    parser.add_argument("--endpoints", type=int, default=8)
    parser.add_argument("--deliveries", type=int, default=16_000)
    parser.add_argument("--drains", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2, 3, 4])
    parser.add_argument("--receivers", type=int, default=1)
    parser.add_argument("--only", choices=["throughput", "dead", "delays"])
    parser.add_argument("--quick", action="store_true", help="4,000 deliveries, one and two processes")
    options = parser.parse_args()
    if options.quick:
        options.deliveries, options.drains = 4_000, [1, 2]
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    print(f"{ground.machine()}, {options.organizations} organizations, {options.endpoints} endpoints each")
    told = PROCESSES.Queue()
    receivers = [PROCESSES.Process(target=receive, args=(told,), daemon=True) for _ in range(options.receivers)]
    for receiver in receivers:
        receiver.start()
    pairs = [told.get(timeout=60) for _ in receivers]
    answering, hanging = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    try:
        for kind in ground.KINDS:
            if options.only in {None, "throughput"}:
                throughput(kind, answering, options)
            if options.only in {None, "dead"}:
                beside_dead(kind, answering, hanging, options)
            if options.only in {None, "delays"}:
                delays(kind, answering, hanging)
    finally:
        for receiver in receivers:
            receiver.terminate()
            receiver.join()


if __name__ == "__main__":
    main()
