"""One change to many candidates: milliseconds for each, in process, on both databases.

    python bench/bulk_changes.py [--candidates 1000] [--rounds 3]

Every candidate has an interview flow with a webhook URL, so a move writes its history, a decision record and an event.
``move`` and ``undo`` are one call each; ``tag`` has no history. The floor is what a move cannot do without: an UPDATE of
the same candidates and the same three rows for each, in four plain statements and one commit. SQLite always;
PostgreSQL as well if BENCH_POSTGRES_URL names a server.

Last figures: docs/figures/scale.md.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import _ground as ground
import candidates_pages
import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.candidates import bulk
from app.candidates.bulk import Change, Kind
from app.candidates.models import Candidate, DecisionRecord, StatusChange
from app.core import clock
from app.core.db import db, new_id
from app.flows.models import InterviewFlow
from app.webhooks.actions import outbox
from app.webhooks.models import Delivery, EventType

FLOOR = "floor"


def timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    db.session.commit()
    taken = (time.perf_counter() - began) * 1e3
    db.session.expunge_all()
    return taken


def floor(member_id: str, ids: list[str]) -> None:
    """The least that moves cost: one UPDATE and three INSERTs, without any rule."""
    here = Candidate.id.in_(ids)
    people = db.session.execute(sa.select(Candidate.id, Candidate.flow_id, Candidate.organization_id).where(here)).all()
    values = {"status": "accepted", "status_changes": Candidate.status_changes + 1}
    numbers = {
        row.id: row.status_changes
        for row in db.changed_rows(
            sa.update(Candidate).where(here).values(values).returning(Candidate.id, Candidate.status_changes)
        )
    }
    now, moved = clock.now(), {"previous": "invited", "at": clock.now(), "by_id": member_id}
    endpoint = outbox.route(db.session.get_one(InterviewFlow, people[0].flow_id))
    kind = EventType.CANDIDATE_STATUS_UPDATED
    changes = [{"candidate_id": one.id, "number": numbers[one.id], "new": "accepted", **moved} for one in people]
    records = [
        {
            "organization_id": one.organization_id,
            "flow_id": one.flow_id,
            "candidate_id": one.id,
            "number": numbers[one.id],
            "status": "accepted",
            "meaning": "accepted",
            "source": "bulk",
            **moved,
        }
        for one in people
    ]
    events = [
        {
            "organization_id": one.organization_id,
            "flow_id": one.flow_id,
            "endpoint_id": endpoint.id,
            "event_type": kind,
            "subject": new_id(),
            "sequence": 1,
            "body": b"{}" * 100,
            "state": "pending",
            "due_at": now,
        }
        for one in people
    ]
    for what, rows in ((StatusChange, changes), (DecisionRecord, records), (Delivery, events)):
        db.session.execute(sa.insert(what), rows)


def measure(kind: str, count: int, *, rounds: int) -> None:
    """One database: seed it, and print the median of each change as a multiple of the floor's."""
    with (
        ground.database(kind) as url,
        ground.folder() as directory,
        ground.application(ground.env_for(url, directory)),
    ):
        candidates_pages.seed(count)
        db.session.execute(sa.update(InterviewFlow).values(webhook_url="https://bench.example/hook"))
        db.session.execute(sa.update(Candidate).values(status="invited"))
        db.session.commit()
        ids = list(db.session.scalars(sa.select(Candidate.id).order_by(Candidate.id)))
        if kind == "postgresql":
            db.session.execute(sa.text("ANALYZE"))
            db.session.commit()

        def member() -> TeamMember:
            return db.session.scalars(sa.select(TeamMember)).one()

        def change(what: Change) -> Callable[[], object]:
            return lambda: bulk.apply(member(), ids, what)

        steps: dict[str, list[Callable[[], object]]] = {
            "move": [change(Change(Kind.MOVE, "rejected"))],
            "undo": [change(Change(Kind.BACK, "rejected"))],
            "tag": [change(Change(Kind.TAG, "bench"))],
            "remove the tag": [change(Change(Kind.UNTAG, "bench"))],
        }
        took: dict[str, list[float]] = {}
        for _ in range(rounds):
            member_id = member().id
            took.setdefault(FLOOR, []).append(timed(lambda: floor(member_id, ids)))  # noqa: B023 - called at once
            for name, calls in steps.items():
                took.setdefault(name, []).append(sum(timed(call) for call in calls))
    least = statistics.median(took[FLOOR])
    print(f"{kind}, {count:,} candidates: median of {rounds}, ms; as a multiple of the floor")
    for name, times in took.items():
        print(f"  {name:24} {statistics.median(times):9.0f} {statistics.median(times) / least:7.1f} x")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--candidates", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(ground.machine())
    for kind in ground.KINDS:
        measure(kind, options.candidates, rounds=options.rounds)


if __name__ == "__main__":
    main()
