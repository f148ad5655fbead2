"""Who may see a flow, the request for access, and where requests are answered."""

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
    "If there is something at that address in your organization, those who may change it have your request now. "
    "Their answer appears here."
)

pages = Blueprint("flow_access", __name__)
pages.before_request(require_member)


@pages.get("/flows/<flow_id>/access")
def show(flow_id: str) -> str:
    """Who may see and who may change one flow."""
    require_recruiter()
    return _page(flow_to_change(current_member(), flow_id))


@pages.post("/flows/<flow_id>/access")
def give(flow_id: str) -> AnyResponse | tuple[str, int]:
    """Give one member the right to view or to edit the flow, or change it."""
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
    flash(f"The right of {name} is saved." if changed else f"{name} had this right already.", "good")
    return redirect(url_for("flow_access.show", flow_id=flow_id), 303)


@pages.post("/flows/<flow_id>/access/<member_id>/take")
def take(flow_id: str, member_id: str) -> AnyResponse:
    """Take one member's own right away."""
    require_recruiter()
    me = current_member()
    flow = flow_to_change(me, flow_id)
    member = queries.colleague(me, member_id)
    changed = actions.take(flow, member, by=me)
    db.session.commit()
    name = member.full_name or member.email
    flash(f"The right of {name} is gone." if changed else f"{name} had no right of their own.", "good")
    if not may(me, flow, Right.EDIT):
        return redirect(url_for("flows.index"), 303)
    return redirect(url_for("flow_access.show", flow_id=flow_id), 303)


@pages.post("/flows/<flow_id>/access/narrow")
def narrow(flow_id: str) -> AnyResponse:
    """Show the flow to named members only, or (``narrowed=no``) to its whole team again."""
    require_recruiter()
    me = current_member()
    flow = flow_to_change(me, flow_id)
    if request.form.get("narrowed") == "no":
        actions.widen(flow, by=me)
        words = "The whole team sees this flow."
    else:
        actions.narrow(flow, by=me)
        words = "Of the team, only the members named here see this flow."
    db.session.commit()
    flash(words, "good")
    return redirect(url_for("flow_access.show", flow_id=flow_id), 303)


@pages.get("/access")
def index() -> str:
    """Requests that the member may answer, and what became of the member's own."""
    member = current_member()
    return render_template(
        "review/flow_access/index.html",
        waiting=queries.waiting_for(member),
        answers=queries.answers_to(member),
        longest=LONGEST_NOTE,
    )


@pages.post("/access")
def ask() -> AnyResponse:
    """Ask for access by an address that was opened. The answer is the same whether anything is there or not."""
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
    """Give what was asked for, or refuse it."""
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
    flash(f"The request of {name} is refused." if state is RequestState.REFUSED else f"{name} has access now.", "good")
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
        raise Rejected("Choose the right to view or to edit.", field="right")
    return Right(text)


def _answer() -> tuple[RequestState, str | None]:
    decision = request.form.get("decision", "")
    note = request.form.get("note", "").replace("\r\n", "\n").strip()
    flaw = flaw_of(note)
    if flaw:
        raise Rejected(flaw, field="note")
    if decision not in set(RequestState):
        raise Rejected("Choose what is given.", field="decision")
    return RequestState(decision), note or None


def _mail_for(words: Any) -> actions.MailFor:
    """What is mailed says where to look, and nothing that anybody wrote: mail is read on the way."""
    if not gateways.current().mail.is_configured:
        return None

    def mail(access_request: AccessRequest, member: Any) -> Mail:
        subject, text = words(access_request)
        return Mail(member.email, " ".join(subject.split()), text)

    return mail


def _words_of_request(access_request: AccessRequest) -> tuple[str, str]:
    name = access_request.member.full_name or access_request.member.email
    return f"{name} asks for access to a flow", (
        f"{name} asks for access to “{access_request.flow.title}”.\n\n"
        f"Give it or refuse it here:\n{_app_url()}{url_for('flow_access.index')}\n"
    )


def _words_of_answer(access_request: AccessRequest) -> tuple[str, str]:
    if access_request.state is RequestState.REFUSED:
        return "Your request for access was refused", (
            f"Your request for access was refused.\n\nMore about it:\n{_app_url()}{url_for('flow_access.index')}\n"
        )
    address = url_for("flows.show", flow_id=access_request.flow_id)
    return "You now have access to a flow", (
        f"You can now {access_request.state.value} “{access_request.flow.title}”, its interviews and its "
        f"candidates.\n\n{_app_url()}{address}\n"
    )


def _app_url() -> str:
    settings: Settings = current_app.extensions["parley.settings"]
    return settings.app_url
