"""Rotating the secret of a flow or of an organization's endpoint. The new one is shown once, on the next page."""

from collections.abc import Callable

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_admin, require_recruiter
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.models import InterviewFlow
from app.flows.queries import flow_to_change
from app.web import one_time
from app.web.fields import count_in
from app.web.templating import moment
from app.webhooks import actions, queries
from app.webhooks.actions.rotation import Holder, Rotated, sealed_of
from app.webhooks.forms import checked_secret
from app.webhooks.models import Endpoint
from app.webhooks.pages.blueprint import done, pages
from app.webhooks.secret_keys import LONGEST, SHORTEST, USUAL

_NEW_SECRET = "new_webhook_secret"  # nosec B105 - the name of what is kept


def remember(holder_id: str, secret: str) -> None:
    """Show the secret on the next page of its flow or endpoint, once."""
    one_time.keep(_NEW_SECRET, [holder_id, secret])


def new_secret_for(holder_id: str) -> str | None:
    """The secret that was just made for this flow or endpoint, this once."""
    kept = one_time.look(_NEW_SECRET)
    if not kept or kept[0] != holder_id:
        return None
    one_time.pop(_NEW_SECRET)
    return str(kept[1])


def hours_offered() -> tuple[int, int, int]:
    """The shortest, usual and longest overlap."""
    return SHORTEST, USUAL, LONGEST


@pages.get("/webhooks/secret")
def secret() -> str:
    """Whether a flow's secret is being rotated, and a form to rotate it."""
    flow = _flow(request.args.get("flow", ""))
    sealed = sealed_of(flow)
    return render_template(
        "webhooks/secret.html",
        flow=flow,
        has_secret=sealed.present is not None,
        until=sealed.until(queries.present()),
        new_secret=new_secret_for(flow.id),
        hours=hours_offered(),
    )


@pages.post("/webhooks/secret/rotate")
def rotate_secret() -> AnyResponse:
    """Replace a flow's secret. The old one also signs for a while."""
    flow = _flow(request.form.get("flow", ""))
    return _rotated(flow, url_for("webhooks.secret", flow=flow.id))


@pages.post("/webhooks/secret/switch")
def switch_secret() -> AnyResponse:
    """Only the flow's new secret signs from now on."""
    flow = _flow(request.form.get("flow", ""))
    return done(_switch(flow), "Only the new secret signs now.", url_for("webhooks.secret", flow=flow.id))


@pages.post("/webhooks/endpoints/<endpoint_id>/secret/rotate")
def rotate_endpoint_secret(endpoint_id: str) -> AnyResponse:
    """Replace the secret of the organization's endpoint."""
    receiver = _endpoint(endpoint_id)
    return _rotated(receiver, url_for("webhooks.endpoint", endpoint_id=receiver.id))


@pages.post("/webhooks/endpoints/<endpoint_id>/secret/switch")
def switch_endpoint_secret(endpoint_id: str) -> AnyResponse:
    """Only the endpoint's new secret signs from now on."""
    receiver = _endpoint(endpoint_id)
    back = url_for("webhooks.endpoint", endpoint_id=receiver.id)
    return done(_switch(receiver), "Only the new secret signs now.", back)


def _flow(flow_id: str) -> InterviewFlow:
    require_recruiter()
    return flow_to_change(current_member(), flow_id)


def _endpoint(endpoint_id: str) -> Endpoint:
    require_admin()
    return queries.endpoint_seen_by(current_member(), endpoint_id)


def _switch(holder: Holder) -> Callable[[], None]:
    def work() -> None:
        if isinstance(holder, Endpoint):
            actions.refuse_of_flows(holder)
        actions.switch(holder, by=current_member())

    return work


def _rotated(holder: Holder, back: str) -> AnyResponse:
    holder_id = holder.id
    try:
        rotated = _rotate(holder)
    except (Conflict, Rejected) as refusal:
        db.session.rollback()
        flash(f"Nothing was changed. {refusal.message}", "bad")
        return redirect(back, 303)
    db.session.commit()
    remember(holder_id, rotated.secret)
    until = f" The old one also signs until {moment(rotated.old_until)}." if rotated.old_until else ""
    flash(f"The new secret signs from now on.{until}", "good")
    return redirect(back, 303)


def _rotate(holder: Holder) -> Rotated:
    if isinstance(holder, Endpoint):
        actions.refuse_of_flows(holder)
    given = checked_secret(request.form.get("secret", ""))
    try:
        hours = count_in(request.form.get("overlap_hours", ""), field="overlap_hours")
    except Rejected:
        raise Rejected(f"Choose {SHORTEST} to {LONGEST} hours.", field="overlap_hours") from None
    return actions.rotate(holder, secret=given, hours=USUAL if hours is None else hours, by=current_member())
