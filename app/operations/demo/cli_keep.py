"""Copies the played demo data into the installation, all or nothing, and removes it again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from app.accounts.models import AuditEntry, Installation, Organization, Team
from app.core import migrate
from app.core.db import Base, db
from app.core.errors import NotFound
from app.core.rooms import load_tables
from app.gateways.storage import Storage
from app.interviews.models import Interview, InterviewBucket
from app.operations.demo.cli_fill import FILLED

ALWAYS_THERE = frozenset({"installation", "webhook_turnstile", "change", "change_feed"})
"""Tables with a single row, which every installation already has, and the one that the database itself writes."""
AT_ONCE = 300
load_tables()  # every table has to be declared, whatever the command has loaded
FOLDERS = ("recordings", "documents", "speech")

Ids = dict[sa.Column[Any], set[Any]]


def filled() -> list[Organization]:
    """Organizations that are demo data, the oldest first."""
    marked = sa.select(AuditEntry.organization_id).where(AuditEntry.action == FILLED)
    return list(
        db.session.scalars(sa.select(Organization).where(Organization.id.in_(marked)).order_by(Organization.created_at))
    )


def take_over(source_url: str, *, source: Storage, storage: Storage) -> None:
    """Copy every file, then every row in one transaction, which is committed here."""
    for folder in FOLDERS:
        for key in source.list(folder):
            storage.put(key, b"".join(source.open(key)))
    engine = migrate.engine_for(source_url)
    with engine.connect() as connection:
        for table in Base.metadata.sorted_tables:
            for alike in [] if table.name in ALWAYS_THERE else _rows(connection, table):
                for some in _pieces(alike):
                    db.session.execute(sa.insert(table), some)
        if db.session.get(Installation, 1) is None:
            founded = connection.execute(sa.select(Base.metadata.tables["organization"].c.id))
            db.session.add(Installation(id=1, organization_id=founded.scalar_one()))
    engine.dispose()
    db.session.commit()


def _rows(connection: sa.Connection, table: sa.Table) -> Iterator[list[dict[str, Any]]]:
    """All rows, grouped by their columns: a NULL in a JSON column is left out, so that it stays NULL."""
    nullable = {column.name for column in table.columns if isinstance(column.type, sa.JSON)}
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in connection.execute(sa.select(table)).mappings():
        values = {name: value for name, value in row.items() if value is not None or name not in nullable}
        alike.setdefault(tuple(values), []).append(values)
    yield from alike.values()


def remove(organization: Organization, *, storage: Storage) -> int:
    """Delete all of a demo organization, files first; returns the number of its interviews. Commits.

    Raises NotFound if the organization is not demo data.
    """
    if organization.id not in {one.id for one in filled()}:
        raise NotFound("This organization is not demo data.")
    ours = sa.select(Interview.id).where(Interview.organization_id == organization.id)
    interview_ids = list(db.session.scalars(ours))
    for interview_id in interview_ids:
        for folder in ("recordings", "documents"):
            storage.delete_prefix(f"{folder}/{interview_id}")
    _forget_installation(organization.id)
    owners = [organization.id, *db.session.scalars(sa.select(Team.id).where(Team.organization_id == organization.id))]
    db.session.execute(sa.delete(InterviewBucket).where(InterviewBucket.owner_id.in_(owners)))
    db.session.expunge_all()
    for table, condition in reversed(list(_doomed(organization.id))):
        for one in condition:
            db.session.execute(sa.delete(table).where(one))
    db.session.commit()
    return len(interview_ids)


def _forget_installation(organization_id: str) -> None:
    """Afterwards the installation belongs to another organization, or is new again if there is none."""
    row = db.session.get(Installation, 1)
    if row is None or row.organization_id != organization_id:
        return
    others = sa.select(Organization.id).where(Organization.id != organization_id).order_by(Organization.created_at)
    other = db.session.scalar(others.limit(1))
    if other is None:
        db.session.delete(row)
    else:
        row.organization_id = other
    db.session.flush()


def _doomed(organization_id: str) -> Iterator[tuple[sa.Table, list[sa.ColumnElement[bool]]]]:
    """Each table with conditions for the rows that belong to the organization by foreign keys; parents come first."""
    organization = Base.metadata.tables["organization"]
    ids: Ids = {organization.c.id: {organization_id}}
    yield organization, [organization.c.id == organization_id]
    for table in Base.metadata.sorted_tables:
        if table is organization or table.name in ALWAYS_THERE:
            continue
        conditions: list[sa.ColumnElement[bool]] = [
            key.parent.in_(some)
            for key in table.foreign_keys
            if ids.get(key.column)
            for some in _pieces(sorted(ids[key.column]))
        ]
        for column in table.primary_key.columns:
            rows = {value for one in conditions for value in db.session.scalars(sa.select(column).where(one))}
            ids[column] = rows
        if conditions:
            yield table, conditions


def _pieces(rows: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(rows), AT_ONCE):
        yield rows[start : start + AT_ONCE]


def scratch(folder: Path) -> str:
    """Create a migrated database in ``folder``; returns its URL."""
    url = f"sqlite:///{folder / 'parley.db'}"
    migrate.upgrade(url)
    return url
