"""Recruiters' pages of webhooks: the log, one delivery with its attempts, and what administrators do about them."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, current_app, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import current_member, require_admin, require_member, require_recruiter
from app.accounts.models import Role
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.queries import flow_seen_by, flow_to_change, titles_seen_by
from app.settings import Settings
from app.web import rate_limits
from app.web.fields import day_in
from app.web.templating import offset_of_request
from app.webhooks import actions, health, queries
from app.webhooks.actions import MOST_AT_ONCE, REACH
from app.webhooks.delivery import attempt
from app.webhooks.models import DeliveryState, DisabledBy, EventType

PER_PAGE = 50
TESTS_PER_MINUTE = 20
FILTER = ("flow", "state", "event", "since", "until")

pages = Blueprint("webhooks", __name__)
pages.before_request(require_member)


@pages.get("/webhooks")
def index() -> str:
    """Deliveries of the member's flows, by flow, state, event and day, under the health of their receivers."""
    member, offset = current_member(), offset_of_request()
    found_by = asked_for(request.args)
    flow = flow_seen_by(member, found_by.flow_id) if found_by.flow_id else None
    endpoints = [one for one in queries.endpoints_seen_by(member) if flow is None or one.url == flow.webhook_url]
    return render_template(
        "webhooks/index.html",
        deliveries=queries.deliveries_seen_by(member, found_by, limit=PER_PAGE, offset=offset),
        total=queries.how_many_seen_by(member, found_by),
        found_by=found_by,
        offset=offset,
        limit=PER_PAGE,
        flow=flow,
        endpoints=endpoints,
        rates=health.rates(endpoints),
        flow_choices=[("", "All"), *titles_seen_by(member)],
        state_choices=[("", "All"), *((one.value, one.value.capitalize()) for one in DeliveryState)],
        kept=kept_filter(),
        may_change=_may_change(),
    )


def asked_for(given: Mapping[str, str]) -> queries.LogFilter:
    """The filter of an address or a form; what cannot be read counts as not asked. Forbidden for a foreign flow."""
    flow_id, state, event = (given.get(name, "") for name in ("flow", "state", "event"))
    return queries.LogFilter(
        flow_id=flow_seen_by(current_member(), flow_id).id if flow_id else "",
        state=DeliveryState(state) if state in set(DeliveryState) else None,
        event=EventType(event) if event in set(EventType) else None,
        since=day_in(given.get("since", "")),
        until=day_in(given.get("until", "")),
    )


def kept_filter() -> dict[str, Any]:
    """What narrows the log, as parameters of ``url_for`` and as hidden fields."""
    found = {name: request.values.get(name, "")[:40] for name in FILTER}
    return {name: value for name, value in found.items() if value}


@pages.get("/webhooks/deliveries/<delivery_id>")
def show(delivery_id: str) -> str:
    """One event with its body and every attempt of the last 30 days."""
    delivery = queries.delivery_seen_by(current_member(), delivery_id)
    return render_template("webhooks/show.html", delivery=delivery, shown=shown, may_change=_may_change())


@pages.post("/webhooks/deliveries/<delivery_id>/resend")
def resend(delivery_id: str) -> AnyResponse:
    """Send one event again."""
    require_admin()
    delivery = queries.delivery_seen_by(current_member(), delivery_id)
    return _done(
        lambda: actions.resend(delivery, by=current_member()),
        "The event is on its way again.",
        url_for("webhooks.show", delivery_id=delivery_id),
    )


@pages.post("/webhooks/deliveries/<delivery_id>/dismiss")
def dismiss(delivery_id: str) -> AnyResponse:
    """Give up an exhausted status event, so that the later ones of its candidate go out."""
    require_admin()
    delivery = queries.delivery_seen_by(current_member(), delivery_id)
    return _done(
        lambda: actions.dismiss(delivery, by=current_member()),
        "The event was dismissed; later ones go out now.",
        url_for("webhooks.show", delivery_id=delivery_id),
    )


