"""An interview until it is submitted: created, started, declined, abandoned, submitted, retried."""

from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import Organization, Owner, Team, TeamMember
from app.accounts.queries import member_in_team
from app.accounts.usage import actions as usage
from app.candidates import actions as candidates
from app.core import clock, queue
from app.core.db import db, new_id
from app.core.db.prepared import Prepared
from app.core.errors import Conflict, Rejected
from app.flows.flow_script import FlowScript
from app.flows.models import FlowStatus, InterviewType
from app.flows.queries import FlowTerms, terms_for
from app.interviews import PLAY_TEST, PROCESS_INTERVIEW, PROCESS_VIDEO, quality
from app.interviews.actions.list_counters import count_for
from app.interviews.models import Interview, InterviewStatus, Scenario, Stage, VideoStage, interview_link
from app.interviews.recordings import actions as recordings
from app.mail_outbox import actions as mail_outbox

HOW_IT_GOES: dict[str, str] = {
    Scenario.SCORES: "it completes within minutes, with made-up scores",
    Scenario.ABANDONED: "its candidate leaves before the first answer, so it stays incomplete",
    Scenario.FAILED: "its processing fails, so it stays incomplete until you retry it on the platform",
    Scenario.LATE_VIDEO: "it completes within minutes, and its video follows five minutes later",
}


def book(
    organization: Owner,
    flow_id: str,
    *,
    email: str | None = None,
    first_name: str | None = None,
    last_name: str | None = None,
    recruiter_id: str | None = None,
    is_test: bool = False,
    scenario: Scenario | None = None,
) -> Interview:
    """Create an interview in the flow's team. With an address and type ``recruitment`` the candidate is enrolled.

    A job plays a test interview as its ``scenario`` says. Raises NotFound or Forbidden for the flow, Rejected for a
    flow that is not open, a recruiter of another team, or a used-up quota (``usage.refuse_if_used_up``).
    """
    booked = book_without_row(
        organization,
        flow_id,
        email=email,
        names={"first_name": first_name, "last_name": last_name},
        recruiter_id=recruiter_id,
        is_test=is_test,
        scenario=scenario,
    )
    interview = db.session.get_one(Interview, booked.id)
    for model, owner_id in ((Organization, interview.organization_id), (Team, interview.team_id)):
        loaded = db.session.identity_map.get(sa.orm.util.identity_key(model, owner_id))
        if loaded is not None:
            db.session.expire(loaded, ["interview_seq", "interview_test_seq"])
    return interview


class Booked(NamedTuple):
    """A new interview as its creator sees it, as plain values."""

    id: str
    flow: FlowTerms
    recruiter_id: str | None
    email: str | None
    is_test: bool
    scenario: Scenario | None

    def link(self, app_url: str) -> str:
        """As ``Interview.link``."""
        return interview_link(app_url, self.flow.id, self.id, recruiter_id=self.recruiter_id)

    @property
    def hint(self) -> str:
        """Whether the interview will show on the platform, and if not, why."""
        return _hint(self.flow.interview_type, email=self.email, is_test=self.is_test, scenario=self.scenario)


def book_without_row(
    organization: Owner,
    flow_id: str,
    *,
    email: str | None,
    names: dict[str, str | None],
    recruiter_id: str | None,
    is_test: bool,
    scenario: Scenario | None,
) -> Booked:
    """As ``book``, by prepared statements and without loading a row. ``names``: ``first_name``, ``last_name``."""
    db.session.flush()
    flow = _open_flow(organization, flow_id, scenario)
    recruiter = _recruiter(flow, recruiter_id)
    if not is_test:
        usage.refuse_if_used_up(flow.organization_id)
    org_seq, org_mode_seq = _next_numbers(Organization, flow.organization_id, is_test=is_test)
    team_seq, team_mode_seq = _next_numbers(Team, flow.team_id, is_test=is_test)
    interview_id, assigned = new_id(), recruiter.id if recruiter else None
    row = {
        "id": interview_id,
        "organization_id": flow.organization_id,
        "team_id": flow.team_id,
        "flow_id": flow.id,
        "candidate_id": _enrolled(flow, email, names, recruiter=recruiter, is_test=is_test),
        "org_seq": org_seq,
        "org_mode_seq": org_mode_seq,
        "team_seq": team_seq,
        "team_mode_seq": team_mode_seq,
        "interviewee_email_address": email,
        "interviewee_first_name": names["first_name"],
        "interviewee_last_name": names["last_name"],
        "assigned_recruiter_id": assigned,
        "is_test": is_test,
        "scenario": scenario,
        "due_at": clock.now() if is_test else None,
    }
    _NEW.changed(row)
    owners = ((flow.organization_id, org_seq), (flow.team_id, team_seq))
    count_for(owners, {InterviewStatus.INCOMPLETE: 1}, is_test=is_test)
    if is_test:
        queue.after_commit(PLAY_TEST, interview_id)
    return Booked(interview_id, flow, assigned, email, is_test, scenario)


