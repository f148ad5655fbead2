"""Signs of life: the one write that every second of every candidate makes, so it is built once and of a plain table."""

import sqlalchemy as sa

from app import claims
from app.db import db
from app.voice.models import Sitting

_S = Sitting.__table__.c
_ALIVE = sa.update(Sitting.__table__).where(  # type: ignore[arg-type]  # a declared table is a Table
    _S.id == sa.bindparam("sitting"), _S.fence == sa.bindparam("held"), _S.ended_at.is_(None)
)


def seen(sitting_id: str, *, fence: int) -> bool:
    """Note that the holder is here; False when another browser holds the sitting now, or it has ended."""
    given = {"sitting": sitting_id, "held": fence}
    return db.session.connection().execute(_ALIVE.values(heartbeat_at=claims.moment()), given).rowcount == 1