@pages.post("/webhooks/resend")
def resend_range() -> AnyResponse:
    """Send the events of a flow again that ended in a range of time."""
    require_admin()
    flow = flow_seen_by(current_member(), request.form.get("flow", ""))
    failed_only = request.form.get("failed_only") == "yes"

    def work() -> str:
        since, until = _moment("since"), _moment("until", optional=True)
        if since is None:
            raise Rejected("Choose from when on events are sent again.", field="since")
        count = actions.resend_range(flow, since=since, until=until, failed_only=failed_only, by=current_member())
        return f"{count} events are on their way again." if count else "No event ended in this range of time."

    return _done(work, "", url_for("webhooks.index", flow=flow.id))


@pages.get("/webhooks/test")
def try_out() -> str:
    """What a test event of a flow would look like, of each kind."""
    require_recruiter()
    flow = flow_to_change(current_member(), request.args.get("flow", ""))
    given = request.args.get("event", "")
    kind = EventType(given) if given in set(EventType) else EventType.INTERVIEW_PROCESSED
    letter = actions.sample(flow, kind, app_url=_app_url())
    return render_template("webhooks/test.html", flow=flow, kind=kind, letter=letter, outcome=None, shown=shown)


@pages.post("/webhooks/test")
def send_test() -> str:
    """Send a made-up event of a flow, once and now, and show what its receiver answered."""
    require_recruiter()
    rate_limits.count("webhook-test", most=TESTS_PER_MINUTE)
    flow, given = flow_to_change(current_member(), request.form.get("flow", "")), request.form.get("event", "")
    if given not in set(EventType):
        raise Rejected("Choose which event is sent.", field="event")
    kind = EventType(given)
    letter = actions.sample(flow, kind, app_url=_app_url())
    db.session.commit()  # ends the read: sending is slow
    outcome = asyncio.run(attempt(letter, http=gateways.current().http))
    actions.tested(flow, kind, outcome, by=current_member())
    db.session.commit()
    return render_template("webhooks/test.html", flow=flow, kind=kind, letter=letter, outcome=outcome, shown=shown)


@pages.post("/webhooks/endpoints/<endpoint_id>/enable")
def enable(endpoint_id: str) -> AnyResponse:
    """Send to this receiver again; what was held goes out in order."""
    require_admin()
    endpoint = queries.endpoint_seen_by(current_member(), endpoint_id)

    def work() -> str:
        released = actions.enable(endpoint, by=current_member())
        return f"The endpoint is enabled; {released} held events go out now, at most 10 per second."

    return _done(work, "", url_for("webhooks.index"))


@pages.post("/webhooks/endpoints/<endpoint_id>/disable")
def disable(endpoint_id: str) -> AnyResponse:
    """Send nothing to this receiver until it is enabled; events are held for 30 days."""
    require_admin()
    endpoint = queries.endpoint_seen_by(current_member(), endpoint_id)
    return _done(
        lambda: actions.disable(endpoint, because=DisabledBy.MEMBER, by=current_member()),
        "The endpoint is disabled; events are held until it is enabled, for at most 30 days.",
        url_for("webhooks.index"),
    )


def shown(raw: bytes | None) -> str:
    """Bytes of a body or an answer as text; what is no text is replaced by a mark."""
    text = (raw or b"").decode(errors="replace")
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text)


def _done(work: Any, message: str, back: str) -> AnyResponse:
    try:
        said = work()
    except (Conflict, Rejected) as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
    else:
        db.session.commit()
        flash(said or message, "good")
    return redirect(back, 303)


def _moment(name: str, *, optional: bool = False) -> datetime | None:
    given = request.form.get(name, "").strip()
    if not given and optional:
        return None
    try:
        moment = datetime.fromisoformat(given)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise Rejected("Write date and time like 2026-01-31T09:15, in UTC.", field=name) from None


def _app_url() -> str:
    settings: Settings = current_app.extensions["parley.settings"]
    return settings.app_url


def _may_change() -> bool:
    return current_member().role is Role.ADMIN


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
