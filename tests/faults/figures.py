"""Large counts of what the cases show in small ones; every number that was really run is printed.

``python -m tests.faults.figures --events 100000 --chunks 50000 --cuts 50 --rounds 1000`` is the whole; anything less
is said so in its own line. ``--candidates`` share the events: each has its moves in sequence, and their order counts.
"""

import argparse
import itertools
import os
import random
import signal
import sys
import threading
import time
from collections import defaultdict
from contextlib import suppress
from typing import Any

from tests.faults.case import Lab, Verdict, eventually
from tests.faults.cases_candidate import race
from tests.faults.cases_disk import cut_power
from tests.faults.checker import check_events, wait_until_delivered
from tests.faults.installation import Installation, RedisServer, laboratory
from tests.faults.people import Customer
from tests.faults.processes import descendants
from tests.faults.receiver import Receiver

ADDRESSES = 40
"""Receivers' addresses, so that they are served side by side as many customers' are."""


def _events(lab: Lab, *, events: int, candidates: int) -> Verdict:
    """Move candidates through the product's own actions while a child of the worker is killed every few seconds."""
    verdict = Verdict()
    installation = Installation(lab, redis=RedisServer(lab))
    worker = installation.worker()
    with Receiver(lab.directory / "journal") as receiver:
        web = installation.web()
        customer = Customer(installation, web.url)
        flows = [customer.flow(receiver.url(f"/hook-{number}")) for number in range(ADDRESSES)]
        web.stop()
        over, killed = threading.Event(), [0]
        thread = threading.Thread(target=_kill_now_and_then, args=(lab, worker.pid, over, killed), daemon=True)
        thread.start()
        began = time.monotonic()
        made = _moves(installation, flows, events=events, candidates=candidates)
        eventually(lambda: installation.count("webhook_delivery", "state = 'delivered'") >= made * 0.9, seconds=1800)
        over.set()
        thread.join(30)
        # A send that was under way at a kill waits for its lease and its turn; nobody waits for the clock here.
        drained = wait_until_delivered(installation, seconds=300)
        took = time.monotonic() - began
        arrived = check_events(verdict, installation, receiver, None)
        inversions, again = _inversions(receiver, installation)
    worker.stop()
    verdict.fired = f"{killed[0]} kills" if killed[0] else ""
    verdict.figure = (
        f"{made - arrived} of {made} events lost, {inversions} inversions among {candidates} candidates,"
        f" {again} came twice, {killed[0]} kills; all delivered after {took:.0f} s"
    )
    verdict.holds(arrived == made and drained is not None, f"I1 {made - arrived} of {made} lost, drained {drained}")
    verdict.holds(inversions == 0, f"I4 {inversions} inversions")
    return verdict


def _kill_now_and_then(lab: Lab, pid: int, over: threading.Event, killed: list[int]) -> None:
    chance = random.Random(lab.seed)
    # A kill blocks the receivers of sends under way until their lease of 60 s ends; oftener, and little would move.
    while not over.wait(chance.uniform(10, 30)):
        found = sorted(descendants(pid))
        if found:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(found), signal.SIGKILL)
                killed[0] += 1


def _moves(installation: Installation, flows: list[str], *, events: int, candidates: int) -> int:
    from app import create_app
    from app.candidates import actions
    from app.candidates.models import Candidate
    from app.core import queue
    from app.core.db import db
    from app.settings import Settings

    app = create_app(Settings.from_env(installation.env), waker=queue.SilentWaker())
    made = 0
    with app.app_context():
        people = _enrolled(flows, candidates)
        statuses = ("shortlisted", "accepted", "interviewed", "rejected")
        for turn in range(-(-events // candidates)):
            for at in range(0, len(people), 50):
                for one in people[at : at + 50]:
                    if made < events:
                        actions.move(db.session.get_one(Candidate, one), statuses[turn % len(statuses)], by=None)
                        made += 1
                db.session.commit()
        db.engine.dispose()
    return made


def _enrolled(flows: list[str], count: int) -> list[str]:
    from app.accounts.models import Organization
    from app.candidates.queries import enrolled
    from app.core.db import db
    from app.interviews import actions as interviews

    organization = db.session.scalars(db.select(Organization)).one()
    found: list[str] = []
    for number in range(count):
        flow, email = flows[number % len(flows)], f"figure-{number}@example.com"
        interviews.book(organization, flow, email=email, first_name=None, last_name=None, recruiter_id=None)
        person: Any = enrolled(flow, email)
        found.append(person.id)
        if number % 50 == 49:
            db.session.commit()
    db.session.commit()
    return found


def _inversions(receiver: Receiver, installation: Installation) -> tuple[int, int]:
    """Events of one candidate whose first arrival was before that of an earlier one; and how many came again."""
    known = {
        str(row[0]): (str(row[1]), int(row[2]))
        for row in installation.sql("select event_id, subject, sequence from webhook_delivery")
    }
    first: dict[str, float] = {}
    journal = receiver.journal()
    for request in journal:
        first.setdefault(request.event_id, request.at)
    arrivals = defaultdict(list)
    for event, at in first.items():
        subject, sequence = known[event]
        arrivals[subject].append((at, sequence))
    wrong = 0
    for found in arrivals.values():
        order = [sequence for _at, sequence in sorted(found)]
        wrong += sum(later < earlier for earlier, later in itertools.pairwise(order))
    return wrong, len(journal) - len(first)


def _winners(lab: Lab, *, rounds: int) -> Verdict:
    verdict = Verdict()
    installation = Installation(lab)
    web = installation.web()
    customer = Customer(installation, web.url)
    flow = customer.flow(None)
    winners = []
    for number in range(rounds):
        booked = customer.book(flow, f"round-{number}@example.com").body
        winners.append(race(verdict, str(booked["interview_link"])))
    web.stop()
    verdict.fired = f"{rounds} rounds of 100"
    verdict.figure = f"{winners.count(1)} of {rounds} rounds of 100 browsers had exactly one winner"
    verdict.holds(set(winners) == {1}, f"I7 winners {sorted(set(winners))}")
    return verdict


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.figures", description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--candidates", type=int, default=10_000)
    parser.add_argument("--chunks", type=int, default=50_000)
    parser.add_argument("--cuts", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=1_000)
    parser.add_argument("--seed", type=int)
    given = parser.parse_args()
    with laboratory("figures", given.seed) as lab:
        return _run(lab, given)


def _run(lab: Lab, given: argparse.Namespace) -> int:
    flaws = 0
    for wanted, work in (
        (given.rounds, lambda: _winners(lab, rounds=given.rounds)),
        (given.chunks, lambda: _chunks(lab, chunks=given.chunks, cuts=given.cuts)),
        (given.events, lambda: _events(lab, events=given.events, candidates=given.candidates)),
    ):
        if not wanted:
            continue
        began = time.monotonic()
        verdict = work()
        print(f"{verdict.figure} ({verdict.fired or 'the fault did not fire'}; {time.monotonic() - began:.0f} s)")
        for flaw in verdict.flaws[:10]:
            print(f"FLAW: {flaw}")
        flaws += verdict.result != "passed"
    return 1 if flaws else 0


def _chunks(lab: Lab, *, chunks: int, cuts: int) -> Verdict:
    """The cuts are spread over the upload, which goes on until all chunks are acknowledged."""
    return cut_power(lab, cuts=cuts, chunks=chunks, spread=True)


if __name__ == "__main__":
    sys.exit(main())
