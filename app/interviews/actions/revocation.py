"""Revokes an interview's recordings."""

from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.accounts.key_scope import refuse_outside
from app.accounts.models import Owner
from app.core import claims, clock
from app.core.db import db, is_id
from app.core.db.prepared import Prepared
from app.core.rooms import outbox
from app.interviews import events
from app.interviews.models import Interview, Stage, VideoStage
from app.interviews.queries import interview_for
from app.interviews.recordings import actions as recordings
from app.legal_holds import actions as legal_holds
from app.mail_outbox import actions as mail_outbox

_UNMADE = (VideoStage.WAITING, VideoStage.PROCESSING, VideoStage.FAILED)


class _Row(NamedTuple):
    """What decides how recordings are revoked, as it was read under the lock."""

    id: str
    team_id: str
    flow_id: str
    candidate_id: str | None
    stage: Stage
    video_stage: VideoStage
    closed_at: datetime | None


_I: Any = Interview.__table__
_LOCKED = Prepared(
    sa.select(*(_I.c[name] for name in _Row._fields))
    .where(_I.c.id == sa.bindparam("interview"), _I.c.organization_id == sa.bindparam("owner"))
    .with_for_update(key_share=True)
)
_CLOSED = Prepared(
    sa.update(_I).where(_I.c.id == sa.bindparam("interview")).values(closed_at=sa.bindparam("now"), due_at=None)
)


def revoke_recordings(interview: Interview, *, done_again: bool = False, is_locked: bool = False) -> bool:
    """End access to audio and video for good. The caller commits this first and then destroys the bytes.

    False while the interview is running: it continues, and ``jobs.revocation`` destroys its recording when it ends.
    Otherwise the link is closed, so that the interview can no longer be started or resumed. A video that is not ready
    will never be, so its event is cancelled and shown as cancelled.
    Conflict under a legal hold, unless an earlier revocation is ``done_again`` after a restore.
    """
    # The lock keeps out a new legal hold and a candidate who starts at this moment.
    if not is_locked:
        db.session.refresh(interview, with_for_update={"key_share": True})
    row = _Row._make(getattr(interview, name) for name in _Row._fields)
    if _end_access(row, done_again=done_again):
        db.session.expire(interview, ["closed_at", "due_at"])
    # A new fence, so that a worker on the video loses its claim.
    if row.video_stage in _UNMADE:  # as it was read under the lock above
        values = {"fence": Interview.fence + 1, "lease_until": None}
        db.changed(sa.update(Interview).where(Interview.id == interview.id).values(values))
        db.session.refresh(interview)
        no_video(interview)
    db.session.flush()
    return row.stage is not Stage.RUNNING


def revoke_without_row(organization: Owner, interview_id: str) -> tuple[str, bool]:
    """As ``revoke_recordings`` of ``interview_for``, without loading the row where no video is being made.

    Returns the interview's id as it is stored, and whether the interview is over. Raises as both.
    """
    wanted = interview_id.lower()
    rows = _LOCKED.rows(interview=wanted, owner=organization.id) if is_id(wanted) else ()
    row = _Row._make(rows[0]) if rows else None
    if row is not None:
        refuse_outside(organization, team_id=row.team_id, flow_id=row.flow_id)
    if row is None or row.video_stage in _UNMADE:
        interview = interview_for(organization, interview_id, locked=True)
        return interview.id, revoke_recordings(interview, is_locked=True)
    _end_access(row)
    return row.id, row.stage is not Stage.RUNNING


def _end_access(row: _Row, *, done_again: bool = False) -> bool:
    """Returns whether the link was closed."""
    if not done_again:
        legal_holds.refuse_held(row.id, row.candidate_id)
    recordings.revoke(row.id)
    if row.closed_at is not None or row.stage not in {Stage.CREATED, Stage.ABANDONED}:
        return False
    _CLOSED.changed({"interview": row.id, "now": clock.now()})
    mail_outbox.drop(row.id)  # no reminders of a closed link
    return True


def no_video(interview: Interview) -> None:
    """Mark the video as revoked and cancel its event."""
    interview.video_stage = VideoStage.REVOKED
    db.session.flush()
    outbox().cancel(interview.id, events.VIDEO_PROCESSED)


def video_revoked(interview_id: str, *, token: int) -> bool:
    """The recordings were revoked before the video was ready. False when the claim was lost."""
    if not claims.finish(Interview, interview_id, token, video_stage=VideoStage.REVOKED):
        return False
    no_video(db.session.get_one(Interview, interview_id))
    return True
