"""What open tabs that no one uses cost: 200 of them, each asking once a minute what is new, next to ``/healthz``.

    .venv/bin/python bench/idle_tabs.py [--tabs 200] [--minutes 2] [--interviews 10000]

One ``parley web`` with interviews, every third completed. The tabs of one member ask as ``static/js/live.js`` does after eight minutes
without a sign of use: the URL that the list of candidates gives, with the ETag of the last response, evenly spread. Then
the same number of ``/healthz``, the floor. Prints the share of a core that the web process used. Goal: at most 5 %.

SQLite; PostgreSQL as well if BENCH_POSTGRES_URL names a server. Last figures: docs/figures/pages.md.
"""

import argparse
import time
from datetime import timedelta

import _ground as ground
import requests
import sqlalchemy as sa
from v1 import fill

from app.accounts import access, actions
from app.accounts.models import Role, TeamMember
from app.core import clock
from app.core.db import db
from app.interviews.models import Interview, InterviewStatus, Stage

GOAL = 5.0
PERIOD = 60.0


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tabs", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--interviews", type=int, default=10_000)
    options = parser.parse_args()
    print(ground.machine())
    for kind in ground.KINDS:
        measure(kind, options.tabs, minutes=options.minutes, interviews=options.interviews)


def measure(kind: str, tabs: int, *, minutes: float, interviews: int) -> None:
    with ground.database(kind) as url, ground.folder() as directory:
        env = ground.env_for(url, directory)
        with ground.application(env) as app:
            cookie = {access.cookie_name(app.extensions["parley.settings"]): seeded(interviews)}
        port = ground.free_port()
        with ground.serving(ground.parley("web"), port, env={**env, "PORT": str(port)}) as pid:
            address = f"http://127.0.0.1:{port}"
            since = f"{clock.now() - timedelta(minutes=10):%Y-%m-%dT%H:%M:%SZ}"
            for name, path, answer in (
                ("/healthz", "/healthz", 200),
                ("what is new", f"/live/results?since={since}&seen=0", 304),
            ):
                share = share_of(pid, f"{address}{path}", cookie, answer, tabs=tabs, seconds=60 * minutes)
                print(f"  {kind:10} {tabs} tabs, {name:12} {share:5.2f} % of a core (goal {GOAL:g})")


def seeded(interviews: int) -> str:
    """``interviews`` of one organization, every third completed; returns the cookie of its administrator."""
    customer = ground.customer(["Why?"])
    fill(customer, interviews)
    completed = {"stage": Stage.COMPLETED, "completed_at": clock.now() - timedelta(days=1)}
    db.session.execute(sa.update(Interview).where(Interview.status == InterviewStatus.COMPLETED).values(**completed))
    organization_id = customer.organization.id
    admin = TeamMember(organization_id=organization_id, email="a@bench.example", role=Role.ADMIN, password_hash="x")
    db.session.add(admin)
    db.session.flush()
    _login, token = actions.sign_in(admin, address="127.0.0.1", browser="bench")
    db.session.commit()
    return token


def share_of(pid: int, url: str, cookie: dict[str, str], expected: int, *, tabs: int, seconds: float) -> float:
    """Percent of a core that the process used while ``tabs`` asked once a ``PERIOD``, for ``seconds``."""
    session = requests.Session()
    tag = session.get(url, cookies=cookie, timeout=10).headers.get("ETag", "")
    before, began = ground.cpu_of(pid), time.monotonic()
    for number in range(int(tabs * seconds / PERIOD)):
        time.sleep(max(0.0, began + number * PERIOD / tabs - time.monotonic()))
        answer = session.get(url, cookies=cookie, headers={"If-None-Match": tag}, timeout=10)
        assert answer.status_code == expected, answer.status_code
    return 100 * (ground.cpu_of(pid) - before) / (time.monotonic() - began)


if __name__ == "__main__":
    main()
