"""Recruiters' pages over many candidates: milliseconds of server time per page, in process, on both databases.

    python bench/candidates_pages.py [--quick] [--candidates 10000,100000] [--pages 15]

A signed-in administrator fetches each page through the whole application (guards, queries, template), without a
network. The organization has 1.3 interviews for each candidate, five own criteria, ratings of 20 % of the interviews and
two million entries in its audit log. The floor is the page of the member's own sessions: the same frame without any of
that. SQLite always; PostgreSQL as well if BENCH_POSTGRES_URL names a server.
Goal: 12 times the floor at 10,000 candidates (the board 14), 30 times at 100,000.

Last figures: docs/figures/scale.md.
"""

import argparse
import statistics
import time

import _desk
import _ground as ground
import sqlalchemy as sa
from flask.testing import FlaskClient

from app.accounts import access
from app.core.db import db

FEW = 10_000
GOAL = {False: 12, True: 30}
"""By whether there are more candidates than FEW."""
BOARD = 14
FLOOR = "floor: one's own sessions"
PAGES = {
    FLOOR: "/sessions",
    "list": "/candidates",
    "list, page 100": "/candidates?offset=4950",
    "list, by score": "/candidates?order=score",
    "list, by name": "/candidates?order=name",
    "list, words in names": "/candidates?text=ann",
    "list, score, status and tag": "/candidates?score_from=3&without_status=rejected&tag=remote",
    "one candidate": "/candidates/{candidate_id}",
    "one, list by newest": "/candidates/{candidate_id}?order=newest",
    "one, list by score": "/candidates/{candidate_id}?order=score",
    "one, list by name": "/candidates/{candidate_id}?order=name",
    "one, list of words in names": "/candidates/{candidate_id}?order=newest&text=ann",
    "one, actions": "/candidates/{candidate_id}/actions",
    "next to review": "/candidates/triage",
    "compare two": "/candidates/compare?id={candidate_id}&id={second_id}",
    "board": "/candidates/board",
    "board's counts": "/candidates/board/counts",
    "home": "/dashboard",
    "interviews": "/interviews",
    "interviews, completed, page 100": "/interviews?status=completed&offset=4950",
    "interviews of a flow": "/interviews?flow={flow_id}",
    "one interview": "/interviews/{interview_id}",
    "its scorecard": "/interviews/{interview_id}/scorecard",
    "its report": "/interviews/{interview_id}/report",
    "its links": "/interviews/{interview_id}/shares",
    "new interview": "/interviews/new",
    "flows": "/flows",
    "one flow": "/flows/{flow_id}",
    "edit a flow": "/flows/{flow_id}/edit",
    "new flow": "/flows/new",
    "templates": "/flows/templates",
    "question bank": "/flows/bank",
    "invite": "/candidates/invite?flow={flow_id}",
    "mails": "/candidates/mails",
    "message": "/candidates/message?id={candidate_id}",
    "find": "/find?q=ann",
    "mentions": "/mentions",
    "statuses": "/candidates/statuses",
    "reasons": "/candidates/reasons",
    "re-scorings": "/rescorings",
    "requests": "/requests",
    "webhooks": "/webhooks",
    "jobs": "/jobs",
    "team": "/team",
    "audit log": "/audit",
    "insights": "/insights",
}
"""``insights`` counts everything that there is, and stands last."""


def measure(kind: str, count: int, *, pages: int, audit_rows: int) -> dict[str, float]:
    """One database: seed it, fetch every page, print medians as multiples of the floor's; return them."""
    with (
        ground.database(kind) as url,
        ground.folder() as directory,
        ground.application(ground.env_for(url, directory)) as app,
    ):
        began = time.perf_counter()
        desk = _desk.seed(count, audit_rows=audit_rows)
        if kind == "postgresql":
            db.session.execute(sa.text("ANALYZE"))
            db.session.commit()
        client = app.test_client()
        client.set_cookie(access.cookie_name(app.extensions["parley.settings"]), desk.token)
        print(f"{kind}, {count:,} candidates, seeded in {time.perf_counter() - began:.0f} s")
        print(f"  median and worst of {pages}, ms; median as a multiple of the floor; goal {GOAL[count > FEW]} x")
        medians: dict[str, float] = {}
        for name, path in PAGES.items():
            took, size = _took(client, path.format_map(desk._asdict()), pages=pages)
            medians[name] = statistics.median(took)
            times = medians[name] / medians[FLOOR]
            goal = BOARD if name == "board" and count <= FEW else GOAL[count > FEW]
            missed = f"  over {goal}" if times > goal else ""
            print(f"  {name:32} {medians[name]:7.1f} {max(took):7.1f} {times:6.1f} x  {size // 1000} kB{missed}")
    return medians


def _took(client: FlaskClient, path: str, *, pages: int) -> tuple[list[float], int]:
    """Milliseconds of each fetch after the first, and bytes."""
    took = []
    for _ in range(pages + 1):
        began = time.perf_counter()
        answer = client.get(path)
        took.append((time.perf_counter() - began) * 1e3)
        assert answer.status_code == 200, f"{path} answered {answer.status_code}"
    return took[1:], len(answer.data)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--candidates", default="10000,100000", help="how many; several in turn")
    parser.add_argument("--pages", type=int, default=15)
    parser.add_argument("--audit-rows", type=int, default=_desk.AUDIT_ROWS)
    parser.add_argument("--quick", action="store_true", help="10,000 candidates, 100,000 rows of audit, 5 of each page")
    options = parser.parse_args()
    print(ground.machine())
    for kind in ground.KINDS:
        found = [
            measure(
                kind,
                int(count),
                pages=5 if options.quick else options.pages,
                audit_rows=100_000 if options.quick else options.audit_rows,
            )
            for count in ("10000" if options.quick else options.candidates).split(",")
        ]
        for name in PAGES if len(found) > 1 else ():
            print(
                f"  {kind}, {name}: {found[-1][name] / found[0][name]:.1f} x at the last size what it takes at the first"
            )


if __name__ == "__main__":
    main()
