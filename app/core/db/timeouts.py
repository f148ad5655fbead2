"""How long Parley waits for PostgreSQL: for a connection, for an answer, and for locks.

The server limits its own statements and waits (``OPTIONS``), but only while it runs. If it is cut off, TCP gives up
after ``NETWORK_SECONDS``. If it hangs while its machine still acknowledges, ``ANSWER_SECONDS`` applies.
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
"""Seconds without an acknowledgement after which the network counts as broken."""
ANSWER_SECONDS = STATEMENT_SECONDS + 5.0
"""By then the server would have ended the statement itself."""
NOTEWORTHY_SECONDS = 0.2
LEAST_LOCK_SECONDS = 0.5

OPTIONS = (
    f"-c statement_timeout={STATEMENT_SECONDS * 1000} -c lock_timeout={LOCK_SECONDS * 1000:.0f}"
    " -c idle_in_transaction_session_timeout=60000"
    " -c tcp_keepalives_idle=15 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=30000"
)
"""The last line is for the server: it drops connections whose client is gone without closing them."""
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
    """Closes the connection if the server takes longer to answer than a statement may run.

    Not if ``is_patient``: a migration has no time limit.
    """

    is_patient = False

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        """As the driver's own, with a time limit."""
        if not self.is_patient and kwargs.get("timeout") is None and len(args) < 2:
            kwargs["timeout"] = ANSWER_SECONDS
        try:
            return super().wait(gen, *args, **kwargs)
        except errors._WaitTimeout:  # noqa: SLF001 - what the driver's own wait raises
            self.pgconn.finish()
            raise


def prepare(engine: Engine) -> None:
    """Make the engine open its connections like this."""
    event.listen(engine, "do_connect", _connect)


def share_lock_time(engine: Engine) -> None:
    """Make all statements of a transaction share the time limit for locks, so that two waits do not add up."""
    event.listen(engine, "begin", _on_begin)
    event.listen(engine, "before_cursor_execute", _before)
    event.listen(engine, "after_cursor_execute", _after)


def _connect(*event_arguments: Any) -> Impatient:
    _dialect, _record, args, kwargs = event_arguments
    return Impatient.connect(*args, **kwargs)


def _on_begin(connection: Connection) -> None:
    connection.info["parley.lock_seconds"] = LOCK_SECONDS


def _before(connection: Connection, *_given: Any) -> None:
    connection.info["parley.statement_began"] = time.monotonic()


def _after(connection: Connection, cursor: Any, *_given: Any) -> None:
    took(time.monotonic() - connection.info["parley.statement_began"], connection.info, cursor.connection)


def took(seconds: float, info: dict[Any, Any], driver: psycopg.Connection[Any]) -> None:
    """Note how long a statement took; ``info`` is that of the pool's connection. Call it before the next statement."""
    if seconds < NOTEWORTHY_SECONDS:
        return
    left = info.get("parley.lock_seconds", LOCK_SECONDS) - seconds
    info["parley.lock_seconds"] = left
    # Another cursor: the statement's own still holds its rows.
    with driver.cursor() as aside:
        aside.execute(f"SET LOCAL lock_timeout = {max(left, LEAST_LOCK_SECONDS) * 1000:.0f}")
