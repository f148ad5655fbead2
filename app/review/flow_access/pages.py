"""Pages that show who can see a flow, and where members request access and answer requests."""

from typing import Any

from flask import Blueprint, current_app, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import current_member, require_member, require_recruiter
from app.core.db import db
from app.core.errors import Conflict, NotFound, Rejected
from app.flows.models import InterviewFlow, Right
from app.flows.queries import flow_to_change, grants_of, may
from app.gateways.mail import Mail
from app.review.flow_access import actions, queries
from app.review.flow_access.models import LONGEST_NOTE, AccessRequest, RequestState
from app.settings import Settings
from app.web import rate_limits
from app.web.fields import flaw_of

ASKED_PER_MINUTE = 10
PAGES = {
    "flow": ("flows.show", "flow_id"),
    "interview": ("interviews.show", "interview_id"),
    "candidate": ("candidates.show", "candidate_id"),
}
PASSED_ON = (
    "If that page exists in your organization, your request was sent to the members who can grant access. "
    "Their reply appears here."
)

pages = Blueprint("flow_access", __name__)
pages.before_request(require_member)


@pages.get("/flows/<flow_id>/access")
def show(flow_id: str) -> str:
    """Who can view and who can edit one flow."""
    require_recruiter()
    return _page(flow_to_change(current_member(), flow_id))


@pages.post("/flows/<flow_id>/access")
def give(flow_id: str) -> AnyResponse | tuple[str, int]:
    """Grant a member access to view or edit the flow, or change their access."""
    require_recruiter()
    me = current_member()
    flow = flow_to_change(me, flow_id)
    try:
        member = queries.colleague(me, request.form.get("member", ""))
        changed = actions.give(flow, member, _right(), by=me)
    except (NotFound, Rejected, Conflict) as refusal:
        db.session.rollback()
        return _page(flow_to_change(current_member(), flow_id), error=refusal.message), 422
    db.session.commit()
    name = member.full_name or member.email
    flash(f"Access for {name} saved." if changed else f"{name} already had this access.", "good")
    return redirect(url_for("flow_access.show", flow_id=flow_id), 303)


@pages.post("/flows/<flow_id>/access/<member_id>/take")
def take(flow_id: str, member_id: str) -> AnyResponse:
    """Remove one member's own access."""
    require_recruiter()
    me = current_member()
    flow = flow_to_change(me, flow_id)
    member = queries.colleague(me, member_id)
    changed = actions.take(flow, member, by=me)
    db.session.commit()
    name = member.full_name or member.email
    flash(f"Access for {name} removed." if changed else f"{name} had not been given access.", "good")
    if not may(me, flow, Right.EDIT):
        return redirect(url_for("flows.index"), 303)
    return redirect(url_for("flow_access.show", flow_id=flow_id), 303)


@pages.post("/flows/<flow_id>/access/narrow")
def narrow(flow_id: str) -> AnyResponse:
    """Limit the flow to members with their own access, or (``narrowed=no``) show it to its whole team again."""
    require_recruiter()
    me = current_member()
    flow = flow_to_change(me, flow_id)
    if request.form.get("narrowed") == "no":
        actions.widen(flow, by=me)
        words = "The whole team can now see this flow."
    else:
        actions.narrow(flow, by=me)
        words = "Only administrators and the members listed here can now see this flow."
    db.session.commit()
    flash(words, "good")
    return redirect(url_for("flow_access.show", flow_id=flow_id), 303)


@pages.get("/access")
def index() -> str:
    """Requests that the member can answer, and answers to the member's own requests."""
    member = current_member()
    return render_template(
        "review/flow_access/index.html",
        waiting=queries.waiting_for(member),
        answers=queries.answers_to(member),
        longest=LONGEST_NOTE,
    )


