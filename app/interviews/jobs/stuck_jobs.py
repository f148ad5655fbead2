"""Parks work whose every run dies before it can claim its row, for example for lack of memory.

A claim counts interrupted runs. Runs that never claim anything are not counted there, and the interview would wait
forever, so failures that the queues recorded are counted here.
"""

from collections import Counter
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from flask import current_app

from app.core import claims, queue
from app.core.db import db
from app.core.rooms import Job
from app.interviews import PROCESS_INTERVIEW, PROCESS_VIDEO, actions
from app.interviews.models import Interview, Stage, VideoStage
from app.interviews.pending import late

NEVER_BEGUN = (
    "Processing could not start, even after several tries. Try again, or ask your operator to check the worker's log."
)

TALK, VIDEO = (Stage.SUBMITTED, Stage.PROCESSING), (VideoStage.WAITING, VideoStage.PROCESSING)
MOST = 200


def park(*, lease: timedelta) -> None:
    """Park work that is overdue, has no lease, and was given up by the queues three times since it was due."""
    query = (
        sa.select(Interview.id, Interview.due_at, Interview.stage).where(late()).order_by(Interview.due_at).limit(MOST)
    )
    waiting = {row.id: (row.due_at, row.stage) for row in db.session.execute(query)}
    db.session.rollback()
    if not waiting:
        return
    given_up = Counter(
        (run.job, one)
        for run in queue.given_up(current_app.extensions["parley.settings"].redis_url)
        for one in run.ids
        if one in waiting and run.at is not None and run.at > waiting[one][0]
    )
    for interview_id, (_due_at, stage) in waiting.items():
        job = PROCESS_VIDEO if stage is Stage.COMPLETED else PROCESS_INTERVIEW
        if given_up[job, interview_id] >= claims.PARKED_AFTER:
            _park(interview_id, job, lease=lease)


def _park(interview_id: str, job: Job, *, lease: timedelta) -> None:
    is_video = job is PROCESS_VIDEO
    column: Any = Interview.video_stage if is_video else Interview.stage
    waits, works = VIDEO if is_video else TALK
    token = claims.take(column, interview_id, expects=[waits], becomes=works, lease=lease)
    if token is not None:
        (actions.park_video if is_video else actions.park)(interview_id, token=token, reason=NEVER_BEGUN)
    db.session.commit()
