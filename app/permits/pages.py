"""Who may see a flow."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_member, require_recruiter
from app.accounts.queries import member_of
from app.db import db
from app.errors import Conflict, Rejected
from app.flows.models import InterviewFlow, Right
from app.flows.queries import flow_to_change, grants_of, may
from app.permits import actions, queries

pages = Blueprint("permits", __name__)
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
    member = member_of(me.organization, request.form.get("member", ""))
    try:
        changed = actions.give(flow, member, _right(), by=me)
    except (Rejected, Conflict) as refusal:
        db.session.rollback()
        return _page(flow_to_change(current_member(), flow_id), error=refusal.message), 422
    db.session.commit()
    name = member.full_name or member.email
    flash(f"The right of {name} is saved." if changed else f"{name} had this right already.", "good")
    return redirect(url_for("permits.show", flow_id=flow_id), 303)


@pages.post("/flows/<flow_id>/access/<member_id>/take")
def take(flow_id: str, member_id: str) -> AnyResponse:
    """Take one member's own right away."""
    require_recruiter()
    me = current_member()
    flow = flow_to_change(me, flow_id)
    member = member_of(me.organization, member_id)
    taken = actions.take(flow, member, by=me)
    db.session.commit()
    name = member.full_name or member.email
    flash(f"The right of {name} is gone." if taken else f"{name} had no right of their own.", "good")
    if not may(me, flow, Right.EDIT):
        return redirect(url_for("flows.index"), 303)
    return redirect(url_for("permits.show", flow_id=flow_id), 303)


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
    return redirect(url_for("permits.show", flow_id=flow_id), 303)


def _page(flow: InterviewFlow, *, error: str = "") -> str:
    return render_template(
        "permits/show.html", flow=flow, grants=grants_of(flow), people=queries.grantable(flow), error=error,
        chosen=request.form.get("member", "") if error else "", right=request.form.get("right", "") if error else "",
    )  # fmt: skip


def _right() -> Right:
    given = request.form.get("right", "")
    if given not in set(Right):
        raise Rejected("Choose the right to view or to edit.", field="right")
    return Right(given)
