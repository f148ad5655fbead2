"""What only PostgreSQL does: it commits in another order than numbers were taken in, and knows that it was restored."""

import threading
from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa
from flask import Flask

from app.core.db import commit_order, db
from app.core.db.row_security import everyone
from app.flows.models import InterviewFlow
from app.webhooks.changes.models import ChangeFeed
from tests.factories import a_flow
from tests.people import Person

from .conftest import Reader, there


def test_what_commits_late_is_not_passed_over(own_app: Flask, owner: Person, reader: Reader) -> None:
    """The first to take a number is the last to commit."""
    early, late = a_flow(owner).id, a_flow(owner).id
    reader.read()
    written, may_commit = threading.Event(), threading.Event()

    def first() -> None:
        with own_app.app_context(), everyone():
            db.session.execute(sa.update(InterviewFlow).where(InterviewFlow.id == early).values(title="Early"))
            written.set()
            may_commit.wait(30)
            # Moved by the other one meanwhile: back to this transaction, and still before all readers.
            db.session.execute(sa.update(InterviewFlow).where(InterviewFlow.id == late).values(title="Both"))
            db.session.commit()
            db.session.remove()

    with ThreadPoolExecutor(1) as threads:
        done = threads.submit(first)
        assert written.wait(30)
        db.session.execute(sa.update(InterviewFlow).where(InterviewFlow.id == late).values(title="Late"))
        db.session.commit()
        assert reader.read_now() == [], "a position before it can still be written"
        may_commit.set()
        done.result(30)
    assert [(one["object_id"], one["object"]["title"]) for one in reader.read()] == [(early, "Early"), (late, "Both")]


def test_a_restore_elsewhere_ends_cursors_and_old_rows_stay_readable(owner: Person, reader: Reader) -> None:
    """A dump names transactions of another server, whose numbers may be far ahead."""
    db.session.execute(sa.text("UPDATE change SET txid = txid + 1000000000"))
    db.session.execute(sa.update(ChangeFeed).values(place="another/server/1/00000001"))
    db.session.commit()
    answer = owner.api("GET", "/v1/changes", query_string={"after": reader.after})
    assert (answer.status_code, answer.headers["X-Parley-Error"]) == (410, "cursor_expired")
    fresh = Reader(owner)
    fresh.read()
    assert fresh.copy == reader.copy == there(owner)
    flow = a_flow(owner)
    assert fresh.kinds() == [("interview_flow", flow.id, "upserted")]


def test_after_a_failover_cursors_end_and_positions_stay(owner: Person, reader: Reader) -> None:
    """The new server may lack the last transactions of the old one."""
    place = str(commit_order.place())
    db.session.execute(sa.update(ChangeFeed).values(place=place.rpartition("/")[0] + "/00000000"))
    before = db.session.execute(sa.text("SELECT txid, number FROM change ORDER BY number")).all()
    db.session.commit()
    answer = owner.api("GET", "/v1/changes", query_string={"after": reader.after})
    assert (answer.status_code, answer.headers["X-Parley-Error"]) == (410, "cursor_expired")
    assert db.session.execute(sa.text("SELECT txid, number FROM change ORDER BY number")).all() == before
    fresh = Reader(owner)
    fresh.read()
    assert fresh.copy == reader.copy
