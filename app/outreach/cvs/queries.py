"""Reads of uploaded CVs: an upload with its files, what is due, and what has been kept for long enough."""

from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import TeamMember
from app.core import claims, clock
from app.core.db import db, is_id
from app.core.errors import NotFound
from app.flows.models import Right
from app.flows.queries import flow_to_change, reach
from app.outreach.cvs.models import UNINVITED, UNREAD, CvFile, CvUpload, State

AT_ONCE = 2
"""Files that are worked on at the same time, so that interviews do not wait behind two hundred CVs."""
KEPT = timedelta(days=7)
SHOWN = 20


def upload_to_change(member: TeamMember, upload_id: str) -> CvUpload:
    """An upload for a flow that the member may change. Raises NotFound, and Forbidden for one they may only see."""
    upload = db.session.get(CvUpload, upload_id) if is_id(upload_id) else None
    if upload is None or upload.organization_id != member.organization_id:
        raise NotFound("There is no such upload. Uploads of CVs are deleted after seven days.")
    flow_to_change(member, upload.flow_id)
    return upload


def uploads_of(member: TeamMember) -> Sequence[tuple[CvUpload, int, int]]:
    """The newest uploads for flows that the member may change, with the numbers of files and of those to check."""
    to_check = sa.func.sum(sa.case((CvFile.state.in_((State.READY, State.FAILED)), 1), else_=0))
    query = (
        sa.select(CvUpload, sa.func.count(CvFile.id), to_check)
        .join(CvFile, CvFile.upload_id == CvUpload.id)
        .where(*reach(member, CvUpload, Right.EDIT))
        .group_by(CvUpload.id)
        .order_by(CvUpload.created_at.desc())
        .limit(SHOWN)
    )
    return [(row[0], int(row[1]), int(row[2] or 0)) for row in db.session.execute(query)]


def files_of(upload: CvUpload) -> Sequence[CvFile]:
    """Its files in their order, without archives that were unpacked."""
    query = sa.select(CvFile).where(CvFile.upload_id == upload.id, CvFile.state != State.UNPACKED)
    return db.session.scalars(query.order_by(CvFile.number, CvFile.name).options(joinedload(CvFile.interview))).all()


def left_of(upload: CvUpload) -> int:
    """How many of its files wait for a job."""
    waits = CvFile.state.in_((*UNREAD, *UNINVITED))
    query = sa.select(sa.func.count()).select_from(CvFile).where(CvFile.upload_id == upload.id, waits)
    return db.session.scalar(query) or 0


def unread() -> list[str]:
    """Ids of the files to read next."""
    return _due(UNREAD, State.READING)


def uninvited() -> list[str]:
    """Ids of the confirmed files whose interviews to create next."""
    return _due(UNINVITED, State.INVITING)


def _due(states: tuple[State, ...], works: State) -> list[str]:
    under_work = sa.and_(CvFile.state == works, CvFile.lease_until >= claims.moment())
    busy = db.session.scalar(sa.select(sa.func.count()).select_from(CvFile).where(under_work)) or 0
    free = sa.or_(CvFile.lease_until.is_(None), CvFile.lease_until < claims.moment())
    query = sa.select(CvFile.id).where(CvFile.state.in_(states), free).order_by(CvFile.number, CvFile.id)
    return list(db.session.scalars(query.limit(max(0, AT_ONCE - busy))))


def expired(limit: int = 5) -> list[str]:
    """Ids of uploads that are older than ``KEPT``."""
    old = CvUpload.created_at < clock.now() - KEPT
    return list(db.session.scalars(sa.select(CvUpload.id).where(old).order_by(CvUpload.created_at).limit(limit)))
