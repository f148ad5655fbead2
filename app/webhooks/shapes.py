"""Published shapes of the ``/v1`` operations about webhooks. All of them are extensions of the contract."""

from typing import Any

import marshmallow as ma

from app import gateways
from app.core.errors import Rejected
from app.flows.models import LONGEST as LONGEST_OF
from app.web import examples
from app.web.fields import Choice, IdPattern, QueryId, Text, Time, limit_field
from app.webhooks.models import DeliveryState, DisabledBy, Ending, EventType, Hold, Scope
from app.webhooks.schemas import EVENTS
from app.webhooks.secret_keys import LONGEST, MOST_CHARACTERS, SHORTEST, USUAL

ENDPOINT_ID = "2f9b6d10-84c3-4e57-b1a9-6c0d5e8f7a21"
DELIVERY_ID = "94c1e7a5-3b2d-4f68-8e90-1d7c6b5a4f32"
EVENT_ID = "evt_3f1c2a9e5b7d4c608e1f0a2b3c4d5e6f"
STATES = tuple(state.value for state in DeliveryState)
AGAIN = (DeliveryState.DELIVERED.value, DeliveryState.EXHAUSTED.value)


class EndpointUrl(Text):
    """A URL that Parley calls. Its form is checked here, its address when it is called."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            gateways.current().http.check_form(text)
        except Rejected as refusal:
            raise ma.ValidationError(refusal.message) from refusal
        return text


def _text(description: str, **kwargs: Any) -> ma.fields.String:
    return ma.fields.String(required=True, metadata={"description": description}, **kwargs)


def _word(words: Any, called: str, description: str, **kwargs: Any) -> Choice:
    return Choice(
        [word.value for word in words], called=called, required=True, metadata={"description": description}, **kwargs
    )


def _moment(description: str, *, nullable: bool = True) -> ma.fields.String:
    facts = {"description": description, "format": "date-time"}
    return ma.fields.String(required=True, allow_none=nullable, metadata=facts)


class WebhookEndpointSchema(ma.Schema):
    """A URL that gets events, with its health: of the flows that name it, or of all flows of the organization."""

    webhook_endpoint_id = _text("Id of the endpoint.")
    url = _text("Where events are sent.")
    scope = _word(
        Scope, "WebhookScope", "`flow`: the webhook URL of flows. `organization`: gets the events of all flows."
    )
    interview_flow_ids = ma.fields.List(
        ma.fields.String(),
        required=True,
        metadata={"description": "Flows whose webhook URL this is. Empty for an endpoint of the organization."},
    )
    enabled = ma.fields.Boolean(
        required=True, metadata={"description": "Whether events are sent. If not, they are held."}
    )
    disabled_by = _word(
        DisabledBy,
        "WebhookDisabledBy",
        "`gone`: it responded with 410. `failing`: it accepted nothing for five days. `member`: an administrator.",
        allow_none=True,
    )
    failing_since = _moment("First failure since the last success.")
    last_success_at = _moment("Last time it accepted an event.")
    created_at = _moment("Creation date.", nullable=False)


class WebhookEndpointsSchema(ma.Schema):
    """All endpoints."""

    webhook_endpoints = ma.fields.List(ma.fields.Nested(WebhookEndpointSchema), required=True)


class NewWebhookEndpointSchema(ma.Schema):
    """Body of POST /v1/webhook-endpoints."""

    class Meta:
        unknown = ma.RAISE

    url = EndpointUrl(
        most=LONGEST_OF["webhook_url"],
        required=True,
        metadata={"description": "Gets the events of all flows.", "format": "uri"},
    )
    secret = Text(
        most=MOST_CHARACTERS,
        blank=False,
        allow_none=True,
        load_default=None,
        metadata={"description": "Signs the events. Use at least 32 characters. By default Parley creates one."},
    )


class WebhookEndpointCreatedSchema(WebhookEndpointSchema):
    """The new endpoint, with its secret."""

    secret = _text("The secret. It is shown only this once.")


class DoneSchema(ma.Schema):
    """The request was carried out."""

    success = ma.fields.Boolean(required=True, metadata={"description": "Always `true`."})


def _overlap() -> ma.fields.Integer:
    words = f"Must be a whole number from {SHORTEST} to {LONGEST}."
    return ma.fields.Integer(
        strict=True,
        load_default=USUAL,
        validate=ma.validate.Range(min=SHORTEST, max=LONGEST, error=words),
        error_messages={"invalid": words, "null": words},
        metadata={"description": "Hours for which the old secret also signs."},
    )


def _new_secret() -> Text:
    return Text(
        most=MOST_CHARACTERS,
        blank=False,
        allow_none=True,
        load_default=None,
        metadata={"description": "The new secret. Use at least 32 characters. By default Parley creates one."},
    )


OLD_UNTIL = "Until when the old secret also signs; null if there was no old secret."


class FlowSecretRotationSchema(ma.Schema):
    """How to replace a flow's secret. Send `{}` for the defaults."""

    class Meta:
        unknown = ma.RAISE

    webhook_secret_key = _new_secret()
    overlap_hours = _overlap()


