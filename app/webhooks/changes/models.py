"""Tables of the feed. Triggers of the database write ``change`` (``migrations/``); nothing here adds a row."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, Ref

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_BY_BYTES = sa.String(80, collation="C").with_variant(sa.String(80), "sqlite")
_DELETED, _DELETED_1 = sa.text("is_deleted"), sa.text("is_deleted = 1")


class Change(Base):
    """The latest change of one object. Each change moves its row to the newest position (``txid``, ``number``).

    ``txid`` is the transaction that wrote it on PostgreSQL, where transactions commit in another order than they
    take numbers in. SQLite has one writer, and 0 here.
    """

    __tablename__ = "change"
    __table_args__ = (
        sa.UniqueConstraint("kind", "object_id", "organization_id"),
        sa.Index("ix_change_position", "organization_id", "txid", "number"),
        sa.Index("ix_change_deleted", "at", sqlite_where=_DELETED_1, postgresql_where=_DELETED),
        {"sqlite_autoincrement": True},
    )

    number: Mapped[int] = mapped_column(_NUMBER, primary_key=True)
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(sa.String(40))
    object_id: Mapped[str] = mapped_column(_BY_BYTES)
    flow_id: Mapped[str | None] = mapped_column(sa.String(36))
    """The flow it belongs to, for keys that are limited to some."""
    is_deleted: Mapped[bool]
    at: Mapped[datetime]
    txid: Mapped[int] = mapped_column(sa.BigInteger)


class ChangeFeed(Base):
    """One row. ``generation`` is replaced when positions stop meaning what they meant: after a restore.

    ``place`` is which database this is on PostgreSQL. Where it differs from the real one, this is a copy.
    """

    __tablename__ = "change_feed"
    __table_args__ = (sa.CheckConstraint("id = 1", name="only_one"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    generation: Mapped[str] = mapped_column(sa.String(36))
    place: Mapped[str | None] = mapped_column(sa.String(200))
