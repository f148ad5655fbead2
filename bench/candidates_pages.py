"""Recruiters' pages over many candidates: milliseconds of server time per page, in process, on both databases.

    python bench/candidates_pages.py [--candidates 10000] [--pages 15]

Each page is fetched by a signed-in administrator through the whole application (guards, queries, template), without a
network. The floor is the page of one's own sessions: the same frame without candidates. SQLite always; PostgreSQL as
well when BENCH_POSTGRES_URL names a server. Goal: 300 ms for the list at 10,000 candidates.

Last figures: see docs/figures/interviews.md.
"""

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sqlalchemy as sa

from app import create_app, migrate, queue
from app.accounts import access, actions
from app.accounts.models import Organization, Role, Team, TeamMember, TeamMembership
from app.candidates.models import DEFAULT_STATUSES, Candidate, CandidateTag, StatusChange
from app.db import db, new_id
from app.flows.models import InterviewFlow
from app.settings import Settings

PAGES = {
    "floor: one's own sessions": "/sessions",
    "list": "/candidates",
    "list, page 100": "/candidates?offset=4950",
    "list, by score": "/candidates?order=score",
    "list, by name": "/candidates?order=name",
    "list, words in names": "/candidates?text=ann",
    "list, score, status and tag": "/candidates?score_from=3&without_status=rejected&tag=remote",
    "board": "/candidates/board",
    "board's counts": "/candidates/board/counts",
}


@contextmanager
def database(kind: str, directory: str) -> Iterator[str]:
    """A migrated database, gone afterwards."""
    if kind == "sqlite":
        yield f"sqlite:///{directory}/bench.db"
        return
    server = sa.make_url(os.environ["BENCH_POSTGRES_URL"].replace("postgresql://", "postgresql+psycopg://"))
    name = f"parley_bench_{uuid.uuid4().hex[:8]}"
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
        try:
            yield server.set(database=name).render_as_string(hide_password=False)
        finally:
            connection.execute(sa.text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


def seed(count: int) -> str:
    """An organization with ``count`` candidates in four flows; the session token of its administrator."""
    chance, now = random.Random(7), datetime.now(UTC)
    organization = Organization(name="Bench")
    db.session.add(organization)
    db.session.flush()
    team = Team(organization_id=organization.id, name="Bench")
    admin = TeamMember(organization_id=organization.id, email="a@bench.example", role=Role.ADMIN, password_hash="x")
    db.session.add_all([team, admin])
    db.session.flush()
    db.session.add(TeamMembership(team_id=team.id, member_id=admin.id))
    common = {"organization_id": organization.id, "team_id": team.id}
    flows = [InterviewFlow(**common, org_name="Bench", title=f"Flow {n}", questions=["Why?"]) for n in range(4)]
    db.session.add_all(flows)
    db.session.flush()
    people, moves, tags = [], [], []
    for number in range(count):
        one = {
            **common, "id": new_id(), "flow_id": flows[number % 4].id, "email": f"p{number}@bench.example",
            "address": f"p{number}@bench.example", "first_name": chance.choice(("Ann", "Ben", "Cleo", "Dan")),
            "last_name": f"Name{number}", "status": chance.choice(DEFAULT_STATUSES), "status_changes": 1,
            "assigned_recruiter_id": admin.id, "created_at": now - timedelta(minutes=number),
            "score": chance.choice((None, 1.5, 2.5, 3.5, 4.5)), "interviewed_at": now, "reviewed_at": None,
        }  # fmt: skip
        people.append(one)
        moves.append({
            "id": new_id(), "candidate_id": one["id"], "number": 1, "previous": "invited", "new": one["status"],
            "by_id": None, "at": now, "note": None,
        })  # fmt: skip
        if number % 3 == 0:
            tags.append({
                "id": new_id(), "organization_id": organization.id, "candidate_id": one["id"], "name": "remote",
            })  # fmt: skip
    for rows, what in ((people, Candidate), (moves, StatusChange), (tags, CandidateTag)):
        for start in range(0, len(rows), 2_000):
            db.session.execute(sa.insert(what), rows[start : start + 2_000])
    _login, token = actions.sign_in(admin, address="127.0.0.1", browser="bench")
    db.session.commit()
    return token


def measure(kind: str, options: argparse.Namespace) -> None:
    """One database: seed it, fetch every page, print medians."""
    directory = tempfile.mkdtemp(prefix="parley-bench-")
    try:
        with database(kind, directory) as url:
            migrate.upgrade(url)
            settings = Settings.from_env({"DATA_DIR": directory, "SECRET_KEY": "bench-" * 8, "DATABASE_URL": url})
            app = create_app(settings, bell=queue.SilentBell())
            with app.app_context():
                token = seed(options.candidates)
                if kind == "postgresql":
                    db.session.execute(sa.text("ANALYZE"))
                    db.session.commit()
            client = app.test_client()
            client.set_cookie(access.cookie_name(app.extensions["parley.settings"]), token)
            print(f"{kind}, {options.candidates:,} candidates: median and worst of {options.pages}, ms")
            for name, path in PAGES.items():
                took = []
                for _ in range(options.pages + 1):
                    began = time.perf_counter()
                    answer = client.get(path)
                    took.append((time.perf_counter() - began) * 1e3)
                    assert answer.status_code == 200, f"{path} answered {answer.status_code}"
                print(
                    f"  {name:32} {statistics.median(took[1:]):7.1f} {max(took[1:]):7.1f}  {len(answer.data) // 1000} kB"
                )
            with app.app_context():
                db.session.remove()
                db.engine.dispose()
            app.extensions["parley.gateways"].close()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--candidates", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=15)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    measure("sqlite", options)
    if os.environ.get("BENCH_POSTGRES_URL"):
        measure("postgresql", options)


if __name__ == "__main__":
    main()
