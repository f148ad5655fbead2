"""``/v1/webhook-endpoints``, ``/v1/webhook-deliveries`` and the rotation of secrets. None of it is in the contract."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import marshmallow as ma
import sqlalchemy as sa

from app.accounts import idempotency
from app.accounts.access import caller, require_api_key
from app.accounts.key_guard import gives_secrets, narrows_itself
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.queries import flow_for
from app.web.api import Blueprint
from app.web.spec import extension
from app.webhooks import actions, listings, shapes
from app.webhooks.listings import Chosen
from app.webhooks.models import Delivery, DeliveryState, Endpoint

LONGEST_RANGE = timedelta(days=31)
OF_FLOWS = "This endpoint is the webhook URL of flows, and each flow has its own secret. Use the flow's routes."
BUSY = {409: {"description": "The endpoint, delivery or secret is not in a state that allows this."}}

blp = Blueprint("Webhooks", __name__, url_prefix="/v1", description="Endpoints, their secrets, and deliveries.")
blp.before_request(require_api_key)


@blp.get("/webhook-endpoints")
@blp.response(
    200,
    shapes.WebhookEndpointsSchema,
    description="All endpoints, oldest first.",
    example={"webhook_endpoints": [shapes.ENDPOINT_EXAMPLE]},
)
@blp.doc(**extension("listWebhookEndpoints"))
def list_webhook_endpoints() -> dict[str, Any]:
    """List the organization's endpoints and those of its flows. A flow's appears with its first event."""
    rows = listings.endpoints_of(caller())
    flows = listings.flows_by_endpoint(rows)
    return {"webhook_endpoints": [_endpoint(row, flows.get(row.id, [])) for row in rows]}


@blp.post("/webhook-endpoints")
@blp.arguments(shapes.NewWebhookEndpointSchema, example=shapes.NEW_ENDPOINT_EXAMPLE)
@blp.response(
    200,
    shapes.WebhookEndpointCreatedSchema,
    description="The endpoint gets every event from now on.",
    example=shapes.ENDPOINT_CREATED_EXAMPLE,
)
@blp.doc(**extension("createWebhookEndpoint"), responses=BUSY)
@gives_secrets
def create_webhook_endpoint(body: dict[str, Any]) -> dict[str, Any]:
    """Send the events of all flows to one more URL, beside each flow's own. The secret is shown only this once."""
    endpoint, secret = actions.add(caller(), url=body["url"], secret=body["secret"], by=None)
    created = idempotency.promise({**_endpoint(endpoint, []), "secret": secret}, is_secret=True)
    db.session.commit()
    return created


@blp.get("/webhook-endpoints/<string:webhook_endpoint_id>")
@blp.response(200, shapes.WebhookEndpointSchema, description="The endpoint.", example=shapes.ENDPOINT_EXAMPLE)
@blp.doc(**extension("getWebhookEndpoint"))
def get_webhook_endpoint(webhook_endpoint_id: str) -> dict[str, Any]:
    """Read one endpoint."""
    return _shown(listings.endpoint_for(caller(), webhook_endpoint_id))


@blp.delete("/webhook-endpoints/<string:webhook_endpoint_id>")
@blp.response(200, shapes.DoneSchema, description="Nothing more is sent there.", example={"success": True})
@blp.doc(**extension("deleteWebhookEndpoint"), responses=BUSY)
def delete_webhook_endpoint(webhook_endpoint_id: str) -> dict[str, Any]:
    """Remove an endpoint of the organization, and cancel what waits for it. To stop a flow's, change the flow."""
    actions.remove(listings.endpoint_for(caller(), webhook_endpoint_id), by=None)
    db.session.commit()
    return {"success": True}


@blp.post("/webhook-endpoints/<string:webhook_endpoint_id>/enable")
@blp.response(
    200,
    shapes.WebhookEndpointSchema,
    description="Held events are being sent, in order.",
    example=shapes.ENDPOINT_EXAMPLE,
)
@blp.doc(**extension("enableWebhookEndpoint"), responses=BUSY)
def enable_webhook_endpoint(webhook_endpoint_id: str) -> dict[str, Any]:
    """Enable a disabled endpoint. Held events are sent in order, at most 10 per second."""
    endpoint = listings.endpoint_for(caller(), webhook_endpoint_id)
    actions.enable(endpoint, by=None)
    shown = idempotency.promise(_shown(endpoint))
    db.session.commit()
    return shown


