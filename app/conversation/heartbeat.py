"""Signs of life: the one write that every second of every candidate makes, so it is built once and of a plain table."""

import sqlalchemy as sa

from app.conversation.models import Sitting
from app.core import claims, clock
from app.core.db import Moment, db

_S = Sitting.__table__.c
_ALIVE = sa.update(Sitting.__table__).where(  # type: ignore[arg-type]  # a declared table is a Table
    _S.id == sa.bindparam("sitting"), _S.fence == sa.bindparam("held"), _S.ended_at.is_(None)
)
_BY_HOST = _ALIVE.values(heartbeat_at=sa.bindparam("now", type_=Moment()))
_BY_DATABASE = _ALIVE.values(heartbeat_at=sa.func.clock_timestamp())


def seen(sitting_id: str, *, fence: int) -> bool:
    """Note that the holder is here; False when another browser holds the sitting now, or it has ended."""
    parameters: dict[str, object] = {"sitting": sitting_id, "held": fence}
    if claims.is_by_host():
        noted = db.session.connection().execute(_BY_HOST, {**parameters, "now": clock.now()})
    else:
        noted = db.session.connection().execute(_BY_DATABASE, parameters)
    return noted.rowcount == 1
