"""What PostgreSQL may take: the time for locks shared by a transaction, and a server that owes its answer."""

import socket
import threading
from collections.abc import Iterator

import psycopg
import pytest
import sqlalchemy as sa
from psycopg.pq import TransactionStatus

from app.core.db import engine_options, prepare, row_security, timeouts
from tests.conftest import GIVEN_URL


@pytest.fixture
def engine(own_database: str) -> Iterator[sa.Engine]:
    made = sa.create_engine(own_database, **engine_options(own_database, is_serving=True))
    prepare(made, is_serving=True)
    yield made
    made.dispose()


def test_statements_that_took_long_leave_less_time_for_locks(engine: sa.Engine) -> None:
    if not GIVEN_URL:
        assert "tcp_user_timeout" not in engine_options(str(engine.url))["connect_args"]
        return
    with engine.begin() as connection:
        assert _lock_milliseconds(connection) == 3000
        connection.exec_driver_sql("select pg_sleep(0.4)")
        assert 2000 < _lock_milliseconds(connection) <= 2600
        connection.exec_driver_sql("select pg_sleep(0.4)")
        assert 1600 < _lock_milliseconds(connection) <= 2200
    with engine.begin() as connection:
        assert _lock_milliseconds(connection) == 3000


def _lock_milliseconds(connection: sa.Connection) -> float:
    told = str(connection.exec_driver_sql("show lock_timeout").scalar())
    return float(told.removesuffix("ms")) if told.endswith("ms") else float(told.removesuffix("s")) * 1000


def test_a_connection_from_the_pool_has_begun_its_transaction_and_chosen_its_rows(engine: sa.Engine) -> None:
    if not GIVEN_URL:
        return
    for whose in ("everyone", "it's \\ quoted", ""):
        with row_security.only(whose), engine.connect() as connection, connection.begin():
            driver = connection.connection.driver_connection
            assert driver.pgconn.transaction_status == TransactionStatus.INTRANS
            assert driver.execute("SELECT current_setting('parley.organization')").fetchone() == (whose,)
    with row_security.everyone(), engine.connect() as connection:
        for whose in ("everyone", "another"):
            with row_security.only(whose), connection.begin():
                driver = connection.connection.driver_connection
                assert driver.execute("SELECT current_setting('parley.organization')").fetchone() == (whose,)
        # Outside a transaction, nothing is left of what was chosen.
        assert driver.execute("SELECT current_setting('parley.organization')").fetchone() == ("",)


def test_connections_that_ended_in_the_pool_are_replaced(engine: sa.Engine) -> None:
    if not GIVEN_URL:
        return
    connections = [engine.connect() for _ in range(3)]
    pids = [connection.connection.driver_connection.info.backend_pid for connection in connections]
    for connection in connections:
        connection.close()
    with engine.connect() as other:
        pids.remove(other.connection.driver_connection.info.backend_pid)
        for pid in pids:
            assert other.exec_driver_sql("SELECT pg_terminate_backend(%(pid)s, 5000)", {"pid": pid}).scalar()
        for _ in pids:
            with engine.connect() as connection:
                assert connection.exec_driver_sql("SELECT 1").scalar() == 1


def test_hangs_up_on_a_server_that_owes_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "ANSWER_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_greet_and_fall_silent, args=(server,), daemon=True)
        thread.start()
        connection = timeouts.Impatient.connect(f"postgresql://x@127.0.0.1:{server.getsockname()[1]}/x")
        with pytest.raises(psycopg.OperationalError):
            connection.execute("select 1")
        assert connection.closed
        thread.join(5)


def _greet_and_fall_silent(server: socket.socket) -> None:
    end, _ = server.accept()
    with end:
        _greet(end)


def _greet(end: socket.socket) -> None:
    while end.recv(4096)[4:8] == b"\x04\xd2\x16/":  # asks for TLS
        end.sendall(b"N")
    parameters = b"".join(
        b"S" + (4 + len(pair)).to_bytes(4, "big") + pair
        for pair in (b"client_encoding\0UTF8\0", b"server_version\x0015.0\0", b"standard_conforming_strings\0on\0")
    )
    end.sendall(b"R\0\0\0\x08\0\0\0\0" + parameters + b"Z\0\0\0\x05I")
    while end.recv(4096):
        continue