@blp.post("/webhook-endpoints/<string:webhook_endpoint_id>/secret/rotate")
@blp.arguments(shapes.EndpointSecretRotationSchema, example={"overlap_hours": 24})
@blp.response(
    200,
    shapes.EndpointSecretRotatedSchema,
    description="Both secrets sign until `old_secret_until`.",
    example={"secret": shapes.SECRET_EXAMPLE, "old_secret_until": shapes.OLD_UNTIL_EXAMPLE},
)
@blp.doc(**extension("rotateWebhookEndpointSecret"), responses=BUSY)
def rotate_webhook_endpoint_secret(body: dict[str, Any], webhook_endpoint_id: str) -> dict[str, Any]:
    """Replace the secret of the organization's endpoint. The old one also signs for `overlap_hours`."""
    endpoint = listings.endpoint_for(caller(), webhook_endpoint_id)
    actions.refuse_of_flows(endpoint, OF_FLOWS)
    rotated = actions.rotate(endpoint, secret=body["secret"], hours=body["overlap_hours"], by=None)
    answer = {"secret": rotated.secret, "old_secret_until": _time(rotated.old_until)}
    answer = idempotency.promise(answer, is_secret=True)
    db.session.commit()
    return answer


@blp.post("/webhook-endpoints/<string:webhook_endpoint_id>/secret/switch")
@blp.response(200, shapes.DoneSchema, description="Only the new secret signs.", example={"success": True})
@blp.doc(**extension("switchWebhookEndpointSecret"), responses=BUSY)
def switch_webhook_endpoint_secret(webhook_endpoint_id: str) -> dict[str, Any]:
    """End the rotation of an endpoint's secret now."""
    endpoint = listings.endpoint_for(caller(), webhook_endpoint_id)
    actions.refuse_of_flows(endpoint, OF_FLOWS)
    actions.switch(endpoint, by=None)
    done = idempotency.promise({"success": True})
    db.session.commit()
    return done


@blp.post("/interview-flows/<string:interview_flow_id>/webhook-secret/rotate")
@blp.arguments(shapes.FlowSecretRotationSchema, example={"overlap_hours": 24})
@blp.response(
    200,
    shapes.FlowSecretRotatedSchema,
    description="Both secrets sign until `old_secret_until`.",
    example={"webhook_secret_key": shapes.SECRET_EXAMPLE, "old_secret_until": shapes.OLD_UNTIL_EXAMPLE},
)
@blp.doc(**extension("rotateWebhookSecret"), responses=BUSY)
def rotate_webhook_secret(body: dict[str, Any], interview_flow_id: str) -> dict[str, Any]:
    """Replace the webhook secret of a flow. The old one also signs for `overlap_hours`."""
    flow = flow_for(caller(), interview_flow_id)
    rotated = actions.rotate(flow, secret=body["webhook_secret_key"], hours=body["overlap_hours"], by=None)
    answer = {"webhook_secret_key": rotated.secret, "old_secret_until": _time(rotated.old_until)}
    answer = idempotency.promise(answer, is_secret=True)
    db.session.commit()
    return answer


@blp.post("/interview-flows/<string:interview_flow_id>/webhook-secret/switch")
@blp.response(200, shapes.DoneSchema, description="Only the new secret signs.", example={"success": True})
@blp.doc(**extension("switchWebhookSecret"), responses=BUSY)
def switch_webhook_secret(interview_flow_id: str) -> dict[str, Any]:
    """End the rotation of a flow's webhook secret now."""
    actions.switch(flow_for(caller(), interview_flow_id), by=None)
    done = idempotency.promise({"success": True})
    db.session.commit()
    return done


@blp.get("/webhook-deliveries")
@blp.arguments(shapes.WebhookDeliveriesQuerySchema, location="query", unknown=ma.RAISE)
@blp.response(
    200,
    shapes.WebhookDeliveriesSchema,
    description="One page of deliveries, newest first.",
    example={"webhook_deliveries": [shapes.DELIVERY_EXAMPLE], "next": None},
)
@blp.doc(**extension("listWebhookDeliveries"))
@narrows_itself
def list_webhook_deliveries(query: dict[str, Any]) -> dict[str, Any]:
    """List deliveries, newest first."""
    limit, after = query.pop("limit"), query.pop("after")
    chosen = _checked(Chosen(**query))
    rows, following = listings.deliveries_of(caller(), chosen, limit=limit, after=after)
    return {"webhook_deliveries": [_delivery(row) for row in rows], "next": following}


