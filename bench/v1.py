"""Reading and writing through ``/v1`` with 1,000, 100,000 and 1,000,000 interviews, as multiples of floors in the same run.

    python bench/v1.py [--quick] [--rows 1000,100000,1000000] [--requests 880]

One process set up as ``parley web`` serves four keep-alive clients: lists without transcripts at offset 0 and at the
end, of one status at the end, one interview; creating an interview without and with the candidate's email address and an
Idempotency-Key, and revoking recordings. The floor of a read is the same rows by the bare driver, as JSON. That of
creating is one transaction of the bare driver with the rows that every new interview writes (the interview, its two
numbers, its two counters), committed durably. That of revoking is two transactions with an UPDATE each, because access
ends before the bytes are deleted. The same server serves the floors to the same clients, and all kinds take turns. Between both
are the rows named "least": the floor's statement and the one that finds the key, by SQLAlchemy's Core, in a view of an
empty Flask application. What
counts is the multiple, and that it does not grow with the rows. ``--quick``: up to 100,000.

SQLite always; PostgreSQL as well if BENCH_POSTGRES_URL names a server. Last figures: docs/figures/scale.md.
"""

import argparse
import json
import random
import sqlite3
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import _clients as clients
import _ground as ground
import sqlalchemy as sa
from _clients import Asked
from flask import Flask, jsonify

from app import create_app
from app.core import queue
from app.core.db import db
from app.flows.models import InterviewFlow, InterviewType
from app.settings import Settings

LIMIT = 20
PAGE = """SELECT i.id, i.flow_id, i.team_id, i.status, i.interviewee_email_address, i.interviewee_first_name, d.summary
FROM interview i LEFT JOIN interview_data d ON d.interview_id = i.id
WHERE i.organization_id = ? AND i.org_seq <= ? AND i.org_seq > ? ORDER BY i.org_seq DESC"""
ONE = PAGE[: PAGE.index("WHERE")] + "WHERE i.id = ?"
NEW = """INSERT INTO interview (id, organization_id, team_id, flow_id, org_seq, team_seq, status, stage, video_stage,
created_at, failures, fence, recoveries) VALUES (?, ?, ?, ?, ?, ?, 'incomplete', 'created', 'none', ?, 0, 0, 0)"""
NUMBER = "UPDATE {} SET interview_seq = interview_seq + 1 WHERE id = ? RETURNING interview_seq"
COUNTED = """INSERT INTO interview_bucket (owner_id, status, bucket, interviews) VALUES (?, 'incomplete', ?, 1)
ON CONFLICT (owner_id, status, bucket) DO UPDATE SET interviews = interview_bucket.interviews + 1"""
REVOKED = "UPDATE interview SET failures = failures WHERE id = ?"
FLOORS = {
    "list, offset 0": "read",
    "list, at the end": "read",
    "completed ones, at the end": "read",
    "one interview": "read one",
    "least: a page in Flask": "read",
    "least: one in Flask": "read one",
    "book": "booking",
    "book, with an address": "booking",
    "book, with a key to repeat it": "booking",
    "take recordings back": "two updates",
}


def fill(owner: ground.Customer, rows: int) -> None:
    """Bare interviews, every third completed, with their counters, written by the database itself."""
    postgres = db.engine.dialect.name == "postgresql"
    series = (
        "generate_series(CAST(:first AS integer), CAST(:rows AS integer)) AS s(n)"
        if postgres
        else "(WITH RECURSIVE c(n) AS (SELECT :first UNION ALL SELECT n + 1 FROM c WHERE n < :rows) SELECT n FROM c) AS s"
    )
    ident = (
        "lpad(to_hex(n), 8, '0') || '-0000-4000-8000-000000000000'"
        if postgres
        else "printf('%08x-0000-4000-8000-000000000000', n)"
    )
    status = "CASE WHEN n % 3 = 0 THEN 'completed' ELSE 'incomplete' END"
    now = "now()" if postgres else "'2026-01-01 00:00:00.000000'"
    ids = {"org": owner.organization.id, "team": owner.team.id, "flow": owner.flow.id}
    for first in range(1, rows + 1, 100_000):
        db.session.execute(
            sa.text(
                "INSERT INTO interview (id, organization_id, team_id, flow_id, org_seq, team_seq, status, stage, "
                f"video_stage, created_at, failures, fence, recoveries) SELECT {ident}, :org, :team, :flow, n, n, {status}, "
                f"'created', 'none', {now}, 0, 0, 0 FROM {series}"
            ),
            {"first": first, "rows": min(rows, first + 99_999), **ids},
        )
    for owner_id in (owner.organization.id, owner.team.id):
        db.session.execute(
            sa.text(
                f"INSERT INTO interview_bucket (owner_id, status, bucket, interviews) SELECT :owner, {status}, n / 1000, "
                f"count(*) FROM {series} GROUP BY {status}, n / 1000"
            ),
            {"owner": owner_id, "first": 1, "rows": rows},
        )
    owner.organization.interview_seq = owner.team.interview_seq = rows
    db.session.commit()
    if postgres:
        db.session.execute(sa.text("ANALYZE interview"))
        db.session.commit()


