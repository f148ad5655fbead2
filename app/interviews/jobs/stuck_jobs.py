"""Work whose every run dies before it can claim its row, for want of memory, say: only the queues know of it then.

A claim counts how often its work broke off. Where nothing is ever claimed nothing is counted, so that the interview
would wait for good; what the queues have given up often enough is parked as well, for a person to look at.
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
    "Processing could not even begin, again and again. Try again, or ask the operator to look at the worker's log."
)

TALK, VIDEO = (Stage.SUBMITTED, Stage.PROCESSING), (VideoStage.WAITING, VideoStage.PROCESSING)
MOST = 200


def park(*, lease: timedelta) -> None:
    """Park what is due for long, is in nobody's hands, and was given up by the queues three times since it is due."""
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
