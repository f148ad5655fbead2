"""Signs of life: the one write that every second of every candidate makes, so it is built once and of a plain table."""

import sqlalchemy as sa

from app.conversation.models import Sitting
from app.core import claims, clock
from app.core.db import Moment
from app.core.db.prepared import Prepared

_S = Sitting.__table__.c
_ALIVE = sa.update(Sitting.__table__).where(  # type: ignore[arg-type]  # a declared table is a Table
    _S.id == sa.bindparam("sitting"), _S.fence == sa.bindparam("held"), _S.ended_at.is_(None)
)
_BY_HOST = Prepared(_ALIVE.values(heartbeat_at=sa.bindparam("now", type_=Moment())))
_BY_DATABASE = Prepared(_ALIVE.values(heartbeat_at=sa.func.clock_timestamp()))


def seen(sitting_id: str, *, fence: int) -> bool:
    """Note that the holder is here; False when another browser holds the sitting now, or it has ended."""
    parameters = {"sitting": sitting_id, "held": fence}
    if claims.is_by_host():
        return _BY_HOST.changed({**parameters, "now": clock.now()}) == 1
    return _BY_DATABASE.changed(parameters) == 1
