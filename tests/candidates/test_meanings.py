"""What statuses mean: chosen by administrators, known for the built-in ones, and asked for where it is missing."""

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.models import AuditEntry
from app.candidates import statuses
from app.candidates.models import DEFAULT_MEANINGS, Meaning, PipelineStatus
from app.candidates.queries import columns_of, deciding_statuses, meanings_of, statuses_without_meaning
from app.core import migrate
from app.core.db import db
from app.core.errors import Rejected
from app.review.dashboard.queries import tasks_of
from tests.people import Person, person
from tests.rows import row_of, tables


def named(owner: Person, name: str) -> PipelineStatus:
    return next(column for column in columns_of(owner.organization) if column.name == name)


@pytest.fixture
def unknown(owner: Person) -> str:
    """A status of the time before meanings: it has none."""
    statuses.add(owner.organization, "Second talk", by=owner.member)
    named(owner, "Second talk").meaning = None
    db.session.commit()
    return "Second talk"


def test_built_in_statuses_have_their_meanings_before_and_after_the_first_change(owner: Person) -> None:
    assert meanings_of(owner.organization) == DEFAULT_MEANINGS
    statuses.rename(owner.organization, "shortlisted", "Promising", by=owner.member)
    db.session.commit()
    assert meanings_of(owner.organization)["Promising"] is Meaning.ADVANCED
    assert list(deciding_statuses(owner.organization)) == ["Promising", "accepted", "rejected"]
    assert statuses_without_meaning(owner.organization) == []


def test_an_administrator_chooses_the_meaning(owner: Person, unknown: str) -> None:
    column = named(owner, unknown)
    answer = owner.browser.post(f"/candidates/statuses/{column.id}/meaning", data={"meaning": "advanced"})
    assert answer.status_code == 303
    db.session.expire_all()
    assert meanings_of(owner.organization)[unknown] is Meaning.ADVANCED
    entry = db.session.scalars(sa.select(AuditEntry).order_by(AuditEntry.number.desc())).first()
    assert entry is not None
    assert (entry.action, entry.details) == ("pipeline.changed", {"meaning": {"from": None, "to": "advanced"}})
    assert 'value="advanced" selected' in owner.browser.get("/candidates/statuses").text


@pytest.mark.parametrize("word", ["", "maybe", "OPEN", "re\x00jected", "x" * 200])
def test_a_word_that_is_no_meaning_changes_nothing(owner: Person, unknown: str, word: str) -> None:
    column = named(owner, unknown)
    answer = owner.browser.post(f"/candidates/statuses/{column.id}/meaning", data={"meaning": word})
    assert answer.status_code == 422
    assert "Nothing was changed" in answer.text
    db.session.expire_all()
    assert named(owner, unknown).meaning is None


def test_statuses_that_parley_uses_itself_stay_open(owner: Person) -> None:
    with pytest.raises(Rejected, match="Parley itself moves candidates"):
        statuses.set_meaning(owner.organization, "interviewed", "accepted", by=owner.member)
    statuses.set_meaning(owner.organization, "interviewed", "open", by=owner.member)
    assert meanings_of(owner.organization)["interviewed"] is Meaning.OPEN


def test_a_new_status_has_the_meaning_that_was_chosen_with_it(owner: Person) -> None:
    answer = owner.browser.post("/candidates/statuses", data={"name": "Trial day", "meaning": "advanced"})
    assert answer.status_code == 303
    assert meanings_of(owner.organization)["Trial day"] is Meaning.ADVANCED
    assert owner.browser.post("/candidates/statuses", data={"name": "Other", "meaning": "no"}).status_code == 422


def test_statuses_without_a_meaning_are_asked_for_and_count_as_open(app: Flask, owner: Person, unknown: str) -> None:
    assert unknown not in deciding_statuses(owner.organization)
    page = " ".join(owner.browser.get("/candidates/statuses").text.split())
    assert "Choose what this status means:</strong> Second talk." in page
    board = " ".join(owner.browser.get("/candidates/board").text.split())
    assert (
        "This status has no meaning yet: Second talk. Until an administrator chooses one, it counts as open." in board
    )
    assert "Choose what it means</a>" in board
    recruiter = person(app, "r@e.com", organization=owner.organization, role="recruiter")
    seen = " ".join(recruiter.browser.get("/candidates/board").text.split())
    assert "it counts as open" in seen
    assert "Choose what it means" not in seen
    assert [task.count for task in tasks_of(owner.member, link_days=30) if task.kind == "meanings"] == [1]
    assert [task for task in tasks_of(recruiter.member, link_days=30) if task.kind == "meanings"] == []
    statuses.set_meaning(owner.organization, unknown, "withdrawn", by=owner.member)
    db.session.commit()
    assert "no meaning yet" not in owner.browser.get("/candidates/board").text


def test_the_migration_knows_the_built_in_ones_and_leaves_the_others_open(own_database: str) -> None:
    migrate.downgrade(own_database, "0052")
    engine = migrate.engine_for(own_database)
    today = next(table for table in tables() if table.name == "organization")
    then = [one["name"] for one in sa.inspect(engine).get_columns("organization")]
    owner = {name: value for name, value in row_of(today, {}).items() if name in then}
    organization = sa.table("organization", *(sa.column(name, today.c[name].type) for name in owner))
    columns = [sa.column(name) for name in ("id", "organization_id", "name", "position", "purpose")]
    status = sa.table("pipeline_status", *columns)
    there = [("New", "invited"), ("interviewed", "interviewed"), ("Rejected", None), ("Second talk", None)]
    with engine.begin() as connection:
        connection.execute(sa.insert(organization).values(owner))
        for place, (name, purpose) in enumerate(there):
            row = {"id": f"s{place}", "organization_id": owner["id"], "name": name, "position": place}
            connection.execute(sa.insert(status).values({**row, "purpose": purpose}))
    engine.dispose()
    migrate.upgrade(own_database)
    engine = migrate.engine_for(own_database)
    with engine.connect() as connection:
        found = connection.exec_driver_sql("SELECT name, meaning FROM pipeline_status ORDER BY position").all()
    engine.dispose()
    assert [tuple(row) for row in found] == [
        ("New", "open"),
        ("interviewed", "open"),
        ("Rejected", "rejected"),
        ("Second talk", None),
    ]
