"""Retries stopped jobs. Every step may be repeated: rows are changed only if they are still stopped."""

from collections.abc import Callable

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core import queue
from app.flows import actions as flows
from app.flows.models import InterviewFlow
from app.interviews import PROCESS_INTERVIEW, PROCESS_VIDEO
from app.interviews import actions as interviews
from app.interviews.models import Interview, Stage, VideoStage
from app.mail_outbox import actions as mail_outbox
from app.operations.stopped_jobs import queries

KINDS = ("interviews", "documents", "mails", "voices")
"""Kinds of jobs that can be retried all at once."""


def retry_interview(interview: Interview) -> bool:
    """Retry a failed job, or wake a worker up for a due one. False if there is nothing to do."""
    if interviews.retry(interview):
        return True
    if interview.withdrawn_at is not None or interview.erased_at is not None:
        return False
    if interview.stage in {Stage.SUBMITTED, Stage.PROCESSING}:
        queue.after_commit(PROCESS_INTERVIEW, interview.id)
        return True
    if interview.stage is Stage.COMPLETED and interview.video_stage in {VideoStage.WAITING, VideoStage.PROCESSING}:
        queue.after_commit(PROCESS_VIDEO, interview.id)
        return True
    return False


def retry_all(kind: str, *, by: TeamMember) -> int:
    """Retry all jobs of a kind that the page shows; returns how many were started. Audited."""
    tries: dict[str, Callable[[], list[bool]]] = {
        "interviews": lambda: [retry_interview(one) for one in queries.interviews(mine)],
        "documents": lambda: [interviews.read_again(document) for document, _interview in queries.documents(mine)],
        "mails": lambda: [mail_outbox.hurry(one.letter.id) for one in queries.mails(mine)],
        "voices": lambda: [_speak_again(flow, by=by) for flow in queries.voices(mine)],
    }
    mine = by.organization_id
    begun = sum(tries[kind]())
    if begun:
        write_audit(by.organization, action="jobs.retried", subject=mine, by=by, details={"kind": kind, "begun": begun})
    return begun


def _speak_again(flow: InterviewFlow, *, by: TeamMember) -> bool:
    flows.prepare_anew(flow, by=by)
    return True
