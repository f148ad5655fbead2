"""Readers miss nothing, and get nothing twice, whatever writers do at the same time.

The seed is printed; ``CHANGES_SEED`` repeats a run, as far as threads allow.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa
from flask import Flask

from app.candidates.models import Candidate
from app.core.db import db
from app.core.db.row_security import everyone
from app.flows.models import InterviewFlow
from app.interviews import actions as interviews
from app.interviews.models import Interview
from tests.factories import a_flow
from tests.people import Person

from .conftest import Reader, booked, there

WRITERS, ACTS = 8, 25
OPEN_SECONDS = 5


def change_titles(chance: random.Random, flow_ids: list[str]) -> None:
    """Several flows, always in the same order, so that writers do not wait for each other in circles."""
    for flow_id in sorted(chance.sample(flow_ids, 3)):
        flow = db.session.get_one(InterviewFlow, flow_id, with_for_update=True)
        flow.title = f"Title {chance.random()}"
        db.session.flush()


def change_many(chance: random.Random, flow_ids: list[str]) -> None:
    """One statement over rows that the session knows nothing of."""
    some = sorted(chance.sample(flow_ids, 2))
    locked = sa.select(InterviewFlow.id).where(InterviewFlow.id.in_(some)).order_by(InterviewFlow.id).with_for_update()
    db.session.execute(locked)
    db.session.execute(sa.update(InterviewFlow).where(InterviewFlow.id.in_(some)).values(org_name=str(chance.random())))


def book(chance: random.Random, flow_ids: list[str]) -> None:
    flow = db.session.get_one(InterviewFlow, chance.choice(flow_ids))
    interviews.book(flow.organization, flow.id, email=f"one{chance.randrange(20)}@candidate.example")


def change_a_candidate(chance: random.Random, _flow_ids: list[str]) -> None:
    ids = db.session.scalars(sa.select(Candidate.id).order_by(Candidate.id)).all()
    if ids:
        chosen = sa.update(Candidate).where(Candidate.id == chance.choice(ids))
        db.session.execute(chosen.values(first_name=chance.choice(["Robin", "Kim", None])))


def delete_an_interview(chance: random.Random, _flow_ids: list[str]) -> None:
    ids = db.session.scalars(sa.select(Interview.id).order_by(Interview.id)).all()
    if ids:
        db.session.execute(sa.delete(Interview).where(Interview.id == chance.choice(ids)))


def savepoint(chance: random.Random, flow_ids: list[str]) -> None:
    """A part that is undone, and a part that is not."""
    for undone in (True, False):
        inner = db.session.begin_nested()
        change_titles(chance, flow_ids)
        inner.rollback() if undone else inner.commit()


DEEDS: list[Callable[[random.Random, list[str]], None]] = [
    *(change_titles, change_many, book, change_a_candidate, delete_an_interview, savepoint)
]


def write(app: Flask, seed: str, flow_ids: list[str]) -> int:
    """The work of one writer; returns how many transactions it committed."""
    chance, committed = random.Random(seed), 0
    with app.app_context(), everyone():
        for _act in range(ACTS):
            try:
                for _deed in range(chance.randint(1, 2)):
                    chance.choice(DEEDS)(chance, flow_ids)
                if chance.random() < 0.3:
                    db.session.rollback()
                else:
                    db.session.commit()
                    committed += 1
            except sa.exc.DBAPIError:  # a deadlock, or a row that another writer has deleted
                db.session.rollback()
            time.sleep(chance.random() / 100)
        db.session.remove()
    return committed


def stay_open(app: Flask, flow_id: str) -> None:
    """A transaction that writes at once and commits only after some seconds."""
    with app.app_context(), everyone():
        db.session.execute(sa.update(InterviewFlow).where(InterviewFlow.id == flow_id).values(title="Slow"))
        time.sleep(OPEN_SECONDS)
        db.session.commit()
        db.session.remove()


def read_on(reader: Reader, chance: random.Random, *, is_over: Callable[[], bool]) -> None:
    """Read with pauses, and now and then lose a page before it was kept."""
    while True:
        over = is_over()
        page = reader.fetch(chance.choice([2, 7, 30, 100]))
        if chance.random() < 0.2:
            continue  # it died before it kept the page
        reader.keep(page)
        if over and not page["has_more"]:
            return
        if chance.random() < 0.3:
            time.sleep(chance.random() / 5)


def test_a_reader_ends_with_the_state_of_the_database(own_app: Flask, owner: Person) -> None:
    seed = os.environ.get("CHANGES_SEED") or str(random.SystemRandom().randrange(10**9))
    print(f"CHANGES_SEED={seed}")
    flow_ids = [a_flow(owner).id for _flow in range(8)]
    slow = a_flow(owner).id
    readers = [Reader(owner), Reader(owner)]
    readers[1].read()
    db.session.rollback()
    with ThreadPoolExecutor(WRITERS + 1) as threads:
        writers = [threads.submit(write, own_app, f"{seed}-{number}", flow_ids) for number in range(WRITERS)]
        writers.append(threads.submit(stay_open, own_app, slow))
        for number, reader in enumerate(readers):
            chance = random.Random(f"{seed}-reader-{number}")
            read_on(reader, chance, is_over=lambda: all(one.done() for one in writers))
    assert sum(one.result() or 0 for one in writers) > WRITERS
    for reader in readers:
        reader.read(limit=7)
        assert len(set(reader.seen)) == len(reader.seen), "a change came twice"
        assert reader.copy == there(owner)
    assert readers[0].copy["interview_flow", slow]["title"] == "Slow"


KILLED = """
import sys, time
import sqlalchemy as sa
from app.core import migrate
from app.core.db.row_security import everyone
with everyone(), migrate.engine_for(sys.argv[1]).connect() as connection:
    connection.execute(sa.text("UPDATE interview_flow SET title = 'Never'"))
    print("written", flush=True)
    time.sleep(600)
"""


def test_a_writer_that_is_killed_leaves_nothing_and_blocks_nothing(
    own_app: Flask, own_database: str, owner: Person, reader: Reader
) -> None:
    flow = a_flow(owner)
    booked(owner, flow_id=flow.id)
    reader.read()
    writer = subprocess.Popen([sys.executable, "-c", KILLED, own_database], stdout=subprocess.PIPE, text=True)
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "written\n"
        assert reader.read_now() == []
        os.kill(writer.pid, signal.SIGKILL)
    finally:
        writer.kill()
        writer.communicate()
    db.session.execute(sa.update(Candidate).values(first_name="Robin"))
    db.session.commit()
    changes: list[dict[str, object]] = []
    while not changes:  # the server notices by itself that its client is gone
        changes = reader.read_now()
    assert [(one["kind"], one["change"]) for one in changes] == [("candidate", "upserted")]
    assert reader.copy == there(owner)
