"""Whose clock counts: this machine's on SQLite, the database's on PostgreSQL."""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import clock
from app.core.db import db, reading

THEN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_last", None)
    monkeypatch.setattr(clock, "_here", clock._Here())


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    passed = [100.0]
    monkeypatch.setattr(clock.time, "monotonic", lambda: passed[0])
    return passed


def test_without_a_word_from_a_database_this_machine_tells_the_time() -> None:
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=5)


def test_what_the_database_said_goes_on_by_seconds_counted_here(seconds: list[float]) -> None:
    clock.begun(THEN)
    seconds[0] += 2.5
    assert clock.now() == THEN + timedelta(seconds=2.5)
    clock.ended()
    seconds[0] += 3600
    assert clock.now() == THEN + timedelta(seconds=3602.5)


@pytest.mark.parametrize("jump", [-7_200.0, 86_400.0])
def test_a_machine_that_jumps_in_a_transaction_does_not_take_its_time_along(seconds: list[float], jump: float) -> None:
    clock.begun(THEN)
    seconds[0] += jump
    assert clock.now() == THEN


def test_postgresql_is_asked_with_each_transaction_and_sqlite_never(app: Flask) -> None:
    engine = db.engine.engine  # a test's own connection is in a transaction already
    is_asked = engine.dialect.name == "postgresql"
    with reading(), engine.connect() as connection:
        connection.execute(sa.text("select 1"))
        assert (clock._here.reading is not None) is is_asked
        if is_asked:
            theirs = connection.execute(sa.text("select clock_timestamp()")).scalar_one()
            assert abs(clock.now() - theirs) < timedelta(seconds=1)
    assert clock._here.reading is None
    assert (clock._last is not None) is is_asked
