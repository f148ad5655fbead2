"""The log of webhooks, one delivery with its attempts, test events, and what administrators do with deliveries."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from flask import current_app, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import current_member, require_admin, require_recruiter
from app.core.db import db
from app.core.errors import Rejected
from app.flows.models import InterviewFlow
from app.flows.queries import flow_seen_by, flow_to_change, titles_seen_by
from app.settings import Settings
from app.web import rate_limits
from app.web.fields import day_in
from app.web.templating import offset_of_request
from app.webhooks import actions, health, queries
from app.webhooks.actions import MOST_AT_ONCE, REACH
from app.webhooks.delivery import attempt
from app.webhooks.models import DeliveryState, Endpoint, EventType
from app.webhooks.pages.blueprint import done, may_change, pages

PER_PAGE = 50
TESTS_PER_MINUTE = 20
LONGEST_NAME = 80
FILTER = ("flow", "endpoint_id", "state", "event", "since", "until")


@pages.get("/webhooks")
def index() -> str:
    """Health of the receivers, and deliveries of the member's flows, filtered by flow, state, event and day."""
    member, offset = current_member(), offset_of_request()
    filters = asked_for(request.args)
    flow = flow_seen_by(member, filters.flow_id) if filters.flow_id else None
    seen = queries.endpoints_seen_by(member)
    endpoints = [one for one in seen if flow is None or one.is_organizations or one.url == flow.webhook_url]
    return render_template(
        "webhooks/index.html",
        deliveries=queries.deliveries_seen_by(member, filters, limit=PER_PAGE, offset=offset),
        total=queries.how_many_seen_by(member, filters),
        filters=filters,
        offset=offset,
        limit=PER_PAGE,
        flow=flow,
        endpoints=endpoints,
        rates=health.rates(endpoints),
        flow_choices=[("", "All"), *titles_seen_by(member)],
        endpoint_choices=[("", "All"), *((one.id, endpoint_name(one)) for one in seen)],
        state_choices=[("", "All"), *((one.value, one.value.capitalize()) for one in DeliveryState)],
        filter_parameters=filter_parameters(),
        may_change=may_change(),
    )


def asked_for(parameters: Mapping[str, str]) -> queries.LogFilter:
    """The filter in a query string or form. Unreadable values are ignored. Raises Forbidden for what is foreign."""
    flow_id, endpoint_id, state, event = (parameters.get(name, "") for name in FILTER[:4])
    member = current_member()
    return queries.LogFilter(
        flow_id=flow_seen_by(member, flow_id).id if flow_id else "",
        endpoint_id=queries.endpoint_of_member(member, endpoint_id).id if endpoint_id else "",
        state=DeliveryState(state) if state in set(DeliveryState) else None,
        event=EventType(event) if event in set(EventType) else None,
        since=day_in(parameters.get("since", "")),
        until=day_in(parameters.get("until", "")),
    )


def endpoint_name(endpoint: Endpoint) -> str:
    """A choice of the filter."""
    url = endpoint.url if len(endpoint.url) <= LONGEST_NAME else f"{endpoint.url[:LONGEST_NAME]}…"
    return f"{url} (all flows)" if endpoint.is_organizations else url


def filter_parameters() -> dict[str, Any]:
    """The log's filter as parameters for ``url_for`` and hidden fields."""
    parameters = {name: request.values.get(name, "")[:40] for name in FILTER}
    return {name: value for name, value in parameters.items() if value}


@pages.get("/webhooks/deliveries/<delivery_id>")
def show(delivery_id: str) -> str:
    """One event with its body and every attempt of the last 30 days."""
    delivery = queries.delivery_seen_by(current_member(), delivery_id)
    return render_template("webhooks/show.html", delivery=delivery, shown=shown, may_change=may_change())


@pages.post("/webhooks/deliveries/<delivery_id>/resend")
def resend(delivery_id: str) -> AnyResponse:
    """Send one event again."""
    require_admin()
    delivery = queries.delivery_seen_by(current_member(), delivery_id)
    return done(
        lambda: actions.resend(delivery, by=current_member()),
        "The delivery is being replayed.",
        url_for("webhooks.show", delivery_id=delivery_id),
    )


@pages.post("/webhooks/deliveries/<delivery_id>/dismiss")
def dismiss(delivery_id: str) -> AnyResponse:
    """Dismiss an exhausted status event so that later events of its candidate are sent."""
    require_admin()
    delivery = queries.delivery_seen_by(current_member(), delivery_id)
    return done(
        lambda: actions.dismiss(delivery, by=current_member()),
        "The event was dismissed. Later events about this candidate are being sent.",
        url_for("webhooks.show", delivery_id=delivery_id),
    )


