"""Recruiters' pages of interviews: the dashboard, the list, creating one, and one interview with its result."""

from typing import Any

from flask import (
    Blueprint,
    Response,
    current_app,
    flash,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import current_member, require_admin, require_member, require_recruiter
from app.accounts.actions import write_audit
from app.accounts.models import Role, TeamMember
from app.accounts.queries import members_of
from app.core.db import db
from app.core.errors import Conflict, GatewayError, Rejected
from app.flows.models import FlowStatus, InterviewType, Right
from app.flows.queries import FlowFilter, flow_to_change, flows_seen_by, titles_seen_by
from app.interviews import actions, archive, queries
from app.interviews.feedback import ratings_seen_by
from app.interviews.forms import BookForm
from app.interviews.models import Interview, InterviewStatus
from app.interviews.pending import Waiting
from app.interviews.player import chapter_starts, wave_path
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.queries import peaks_of
from app.interviews.schemas import NewInterviewSchema
from app.settings import Settings
from app.web.fields import flaw_of
from app.web.templating import offset_of_request

PER_PAGE = 25
STUCK = 5
"""Stuck interviews that the first page names; the task has their number."""
MOST_FLOWS = 500
TYPED = "delete"
"""The word that an administrator types to confirm deleting recordings."""

pages = Blueprint("interviews", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _player() -> dict[str, Any]:
    """Functions for pages with a player; they query only when called."""
    return {"wave_path": lambda interview_id: wave_path(peaks_of(interview_id)), "chapter_starts": chapter_starts}


@pages.get("/dashboard")
def dashboard() -> str:
    """The member's tasks, the newest results, this week beside the last, and what candidates say."""
    member = current_member()
    return render_template(
        "interviews/dashboard.html",
        stuck=queries.needing_help(member, limit=STUCK),
        has_flows=bool(titles_seen_by(member)),
        may_change=_may_change(member),
        ratings=ratings_seen_by(member),
    )


@pages.get("/interviews")
def index() -> str:
    """Recruitment interviews with an address, newest first, filtered by status, flow and what they wait for."""
    member, offset = current_member(), offset_of_request()
    status, flow_id, waiting = (request.args.get(name, "") for name in ("status", "flow", "waiting"))
    filters = queries.InterviewFilter(
        status=InterviewStatus(status) if status in set(InterviewStatus) else None,
        flow_id="" if flaw_of(flow_id) else flow_id[:36],
        waiting=Waiting(waiting) if waiting in set(Waiting) else None,
        link_days=_settings().link_expiry_days,
        tests=request.args.get("tests") == "yes",
    )
    return render_template(
        "interviews/index.html",
        filters=filters,
        offset=offset,
        limit=PER_PAGE,
        may_change=_may_change(member),
        interviews=queries.shown_on_platform(member, filters, limit=PER_PAGE, offset=offset),
        flow_choices=[("", "All"), *titles_seen_by(member)],
        status_choices=[("", "All"), *((kind.value, kind.value.capitalize()) for kind in InterviewStatus)],
    )


@pages.get("/interviews/new")
def new() -> str:
    """An empty form, with the flow selected that the address names."""
    require_recruiter()
    return _booking(BookForm(data={"interview_flow_id": request.args.get("flow", "")}))


@pages.post("/interviews/new")
def book() -> AnyResponse | tuple[str, int]:
    """Create an interview and redirect to its page, which shows the candidate's link."""
    require_recruiter()
    member, form = current_member(), BookForm()
    schema = NewInterviewSchema()
    wrong = schema.validate(form.values())
    try:
        interview = None if wrong else _booked(member, schema.load(form.values()))
    except Rejected as refusal:
        db.session.rollback()
        wrong = {refusal.field or "": [refusal.message]}
    if wrong or interview is None:
        form.blame(wrong)
        return _booking(form), 422
    interview_id, words = interview.id, _with_candidate(interview)
    db.session.commit()
    flash(f"Interview created. {words}", "good")
    return redirect(url_for("interviews.show", interview_id=interview_id), 303)


def _with_candidate(interview: Interview) -> str:
    if interview.flow.interview_type is not InterviewType.RECRUITMENT:
        return "No candidate was added, because the flow is not for recruitment."
    if not interview.interviewee_email_address:
        return "No candidate was added, because you entered no email address."
    return "The candidate is in the list of candidates."


def _booked(member: TeamMember, values: dict[str, Any]) -> Interview:
    flow = flow_to_change(member, values["interview_flow_id"])
    return actions.book(
        member.organization,
        flow.id,
        email=values["interviewee_email_address"],
        first_name=values["interviewee_first_name"],
        last_name=values["interviewee_last_name"],
        recruiter_id=values["assigned_recruiter_id"],
    )


def _booking(form: BookForm) -> str:
    member = current_member()
    flows = flows_seen_by(member, FlowFilter(status=FlowStatus.OPEN, right=Right.EDIT), limit=MOST_FLOWS, offset=0)
    form.offer([(flow.id, flow.title) for flow in flows], list(members_of(member.organization, None)))
    return render_template("interviews/new.html", form=form, has_flows=bool(flows))


@pages.get("/interviews/<interview_id>/captions.vtt")
def captions(interview_id: str) -> Response:
    """The transcript as captions of the video on the interview's page; without cues if there is no result."""
    result = actions.result_of(queries.interview_seen_by(current_member(), interview_id))
    segments = result["transcript_with_timestamp"] if result else []
    return Response(archive.captions(segments, agent="Agent", candidate="Candidate"), mimetype="text/vtt")


@pages.post("/interviews/<interview_id>/retry")
def retry(interview_id: str) -> AnyResponse:
    """Retry an interview that failed, waits for an engine, or was abandoned."""
    require_recruiter()
    interview = queries.interview_to_change(current_member(), interview_id)
    without_recording = request.form.get("without_recording") == "yes"
    began = actions.retry(interview, without_recording=without_recording)
    if began and without_recording:
        write_audit(
            interview.flow.organization,
            action="interview.processed_without_recording",
            subject=interview.id,
            by=current_member(),
            details={},
        )
    db.session.commit()
    if began:
        flash("Processing has restarted. Reload this page in a minute.", "good")
    else:
        flash("There is nothing to retry: the interview's status has changed in the meantime.", "info")
    return redirect(url_for("interviews.show", interview_id=interview_id), 303)


@pages.post("/interviews/<interview_id>/revoke")
def revoke(interview_id: str) -> AnyResponse:
    """Revoke access to the recordings and delete them. Administrators only, confirmed by typing TYPED."""
    require_admin()
    member = current_member()
    interview = queries.interview_seen_by(member, interview_id)
    answer = redirect(url_for("interviews.show", interview_id=interview_id), 303)
    if request.form.get("confirm", "").strip().lower() != TYPED:
        flash(f"Nothing was deleted. Type “{TYPED}” to confirm.", "bad")
        return answer
    row_id = interview.id
    try:
        is_over = actions.revoke_recordings(interview)
    except Conflict as conflict:
        db.session.rollback()
        flash(conflict.message, "bad")
        return answer
    write_audit(member.organization, action="recordings.revoked", subject=row_id, by=member, details={})
    db.session.commit()  # access ends here, even if deleting the bytes fails
    if not is_over:
        flash("Access to the recordings is revoked. They will be deleted when the interview ends.", "good")
        return answer
    try:
        recordings.destroy(row_id, storage=gateways.current().storage)
    except GatewayError:
        flash("Access to the recordings is revoked. The files could not be deleted yet. Parley will retry.", "warn")
        return answer
    recordings.bytes_gone(row_id)
    db.session.commit()
    flash("The recordings were deleted. The transcript, summary and scores are kept.", "good")
    return answer


def _may_change(member: TeamMember) -> bool:
    return member.role is not Role.VIEWER


def _app_url() -> str:
    return _settings().app_url


def _settings() -> Settings:
    settings: Settings = current_app.extensions["parley.settings"]
    return settings
