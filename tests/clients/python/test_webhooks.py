"""Events are verified as the vectors say, as the server signs, and with the headers of every framework."""

import json
import time
from typing import Any

import parley
import pytest
from hypothesis import given
from hypothesis import strategies as some
from parley import testing, webhooks
from standardwebhooks import Webhook
from werkzeug.datastructures import Headers

from app.webhooks.signature import sign, standard
from tests.webhooks.test_vectors import VECTORS, body_of

SECRET = "at-least-32-characters-of-randomness"
BODY = testing.event_body("interview_processed")


def of_vector(vector: dict[str, Any]) -> webhooks.AnyEvent:
    return webhooks.verify(
        body_of(vector),
        vector["headers"],
        vector["secrets"],
        signature=vector["signature"],
        now=vector["now"],
    )


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["description"] for vector in VECTORS])
def test_the_vectors(vector):
    if vector["reason"] is None:
        event = of_vector(vector)
        assert event.event_type == vector["event_type"]
        assert event.webhook_id == (
            vector["headers"].get("webhook-id", event.webhook_id) if "webhook" in vector["signature"] else None
        )
        return
    with pytest.raises(parley.WebhookError) as refused:
        of_vector(vector)
    assert refused.value.reason == vector["reason"]
    assert str(refused.value)


@given(some.binary(max_size=200), some.text(min_size=1, max_size=60), some.integers(0, 10**11))
def test_sign_signs_as_the_server_does(body, secret, timestamp):
    try:
        secret.encode()
    except UnicodeEncodeError:
        return
    headers = testing.sign(body, secret, webhook_id="evt_1", timestamp=timestamp)
    assert headers["x-service-signature"] == sign(secret, body)
    assert headers["webhook-signature"] == standard(secret, body, event_id="evt_1", timestamp=timestamp)


def test_the_library_of_standard_webhooks_accepts_what_sign_makes():
    assert Webhook(SECRET.encode()).verify(BODY.decode(), testing.sign(BODY, SECRET))


def test_each_event_has_its_own_type_and_its_fields():
    told = {}
    for name in ("interview_processed", "video_processed", "candidate_status_updated", "interview_cancelled"):
        body = testing.event_body(name)
        event = webhooks.verify(body, testing.sign(body, SECRET, webhook_id="evt_test_1"), SECRET)
        told[name] = type(event)
        assert event.is_test
        assert {**event.to_dict(), "webhook_id": None, "external_id": None} == {
            **json.loads(body),
            "webhook_id": None,
            "external_id": None,
        }
    assert list(told.values()) == [
        webhooks.InterviewProcessed,
        webhooks.VideoProcessed,
        webhooks.CandidateStatusUpdated,
        webhooks.UnknownEvent,
    ]


def test_an_event_without_the_fields_it_should_have_is_an_unknown_one():
    body = b'{"event_type": "interview_processed", "status": "completed"}'
    event = webhooks.verify(body, testing.sign(body, SECRET), SECRET)
    assert isinstance(event, webhooks.UnknownEvent)
    assert event.extra == {"status": "completed"}


def test_the_body_cannot_claim_what_the_headers_say():
    body = testing.event_body(webhook_id="evt_forged", external_id="forged")
    event = webhooks.verify(body, testing.sign(body, SECRET, webhook_id="evt_1"), SECRET)
    assert (event.webhook_id, event.external_id) == ("evt_1", None)
    headers = {**testing.sign(body, SECRET), "X-Parley-External-Id": "4711"}
    assert webhooks.verify(body, headers, SECRET).external_id == "4711"


@pytest.mark.parametrize("body", [BODY.decode(), json.loads(BODY), None])
def test_a_body_that_is_not_bytes_is_refused_with_the_way_to_get_them(body):
    with pytest.raises(TypeError, match=r"request\.get_data\(\)"):
        webhooks.verify(body, testing.sign(BODY, SECRET), SECRET)


@pytest.mark.parametrize("secret", ["", [], [""], ["good", ""], [None]])
def test_an_empty_secret_would_let_everyone_sign(secret):
    with pytest.raises(ValueError, match="webhook_secret_key"):
        webhooks.verify(BODY, testing.sign(BODY, ""), secret)


def test_headers_of_any_kind_and_bytes_of_any_kind():
    signed = testing.sign(BODY, SECRET)
    for headers in (signed, Headers(signed), {name.upper(): value for name, value in signed.items()}):
        for body in (BODY, bytearray(BODY), memoryview(BODY)):
            assert webhooks.verify(body, headers, SECRET).event_type == "interview_processed"


def test_the_clock_is_that_of_now():
    late = testing.sign(BODY, SECRET, timestamp=int(time.time()) - 400)
    with pytest.raises(parley.WebhookError):
        webhooks.verify(BODY, late, SECRET)
    assert webhooks.verify(BODY, late, SECRET, tolerance=500)


@given(
    some.dictionaries(
        some.sampled_from(["webhook-id", "webhook-timestamp", "webhook-signature", "x-service-signature"]),
        some.text(max_size=20),
    )
)
def test_no_header_breaks_it(headers):
    for signature in ("webhook-signature", "x-service-signature"):
        with pytest.raises(parley.WebhookError):
            webhooks.verify(BODY, headers, SECRET, signature=signature)


def test_every_flipped_bit_is_noticed():
    signed = testing.sign(BODY, SECRET)
    for place in range(len(BODY)):
        flipped = bytearray(BODY)
        flipped[place] ^= 1
        with pytest.raises(parley.WebhookError):
            webhooks.verify(bytes(flipped), signed, SECRET)
