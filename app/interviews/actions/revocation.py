"""The end of an interview's recordings."""

import sqlalchemy as sa

from app.core import claims, clock
from app.core.db import db
from app.core.rooms import outbox
from app.interviews import events
from app.interviews.models import Interview, Stage, VideoStage
from app.interviews.recordings import actions as recordings
from app.legal_holds import actions as legal_holds
from app.mail_outbox import actions as mail_outbox


def revoke_recordings(interview: Interview, *, done_again: bool = False) -> bool:
    """End access to audio and video for good. The edge commits this first and destroys the bytes after that.

    False while somebody talks: the talk goes on, and what it records is destroyed when it is over (``jobs_revoked``).
    An interview in which nobody talks cannot be begun or continued any more: its link is closed. A video that is still
    being made will never be available, so its event is cancelled, and shown as such.
    Conflict under a legal hold, unless the same is only ``done_again`` after a restore.
    """
    # No hold is placed beside this, and nobody presses Start.
    db.session.refresh(interview, with_for_update={"key_share": True})
    if not done_again:
        legal_holds.refuse_held(interview.id, interview.candidate_id)
    recordings.revoke(interview.id)
    _close(interview)
    unmade = (VideoStage.WAITING, VideoStage.PROCESSING, VideoStage.FAILED)
    # A new fence, so that whoever works on the video right now finds the claim gone.
    statement = (
        sa.update(Interview)
        .where(Interview.id == interview.id, Interview.video_stage.in_(unmade))
        .values(fence=Interview.fence + 1, lease_until=None)
    )
    if db.changed(statement):
        db.session.refresh(interview)
        no_video(interview)
    db.session.flush()
    return interview.stage is not Stage.RUNNING


def _close(interview: Interview) -> None:
    if interview.closed_at is None and interview.stage in {Stage.CREATED, Stage.ABANDONED}:
        interview.closed_at, interview.due_at = clock.now(), None
        mail_outbox.drop(interview.id)  # nobody is reminded of a link that has ended
        db.session.flush()


def no_video(interview: Interview) -> None:
    """There will be no video: its event is cancelled, and shown as such."""
    interview.video_stage = VideoStage.REVOKED
    db.session.flush()
    outbox().cancel(interview.id, events.VIDEO_PROCESSED)


def video_revoked(interview_id: str, *, token: int) -> bool:
    """The recordings were revoked before the video was made: there will be none."""
    if not claims.finish(Interview, interview_id, token, video_stage=VideoStage.REVOKED):
        return False
    no_video(db.session.get_one(Interview, interview_id))
    return True