@pages.post("/webhooks/resend")
def resend_range() -> AnyResponse:
    """Send again the events of a flow that ended within a time range."""
    require_admin()
    flow = flow_seen_by(current_member(), request.form.get("flow", ""))
    failed_only = request.form.get("failed_only") == "yes"

    def work() -> str:
        since, until = _moment("since"), _moment("until", optional=True)
        if since is None:
            raise Rejected("Choose a start time.", field="since")
        count = actions.resend_range(flow, since=since, until=until, failed_only=failed_only, by=current_member())
        return _replayed(count) if count else "There is nothing to replay in this time range."

    return done(work, "", url_for("webhooks.index", flow=flow.id))


@pages.get("/webhooks/test")
def try_out() -> str:
    """Preview a test event of the chosen kind, to a flow's URL or an organization's endpoint."""
    target = _target(request.args)
    name = request.args.get("event", "")
    kind = EventType(name) if name in set(EventType) else EventType.INTERVIEW_PROCESSED
    message = actions.sample(target, kind, app_url=_app_url())
    return render_template("webhooks/test.html", target=target, kind=kind, message=message, outcome=None, shown=shown)


@pages.post("/webhooks/test")
def send_test() -> str:
    """Send a test event once, immediately, and show the receiver's response."""
    require_recruiter()
    rate_limits.count("webhook-test", most=TESTS_PER_MINUTE)
    target, name = _target(request.form), request.form.get("event", "")
    if name not in set(EventType):
        raise Rejected("Choose an event.", field="event")
    kind = EventType(name)
    message = actions.sample(target, kind, app_url=_app_url())
    db.session.commit()  # ends the read: sending is slow
    outcome = asyncio.run(attempt(message, http=gateways.current().http))
    actions.tested(target, kind, outcome, by=current_member())
    db.session.commit()
    return render_template(
        "webhooks/test.html", target=target, kind=kind, message=message, outcome=outcome, shown=shown
    )


def _target(parameters: Mapping[str, str]) -> InterviewFlow | Endpoint:
    """The organization's endpoint (``endpoint_id``, for administrators) or the flow (``flow``) of a test event."""
    require_recruiter()
    endpoint_id = parameters.get("endpoint_id", "")
    if not endpoint_id:
        return flow_to_change(current_member(), parameters.get("flow", ""))
    require_admin()
    receiver = queries.endpoint_seen_by(current_member(), endpoint_id)
    if not receiver.is_organizations:
        raise Rejected("This endpoint is the webhook URL of flows. Send a test event from the flow's page.")
    return receiver


def shown(raw: bytes | None) -> str:
    """Bytes of a body or response as text. Unprintable characters are replaced."""
    text = (raw or b"").decode(errors="replace")
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text)


def _moment(name: str, *, optional: bool = False) -> datetime | None:
    typed = request.form.get(name, "").strip()
    if not typed and optional:
        return None
    try:
        moment = datetime.fromisoformat(typed)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise Rejected("Enter the date and time in UTC, for example 2026-01-31T09:15.", field=name) from None


def _app_url() -> str:
    settings: Settings = current_app.extensions["parley.settings"]
    return settings.app_url


@pages.get("/webhooks/again")
def again() -> str:
    """Confirmation page: how many of the deliveries in the log would be replayed."""
    require_admin()
    member, filters = current_member(), asked_for(request.args)
    as_of = queries.present()
    chosen = queries.again(member, filters, as_of=as_of, reach=REACH)
    return render_template(
        "webhooks/again.html",
        filters=filters,
        as_of=as_of.isoformat(),
        most=MOST_AT_ONCE,
        shown=queries.how_many_seen_by(member, filters),
        count=queries.length_of(chosen),
        filter_parameters=filter_parameters(),
        titles=dict(titles_seen_by(member)),
        endpoint=queries.endpoint_of_member(member, filters.endpoint_id) if filters.endpoint_id else None,
    )


@pages.post("/webhooks/again")
def send_again() -> AnyResponse:
    """Send them again. Submitting the same form twice sends once."""
    require_admin()
    member, filters = current_member(), asked_for(request.form)
    back = redirect(url_for("webhooks.index", **filter_parameters()), 303)
    try:
        count = actions.resend_found(filters, as_of=_as_of(), by=member)
    except Rejected as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
        return back
    db.session.commit()
    if count:
        flash(_replayed(count), "good")
    else:
        flash("There is nothing to replay: the deliveries are already being sent, or cannot be sent.", "info")
    return back


def _replayed(count: int) -> str:
    return "1 delivery is being replayed." if count == 1 else f"{count} deliveries are being replayed."


def _as_of() -> datetime:
    """Time of the count that the form confirms; never later than now."""
    try:
        as_of = datetime.fromisoformat(request.form.get("as_of", ""))
        in_utc = as_of.astimezone(UTC) if as_of.tzinfo is not None else None
    except (ValueError, OverflowError):  # not a time, or out of range in UTC
        in_utc = None
    if in_utc is None:
        raise Rejected("The form was incomplete. Open the confirmation page again.")
    return min(in_utc, queries.present())
