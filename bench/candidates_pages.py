"""Recruiters' pages over many candidates: milliseconds of server time per page, in process, on both databases.

    python bench/candidates_pages.py [--quick] [--candidates 10000,100000] [--pages 15]

A signed-in administrator fetches each page through the whole application (guards, queries, template), without a
network. The floor is the page of the member's own sessions: the same frame without candidates. SQLite always;
PostgreSQL as well if BENCH_POSTGRES_URL names a server. Goal: 300 ms for the list at 10,000 candidates.

Last figures: docs/figures/scale.md.
"""

import argparse
import random
import statistics
import time
from datetime import UTC, datetime, timedelta

import _ground as ground
import sqlalchemy as sa

from app.accounts import access, actions
from app.accounts.models import Organization, Role, Team, TeamMember, TeamMembership
from app.candidates.models import DEFAULT_STATUSES, Candidate, CandidateTag, StatusChange
from app.core.db import db, new_id
from app.flows.models import InterviewFlow

FLOOR = "floor: one's own sessions"
PAGES = {
    FLOOR: "/sessions",
    "list": "/candidates",
    "list, page 100": "/candidates?offset=4950",
    "list, by score": "/candidates?order=score",
    "list, by name": "/candidates?order=name",
    "list, words in names": "/candidates?text=ann",
    "list, score, status and tag": "/candidates?score_from=3&without_status=rejected&tag=remote",
    "one candidate": "/candidates/{middle}",
    "one, list by newest": "/candidates/{middle}?order=newest",
    "one, list by score": "/candidates/{middle}?order=score",
    "one, list by name": "/candidates/{middle}?order=name",
    "one, list of words in names": "/candidates/{middle}?order=newest&text=ann",
    "home": "/dashboard",
    "board": "/candidates/board",
    "board's counts": "/candidates/board/counts",
}


def seed(count: int) -> tuple[str, str]:
    """An organization with ``count`` candidates without interviews in four flows.

    Returns the session token of its administrator, and the id of a candidate in the middle of the list.
    """
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
            **common,
            "id": new_id(),
            "flow_id": flows[number % 4].id,
            "email": f"p{number}@bench.example",
            "address": f"p{number}@bench.example",
            "first_name": chance.choice(("Ann", "Ben", "Cleo", "Dan")),
            "last_name": f"Name{number}",
            "status": chance.choice(DEFAULT_STATUSES),
            "status_changes": 1,
            "assigned_recruiter_id": admin.id,
            "created_at": now - timedelta(minutes=number),
            "score": chance.choice((None, 1.5, 2.5, 3.5, 4.5)),
            "interviewed_at": now,
            "reviewed_at": None,
        }
        people.append(one)
        moves.append(
            {
                "id": new_id(),
                "candidate_id": one["id"],
                "number": 1,
                "previous": "invited",
                "new": one["status"],
                "by_id": None,
                "at": now,
                "note": None,
            }
        )
        if number % 3 == 0:
            tags.append(
                {
                    "id": new_id(),
                    "organization_id": organization.id,
                    "candidate_id": one["id"],
                    "name": "remote",
                }
            )
    for rows, what in ((people, Candidate), (moves, StatusChange), (tags, CandidateTag)):
        for start in range(0, len(rows), 2_000):
            db.session.execute(sa.insert(what), rows[start : start + 2_000])
    _login, token = actions.sign_in(admin, address="127.0.0.1", browser="bench")
    db.session.commit()
    return token, people[count // 2]["id"]


def measure(kind: str, count: int, *, pages: int) -> dict[str, float]:
    """One database: seed it, fetch every page, print medians as multiples of the floor's; return them."""
    with (
        ground.database(kind) as url,
        ground.folder() as directory,
        ground.application(ground.env_for(url, directory)) as app,
    ):
        token, middle = seed(count)
        if kind == "postgresql":
            db.session.execute(sa.text("ANALYZE"))
            db.session.commit()
        client = app.test_client()
        client.set_cookie(access.cookie_name(app.extensions["parley.settings"]), token)
        print(f"{kind}, {count:,} candidates: median and worst of {pages}, ms; median as a multiple of the floor")
        medians: dict[str, float] = {}
        for name, path in PAGES.items():
            took = []
            for _ in range(pages + 1):
                began = time.perf_counter()
                answer = client.get(path.format(middle=middle))
                took.append((time.perf_counter() - began) * 1e3)
                assert answer.status_code == 200, f"{path} answered {answer.status_code}"
            medians[name] = statistics.median(took[1:])
            times = medians[name] / medians[FLOOR]
            print(
                f"  {name:32} {medians[name]:7.1f} {max(took[1:]):7.1f} {times:6.1f} x  {len(answer.data) // 1000} kB"
            )
    return medians


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--candidates", default="10000,100000", help="how many; several in turn")
    parser.add_argument("--pages", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="10,000 candidates, 5 of each page")
    options = parser.parse_args()
    print(ground.machine())
    for kind in ground.KINDS:
        found = [
            measure(kind, int(count), pages=5 if options.quick else options.pages)
            for count in ("10000" if options.quick else options.candidates).split(",")
        ]
        for name in PAGES if len(found) > 1 else ():
            print(
                f"  {kind}, {name}: {found[-1][name] / found[0][name]:.1f} x at the last size what it takes at the first"
            )


if __name__ == "__main__":
    main()
