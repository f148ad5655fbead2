"""Pages of endpoints: how one is doing, and adding, removing, enabling and disabling."""

from flask import flash, redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_admin
from app.core.db import db
from app.core.errors import Conflict
from app.webhooks import actions, health, queries
from app.webhooks.actions.rotation import sealed_of
from app.webhooks.forms import EndpointForm
from app.webhooks.models import DisabledBy
from app.webhooks.pages.blueprint import done, may_change, pages
from app.webhooks.pages.secrets import hours_offered, new_secret_for, remember


@pages.get("/webhooks/endpoints/<endpoint_id>")
def endpoint(endpoint_id: str) -> str:
    """One receiver: its success rate, response times and current failures; for an organization's also its secret."""
    member = current_member()
    receiver = queries.endpoint_of_member(member, endpoint_id)
    is_admin = may_change()
    day, week = health.day_and_week(receiver)
    return render_template(
        "webhooks/endpoint.html",
        endpoint=receiver,
        day=day,
        week=week,
        failures=health.failures_in_a_row(receiver),
        waiting=health.waiting(receiver),
        latest=health.latest(receiver) if is_admin else [],
        flows=health.flows_of(receiver, member),
        may_change=is_admin,
        new_secret=new_secret_for(receiver.id) if receiver.is_organizations else None,
        until=sealed_of(receiver).until(queries.present()),
        hours=hours_offered(),
    )


@pages.route("/webhooks/endpoints/new", methods=["GET", "POST"])
def add() -> str | tuple[str, int] | AnyResponse:
    """Add an endpoint that gets the events of all flows."""
    require_admin()
    member, form = current_member(), EndpointForm()
    values = form.values() if form.is_submitted() else None
    if values is not None:
        try:
            new, secret = actions.add(member.organization, url=values["url"], secret=values["secret"], by=member)
        except Conflict as refusal:
            db.session.rollback()
            form.blame("url", refusal.message)
        else:
            db.session.commit()
            remember(new.id, secret)
            flash("The endpoint was added. It gets every event from now on.", "good")
            return redirect(url_for("webhooks.endpoint", endpoint_id=new.id), 303)
    return render_template("webhooks/new_endpoint.html", form=form), 422 if form.errors else 200


@pages.post("/webhooks/endpoints/<endpoint_id>/remove")
def remove(endpoint_id: str) -> AnyResponse:
    """Remove an endpoint of the organization, and cancel what waits for it."""
    require_admin()
    receiver = queries.endpoint_seen_by(current_member(), endpoint_id)

    def work() -> str:
        cancelled = actions.remove(receiver, by=current_member())
        return "The endpoint is removed." + (f" Cancelled deliveries: {cancelled}." if cancelled else "")

    return done(work, "", url_for("webhooks.index"))


@pages.post("/webhooks/endpoints/<endpoint_id>/enable")
def enable(endpoint_id: str) -> AnyResponse:
    """Send to this receiver again. Held events are sent in order."""
    require_admin()
    receiver = queries.endpoint_seen_by(current_member(), endpoint_id)

    def work() -> str:
        released = actions.enable(receiver, by=current_member())
        if not released:
            return "The endpoint is enabled."
        if released == 1:
            return "The endpoint is enabled. 1 held event is being sent."
        return f"The endpoint is enabled. {released} held events are being sent, at most 10 per second."

    return done(work, "", url_for("webhooks.index"))


@pages.post("/webhooks/endpoints/<endpoint_id>/disable")
def disable(endpoint_id: str) -> AnyResponse:
    """Send nothing to this receiver until it is enabled. Events are held for 30 days."""
    require_admin()
    receiver = queries.endpoint_seen_by(current_member(), endpoint_id)

    def work() -> None:
        actions.disable(receiver, because=DisabledBy.MEMBER, by=current_member())

    said = "The endpoint is disabled. Events are held until you enable it again, but for at most 30 days."
    return done(work, said, url_for("webhooks.index"))
