"""Revokes an interview's recordings."""

import sqlalchemy as sa

from app.core import claims, clock
from app.core.db import db
from app.core.rooms import outbox
from app.interviews import events
from app.interviews.models import Interview, Stage, VideoStage
from app.interviews.recordings import actions as recordings
from app.legal_holds import actions as legal_holds
from app.mail_outbox import actions as mail_outbox


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
    if not done_again:
        legal_holds.refuse_held(interview.id, interview.candidate_id)
    recordings.revoke(interview.id)
    _close(interview)
    unmade = (VideoStage.WAITING, VideoStage.PROCESSING, VideoStage.FAILED)
    # A new fence, so that a worker on the video loses its claim.
    if interview.video_stage in unmade:  # as it was read under the lock above
        values = {"fence": Interview.fence + 1, "lease_until": None}
        db.changed(sa.update(Interview).where(Interview.id == interview.id).values(values))
        db.session.refresh(interview)
        no_video(interview)
    db.session.flush()
    return interview.stage is not Stage.RUNNING


def _close(interview: Interview) -> None:
    if interview.closed_at is None and interview.stage in {Stage.CREATED, Stage.ABANDONED}:
        interview.closed_at, interview.due_at = clock.now(), None
        mail_outbox.drop(interview.id)  # no reminders of a closed link
        db.session.flush()


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
