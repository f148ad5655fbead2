"""Large changes: made by a job piece by piece, stopped, taken over from a killed worker, undone, and forgotten."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.models import Role
from app.candidates import actions, bulk
from app.candidates.bulk import Change, Kind
from app.candidates.bulk_changes import MAKE_CHANGE, jobs, queries
from app.candidates.bulk_changes import actions as changes
from app.candidates.models import BulkChange, BulkRow, BulkState, Candidate, DecisionRecord, StatusChange
from app.core import claims, clock, queue
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.webhooks.models import Delivery, Hold
from tests.factories import Made
from tests.people import Person

PEOPLE = 103
People = Callable[..., list[str]]
REJECT = Change(Kind.MOVE, "rejected", "skills")


@pytest.fixture
def people(owner: Person, make_flow: Made) -> People:
    """``people(count)``: ids of so many candidates of one flow with a webhook."""

    def make(count: int = PEOPLE) -> list[str]:
        flow = make_flow(webhook_url="https://customer.example/hook")
        names = {"first_name": "Ada", "last_name": None, "recruiter": None}
        ids = [actions.enrol(flow, email=f"p{n:03}@e.com", **names).id for n in range(count)]
        db.session.commit()
        return ids

    return make


def statuses(ids: list[str]) -> set[str]:
    return set(db.session.scalars(sa.select(Candidate.status).where(Candidate.id.in_(ids))))


def begun(who: Person, ids: list[str], change: Change = REJECT) -> BulkChange:
    run = changes.start(who.member, ids, change)
    db.session.commit()
    return run


def made(run: BulkChange) -> BulkChange:
    """The run after the job."""
    db.session.commit()
    jobs.make(run.id)
    return db.session.get_one(BulkChange, run.id, populate_existing=True)


def count(what: Any) -> int:
    return db.session.scalar(sa.select(sa.func.count()).select_from(what)) or 0


def test_each_is_moved_once_with_history_record_and_event_in_order(owner: Person, people: People) -> None:
    ids = people()
    run = made(begun(owner, ids))
    assert run.state == BulkState.DONE
    assert queries.counts_of(run) == {"done": PEOPLE}
    assert (count(StatusChange), count(DecisionRecord), count(Delivery)) == (PEOPLE,) * 3
    record = db.session.scalars(sa.select(DecisionRecord)).first()
    assert record is not None
    assert (record.source, record.reason_code, record.by_id, record.number) == ("bulk", "skills", owner.member.id, 1)
    undone = made(changes.undo(run, by=owner.member))
    assert queries.counts_of(undone) == {"done": PEOPLE}
    assert statuses(ids) == {"invited"}
    assert {one.withdrawn_by_id for one in db.session.scalars(sa.select(DecisionRecord))} == {owner.member.id}
    events = sa.select(Delivery.subject, Delivery.sequence, Delivery.hold).order_by(Delivery.subject, Delivery.sequence)
    assert [tuple(row) for row in db.session.execute(events)] == [
        (one, number, hold) for one in sorted(ids) for number, hold in ((1, None), (2, Hold.ORDER))
    ]


def test_a_killed_worker_is_followed_by_another_and_no_one_is_moved_twice_or_forgotten(
    owner: Person, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = people()
    run_id = begun(owner, ids).id
    real, pieces = bulk.apply, []

    class Killed(BaseException):
        """What ends a process."""

    def dies_in_the_second_piece(*given: Any, **more: Any) -> list[bulk.Row]:
        rows = real(*given, **more)
        pieces.append(len(rows))
        if len(pieces) == 2:
            raise Killed
        return rows

    monkeypatch.setattr(bulk, "apply", dies_in_the_second_piece)
    with pytest.raises(Killed):
        jobs.make(run_id)
    db.session.rollback()
    assert count(StatusChange) == jobs.PIECE  # the second piece is gone with the worker
    assert queries.due() == []
    jobs.make(run_id)  # the claim still holds: nothing happens
    assert count(StatusChange) == jobs.PIECE
    clock_now = clock.now()
    with clock.replaced(lambda: clock_now + jobs.LEASE + timedelta(seconds=1)):
        assert queries.due() == [run_id]
        jobs.make(run_id)
        jobs.make(run_id)
    run = db.session.get_one(BulkChange, run_id, populate_existing=True)
    assert (run.state, queries.counts_of(run)) == (BulkState.DONE, {"done": PEOPLE})
    assert count(StatusChange) == PEOPLE
    assert {row for (row,) in db.session.execute(sa.select(StatusChange.candidate_id))} == set(ids)
    assert (count(DecisionRecord), count(Delivery)) == (PEOPLE, PEOPLE)


def test_a_late_worker_finds_its_claim_gone(owner: Person, people: People) -> None:
    run = begun(owner, people(3))
    token = claims.take(BulkChange.state, run.id, expects=["waiting"], becomes="working", lease=jobs.LEASE)
    db.session.commit()
    assert changes.cancel(run)
    db.session.commit()
    assert not claims.renew(BulkChange, run.id, token or 0, lease=jobs.LEASE)
    assert made(run).state == BulkState.CANCELLED
    assert count(StatusChange) == 0


def test_a_run_that_ends_its_worker_three_times_is_given_up_and_can_be_tried_again(
    owner: Person, people: People
) -> None:
    run = begun(owner, people(3))
    run.state, run.recoveries, run.lease_until = BulkState.WORKING, 2, clock.now() - timedelta(minutes=5)
    db.session.commit()
    run = made(run)
    assert run.state == BulkState.FAILED
    assert "was interrupted three times" in owner.browser.get(f"/candidates/changes/{run.id}").text
    assert owner.browser.post(f"/candidates/changes/{run.id}/again").status_code == 303
    assert made(run).state == BulkState.DONE
    assert not changes.try_again(run)


def test_who_was_moved_meanwhile_is_skipped_and_named(owner: Person, people: People) -> None:
    ids = people(4)
    run = begun(owner, ids)
    actions.move(db.session.get_one(Candidate, ids[0]), "shortlisted", by=owner.member)
    actions.move(db.session.get_one(Candidate, ids[1]), "rejected", by=owner.member)
    back_again = db.session.get_one(Candidate, ids[2])
    actions.move(back_again, "accepted", by=owner.member)
    actions.move(back_again, "invited", by=owner.member)
    db.session.commit()
    run = made(run)
    rows = {row.candidate_id: (row.outcome, row.reason) for row in queries.rows_of(run, limit=10, offset=0)}
    moved = "This candidate was moved again in the meantime. The status is now {}."
    assert rows == {
        ids[0]: ("refused", moved.format("shortlisted")),
        ids[1]: ("same", None),
        ids[2]: ("refused", moved.format("invited")),
        ids[3]: ("done", None),
    }
    text = owner.browser.get(f"/candidates/changes/{run.id}").text
    assert moved.format("shortlisted") in text
    assert re.search(r"1 candidate changed, 2 skipped, 1 needed no change\.", " ".join(text.split()))


def test_an_undo_leaves_who_was_moved_again_and_happens_once(owner: Person, people: People) -> None:
    ids = people(3)
    run = made(begun(owner, ids))
    again = db.session.get_one(Candidate, ids[0])
    actions.move(again, "accepted", by=owner.member)
    actions.move(again, "rejected", by=owner.member)  # the same status, but by another move
    db.session.commit()
    undone = made(changes.undo(run, by=owner.member))
    assert queries.counts_of(undone) == {"done": 2, "refused": 1}
    assert [db.session.get_one(Candidate, one).status for one in ids] == ["rejected", "invited", "invited"]
    for one in (run, undone):
        with pytest.raises(Conflict):
            changes.undo(one, by=owner.member)
        db.session.rollback()


def test_an_undo_that_was_asked_for_in_time_withdraws_the_records_though_it_runs_late(
    owner: Person, people: People
) -> None:
    run = made(begun(owner, people(2)))
    undo = changes.undo(run, by=owner.member)
    db.session.commit()
    undo.created_at = run.created_at + timedelta(minutes=4)
    db.session.commit()
    now = clock.now()
    with clock.replaced(lambda: now + timedelta(minutes=9)):
        made(undo)
    assert all(one.withdrawn_at for one in db.session.scalars(sa.select(DecisionRecord)))


def test_after_five_minutes_an_undo_is_a_move_and_the_records_stay(owner: Person, people: People) -> None:
    run = made(begun(owner, people(2)))
    now = clock.now()
    with clock.replaced(lambda: now + timedelta(minutes=6)):
        undone = changes.undo(run, by=owner.member)
        db.session.commit()
        assert queries.counts_of(made(undone)) == {"done": 2}
    assert not any(one.withdrawn_at for one in db.session.scalars(sa.select(DecisionRecord)))


@pytest.mark.parametrize(
    ("change", "undone"),
    [(Change(Kind.TAG, "ready"), True), (Change(Kind.REVIEWED), True), (Change(Kind.ASSIGN), False)],
)
def test_other_changes_run_the_same_way(owner: Person, people: People, change: Change, undone: bool) -> None:
    ids = people(3)
    if change.kind is Kind.ASSIGN:
        db.session.execute(sa.update(Candidate).values(assigned_recruiter_id=owner.member.id))
    run = made(begun(owner, ids, change))
    assert queries.counts_of(run) == {"done": 3}
    assert queries.progress_of(run).can_be_undone == undone
    if undone:
        assert queries.counts_of(made(changes.undo(run, by=owner.member))) == {"done": 3}


def test_what_became_wrong_meanwhile_is_said_for_each(owner: Person, people: People) -> None:
    run = begun(owner, people(2), Change(Kind.MOVE, "rejected"))
    owner.member.role = Role.VIEWER
    db.session.commit()
    run = made(run)
    assert {row.reason for row in queries.rows_of(run, limit=9, offset=0)} == {changes.NOT_ANY_MORE}
    with pytest.raises(Rejected, match="not in your organization's list"):
        bulk.prepared(owner.member, Change(Kind.MOVE, "rejected", "nonsense"))


def test_the_list_starts_a_job_above_a_hundred_and_offers_progress_and_undo(owner: Person, people: People) -> None:
    ids = people(bulk.AT_ONCE + 1)
    form = {"kind": "move", "status": "shortlisted", "id": ids, "sure": "yes"}
    answer = owner.browser.post("/candidates/bulk", data=form)
    assert answer.status_code == 303
    address = answer.headers["Location"]
    assert statuses(ids) == {"invited"}
    page = owner.browser.get(address).text
    assert "0 of 101 candidates processed" in page
    assert "data-live-fresh" in page
    live = re.search(r'data-live-url="([^"]+)"', page)
    assert live is not None
    assert owner.browser.get(live[1].replace("&amp;", "&")).json == {"news": ""}
    assert "Show progress" in owner.browser.get("/candidates").text
    ((change_id,),) = queue.overdue(MAKE_CHANGE)
    jobs.make(change_id)
    assert owner.browser.get(live[1].replace("&amp;", "&")).json == {"news": "101 of 101 processed"}
    page = owner.browser.get(address).text
    assert "101 candidates changed." in " ".join(page.split())
    assert "data-live-url" not in page
    assert "Show outcome" in owner.browser.get("/candidates").text
    undoing = owner.browser.post(f"{address}/undo").headers["Location"]
    assert owner.browser.post(f"{address}/undo", follow_redirects=True).text.count("is already being undone") == 1
    jobs.make(undoing.rsplit("/", 1)[1])
    assert "The change was undone for 101 candidates." in " ".join(owner.browser.get(undoing).text.split())
    assert statuses(ids) == {"invited"}
    small = owner.browser.post("/candidates/bulk", data={**form, "id": ids[:100]})
    assert small.status_code == 200


def test_rejected_people_can_be_written_to_until_it_is_undone(owner: Person, people: People) -> None:
    ids = people(2)
    run = made(begun(owner, ids))
    assert "Write a rejection message" in owner.browser.get(f"/candidates/changes/{run.id}").text
    changes.undo(run, by=owner.member)
    db.session.commit()
    assert "Write a rejection message" not in owner.browser.get(f"/candidates/changes/{run.id}").text


def test_a_change_is_the_members_own_and_names_no_one_they_no_longer_see(
    owner: Person, colleague: Person, people: People
) -> None:
    ids = people(2)
    run = made(begun(owner, ids))
    assert colleague.browser.get(f"/candidates/changes/{run.id}").status_code == 404
    actions.erase(db.session.get_one(Candidate, ids[0]))
    db.session.commit()
    page = owner.browser.get(f"/candidates/changes/{run.id}").text
    assert page.count("An erased candidate") == 1
    assert queries.counts_of(run) == {"done": 2}
    assert queries.counts_of(made(changes.undo(run, by=owner.member))) == {"done": 1}


def test_changes_are_forgotten_after_thirty_days(owner: Person, people: People) -> None:
    run = made(begun(owner, people(2)))
    made(changes.undo(run, by=owner.member))
    now = clock.now()
    with clock.replaced(lambda: now + jobs.KEPT - timedelta(days=1)):
        assert jobs.sweep() == 0
    with clock.replaced(lambda: now + jobs.KEPT + timedelta(days=1)):
        assert jobs.sweep() == 2
    assert (count(BulkChange), count(BulkRow)) == (0, 0)
