"""Positions in the order in which a reader may rely on rows: that of transactions, not of sequence numbers.

On PostgreSQL a transaction can take a number, and commit after another one that took a later number has been read. A
position is therefore the id of the transaction and a number within it, and a reader sees only positions below every
transaction of this database that is still open: none of these can get another row. Long transactions delay readers;
they lose nothing. Those of other databases on the same server do not count, once their session is known.
On SQLite writers take turns, so numbers are in order; transaction ids are 0.
"""

from typing import Any

import sqlalchemy as sa

from app.core.db import db

_OPEN = sa.literal_column(
    "(SELECT CAST(CAST(coalesce(min(open.id), pg_snapshot_xmax(pg_current_snapshot())) AS text) AS bigint)"
    " FROM pg_snapshot_xip(pg_current_snapshot()) AS open (id) WHERE NOT EXISTS (SELECT FROM pg_locks"
    " JOIN pg_stat_activity AS session ON session.pid = pg_locks.pid"
    " JOIN pg_database ON pg_database.oid = session.datid"
    " WHERE pg_locks.locktype = 'transactionid' AND pg_locks.granted AND pg_locks.mode = 'ExclusiveLock'"
    " AND pg_locks.transactionid = CAST(open.id AS xid) AND pg_database.datname <> current_database()))",
    sa.BigInteger,
)
"""The first transaction that may still write here. One whose session has ended since the snapshot counts as ours."""
_PLACE = sa.text(
    "SELECT concat_ws('/', (pg_control_system()).system_identifier, (SELECT oid FROM pg_database WHERE datname ="
    " current_database()), CAST(CAST('change' AS regclass) AS oid), left(pg_walfile_name(pg_current_wal_lsn()), 8))"
)


def _is_sqlite() -> bool:
    return db.engine.dialect.name == "sqlite"


def is_settled(txid: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """Whether no transaction that is still open can write at or before the position of a row."""
    return sa.true() if _is_sqlite() else txid < _OPEN


def bound(table: str) -> tuple[int, int]:
    """A position beyond all that a reader of ``table`` has seen so far."""
    if not _is_sqlite():
        return int(db.session.scalar(sa.select(_OPEN)) or 0), 0
    sequence = sa.table("sqlite_sequence", sa.column("name"), sa.column("seq", sa.Integer))
    last = db.session.scalar(sa.select(sequence.c.seq).where(sequence.c.name == table))
    return 0, int(last or 0) + 1


def place() -> str | None:
    """Which server, database, table and line of its history this is, apart by ``/``. It differs after a restore or a
    failover. None for SQLite, where nothing tells a copy from its original.
    """
    return None if _is_sqlite() else str(db.session.scalar(_PLACE))


def is_same_cluster(one: str | None, other: str | None) -> bool:
    """Whether the transaction ids of both places are of one sequence: all but the line of history is the same."""
    return (one or "").rpartition("/")[0] == (other or "").rpartition("/")[0]


def renumber(table: sa.Table) -> None:
    """Put all rows before every transaction to come, after a restore into a server whose ids have nothing to do with
    theirs. Writers wait until the commit.
    """
    if _is_sqlite():
        return
    name = sa.quoted_name(table.name, quote=True)
    db.session.execute(sa.text("SET LOCAL statement_timeout = 0"))
    db.session.execute(sa.text(f'LOCK TABLE "{name}" IN SHARE ROW EXCLUSIVE MODE'))
    columns: Any = table.c
    db.changed(sa.update(table).where(columns.txid > 0).values(txid=0))
    highest = sa.select(sa.func.max(columns.number)).scalar_subquery()
    following = sa.func.nextval(f"{table.name}_number_seq")
    db.session.execute(sa.select(sa.func.setval(f"{table.name}_number_seq", sa.func.greatest(highest, following))))
