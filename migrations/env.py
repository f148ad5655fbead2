"""Runs migrations on SQLite and PostgreSQL. The connection comes from ``app.migrate`` or from Alembic's own command."""

import sqlalchemy as sa
from alembic import context

from app.db import Base


def run(connection: sa.Connection) -> None:
    """Apply migrations on ``connection``; each revision is one transaction where the database allows it."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


run(context.config.attributes["connection"])