class FlowSecretRotatedSchema(ma.Schema):
    """The new secret of a flow."""

    webhook_secret_key = _text("The new secret.")
    old_secret_until = _moment(OLD_UNTIL)


class EndpointSecretRotationSchema(ma.Schema):
    """How to replace an endpoint's secret. Send `{}` for the defaults."""

    class Meta:
        unknown = ma.RAISE

    secret = _new_secret()
    overlap_hours = _overlap()


class EndpointSecretRotatedSchema(ma.Schema):
    """The new secret of an endpoint."""

    secret = _text("The new secret. It is shown only this once.")
    old_secret_until = _moment(OLD_UNTIL)


class WebhookDeliverySchema(ma.Schema):
    """One event on its way to one endpoint."""

    webhook_delivery_id = _text("Id of the delivery.")
    webhook_id = _text("Id of the event, as in the header `webhook-id`. Deliveries to other endpoints have the same.")
    event_type = _word(EventType, "WebhookEventType", "What the event reports.")
    interview_flow_id = _text("Flow of the event.")
    webhook_endpoint_id = _text("Endpoint to which the event is sent.")
    state = _word(DeliveryState, "WebhookDeliveryState", "Delivery status.")
    hold = _word(
        Hold,
        "WebhookHold",
        "Why a `held` delivery waits: for an earlier event (`order`), a disabled endpoint or a flow without a URL.",
        allow_none=True,
    )
    ending = _word(Ending, "WebhookEnding", "Why an `exhausted` or `cancelled` delivery ended.", allow_none=True)
    attempts = ma.fields.Integer(
        required=True, metadata={"description": "Attempts since the event or the last replay, at most 10."}
    )
    created_at = _moment("Time of the event.", nullable=False)
    due_at = _moment("Next attempt; null if none is planned.")
    delivered_at = _moment("First time the endpoint accepted it.")


class WebhookDeliveriesSchema(ma.Schema):
    """One page of deliveries."""

    webhook_deliveries = ma.fields.List(ma.fields.Nested(WebhookDeliverySchema), required=True)
    next = _text("`after` of the next page; null on the last page.", allow_none=True)


class WebhookAttemptSchema(ma.Schema):
    """One request and its outcome."""

    at = _moment("Time of the request.", nullable=False)
    seconds = ma.fields.Float(required=True, metadata={"description": "Duration in seconds."})
    status = ma.fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Status code of the response; null without a response."},
    )
    error = _text(
        "Why it failed: `dns`, `connect`, `tls`, `timeout`, `http` or `forbidden_address`. `too_large` marks a long "
        "response that was read only in part.",
        allow_none=True,
    )


