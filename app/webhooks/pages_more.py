"""More pages of webhooks: how one receiver is, and sending again what a filter of the log finds."""

from datetime import UTC, datetime

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_admin
from app.accounts.models import Role
from app.core.db import db
from app.core.errors import Rejected
from app.flows.queries import titles_seen_by
from app.webhooks import actions, health, queries
from app.webhooks.actions import MOST_AT_ONCE, REACH
from app.webhooks.pages import asked_for, kept_filter, pages


@pages.get("/webhooks/endpoints/<endpoint_id>")
def endpoint(endpoint_id: str) -> str:
    """One receiver: how much of what was sent it took, how quickly, and since when it does not."""
    member = current_member()
    found = queries.endpoint_of_member(member, endpoint_id)
    is_admin = member.role is Role.ADMIN
    day, week = health.day_and_week(found)
    return render_template(
        "webhooks/endpoint.html",
        endpoint=found,
        day=day,
        week=week,
        failures=health.failures_in_a_row(found),
        waiting=health.waiting(found),
        latest=health.latest(found) if is_admin else [],
        flows=health.flows_of(found, member),
        may_change=is_admin,
    )


@pages.get("/webhooks/again")
def again() -> str:
    """How many of the events that the log shows would be sent again, before anything is."""
    require_admin()
    member, found_by = current_member(), asked_for(request.args)
    as_of = queries.present()
    chosen = queries.again(member, found_by, as_of=as_of, reach=REACH)
    return render_template(
        "webhooks/again.html",
        found_by=found_by,
        as_of=as_of.isoformat(),
        most=MOST_AT_ONCE,
        shown=queries.how_many_seen_by(member, found_by),
        count=queries.length_of(chosen),
        kept=kept_filter(),
        titles=dict(titles_seen_by(member)),
    )


@pages.post("/webhooks/again")
def send_again() -> AnyResponse:
    """Send them; the same form sent twice sends once."""
    require_admin()
    member, found_by = current_member(), asked_for(request.form)
    back = redirect(url_for("webhooks.index", **kept_filter()), 303)
    try:
        count = actions.resend_found(found_by, as_of=_as_of(), by=member)
    except Rejected as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
        return back
    db.session.commit()
    if count:
        flash("1 event is on its way again." if count == 1 else f"{count} events are on their way again.", "good")
    else:
        flash("Nothing is left to be sent again: it is on its way already, or cannot be sent.", "info")
    return back


def _as_of() -> datetime:
    """When the count was taken; never later than now."""
    try:
        given = datetime.fromisoformat(request.form.get("as_of", ""))
        in_utc = given.astimezone(UTC) if given.tzinfo is not None else None
    except (ValueError, OverflowError):  # far from any day of ours
        in_utc = None
    if in_utc is None:
        raise Rejected("Open the confirmation again: its form was not whole.")
    return min(in_utc, queries.present())
