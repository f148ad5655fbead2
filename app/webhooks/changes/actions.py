"""What ends cursors, and the end of old deletions."""

import sqlalchemy as sa

from app.core.db import commit_order, db, new_id
from app.core.db.row_security import everyone
from app.webhooks.changes.models import Change, ChangeFeed
from app.webhooks.changes.queries import too_old


def restored() -> None:
    """End all cursors: the database is an earlier state of itself, and what they had read may never have been."""
    with everyone():
        before, here = db.session.scalar(sa.select(ChangeFeed.place)), commit_order.place()
        if not commit_order.is_same_cluster(before, here):
            commit_order.renumber(Change.__table__)  # type: ignore[arg-type]  # it is a Table
        db.changed(sa.update(ChangeFeed).values(generation=new_id(), place=here))


def settle() -> None:
    """The same where no one else has done it yet, of all who found the database elsewhere at the same time."""
    with everyone():
        feed = db.session.scalars(sa.select(ChangeFeed).with_for_update()).one()
        if feed.place != commit_order.place():
            restored()


def forget_deleted() -> int:
    """Drop the deletions that no cursor still needs. Returns how many there were."""
    return db.changed(sa.delete(Change).where(too_old()))
