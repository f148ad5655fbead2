"""Pages on which recruiters invite people: a list is checked first, then sent."""

import uuid

from flask import Response, render_template, request, url_for

from app.accounts.access import current_member, require_recruiter
from app.accounts.actions import write_audit
from app.accounts.queries import member_in_team, members_of
from app.core.db import db
from app.core.errors import NotFound, Rejected
from app.flows.models import FlowStatus, InterviewFlow, Right
from app.flows.queries import FlowFilter, flow_to_change, flows_seen_by
from app.gateways.mail import Mail
from app.interviews.schemas import NewInterviewSchema
from app.outreach import actions, invitations, people_file, queries
from app.outreach.forms import InviteForm
from app.outreach.invitations import Order, Row
from app.outreach.models import Step
from app.outreach.pages.blueprint import pages, post, pretended, sent_test
from app.outreach.people_file import Line
from app.web.csv import sheet
from app.web.fields import flaw_of

MOST_FLOWS = 500
_FIELDS = {
    "interviewee_email_address": "Email address",
    "interviewee_first_name": "First name",
    "interviewee_last_name": "Last name",
}


@pages.get("/candidates/invite")
def invite() -> str:
    """An empty form: one person or a list."""
    require_recruiter()
    return _form(InviteForm(data={"flow": request.args.get("flow", ""), "by_mail": True}))


@pages.post("/candidates/invite")
def check() -> str | tuple[str, int]:
    """Show what would happen to each line, and the first email; ``test`` sends it to the member. Nothing is created."""
    require_recruiter()
    form = InviteForm()
    try:
        flow, recruiter = where_of(form)
        rows = invitations.judge(flow, _lines(form), flaw=flaw_of_line, link_days=post().link_days)
    except Rejected as refusal:
        form.blame(refusal.field, refusal.message)
        return _form(form), 422
    new = [
        Line(number, row.line.email, row.line.first_name, row.line.last_name)
        for number, row in enumerate((row for row in rows if row.outcome == "new"), 1)
    ]
    by_mail = post().can_send and bool(form.by_mail.data)
    sample = _sample(flow, new[0]) if new and by_mail else None
    if sample and "test" in request.form:
        sent_test(_sample(flow, new[0], link=f"{post().app_url}{url_for('preview.fresh', flow_id=flow.id)}"))
    return render_template(
        "outreach/check.html",
        rows=rows,
        new=new,
        flow=flow,
        recruiter=recruiter,
        by_mail=by_mail,
        text=people_file.written(new),
        whole=people_file.written([row.line for row in rows]),
        batch=str(uuid.uuid4()),
        sample=sample,
    )


@pages.post("/candidates/invite/send")
def send() -> str | tuple[str, int]:
    """Create and email the interviews, committing each line. A list sent again continues where it stopped."""
    require_recruiter()
    member, form = current_member(), InviteForm()
    try:
        flow, recruiter = where_of(form)
        lines, batch = _lines(form), _batch()
        done = queries.invited_in(flow, batch)
        fresh = [line for line in lines if line.number not in done]
        found = invitations.judge(flow, fresh, flaw=flaw_of_line, link_days=post().link_days)
        judged = {row.line.number: row for row in found}
    except Rejected as refusal:
        form.blame(refusal.field, refusal.message)
        return _form(form), 422
    order = Order(batch, recruiter, post().can_send and bool(form.by_mail.data), post())
    rows = []
    for line in lines:
        row = judged.get(line.number) or Row(line, "done", interview=done.get(line.number))
        if row.outcome == "new":
            row = invitations.carry_out(flow, row, order, by=member)
            if row.outcome == "done":
                db.session.commit()
            else:
                db.session.rollback()
        rows.append(row)
    _note_list(flow, rows)
    sent = queries.messages_of_many([row.interview.id for row in rows if row.interview])
    page = render_template(
        "outreach/invited.html",
        rows=rows,
        flow=flow,
        sent=sent,
        app_url=post().app_url,
        by_mail=order.by_mail,
        batch=batch,
    )
    return page, 422 if all(row.outcome == "refused" for row in rows) else 200