@blp.get("/webhook-deliveries/<string:webhook_delivery_id>")
@blp.response(
    200,
    shapes.WebhookDeliveryDetailsSchema,
    description="The delivery, its payload and its attempts.",
    example=shapes.DETAILS_EXAMPLE,
)
@blp.doc(**extension("getWebhookDelivery"))
def get_webhook_delivery(webhook_delivery_id: str) -> dict[str, Any]:
    """Read one delivery."""
    row = listings.with_attempts(listings.delivery_for(caller(), webhook_delivery_id))
    attempts = [
        {
            "at": _time(one.at),
            "seconds": round(one.seconds, 3),
            "status": one.status,
            "error": one.error and one.error.value,
        }
        for one in row.attempts_made
    ]
    payload = None if row.body is None else json.loads(row.body)
    return {**_delivery(row), "payload": payload, "attempts_made": attempts}


@blp.post("/webhook-deliveries/<string:webhook_delivery_id>/resend")
@blp.response(200, shapes.WebhookDeliverySchema, description="It is due now.", example=shapes.DELIVERY_EXAMPLE)
@blp.doc(**extension("resendWebhookDelivery"), responses=BUSY)
def resend_webhook_delivery(webhook_delivery_id: str) -> dict[str, Any]:
    """Send a delivery again, with the same body and `webhook-id`. A pending one becomes due now."""
    row = listings.delivery_for(caller(), webhook_delivery_id)
    actions.resend(row, by=None)
    sent = idempotency.promise(_delivery(row))
    db.session.commit()
    return sent


@blp.post("/webhook-deliveries/resend")
@blp.arguments(shapes.ResendSchema, example=shapes.RESEND_EXAMPLE)
@blp.response(200, shapes.ResentSchema, description="They are due now.", example={"resent": 12})
@blp.doc(**extension("resendWebhookDeliveries"), responses=BUSY)
@narrows_itself
def resend_webhook_deliveries(body: dict[str, Any]) -> dict[str, Any]:
    """Send deliveries of a time range again. Those that ended more than 30 days ago and those to disabled endpoints
    are left out, and so are those that are pending, held or cancelled.
    """
    if body["until"] - body["since"] > LONGEST_RANGE:
        raise Rejected("Choose at most 31 days.", field="until")
    chosen = _checked(Chosen(**body))
    _refuse_disabled(chosen.webhook_endpoint_id)
    about = {name: value if isinstance(value, str) else value.isoformat() for name, value in body.items() if value}
    found = listings.narrowed(caller(), chosen, sa.select(Delivery.id))
    resent = idempotency.promise({"resent": actions.resend_chosen(caller(), found, about=about)})
    db.session.commit()
    return resent


def _refuse_disabled(endpoint_id: str | None) -> None:
    endpoint = listings.endpoint_for(caller(), endpoint_id) if endpoint_id is not None else None
    if endpoint is not None and endpoint.disabled_at is not None:
        raise Conflict("The webhook endpoint is disabled. Enable it first.")


def _checked(chosen: Chosen) -> Chosen:
    """With ids as they are stored. Refuses what finds nothing for a reason that the caller should know."""
    if chosen.since is not None and chosen.until is not None and chosen.since >= chosen.until:
        raise Rejected("Must be later than since.", field="until")
    flow_id, endpoint_id = chosen.interview_flow_id, chosen.webhook_endpoint_id
    return replace(
        chosen,
        interview_flow_id=None if flow_id is None else flow_for(caller(), flow_id).id,
        webhook_endpoint_id=None if endpoint_id is None else listings.any_endpoint_for(caller(), endpoint_id).id,
    )


def _shown(row: Endpoint) -> dict[str, Any]:
    return _endpoint(row, listings.flows_by_endpoint([row]).get(row.id, []))


def _endpoint(row: Endpoint, flow_ids: list[str]) -> dict[str, Any]:
    return {
        "webhook_endpoint_id": row.id,
        "url": row.url,
        "scope": row.scope.value,
        "interview_flow_ids": flow_ids,
        "enabled": row.disabled_at is None,
        "disabled_by": row.disabled_by and row.disabled_by.value,
        "failing_since": _time(row.failing_since),
        "last_success_at": _time(row.last_success_at),
        "created_at": _time(row.created_at),
    }


def _delivery(row: Delivery) -> dict[str, Any]:
    return {
        "webhook_delivery_id": row.id,
        "webhook_id": row.event_id,
        "event_type": row.event_type.value,
        "interview_flow_id": row.flow_id,
        "webhook_endpoint_id": row.endpoint_id,
        "state": row.state.value,
        "hold": row.hold and row.hold.value,
        "ending": row.ending and row.ending.value,
        "attempts": row.attempts,
        "created_at": _time(row.created_at),
        "due_at": _time(row.due_at if row.state is DeliveryState.PENDING else None),
        "delivered_at": _time(row.delivered_at),
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else clock.rfc3339(moment)
