"""The second wall, on PostgreSQL alone: the database refuses other organizations' rows, whatever a query forgets."""

import itertools
import os
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.exc import ProgrammingError

from app.core import clock
from app.core.db import db, new_id
from app.core.db.row_security import NO_ONE, choose, everyone, only
from app.mail_outbox.models import QueuedMail
from app.outreach.apply_links.models import FlowLink, FlowVisit
from app.outreach.apply_links.queries import visits
from app.privacy.own_page.models import OwnCode
from app.privacy.own_page.queries import codes_asked
from app.webhooks.changes.models import Change
from tests.conftest import postgresql_database
from tests.rows import Row, row_of, tables

NOT_COVERED = {
    "change_feed": "one row, which says since when positions in the feed of changes count",
    "interview_bucket": "how many interviews there are by thousands of numbers; ids and counts, nothing of anyone",
    "interview_test_bucket": "the same of test interviews",
    "login_failure": "counts by hashes of whoever tries to sign in, of no organization yet",
    "webhook_turnstile": "one row, by which all workers take turns",
}
NUMBERED = {"change": lambda: {"number": next(_numbers)}}
"""What two rows of a table cannot share."""
_numbers = itertools.count(1_000_000)
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1:]

Side = dict[str, Row]


@pytest.fixture
def sides(app: Flask) -> Iterator[tuple[Side, Side]]:
    """One row of every covered table for each of two organizations."""
    made: tuple[Side, Side] = ({}, {})
    for side in made:
        for table in covered():
            if table.name != "installation" or not made[0].get("installation"):  # which has one row at most
                side[table.name] = row_of(table, side) | NUMBERED.get(table.name, dict)()
                db.session.execute(sa.insert(table).values(side[table.name]))
    numbers = [side["change"]["number"] for side in made]
    db.session.execute(sa.delete(Change).where(Change.number.not_in(numbers)))  # of triggers
    db.session.commit()
    yield made
    db.session.rollback()


def covered() -> list[sa.Table]:
    return [table for table in tables() if table.name not in NOT_COVERED]


def keys(table: sa.Table, *rows: Row) -> set[tuple[object, ...]]:
    return {tuple(row[column.name] for column in table.primary_key) for row in rows}


def seen(table: sa.Table) -> set[tuple[object, ...]]:
    return {tuple(row) for row in db.session.execute(sa.select(*table.primary_key))}


def whose(organization: Side) -> str:
    return str(organization["organization"]["id"])


def test_every_table_is_behind_the_wall_or_named(app: Flask) -> None:
    role = sa.text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
    assert not db.session.scalar(role), "run these as a role that the wall holds; .ci/postgresql makes one"
    forced = sa.text(
        "SELECT relname FROM pg_class JOIN pg_policies ON tablename = relname"
        " WHERE relrowsecurity AND relforcerowsecurity AND policyname = 'own_rows' AND cmd = 'ALL'"
    )
    found = set(db.session.scalars(forced))
    assert found == {table.name for table in covered()}
    assert {table.name for table in tables()} >= set(NOT_COVERED)


def test_one_organization_sees_and_changes_nothing_of_another(sides: tuple[Side, Side]) -> None:
    ours, theirs = sides
    with only(whose(ours)):
        for table in covered():
            assert seen(table) == keys(table, ours[table.name]), table
            first = next(iter(table.primary_key))
            changed = db.session.execute(sa.update(table).values({first.name: first}))
            assert changed.rowcount == 1, table  # type: ignore[attr-defined]
    with everyone():
        before = {table.name: seen(table) for table in covered()}
    with only(whose(theirs)):
        for table in reversed(covered()):
            db.session.execute(sa.delete(table))
    with everyone():
        for table in covered():
            assert before[table.name] >= keys(table, ours[table.name]), table
            assert seen(table) == keys(table, ours[table.name]), table


def test_nobody_writes_into_another_organization(sides: tuple[Side, Side]) -> None:
    ours, theirs = sides
    for context in (whose(ours), NO_ONE):
        with only(context):
            for table in covered():
                if table.name in theirs:
                    refused(sa.insert(table).values(theirs[table.name]))
    with only(whose(ours)):
        for table in covered():
            if "organization_id" in table.c:
                refused(sa.update(table).values(organization_id=whose(theirs)))


