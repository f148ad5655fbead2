"""Several web and worker processes on one PostgreSQL, Redis and S3, while they are killed, added and replaced.

    BENCH_POSTGRES_URL=… python bench/machines.py [--quick] [--webs 3] [--workers 2] [--seconds 20]

A distributor sends every request to the next web process, so no two requests of one person reach the same one. Like a
proxy, it tries another process only if one does not accept the connection. A request that was given to one process is
never given to a second one, and if a process dies before it responded, the client gets 502. Customers create interviews
with an Idempotency-Key, candidates send a chunk every quarter of a second, a recruiter views the board and moves
candidates, each move is a webhook. A client without a response counts a failure and repeats the request. The floor is
the same load undisturbed, in the same run. Afterwards, every interview must exist once, every acknowledged chunk must
be in S3 as it was sent, and every move at the receiver.

Old and new code on one schema, and a migration under load: ``python -m tests.faults F10``. Last figures: docs/figures/scale.md.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import _ground as ground
import requests
import sqlalchemy as sa
from _distributor import Distributor
from _people import Load

from app.gateways.redis import embedded
from app.gateways.storage import build_storage, read
from app.operations.demo.receiver import Receiver
from app.settings import Settings
from tests.faults.installation import ADMIN, PASSWORD
from tests.faults.people import WEBHOOK_SECRET


class Fleet:
    """The web and worker processes that run now."""

    def __init__(self, env: dict[str, str], distributor: Distributor) -> None:
        self.env, self._distributor = env, distributor
        self.webs: list[tuple[int, subprocess.Popen[bytes]]] = []
        self.workers: list[subprocess.Popen[bytes]] = []

    def add_web(self) -> None:
        port = ground.free_port()
        process = ground.started(ground.parley("web"), env={**self.env, "PORT": str(port)})
        ground.wait_for(f"http://127.0.0.1:{port}/readyz", process)
        self.webs.append((port, process))
        self._distributor.ports.append(port)

    def add_worker(self) -> None:
        self.workers.append(ground.started(ground.parley("worker"), env=self.env))

    def stop_web(self) -> None:
        """As an operator does: the proxy finds out by itself."""
        port, process = self.webs.pop(0)
        ground.stopped(process)
        self._distributor.ports.remove(port)

    def kill_web(self) -> None:
        port, process = self.webs.pop(0)
        process.kill()
        process.wait()
        self._distributor.ports.remove(port)

    def stop_worker(self) -> None:
        ground.stopped(self.workers.pop(0))

    def kill_worker(self) -> None:
        process = self.workers.pop(0)
        process.kill()
        process.wait()

    def stop_all(self) -> None:
        for process in [*(process for _port, process in self.webs), *self.workers]:
            ground.stopped(process)


def disturb(fleet: Fleet, load: Load, seconds: float) -> list[tuple[str, float]]:
    """The phases, one after the other; names and how long each took."""

    def rolling() -> None:
        for _ in range(len(fleet.webs)):
            fleet.add_web()
            fleet.stop_web()
        for _ in range(len(fleet.workers)):
            fleet.add_worker()
            fleet.stop_worker()

    phases: dict[str, list[Callable[[], None]]] = {
        "undisturbed (floor)": [],
        "a web and a worker process killed": [fleet.kill_web, fleet.kill_worker],
        "one of each added": [fleet.add_web, fleet.add_worker],
        "one of each stopped": [fleet.stop_web, fleet.stop_worker],
        "one of each added again": [fleet.add_web, fleet.add_worker],
        "rolling restart of all": [rolling],
    }
    took = []
    for name, steps in phases.items():
        load.phase, began = name, time.perf_counter()
        time.sleep(seconds / 4)
        for step in steps:
            step()
        time.sleep(max(seconds / 4, seconds - (time.perf_counter() - began)))
        took.append((name, time.perf_counter() - began))
    load.phase = "end"
    return took


def run(url: str, given: argparse.Namespace, running: ExitStack) -> bool:
    directory = running.enter_context(ground.folder())
    env = ground.env_for(url, directory, **_redis_and_s3(directory, running), STT_PROCESSES="1")
    os.environ.update({name: value for name, value in env.items() if name.startswith("AWS_")})  # to read what is kept
    distributor = running.enter_context(Distributor())
    env["APP_URL"] = base = f"http://127.0.0.1:{distributor.port}"
    made = subprocess.run(
        ground.parley(
            "org", "create", "Bench", "--team", "One", "--admin-email", ADMIN, "--admin-password", PASSWORD, "--json"
        ),
        env={**os.environ, **env},
        cwd=ground.ROOT,
        capture_output=True,
        check=True,
    )
    customer, fleet = json.loads(made.stdout), Fleet(env, distributor)
    running.callback(fleet.stop_all)
    for _ in range(given.webs):
        fleet.add_web()
    for _ in range(given.workers):
        fleet.add_worker()
    receiver = running.enter_context(Receiver())
    api = requests.Session()
    api.headers["Authorization"] = f"Bearer {customer['api_key']}"
    flow = api.post(
        f"{base}/v1/interview-flows",
        timeout=60,
        json={
            "org_name": "Bench",
            "title": "Bench",
            "questions": ["Why us?"],
            "interview_type": "recruitment",
            "webhook_url": receiver.url,
            "webhook_secret_key": WEBHOOK_SECRET,
        },
    ).json()["interview_flow_id"]
    links = [
        api.post(
            f"{base}/v1/interviews",
            timeout=60,
            json={"interview_flow_id": flow, "interviewee_email_address": f"c{n}@bench.example"},
        ).json()["interview_link"]
        for n in range(given.candidates)
    ]
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"), poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.execute(sa.text("SET parley.organization = 'everyone'"))
        people = [row[0] for row in connection.execute(sa.text("SELECT id FROM candidate ORDER BY id"))]
    load = Load(base, customer["api_key"], flow)
    load.begin(
        *[load.customer] * 2,
        *(lambda link=link: load.candidate(link) for link in links),
        lambda: load.recruiter(people),
    )
    time.sleep(8)  # templates are compiled, pools filled
    took = disturb(fleet, load, given.seconds)
    load.over.set()
    for thread in load.threads:
        thread.join(60)
    return told(load, took, engine, receiver, Settings.from_env(env), distributor)


def told(
    load: Load,
    took: list[tuple[str, float]],
    engine: sa.Engine,
    receiver: Receiver,
    settings: Settings,
    distributor: Distributor,
) -> bool:
    """Print what each phase showed, and what was lost; whether all is well."""
    floor = 0.0
    for name, seconds in took:
        times = load.times.get(name, [0.0])
        p99 = float(ground.percentile(times, 99)) * 1000
        floor = floor or p99
        print(
            f"  {name:36} {len(times):6} requests, {len(times) / seconds:6.1f}/s, p99 {p99:6.0f} ms = {p99 / floor:4.1f} x floor, "
            f"{load.failed[name]} failed"
        )
    for why, count in load.why.items():
        print(f"    {count} x {why}")
    deadline = time.monotonic() + 90
    with engine.connect() as connection:
        connection.execute(sa.text("SET parley.organization = 'everyone'"))

        def rows(statement: str) -> list[Any]:
            return list(connection.execute(sa.text(statement)).all())

        while rows("SELECT 1 FROM webhook_delivery WHERE state <> 'delivered' LIMIT 1") and time.monotonic() < deadline:
            time.sleep(0.5)
        kept = Counter(row[0] for row in rows("SELECT interviewee_email_address FROM interview"))
        keys = {(row[0], row[1]): row[2] for row in rows("SELECT interview_id, number, storage_key FROM chunk")}
        moves = rows("SELECT candidate_id, number FROM status_change")
        sent = {
            row[1]: row[0]
            for row in rows(
                "SELECT subject, event_id FROM webhook_delivery WHERE event_type = 'candidate_status_updated'"
            )
        }
    storage = build_storage(settings)
    whole = sum(
        key in keys and hashlib.sha256(read(storage, keys[key])).hexdigest() == sha for key, sha in load.chunks.items()
    )
    arrived = {item.headers["webhook-id"] for item in receiver.received}
    missing = sum(kept[email] == 0 for email in load.booked)
    doubled = sum(kept[email] > 1 for email in [*load.booked, *load.waiting])
    lost_events = len(moves) - len(sent) + len(set(sent) - arrived)
    print(
        f"  bookings: {len(load.booked)} acknowledged, {len(load.waiting)} to be asked again later, {missing} lost, {doubled} doubled; chunks: {len(load.chunks)} acknowledged, "
        f"{len(load.chunks) - whole} lost; moves: {len(moves)}, {lost_events} without their event; requests by process: "
        f"{sorted(distributor.served.values())}"
    )
    for broken in load.broken:
        print(f"  a client gave up: {broken}")
    graceful = sum(load.failed[name] for name, _seconds in took if "killed" not in name)
    print(
        f"  goal of no failed request but those that a killed process held: {'reached' if not graceful else 'MISSED'}"
    )
    return not (missing or doubled or lost_events or graceful or load.broken or whole < len(load.chunks))


def _redis_and_s3(directory: Path, running: ExitStack) -> dict[str, str]:
    """A Redis and an S3 endpoint on ports of their own."""
    redis, s3 = ground.free_port(), ground.free_port()
    commands = (
        [str(embedded.binary_path()), "--port", str(redis), "--bind", "127.0.0.1", "--dir", str(directory)],
        [str(Path(sys.executable).with_name("moto_server")), "-H", "127.0.0.1", "-p", str(s3)],
    )
    for command in commands:
        process = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        running.callback(ground.stopped, process)
    endpoint = f"http://127.0.0.1:{s3}"
    ground.wait_for(f"{endpoint}/moto-api/data.json")
    requests.put(f"{endpoint}/recordings", timeout=10).raise_for_status()
    return {
        "REDIS_URL": f"redis://127.0.0.1:{redis}/0",
        "STORAGE_URL": "s3://recordings/parley",
        "S3_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="two of each, 8 s a phase")
    options.add_argument("--webs", type=int, default=3)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--candidates", type=int, default=4)
    options.add_argument("--seconds", type=float, default=20)
    given = options.parse_args()
    if given.quick:
        given.webs, given.workers, given.seconds = 2, 2, 8
    if "postgresql" not in ground.KINDS:
        print("not measured: it takes a PostgreSQL, named by BENCH_POSTGRES_URL")
        return 0
    print(
        f"{ground.machine()}; {given.webs} web and {given.workers} worker processes, PostgreSQL, Redis, S3; no sticky sessions"
    )
    with ground.database("postgresql") as url, ExitStack() as running:
        return 0 if run(url, given, running) else 1


if __name__ == "__main__":
    raise SystemExit(main())