@pages.get("/candidates/invite/<flow_id>/<batch>.csv")
def links_sheet(flow_id: str, batch: str) -> Response:
    """The invite links of one list as CSV, in the order of the list. The list is known for a week."""
    require_recruiter()
    invited = queries.invited_in(flow_to_change(current_member(), flow_id), batch)
    if not invited:
        raise NotFound("This list of links no longer exists. Each candidate's interview shows their link.")
    people = [
        (
            one.interviewee_email_address,
            one.interviewee_first_name,
            one.interviewee_last_name,
            one.link(post().app_url),
        )
        for _, one in sorted(invited.items())
    ]
    return sheet("invite-links.csv", [("email", "first name", "last name", "link"), *people])


def _note_list(flow: InterviewFlow, rows: list[Row]) -> None:
    count = sum(row.outcome == "done" for row in rows)
    member = current_member()
    write_audit(
        member.organization, action="candidates.invited", subject=flow.id, by=member, details={"invited": count}
    )
    db.session.commit()


def _sample(flow: InterviewFlow, line: Line, *, link: str = "") -> Mail:
    person = pretended(flow, line)
    language = actions.language_of(person)
    words = actions.words_for(flow.organization_id, Step.INVITATION, language)
    return actions.compose(person, words, post(), language=language, by=current_member(), link=link)


def _form(form: InviteForm) -> str:
    has_flows = offer_choices(form)
    return render_template(
        "outreach/invite.html", form=form, has_flows=has_flows, can_send=post().can_send, most=people_file.MOST_ROWS
    )


def offer_choices(form: InviteForm) -> bool:
    """Fill in the flows and recruiters to choose from. Returns whether there is a flow."""
    member = current_member()
    flows = flows_seen_by(member, FlowFilter(status=FlowStatus.OPEN, right=Right.EDIT), limit=MOST_FLOWS, offset=0)
    people = [(one.id, one.full_name or one.email) for one in members_of(member.organization, None)]
    form.offer([(flow.id, flow.title) for flow in flows], people)
    return bool(flows)


def where_of(form: InviteForm) -> tuple[InterviewFlow, str | None]:
    """The flow and the recruiter that the form names. Raises Rejected on its field."""
    flow_id, recruiter_id = form.flow.data or "", form.recruiter.data or None
    if not flow_id or flaw_of(flow_id):
        raise Rejected("Choose a flow.", field="flow")
    flow = flow_to_change(current_member(), flow_id)
    if recruiter_id and (flaw_of(recruiter_id) or member_in_team(flow.team_id, recruiter_id) is None):
        raise Rejected("This recruiter is not in the flow's team.", field="recruiter")
    return flow, recruiter_id


def _lines(form: InviteForm) -> list[Line]:
    file = request.files.get("file")
    content = file.read(people_file.MOST_BYTES + 1) if file else b""
    text = people_file.decoded(content) if content else form.rows.data or ""
    flaw = flaw_of(text)
    if flaw:
        raise Rejected(flaw, field="rows")
    return people_file.lines_of(text)


def _batch() -> str:
    try:
        return str(uuid.UUID(request.form.get("batch", "")))
    except ValueError:
        raise Rejected("Check the list again before you send it.", field="rows") from None


def flaw_of_line(line: Line) -> str | None:
    """What is wrong with one person of a list, as a sentence; None if nothing is."""
    if not line.email:
        return "This line has no email address."
    values = {
        "interview_flow_id": "-",
        "interviewee_email_address": line.email,
        "interviewee_first_name": line.first_name,
        "interviewee_last_name": line.last_name,
    }
    wrong = NewInterviewSchema().validate(values)
    return next((f"{_FIELDS[name]}: {words[0]}" for name, words in wrong.items() if name in _FIELDS), None)
