"""Reads the feed: changes after a position, in an order in which none appears before one that has been read."""

from collections.abc import Collection, Sequence
from datetime import timedelta

import sqlalchemy as sa

from app.accounts.key_scope import scope_of, within
from app.accounts.models import Owner
from app.core import clock
from app.core.db import commit_order, db
from app.core.errors import Forbidden, Gone
from app.flows.models import InterviewFlow
from app.webhooks.changes.cursors import START_OVER, Cursor
from app.webhooks.changes.models import Change, ChangeFeed

KEPT = timedelta(days=90)
"""How long a reader may be away. Deletions are kept a day longer, because a transaction can be long."""
FOREIGN = f"This cursor belongs to another organization. {START_OVER}"
TOO_OLD = f"This cursor is older than {KEPT.days} days, and deletions since then may be missing. {START_OVER}"
OTHER_SCOPE = f"This cursor is from an API key that sees other things. {START_OVER}"
RESTORED = f"This cursor is from before a restore or a failover of the database. {START_OVER}"


def generation() -> str:
    """What cursors of the feed name as it is now."""
    return str(db.session.scalar(sa.select(ChangeFeed.generation)))


def is_elsewhere() -> bool:
    """Whether the database was restored or took over from another one since the feed was last read."""
    return db.session.scalar(sa.select(ChangeFeed.place)) != commit_order.place()


def beginning(organization: Owner) -> Cursor:
    """Before the first change."""
    return Cursor(generation(), organization.id, scope_of(organization).view, 0, 0, clock.now())


def refuse_outdated(cursor: Cursor, organization: Owner) -> None:
    """Raises Forbidden for a cursor of another organization, and Gone for one after which changes may be missing."""
    if cursor.organization_id != organization.id:
        raise Forbidden(FOREIGN, code="cursor_of_other_organization")
    if cursor.generation != generation() or cursor.position >= commit_order.bound(Change.__tablename__):
        raise Gone(RESTORED, code="cursor_expired")
    if cursor.view != scope_of(organization).view:
        raise Gone(OTHER_SCOPE, code="cursor_expired")
    if clock.now() - cursor.since > KEPT:
        raise Gone(TOO_OLD, code="cursor_expired")


def page(organization: Owner, cursor: Cursor, kinds: Collection[str], *, limit: int) -> Sequence[Change]:
    """Up to ``limit`` changes after the cursor, in order: those of flows within the scope of the key, and those that
    belong to no flow, such as statuses.
    """
    narrow = within(organization, team_id=InterviewFlow.team_id, flow_id=InterviewFlow.id)
    flows = sa.select(InterviewFlow.id).where(*narrow)
    mine = [sa.or_(Change.flow_id.is_(None), Change.flow_id.in_(flows))] if narrow else []
    statement = (
        sa.select(Change)
        .where(
            Change.organization_id == cursor.organization_id,
            sa.tuple_(Change.txid, Change.number) > sa.tuple_(*map(sa.literal, cursor.position)),
            Change.kind.in_(sorted(kinds)),
            *mine,
            commit_order.is_settled(sa.type_coerce(Change.txid, sa.BigInteger())),
        )
        .order_by(Change.txid, Change.number)
        .limit(limit)
    )
    return db.session.scalars(statement).all()


def too_old() -> sa.ColumnElement[bool]:
    """The condition for deletions that no cursor still needs."""
    return sa.and_(Change.is_deleted, Change.at < clock.now() - KEPT - timedelta(days=1))


def has_old_deletions() -> bool:
    """Whether there are any such."""
    return bool(db.session.scalar(sa.select(sa.exists().where(too_old()))))
