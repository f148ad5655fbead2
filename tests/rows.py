"""One row of every table, made from what the tables declare."""

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from app.core.db import Base, Moment, new_id
from app.core.rooms import load_tables
from app.flows.criteria import CriteriaColumn

VALUES: tuple[tuple[type[Any], Any], ...] = (
    (Moment, datetime(2026, 1, 1, tzinfo=UTC)),
    (sa.JSON, {}),
    (CriteriaColumn, ()),
    (sa.LargeBinary, b"bytes"),
    (sa.Boolean, False),
    (sa.Integer, 1),
    (sa.Float, 1.0),
)

Row = dict[str, Any]


def tables() -> list[sa.Table]:
    """Every table, parents first."""
    load_tables()
    return Base.metadata.sorted_tables


def some(column: sa.Column[Any]) -> Any:
    """A value that the column takes."""
    kind = column.type
    if isinstance(kind, sa.Enum):
        return kind.enums[0]
    known = [value for of, value in VALUES if isinstance(kind, of)]
    return known[0] if known else new_id()[: getattr(kind, "length", None)]


def row_of(table: sa.Table, made: dict[str, Row]) -> Row:
    """A row that points at those of its parents which are ``made``."""
    row: Row = {}
    for column in table.columns:
        parents = [key.column for key in column.foreign_keys if key.column.table.name in made]
        if parents:
            row[column.name] = made[parents[0].table.name][parents[0].name]
        elif not column.nullable or column.primary_key:
            row[column.name] = some(column)
    return row