@pages.post("/access")
def ask() -> AnyResponse:
    """Request access to an address that the member opened. The response does not reveal whether it exists."""
    rate_limits.count("access-request", most=ASKED_PER_MINUTE)
    me, kind, thing_id = current_member(), request.form.get("kind", ""), request.form.get("id", "")
    flow = queries.flow_behind(me, kind, thing_id)
    if flow is not None and may(me, flow):
        endpoint, name = PAGES[kind]
        at: dict[str, Any] = {name: thing_id}
        return redirect(url_for(endpoint, **at), 303)
    if flow is not None:
        actions.ask(flow, by=me, mail_for=_mail_for(_words_of_request))
        db.session.commit()
    flash(PASSED_ON, "info")
    return redirect(url_for("flow_access.index"), 303)


@pages.post("/access/<request_id>/answer")
def answer(request_id: str) -> AnyResponse:
    """Grant or decline a request."""
    require_recruiter()
    me = current_member()
    access_request = queries.request_for(me, request_id)
    name = access_request.member.full_name or access_request.member.email
    try:
        state, note = _answer()
        actions.answer(access_request, state, note=note, by=me, mail_for=_mail_for(_words_of_answer))
    except (Rejected, Conflict) as refusal:
        db.session.rollback()
        flash(f"Nothing was changed. {refusal.message}", "bad")
        return redirect(url_for("flow_access.index"), 303)
    db.session.commit()
    flash(f"Request from {name} declined." if state is RequestState.REFUSED else f"{name} now has access.", "good")
    return redirect(url_for("flow_access.index"), 303)


def _page(flow: InterviewFlow, *, error: str = "") -> str:
    return render_template(
        "review/flow_access/show.html",
        flow=flow,
        grants=grants_of(flow),
        people=queries.grantable(flow),
        error=error,
        waiting=queries.waiting_for(current_member(), flow_id=flow.id),
        longest=LONGEST_NOTE,
        chosen=request.form.get("member", "") if error else "",
        right=request.form.get("right", "") if error else "",
    )


def _right() -> Right:
    text = request.form.get("right", "")
    if text not in set(Right):
        raise Rejected("Choose whether the member can view or edit.", field="right")
    return Right(text)


def _answer() -> tuple[RequestState, str | None]:
    decision = request.form.get("decision", "")
    note = request.form.get("note", "").replace("\r\n", "\n").strip()
    flaw = flaw_of(note)
    if flaw:
        raise Rejected(flaw, field="note")
    if decision not in set(RequestState):
        raise Rejected("Choose whether to grant or decline access.", field="decision")
    return RequestState(decision), note or None


def _mail_for(words: Any) -> actions.MailFor:
    """Makes the mail: a link, and no text that members wrote, because mail is not confidential."""
    if not gateways.current().mail.is_configured:
        return None

    def mail(access_request: AccessRequest, member: Any) -> Mail:
        subject, text, link, button = words(access_request)
        answered = access_request.decided_by
        return Mail(
            member.email,
            " ".join(subject.split()),
            text,
            link=link,
            button=button,
            sender=member.organization.name,
            reply_to=(answered or access_request.member).email,
        )

    return mail


def _words_of_request(access_request: AccessRequest) -> tuple[str, str, str, str]:
    """Subject, text, link and button."""
    name = access_request.member.full_name or access_request.member.email
    link = f"{_app_url()}{url_for('flow_access.index')}"
    text = f"{name} requests access to “{access_request.flow.title}”.\n\nReply to the request here:\n{link}\n"
    return f"{name} requests access to a flow", text, link, "Reply to the request"


def _words_of_answer(access_request: AccessRequest) -> tuple[str, str, str, str]:
    """Subject, text, link and button."""
    if access_request.state is RequestState.REFUSED:
        link = f"{_app_url()}{url_for('flow_access.index')}"
        text = f"Your request for access was declined.\n\nDetails:\n{link}\n"
        return "Your request for access was declined", text, link, "See the details"
    link = f"{_app_url()}{url_for('flows.show', flow_id=access_request.flow_id)}"
    text = (
        f"You can now {access_request.state.value} “{access_request.flow.title}”, its interviews and its "
        f"candidates.\n\n{link}\n"
    )
    return "You now have access to a flow", text, link, "Open the flow"


def _app_url() -> str:
    settings: Settings = current_app.extensions["parley.settings"]
    return settings.app_url
