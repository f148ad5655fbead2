"""What the benchmarks share: their own databases, an organization in them, servers, and resource figures of processes.

PostgreSQL is measured if BENCH_POSTGRES_URL names a server and a role that can create databases. ``.ci/postgresql start
DIRECTORY PORT on`` starts one whose commits are durable. The role should be a plain one, as in production: row-level
security does not apply to a superuser.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np
import psycopg
import sqlalchemy as sa
from flask import Flask

from app import create_app
from app.accounts.actions import issue_api_key
from app.accounts.models import Organization, Team
from app.core import migrate, queue
from app.core.db import db, row_security
from app.flows.models import InterviewFlow, InterviewType
from app.settings import Settings
from tests.faults.processes import free_port, parley  # noqa: F401 - for the scripts

KINDS = ["sqlite", *(["postgresql"] if os.environ.get("BENCH_POSTGRES_URL") else [])]
percentile = partial(np.percentile, method="nearest")


def machine() -> str:
    """What else was going on: the first line of every run."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


# --- databases ----------------------------------------------------------------------------------------------------


@contextmanager
def database(kind: str) -> Iterator[str]:
    """A migrated database of its own, gone afterwards."""
    if kind == "sqlite":
        with folder() as place:
            url = f"sqlite:///{place / 'bench.db'}"
            migrate.upgrade(url)
            yield url
        return
    server = sa.make_url(os.environ["BENCH_POSTGRES_URL"].replace("postgresql://", "postgresql+psycopg://"))
    name = f"parley_bench_{uuid.uuid4().hex[:8]}"
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
        try:
            url = server.set(database=name).render_as_string(hide_password=False)
            migrate.upgrade(url)
            yield url
        finally:
            _dropped(connection, name)
    engine.dispose()


def _dropped(connection: sa.Connection, name: str) -> None:
    """A plain role may not end the server's own vacuum, so it waits for that."""
    for tried in range(60):
        try:
            connection.execute(sa.text(f"DROP DATABASE {name} WITH (FORCE)"))
        except sa.exc.ProgrammingError:
            if tried == 59:
                raise
            time.sleep(1)
        else:
            return


def bare(url: str) -> psycopg.Connection:
    """A connection of the bare driver to PostgreSQL that sees everything, as floors use it; each statement commits."""
    link = psycopg.connect(url.replace("postgresql+psycopg", "postgresql"), autocommit=True)
    link.execute("SET parley.organization = 'everyone'")
    return link


@contextmanager
def folder() -> Iterator[Path]:
    """A directory, gone afterwards."""
    place = Path(tempfile.mkdtemp(prefix="parley-bench-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


# --- the application ----------------------------------------------------------------------------------------------


def env_for(url: str, directory: Path, **more: str) -> dict[str, str]:
    """Settings of an installation on ``url`` with its files in ``directory``."""
    return {
        "DATA_DIR": str(directory),
        "DATABASE_URL": url.replace("postgresql+psycopg", "postgresql"),
        "REDIS_URL": "",
        "SECRET_KEY": "bench-secret-" * 4,
        "RATE_LIMIT_PER_MINUTE": "0",
        "LOG_LEVEL": "error",
        "HOST": "127.0.0.1",
        **more,
    }


@contextmanager
def application(env: dict[str, str]) -> Iterator[Flask]:
    """The whole application in this process, inside its context, among everyone's rows; all closed afterwards."""
    app = create_app(Settings.from_env(env), waker=queue.SilentWaker())
    with app.app_context(), row_security.everyone():
        try:
            yield app
        finally:
            db.session.remove()
            db.engine.dispose()
    app.extensions["parley.gateways"].close()


class Customer(NamedTuple):
    """An organization with one team, one flow, and a key of ``/v1``."""

    organization: Organization
    team: Team
    flow: InterviewFlow
    key: str


def founded() -> tuple[Organization, Team]:
    """An organization with one team, flushed."""
    organization = Organization(name="Bench")
    db.session.add(organization)
    db.session.flush()
    team = Team(organization_id=organization.id, name="Bench")
    db.session.add(team)
    db.session.flush()
    return organization, team


def customer(questions: list[str], *, kind: InterviewType = InterviewType.GENERAL) -> Customer:
    """A customer in the database, committed."""
    organization, team = founded()
    flow = InterviewFlow(
        organization_id=organization.id,
        team_id=team.id,
        org_name="Bench",
        title="Bench",
        questions=questions,
        interview_type=kind,
        language="en-US",
        voice_id="vendora-Kate",
    )
    db.session.add(flow)
    _row, key = issue_api_key(organization, name="bench", by=None)
    db.session.commit()
    return Customer(organization, team, flow, key)


# --- processes ----------------------------------------------------------------------------------------------------


def started(command: list[str], *, env: dict[str, str] | None = None) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, env={**os.environ, **(env or {})}, cwd=ROOT)


def stopped(process: "subprocess.Popen[bytes]") -> None:
    """End it as an operator does."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def answers(url: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(url, timeout=2) as answer:
        return bool(answer.status == 200)
    return False


def wait_for(url: str, process: "subprocess.Popen[bytes] | None" = None, *, seconds: float = 60) -> None:
    """Until something answers 200 there."""
    deadline = time.monotonic() + seconds
    while not answers(url):
        if time.monotonic() > deadline or (process is not None and process.poll() is not None):
            raise SystemExit(f"nothing answers at {url}")
        time.sleep(0.05)


@contextmanager
def serving(command: list[str], port: int, *, env: dict[str, str] | None = None) -> Iterator[int]:
    """A web server until the end of the block; its process id."""
    process = started(command, env=env)
    try:
        wait_for(f"http://127.0.0.1:{port}/healthz", process)
        yield process.pid
    finally:
        stopped(process)


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in task.read_text().split():
                found += family(int(child))
    return found


def cpu_of(pid: int) -> float:
    """Seconds of CPU a process has used, all threads, and children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(one) for one in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def memory_of(pid: int) -> float:
    """MB a process takes; what it shares with others is divided among them."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0
