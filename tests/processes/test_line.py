"""The line before SQLite's one writer: nobody is passed over, and nobody waits for ever."""

import os
import threading
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from app.core.db import engine_options, prepare, reading, write_queue


@pytest.fixture
def engine(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'line.db'}"
    made = sa.create_engine(url, **engine_options(url))
    prepare(made)
    with made.begin() as connection:
        connection.exec_driver_sql("create table noted (id integer primary key, who integer)")
    yield made
    made.dispose()


def count(engine: sa.Engine) -> int:
    with reading(), engine.begin() as connection:
        return connection.exec_driver_sql("select count(*) from noted").scalar_one()


def test_threads_write_one_after_the_other_and_none_is_lost(engine):
    inside, most = [0], [0]
    guard = threading.Lock()

    def write(who: int) -> None:
        for _ in range(20):
            with engine.begin() as connection:
                with guard:
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                connection.execute(sa.text("insert into noted (who) values (:who)"), {"who": who})
                with guard:
                    inside[0] -= 1

    threads = [threading.Thread(target=write, args=(who,)) for who in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert (count(engine), most[0]) == (160, 1)


@pytest.mark.parametrize("ends", ["commit", "rollback", "close", "error"])
def test_however_a_transaction_ends_the_next_one_may_write(engine, ends):
    connection = engine.connect()
    connection.begin()
    if ends == "error":
        with pytest.raises(sa.exc.OperationalError):
            connection.exec_driver_sql("insert into nowhere values (1)")
        connection.rollback()
    else:
        connection.exec_driver_sql("insert into noted (who) values (1)")
        {"commit": connection.commit, "rollback": connection.rollback, "close": connection.close}[ends]()
    began = time.monotonic()
    with engine.begin() as other:
        other.exec_driver_sql("insert into noted (who) values (2)")
    assert time.monotonic() - began < write_queue.WAIT_SECONDS / 2
    connection.close()


def test_a_writer_waits_in_line_and_not_before_sqlite(engine, monkeypatch):
    lines, asked, done = [], threading.Event(), threading.Event()
    enter = write_queue.Queued.enter

    def noted(connection):
        lines.append(connection.line.writer)
        asked.set()
        enter(connection)

    monkeypatch.setattr(write_queue.Queued, "enter", noted)
    statements = []
    event.listen(engine, "before_cursor_execute", lambda *given: statements.append(given[2]))

    def write():
        with engine.begin() as connection:
            connection.exec_driver_sql("insert into noted (who) values (2)")
        done.set()

    with engine.begin() as writer:
        writer.exec_driver_sql("insert into noted (who) values (1)")
        asked.clear()
        second = threading.Thread(target=write)
        second.start()
        assert asked.wait(10)
        time.sleep(0.1)
        assert lines[0].locked()
        assert statements.count("BEGIN IMMEDIATE") == 1, "the second one has not even asked SQLite"
    assert done.wait(10)
    second.join(10)
    assert (lines[0] is lines[1], lines[0].locked(), count(engine)) == (True, False, 2)


def test_readers_stand_in_no_line(engine):
    with engine.begin() as writer:
        writer.exec_driver_sql("insert into noted (who) values (1)")
        assert count(engine) == 0


def test_who_has_waited_too_long_gets_sqlites_own_answer(engine, monkeypatch):
    monkeypatch.setattr(write_queue, "WAIT_SECONDS", 0.05)
    with engine.begin() as writer:
        writer.exec_driver_sql("insert into noted (who) values (1)")
        other = engine.connect()
        with reading():
            other.exec_driver_sql("pragma busy_timeout=50")
            other.rollback()
        with pytest.raises(sa.exc.OperationalError, match="locked"):
            other.begin()
        other.close()
    with engine.begin() as again:
        again.exec_driver_sql("insert into noted (who) values (2)")
    assert count(engine) == 2


def test_a_forked_child_does_not_wait_for_a_writer_that_is_not_there(engine):
    line = write_queue.Line()
    line.writer.acquire()
    child = os.fork()
    if child == 0:
        os._exit(0 if line.writer.acquire(timeout=5) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert line.writer.locked()
