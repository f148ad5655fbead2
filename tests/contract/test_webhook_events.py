"""What is sent to a webhook address, against what the guide and the OpenAPI document say."""

import asyncio
import json
import re
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app import gateways
from app.candidates import actions as candidates
from app.candidates.models import DEFAULT_STATUSES
from app.candidates.statuses import MOST_COLUMNS
from app.core import clock
from app.core.db import db
from app.interviews import events
from app.interviews.jobs import processing
from app.web import examples
from app.webhooks.actions.outbox import FIELDS
from app.webhooks.delivery import Message, attempt
from app.webhooks.models import Delivery, EventType
from app.webhooks.schemas import EVENTS, HEADERS, SIGNATURES, TEST_HEADER
from app.webhooks.secret_keys import Secrets
from tests.factories import Made
from tests.outbound.receiver import Receiver, Request
from tests.people import Browser, Person

from .test_document import flaws
from .test_guide import WEBHOOKS, blocks

INTERVIEW_EVENTS = [EventType.INTERVIEW_PROCESSED, EventType.VIDEO_PROCESSED]


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running


@pytest.fixture
def document(client: Browser) -> Any:
    return client.get("/v1/openapi.json").json


def send_all(receiver: Receiver, *, secret: str | None) -> dict[str, Request]:
    """Send what waits in the outbox with the code that sends every event; by type."""
    waiting = [
        Message(receiver.url, Secrets(secret), row.event_id, row.body, clock.now())
        for row in db.session.scalars(sa.select(Delivery).order_by(Delivery.created_at, Delivery.sequence))
    ]
    db.session.commit()
    for message in waiting:
        assert asyncio.run(attempt(message, http=gateways.current().http)).delivered
    return {json.loads(request.body)["event_type"]: request for request in receiver.requests}


@pytest.fixture
def sent(recorded: Made, receiver: Receiver) -> dict[str, Request]:
    """All three events of an interview with video of the person in the examples."""
    interview = recorded("libvpx", email=examples.EMAIL, first_name=examples.FIRST_NAME, last_name=examples.LAST_NAME)
    processing.process_interview(interview.id)
    processing.process_video(interview.id)
    return send_all(receiver, secret="a secret")


def as_in_the_examples(body: bytes) -> dict[str, Any]:
    """The body with its ids, and the address of this installation, replaced by those of the examples."""
    told = json.loads(body)
    text = body.decode().replace("http://localhost", examples.ADDRESS)
    text = text.replace(told["interview_flow_id"], examples.FLOW_ID)
    return json.loads(text.replace(told.get("interview_id", "none"), examples.INTERVIEW_ID))


def test_the_bodies_of_guide_and_document_are_the_ones_that_are_sent(document: Any, sent: dict[str, Request]) -> None:
    assert set(sent) == set(EventType) == set(document["webhooks"])
    for kind, request in sent.items():
        (shown,) = blocks("json", under=f"`{kind}`")
        real = as_in_the_examples(request.body)
        content = document["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"]
        assert list(json.loads(shown).items()) == list(real.items()), kind  # in their order, too
        assert content["example"] == real, kind
        assert flaws(document, content["schema"], json.loads(request.body)) == [], kind
        assert flaws(document, content["schema"], json.loads(request.body) | {"more": 1}), kind


def test_the_headers_of_guide_and_document_are_the_ones_that_are_sent(
    document: Any, sent: dict[str, Request], receiver: Receiver
) -> None:
    of_http = {"Host", "Content-Length", "Accept", "Accept-Encoding", "Connection"}
    for request in sent.values():
        names = set(request.headers) - of_http
        assert names == {"Content-Type", "User-Agent", *HEADERS} - {TEST_HEADER}
        assert request.line == "POST /hook HTTP/1.1"
        for name in names:
            assert re.search(rf"^\| `{name}` \|", WEBHOOKS, re.MULTILINE), name
    for item in document["webhooks"].values():
        assert {one["name"]: one["required"] for one in item["post"]["parameters"]} == {
            name: name not in SIGNATURES | {TEST_HEADER} for name in HEADERS
        }
    receiver.requests.clear()
    for request in send_all(receiver, secret=None).values():
        assert set(request.headers) - of_http == {"Content-Type", "User-Agent", *HEADERS} - SIGNATURES - {TEST_HEADER}


def test_the_guide_explains_every_field_of_every_event() -> None:
    for kind, (schema, _words, example) in EVENTS.items():
        assert tuple(example) == FIELDS[kind]
        assert set(schema().fields) == set(FIELDS[kind])
        if kind is not EventType.VIDEO_PROCESSED:  # its fields are the ones of interview_processed
            chapter = WEBHOOKS.partition(f"\n### `{kind.value}`\n")[2].partition("\n### ")[0]
            assert re.findall(r"^\| `(\w+)` \|", chapter, re.MULTILINE) == list(FIELDS[kind])


def test_the_guide_lists_the_statuses_that_an_organization_starts_with() -> None:
    listed = re.search(
        r"starts with six statuses: (.*?)\. Administrators .*?, up to (\d+) in all\.", WEBHOOKS, re.DOTALL
    )
    assert listed is not None
    assert tuple(re.findall(r"`(\w+)`", listed[1])) == DEFAULT_STATUSES
    assert int(listed[2]) == MOST_COLUMNS


def test_nobody_is_null_in_the_events(document: Any, completed: Made, make_flow: Made, receiver: Receiver) -> None:
    completed(make_flow(webhook_url=receiver.url), email=None, first_name=None, last_name=None)
    (request,) = send_all(receiver, secret=None).values()
    told = json.loads(request.body)
    assert {name for name, value in told.items() if value is None} == {
        "interviewee_email_address",
        "interviewee_first_name",
        "interviewee_last_name",
    }
    assert flaws(document, "InterviewProcessedEvent", told) == []


def test_a_move_and_its_undoing_are_told_in_the_words_of_the_pipeline(
    owner: Person, completed: Made, make_flow: Made, receiver: Receiver
) -> None:
    candidate = completed(make_flow(webhook_url=receiver.url)).candidate
    candidates.move(candidate, "shortlisted", by=owner.member)
    candidates.move_back(candidate, "shortlisted", by=owner.member)
    db.session.commit()
    send_all(receiver, secret=None)
    told = [json.loads(body) for body in receiver.bodies]
    moves = [(one["previous_status"], one["new_status"]) for one in told if "new_status" in one]
    assert moves == [("invited", "interviewed"), ("interviewed", "shortlisted"), ("shortlisted", "interviewed")]


@pytest.mark.parametrize("kind", INTERVIEW_EVENTS)
def test_the_link_of_a_test_event_has_the_form_of_real_ones(
    app: Flask, owner: Person, completed: Made, receiver: Receiver, kind: EventType
) -> None:
    interview = completed()
    interview.flow.webhook_url = receiver.url
    db.session.commit()
    owner.browser.post("/webhooks/test", data={"flow": interview.flow_id, "event": kind.value})
    tested = json.loads(receiver.bodies[0])
    real = events.payload(interview, kind.value, app_url=app.extensions["parley.settings"].app_url)
    assert tested["interview_id"] != interview.id
    assert tested["interview_link"].replace(tested["interview_id"], interview.id) == real["interview_link"]