# --- the server: the product, and the floors beside it ------------------------------------------------------------


class Bare:
    """The same rows by the bare driver. SQLite's one writer is waited for in a line, as the product does."""

    def __init__(self, url: str, ids: list[str]) -> None:
        self._local, self._line, self._sqlite = threading.local(), threading.Lock(), url.startswith("sqlite")
        self._url, (self._organization, self._team, self._flow) = url, ids

    def read(self, top: str) -> list[Any]:
        return self._all(PAGE, self._organization, int(top), int(top) - LIMIT)

    def read_one(self, number: str) -> list[Any]:
        return self._all(ONE, ident(int(number)))

    def update_twice(self, number: str) -> list[Any]:
        for _ in range(2):
            with self._transaction() as run:
                run(REVOKED, ident(int(number)))
        return []

    def book(self, _: str) -> list[Any]:
        with self._transaction() as run:
            [(seq,)] = run(NUMBER.format("organization"), self._organization).fetchall()
            [(team_seq,)] = run(NUMBER.format("team"), self._team).fetchall()
            given = (
                str(uuid.uuid4()),
                self._organization,
                self._team,
                self._flow,
                seq,
                team_seq,
                "2026-01-01 00:00:00",
            )
            run(NEW, *given)
            for owner, number in ((self._organization, seq), (self._team, team_seq)):
                run(COUNTED, owner, number // 1000)
        return [given[0]]

    def _link(self) -> Any:
        if not hasattr(self._local, "link"):
            if self._sqlite:
                self._local.link = sqlite3.connect(
                    self._url.removeprefix("sqlite:///"), isolation_level=None, timeout=60
                )
                self._local.link.execute("PRAGMA synchronous=full")
            else:
                self._local.link = ground.bare(self._url)
        return self._local.link

    def _all(self, statement: str, *values: Any) -> list[Any]:
        return list(self._link().execute(self._said(statement), values).fetchall())

    def _said(self, statement: str) -> str:
        return statement if self._sqlite else statement.replace("?", "%s")

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        link = self._link()
        if not self._sqlite:
            with link.transaction():
                yield lambda statement, *values: link.execute(self._said(statement), values)
            return
        with self._line:
            link.execute("BEGIN IMMEDIATE")
            yield lambda statement, *values: link.execute(statement, values)
            link.execute("COMMIT")


def least(url: str, ids: list[str]) -> Flask:
    """What Flask and SQLAlchemy cost alone, with one statement for the key and one for the rows."""
    application, engine = Flask(__name__), sa.create_engine(url, pool_size=8)
    key = sa.text("SELECT id, organization_id FROM api_key WHERE organization_id = :organization")
    page = sa.text(PAGE.replace("?", "{}").format(":owner", ":top", ":below"))
    one = sa.text(ONE.replace("?", ":id"))

    def read(statement: Any, **values: Any) -> Any:
        with engine.connect() as connection:
            connection.execute(key, {"organization": ids[0]}).all()
            return jsonify([list(map(str, row)) for row in connection.execute(statement, values)])

    @application.get("/least/read/<int:top>")
    def a_page(top: int) -> Any:
        return read(page, owner=ids[0], top=top, below=top - LIMIT)

    @application.get("/least/one/<int:number>")
    def an_interview(number: int) -> Any:
        return read(one, id=ident(number))

    return application


def ident(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def serve(port: int, env: dict[str, str], ids: list[str]) -> None:
    """The product and the floors behind one server, set up as ``parley web`` does."""
    from app.operations.processes.web import serve as serve_as_the_product
    from app.operations.processes.web import server_for

    settings = Settings.from_env(env)
    product, bare = create_app(settings, waker=queue.SilentWaker()), Bare(settings.database_url, ids)
    in_flask = least(settings.database_url, ids)
    floors = {"read": bare.read, "read one": bare.read_one, "booking": bare.book, "two updates": bare.update_twice}

    def application(environ: dict[str, Any], start_response: Any) -> Any:
        if environ["PATH_INFO"].startswith("/least/"):
            return in_flask(environ, start_response)
        if not environ["PATH_INFO"].startswith("/floor/"):
            return product(environ, start_response)
        _, _, kind, given = environ["PATH_INFO"].split("/")
        if environ["REQUEST_METHOD"] == "POST":
            json.loads(environ["wsgi.input"].read())
        body = json.dumps([list(map(str, row)) for row in floors[kind](given)] if kind != "nothing" else []).encode()
        start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    serve_as_the_product(server_for(application, replace(settings, host="127.0.0.1", port=port)), until=lambda: False)


# --- the measurement ----------------------------------------------------------------------------------------------


def kinds_for(
    owner: ground.Customer, recruiting: str, rows: int, requests: int
) -> dict[str, tuple[list[Asked], dict[str, str]]]:
    """What is asked, product and floors."""
    bearer = {"Authorization": f"Bearer {owner.key}", "Accept-Encoding": "identity"}
    chance = random.Random(1)
    near = [chance.randint(0, min(500, rows - LIMIT)) for _ in range(requests)]
    far = [rows - LIMIT - offset for offset in near]
    some = [chance.randint(1, rows) for _ in range(requests)]
    unlike = random.Random(2).sample(range(1, rows + 1), min(rows, requests))
    listed, flow, last = "/v1/interviews?limit=20&transcript=none", owner.flow.id, rows // 3 - LIMIT

    def booked(flow_id: str, *, named: bool, repeatable: bool) -> list[Asked]:
        return [
            Asked(
                "/v1/interviews",
                "POST",
                {
                    "interview_flow_id": flow_id,
                    **({"interviewee_email_address": f"{uuid.uuid4()}@bench.example"} if named else {}),
                },
                (("Idempotency-Key", str(uuid.uuid4())),) if repeatable else (),
            )
            for _ in range(requests)
        ]

    return {
        "floor: an empty answer": ([Asked("/floor/nothing/0")] * requests, {}),
        "floor: read": ([Asked(f"/floor/read/{rows - offset}") for offset in near], {}),
        "floor: read one": ([Asked(f"/floor/read one/{one}".replace(" ", "%20")) for one in some], {}),
        "least: a page in Flask": ([Asked(f"/least/read/{rows - offset}") for offset in near], {}),
        "least: one in Flask": ([Asked(f"/least/one/{one}") for one in some], {}),
        "list, offset 0": ([Asked(f"{listed}&offset={offset}") for offset in near], bearer),
        "list, at the end": ([Asked(f"{listed}&offset={offset}") for offset in far], bearer),
        "completed ones, at the end": (
            [Asked(f"{listed}&status=completed&offset={max(0, last - one // 3)}") for one in near],
            bearer,
        ),
        "one interview": ([Asked(f"/v1/interviews/{ident(one)}?transcript=none") for one in some], bearer),
        "floor: booking": ([Asked("/floor/booking/0", "POST", {"interview_flow_id": flow})] * requests, {}),
        "floor: two updates": ([Asked(f"/floor/two%20updates/{one}") for one in unlike], {}),
        "book": (booked(flow, named=False, repeatable=False), bearer),
        "book, with an address": (booked(recruiting, named=True, repeatable=False), bearer),
        "book, with a key to repeat it": (booked(flow, named=False, repeatable=True), bearer),
        "take recordings back": ([Asked(f"/v1/interviews/{ident(one)}", "DELETE") for one in unlike], bearer),
    }


def measure(kind: str, rows: int, requests: int) -> dict[str, clients.Took]:
    """One database of one size."""
    with ground.database(kind) as url, ground.folder() as directory:
        env = ground.env_for(url, directory)
        with ground.application(env):
            owner = ground.customer(["Why us?"])
            other = InterviewFlow(
                organization_id=owner.organization.id,
                team_id=owner.team.id,
                org_name="Bench",
                title="Recruiting",
                questions=["Why us?"],
                interview_type=InterviewType.RECRUITMENT,
            )
            db.session.add(other)
            db.session.flush()
            fill(owner, rows)
            kinds = kinds_for(owner, other.id, rows, requests)
            ids = [owner.organization.id, owner.team.id, owner.flow.id]
        port = ground.free_port()
        command = [sys.executable, str(Path(__file__)), "--serve", str(port), json.dumps(env), *ids]
        with ground.serving(command, port) as pid:
            found = clients.in_turns(port, pid, kinds)
            memory = ground.memory_of(pid)
    print(f"\n{kind}, {rows:,} interviews, 4 clients; {ground.machine()}; the process takes {memory:.0f} MB")
    print(f"{'':32} requests/s   CPU ms  median ms   p99 ms   x floor: rate   CPU")
    for name, took in found.items():
        line = f"  {name:30} {took.rate:10.0f} {took.cpu:8.2f} {took.median:10.2f} {took.p99:8.1f}"
        floor = found.get(f"floor: {FLOORS[name]}") if name in FLOORS else None
        print(line + (f" {floor.rate / took.rate:15.1f} {took.cpu / floor.cpu:6.1f}" if floor else ""), flush=True)
    return found


def main() -> None:
    """Print the figures."""
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4:])
        return
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="1,000 and 100,000 interviews, 330 requests of each kind")
    options.add_argument("--rows", default="1000,100000,1000000")
    options.add_argument("--requests", type=int, default=880)
    given = options.parse_args()
    sizes = [1_000, 100_000] if given.quick else [int(size) for size in given.rows.split(",")]
    for kind in ground.KINDS:
        results = {rows: measure(kind, rows, 330 if given.quick else given.requests) for rows in sizes}
        first, last = results[sizes[0]], results[sizes[-1]]
        grown = max(last[name].cpu / first[name].cpu for name in FLOORS)
        print(f"{kind}: CPU at {sizes[-1]:,} interviews is at most {grown:.2f} x what it is at {sizes[0]:,}")


if __name__ == "__main__":
    main()