_NEW = Prepared(sa.insert(Interview.__table__))  # type: ignore[arg-type]  # a declared table is a Table


def _open_flow(organization: Owner, flow_id: str, scenario: Scenario | None) -> FlowTerms:
    flow = terms_for(organization, flow_id)
    if flow.status is not FlowStatus.OPEN:
        words = f"This interview flow is {flow.status.value}. Interviews need an open flow."
        raise Rejected(words, field="interview_flow_id", code="flow_closed")
    if scenario is Scenario.LATE_VIDEO and not flow.is_video_enabled:
        raise Rejected("The scenario late-video needs a flow with is_video_enabled.", field="interview_flow_id")
    return flow


def _enrolled(
    flow: FlowTerms, email: str | None, names: dict[str, str | None], *, recruiter: TeamMember | None, is_test: bool
) -> str | None:
    """Id of the candidate, where the new interview has one."""
    if not email or flow.interview_type is not InterviewType.RECRUITMENT:
        return None
    candidate_id, is_new = candidates.enrol_without_row(
        flow, email=email, names=names, recruiter=recruiter, is_test=is_test
    )
    if not is_new:
        let_out(candidate_id)
    return candidate_id


def let_out(candidate_id: str) -> None:
    """Show all interviews of the candidate in lists again."""
    theirs = sa.update(Interview).where(Interview.candidate_id == candidate_id, Interview.quarantined_at.is_not(None))
    db.session.execute(theirs.values(quarantined_at=None))


def _hint(kind: InterviewType | None, *, email: str | None, is_test: bool, scenario: str | None) -> str:
    if is_test:
        how = HOW_IT_GOES.get(scenario or "", "it completes within minutes")
        return f"This is a test interview: {how}. It is not included in any figures."
    if kind is not InterviewType.RECRUITMENT:
        return "This interview will not appear on the web platform: its flow is not of type recruitment."
    if not email:
        return "This interview will not appear on the web platform: it has no interviewee_email_address."
    return "This interview appears on the web platform under the interviewee's email address."


def _recruiter(flow: FlowTerms, recruiter_id: str | None) -> TeamMember | None:
    if recruiter_id is None:
        return None
    member = member_in_team(flow.team_id, recruiter_id)
    if member is None:
        words = "No member of the flow's team has this id. GET /v1/team-members lists them."
        raise Rejected(words, field="assigned_recruiter_id")
    return member


def _next_numbers(owner: type[Organization] | type[Team], owner_id: str, *, is_test: bool) -> tuple[int, int]:
    """The next number among all interviews of the owner, and among those of the same mode."""
    # The row stays locked until the commit, so numbers have no holes and become visible in order.
    [(every, tests)] = _one_more(owner).rows(owner=owner_id, tests=int(is_test))
    return every, tests if is_test else every - tests


@cache
def _one_more(owner: type[Organization] | type[Team]) -> Prepared:
    table: Any = owner.__table__
    of_tests = table.c.interview_test_seq + sa.bindparam("tests")
    numbered = sa.update(table).values(interview_seq=table.c.interview_seq + 1, interview_test_seq=of_tests)
    own = numbered.where(table.c.id == sa.bindparam("owner"))
    return Prepared(own.returning(table.c.interview_seq, table.c.interview_test_seq))


def may_begin(interview: Interview) -> bool:
    """Whether the link is still open. The row stays locked until the commit, so it cannot be closed in between."""
    db.session.refresh(interview, with_for_update={"key_share": True})
    return not interview.is_closed


def begin(
    interview: Interview,
    *,
    voice: str | None = None,
    email: str | None = None,
    first_name: str | None = None,
    last_name: str | None = None,
) -> Interview:
    """Start or resume the interview: take the snapshot of the flow, and fill in missing names and address.

    ``voice`` is the one that speaks now; an interview that is resumed keeps the voice it began with.
    An address collected here does not enrol the candidate. Conflict once the interview is submitted.
    """
    if interview.stage not in {Stage.CREATED, Stage.RUNNING, Stage.ABANDONED}:
        raise Conflict("This interview has already been submitted.")
    if interview.script is None:
        interview.script = replace(FlowScript.of(interview.flow), voice=voice)
        interview.started_at = clock.now()
        mail_outbox.drop(interview.id)  # unsent reminders are no longer needed
    interview.stage = Stage.RUNNING
    interview.interviewee_email_address = interview.interviewee_email_address or email
    interview.interviewee_first_name = interview.interviewee_first_name or first_name
    interview.interviewee_last_name = interview.interviewee_last_name or last_name
    db.session.flush()
    return interview