class WebhookDeliveryDetailsSchema(WebhookDeliverySchema):
    """A delivery with what was sent and every attempt of the last 30 days."""

    payload = ma.fields.Dict(
        required=True, allow_none=True, metadata={"description": "The body; null after 90 days or if cancelled first."}
    )
    attempts_made = ma.fields.List(ma.fields.Nested(WebhookAttemptSchema), required=True)


class WebhookDeliveriesQuerySchema(ma.Schema):
    """Query of the list of deliveries."""

    state = Choice(
        STATES, called="WebhookDeliveryState", load_default=None, metadata={"description": "Only this delivery status."}
    )
    event_type = Choice(
        [kind.value for kind in EventType],
        called="WebhookEventType",
        load_default=None,
        metadata={"description": "Only this event."},
    )
    interview_flow_id = QueryId(load_default=None, metadata={"description": "Only events of this flow."})
    webhook_endpoint_id = QueryId(load_default=None, metadata={"description": "Only deliveries to this endpoint."})
    since = Time("Only events from this time on.", load_default=None)
    until = Time("Only events before this time.", load_default=None)
    limit = limit_field(100)
    after = Text(most=500, blank=False, load_default=None, metadata={"description": "`next` of the page before."})


class ResendSchema(ma.Schema):
    """Which deliveries to send again: those of events from `since` to before `until`."""

    class Meta:
        unknown = ma.RAISE

    since = Time("Events from this time on.", required=True)
    until = Time("Events before this time, at most 31 days after `since`.", required=True)
    state = Choice(
        AGAIN,
        called="WebhookResendState",
        allow_none=True,
        load_default=None,
        metadata={"description": "Only deliveries that were accepted, or that used all their attempts. Default: both."},
    )
    interview_flow_id = IdPattern(
        allow_none=True, load_default=None, metadata={"description": "Only events of this flow."}
    )
    webhook_endpoint_id = IdPattern(
        allow_none=True, load_default=None, metadata={"description": "Only deliveries to this endpoint."}
    )


class ResentSchema(ma.Schema):
    """How many deliveries are sent again."""

    resent = ma.fields.Integer(required=True, metadata={"description": "Number of deliveries."})


ENDPOINT_EXAMPLE = {
    "webhook_endpoint_id": ENDPOINT_ID,
    "url": "https://ats.example.com/parley/all",
    "scope": "organization",
    "interview_flow_ids": [],
    "enabled": True,
    "disabled_by": None,
    "failing_since": None,
    "last_success_at": "2026-03-01T09:15:00Z",
    "created_at": "2026-02-01T09:15:00Z",
}
SECRET_EXAMPLE = "made-by-parley-32-characters-or-more"
NEW_ENDPOINT_EXAMPLE = {"url": "https://ats.example.com/parley/all"}
ENDPOINT_CREATED_EXAMPLE = {**ENDPOINT_EXAMPLE, "last_success_at": None, "secret": SECRET_EXAMPLE}
OLD_UNTIL_EXAMPLE = "2026-03-02T09:15:00Z"
DELIVERY_EXAMPLE = {
    "webhook_delivery_id": DELIVERY_ID,
    "webhook_id": EVENT_ID,
    "event_type": EventType.INTERVIEW_PROCESSED.value,
    "interview_flow_id": examples.FLOW_ID,
    "webhook_endpoint_id": ENDPOINT_ID,
    "state": "delivered",
    "hold": None,
    "ending": None,
    "attempts": 1,
    "created_at": "2026-03-01T09:15:00Z",
    "due_at": None,
    "delivered_at": "2026-03-01T09:15:01Z",
}
DETAILS_EXAMPLE = {
    **DELIVERY_EXAMPLE,
    "payload": EVENTS[EventType.INTERVIEW_PROCESSED][2],
    "attempts_made": [{"at": "2026-03-01T09:15:00Z", "seconds": 0.21, "status": 200, "error": None}],
}
RESEND_EXAMPLE = {"since": "2026-03-01T00:00:00Z", "until": "2026-03-02T00:00:00Z", "state": "exhausted"}
