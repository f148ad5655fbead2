"""How long PostgreSQL may keep us waiting: for a connection, for an answer, and for locks.

The server ends its own statements and waits (``OPTIONS``), but only a server that still runs can do so. Against one
that is cut off there is TCP, which gives up after ``NETWORK_SECONDS``; against one that stands still while its machine
goes on answering for it, there is ``ANSWER_SECONDS``.
"""

import time
from typing import Any

import psycopg
from psycopg import errors
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

CONNECT_SECONDS = 2
STATEMENT_SECONDS = 30
LOCK_SECONDS = 3.0
NETWORK_SECONDS = 5
"""What was sent and is not even acknowledged for so long: the network swallows it."""
ANSWER_SECONDS = STATEMENT_SECONDS + 5.0
"""The server would have ended the statement by itself long ago."""
NOTEWORTHY_SECONDS = 0.2
LEAST_LOCK_SECONDS = 0.5

OPTIONS = (
    f"-c statement_timeout={STATEMENT_SECONDS * 1000} -c lock_timeout={LOCK_SECONDS * 1000:.0f}"
    " -c idle_in_transaction_session_timeout=60000"
    " -c tcp_keepalives_idle=15 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=30000"
)
"""The last line is for the server: it gives up connections whose other end is gone without a word."""
CONNECT_ARGS: dict[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    "options": OPTIONS,
    "tcp_user_timeout": NETWORK_SECONDS * 1000,
    "keepalives": 1,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
}


class Impatient(psycopg.Connection[Any]):
    """Hangs up on a server that owes an answer for longer than it may itself work on one.

    Not where ``is_patient``: a migration has no time limit.
    """

    is_patient = False

    def wait(self, gen: Any, *given: Any, **named: Any) -> Any:
        """As usual, but not for ever."""
        if not self.is_patient and named.get("timeout") is None and len(given) < 2:
            named["timeout"] = ANSWER_SECONDS
        try:
            return super().wait(gen, *given, **named)
        except errors._WaitTimeout:  # noqa: SLF001 - what the driver's own wait raises
            self.pgconn.finish()
            raise


def prepare(engine: Engine) -> None:
    """Let the engine make its connections so."""
    event.listen(engine, "do_connect", _connect)


def share_lock_time(engine: Engine) -> None:
    """Let all statements of a transaction share the time for locks, so that two waits do not take twice as long."""
    event.listen(engine, "begin", _on_begin)
    event.listen(engine, "before_cursor_execute", _before)
    event.listen(engine, "after_cursor_execute", _after)


def _connect(*event_arguments: Any) -> Impatient:
    _dialect, _record, given, named = event_arguments
    return Impatient.connect(*given, **named)


def _on_begin(connection: Connection) -> None:
    connection.info["parley.lock_seconds"] = LOCK_SECONDS


def _before(connection: Connection, *_given: Any) -> None:
    connection.info["parley.statement_began"] = time.monotonic()


def _after(connection: Connection, cursor: Any, *_given: Any) -> None:
    took = time.monotonic() - connection.info["parley.statement_began"]
    if took < NOTEWORTHY_SECONDS:
        return
    left = connection.info.get("parley.lock_seconds", LOCK_SECONDS) - took
    connection.info["parley.lock_seconds"] = left
    # A cursor of its own: the statement's still holds its rows.
    with cursor.connection.cursor() as aside:
        aside.execute(f"SET LOCAL lock_timeout = {max(left, LEAST_LOCK_SECONDS) * 1000:.0f}")
