"""Runs migrations for ``app.core.migrate``, which brings the connection, its locks and its checks.

Alembic's own command has none of them: it is refused.
"""

from typing import Any

import sqlalchemy as sa
from alembic import context

from app.core.db import Base
from app.core.db.row_security import everyone
from app.core.migrate import Refused


def run(connection: sa.Connection) -> None:
    """Apply migrations on ``connection``; each revision is one transaction where the database allows it."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
        transaction_per_migration=True,
        on_version_apply=check_references,
    )
    with everyone(), context.begin_transaction():
        context.run_migrations()


def check_references(*, ctx: Any, **_applied: Any) -> None:
    """Before a revision is committed: no row may point at one that is gone. Raises Refused, which undoes it."""
    if ctx.connection.dialect.name == "sqlite":
        broken = ctx.connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise Refused(f"a migration would leave {len(broken)} rows pointing at nothing, first in {broken[0][0]}")


if "connection" not in context.config.attributes:
    raise Refused("migrations run with: parley migrate (Alembic's own command takes none of its locks and checks)")
run(context.config.attributes["connection"])