def decline(interview: Interview, *, at: datetime) -> bool:
    """The candidate declines. Recorded for the recruiter; the link still works. False once submitted."""
    statement = (
        sa.update(Interview)
        .where(Interview.id == interview.id, Interview.stage.in_((Stage.CREATED, Stage.RUNNING, Stage.ABANDONED)))
        .values(declined_at=at)
    )
    changed = db.changed(statement) == 1
    if changed:
        mail_outbox.drop(interview.id)
    db.session.refresh(interview)
    return changed


def cancel(interview: Interview) -> bool:
    """Close the link of an interview that has not started; no mail about it follows. False if it was closed before.

    The caller has locked the row, which keeps out a candidate who starts at this moment. Raises Conflict.
    """
    if interview.erased_at is not None:
        raise Conflict("This interview was erased.")
    if interview.stage is not Stage.CREATED:
        raise Conflict("The candidate has already started this interview. Only one that has not started is cancelled.")
    if interview.closed_at is not None:
        return False
    interview.closed_at, interview.due_at = clock.now(), None
    mail_outbox.drop(interview.id)
    db.session.flush()
    details: dict[str, object] = {"through": "/v1"}
    write_audit(
        interview.flow.organization, action="interview.cancelled", subject=interview.id, by=None, details=details
    )
    return True


def count_model(interview_id: str, *, calls: int, tokens: int) -> None:
    """Add what the conversation cost at the language model. It is part of the usage once the interview has a result."""
    counted = {"model_calls": Interview.model_calls + calls, "model_tokens": Interview.model_tokens + tokens}
    db.session.execute(sa.update(Interview).where(Interview.id == interview_id).values(counted))


def submit(interview: Interview) -> bool:
    """The interview is over and everything has arrived: enqueue processing. False when it was submitted before."""
    quality.keep(interview)
    recordings.unsettle(interview.id)
    return _to_processing(interview, (Stage.RUNNING, Stage.ABANDONED), submitted_at=clock.now())


def retry(interview: Interview, *, without_recording: bool = False) -> bool:
    """Retry what failed, waits for an engine, or was abandoned. False when there is nothing to retry.

    There is nothing to retry after the candidate withdrew their consent. ``without_recording`` is for failures that
    retries cannot fix: the result is made from what was recognised during the interview, without playback.
    """
    if interview.withdrawn_at is not None or interview.erased_at is not None:
        return False
    if interview.stage is Stage.COMPLETED and interview.video_stage is VideoStage.FAILED:
        interview.video_stage = VideoStage.WAITING
        interview.failures, interview.recoveries, interview.failure, interview.due_at = 0, 0, None, clock.now()
        db.session.flush()
        queue.after_commit(PROCESS_VIDEO, interview.id)
        return True
    if without_recording:
        return _to_processing(interview, (Stage.PROCESSING_FAILED,), without_recording=True, scenario=None)
    stages = (Stage.PROCESSING_FAILED, Stage.WAITS_FOR_RECOGNITION, Stage.ABANDONED)
    return _to_processing(interview, stages, without_recording=False, scenario=None)


def _to_processing(interview: Interview, stages: tuple[Stage, ...], **values: Any) -> bool:
    fresh = {"stage": Stage.SUBMITTED, "due_at": clock.now(), "failures": 0, "failure": None, "recoveries": 0, **values}
    statement = sa.update(Interview).where(Interview.id == interview.id, Interview.stage.in_(stages)).values(fresh)
    changed = db.changed(statement) == 1
    db.session.refresh(interview)
    if changed:
        queue.after_commit(PROCESS_INTERVIEW, interview.id)
    return changed


def abandon(interview: Interview) -> bool:
    """The candidate did not come back. The recording stays, and recruiters can process it. False when not running."""
    statement = (
        sa.update(Interview)
        .where(Interview.id == interview.id, Interview.stage == Stage.RUNNING)
        .values(stage=Stage.ABANDONED)
    )
    changed = db.changed(statement) == 1
    db.session.refresh(interview)
    return changed