def refused(statement: sa.Executable) -> None:
    with pytest.raises(ProgrammingError, match="row-level security"), db.session.begin_nested():
        db.session.execute(statement)


def test_where_nothing_was_chosen_there_are_no_rows(sides: tuple[Side, Side]) -> None:
    with only(NO_ONE):
        assert {table.name: seen(table) for table in covered() if seen(table)} == {}
    with only(new_id()):
        assert {table.name: seen(table) for table in covered() if seen(table)} == {}
    with everyone():
        for table in covered():
            assert seen(table) >= keys(table, *(side[table.name] for side in sides if table.name in side)), table


def test_a_letter_to_a_member_is_seen_once_its_link_is_there(sides: tuple[Side, Side]) -> None:
    ours, theirs = sides
    members = tables()[0].metadata.tables["entry_link"]
    letter = row_of(QueuedMail.__table__, {})  # type: ignore[arg-type]
    with only(whose(ours)):
        db.session.execute(sa.insert(QueuedMail).values(letter))
        assert db.session.get(QueuedMail, letter["id"]) is None
        db.session.execute(sa.update(members).values(letter_id=letter["id"]))
        assert db.session.get(QueuedMail, letter["id"]) is not None
    db.session.expunge_all()
    with only(whose(theirs)):
        assert db.session.get(QueuedMail, letter["id"]) is None


def test_what_is_chosen_counts_at_once_and_outlives_a_savepoint(sides: tuple[Side, Side]) -> None:
    organization = tables()[0].metadata.tables["organization"]
    ours, theirs = (keys(organization, side["organization"]) for side in sides)
    with only(whose(sides[0])):
        assert seen(organization) == ours
        savepoint = db.session.begin_nested()
        assert seen(organization) == ours
        choose(whose(sides[1]))
        assert seen(organization) == theirs
        savepoint.rollback()
        assert seen(organization) == theirs
        choose(whose(sides[0]))
        assert seen(organization) == ours


def test_who_tries_often_is_counted_over_all_organizations(sides: tuple[Side, Side]) -> None:
    ours = sides[0]
    db.session.execute(sa.update(OwnCode).values(asker="somebody"))
    db.session.execute(sa.update(FlowVisit).values(network="somewhere", at=clock.now()))
    db.session.commit()
    with only(whose(ours)):
        link = db.session.get_one(FlowLink, ours["flow_link"]["id"])
        assert (visits(link), visits(link, network="somewhere")) == (1, 2)
        assert codes_asked(ours["interview"]["id"], "somebody", within=timedelta(days=9_999)) == (1, 2)


def test_a_dump_by_the_owner_is_whole_as_the_handbook_says_it(own_app: Flask, tmp_path: Path) -> None:
    """Without the words of docs/operations.md it fails, and never leaves rows out in silence."""
    with own_app.app_context():
        url = db.engine.url
        db.session.execute(
            sa.insert(tables()[0].metadata.tables["organization"]).values(
                row_of(tables()[0].metadata.tables["organization"], {}) | {"name": "Kept"}
            )
        )
        db.session.commit()
    told = url.set(drivername="postgresql").render_as_string(hide_password=False)
    dump = [str(BINARIES[0] / "pg_dump"), "--format=custom", "--no-owner", f"--file={tmp_path / 'parley.dump'}"]
    plain = {name: value for name, value in os.environ.items() if name != "PGOPTIONS"}
    assert subprocess.run([*dump, told], env=plain, capture_output=True, check=False).returncode != 0
    as_everyone = plain | {"PGOPTIONS": "-c parley.organization=everyone"}
    subprocess.run([*dump, "--enable-row-security", told], env=as_everyone, check=True)
    with postgresql_database() as empty:
        target = empty.replace("postgresql+psycopg://", "postgresql://")
        restore = ["--clean", "--if-exists", "--no-owner", f"--dbname={target}", str(tmp_path / "parley.dump")]
        subprocess.run([str(BINARIES[0] / "pg_restore"), *restore], env=plain, check=True)
        engine = sa.create_engine(empty)
        with engine.connect() as connection:
            assert connection.scalar(sa.text("SELECT count(*) FROM organization")) == 0
            connection.execute(sa.text("SELECT set_config('parley.organization', 'everyone', true)"))
            assert connection.scalars(sa.text("SELECT name FROM organization")).all() == ["Kept"]
        engine.dispose()
