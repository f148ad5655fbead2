"""What is sent to a webhook address, against what the guide and the OpenAPI document say."""

import json

import pytest

from app.db import db
from app.interviews import events
from app.webhooks.models import EventType
from tests.outbound.receiver import Receiver


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running


@pytest.mark.parametrize("kind", [EventType.INTERVIEW_PROCESSED, EventType.VIDEO_PROCESSED])
def test_the_link_of_a_test_event_has_the_form_of_real_ones(app, owner, completed, receiver, kind):
    interview = completed()
    interview.flow.webhook_url = receiver.url
    db.session.commit()
    owner.browser.post("/webhooks/test", data={"flow": interview.flow_id, "event": kind.value})
    tested = json.loads(receiver.bodies[0])
    real = events.payload(interview, kind.value, app_url=app.extensions["parley.settings"].app_url)
    assert tested["interview_id"] != interview.id
    assert tested["interview_link"].replace(tested["interview_id"], interview.id) == real["interview_link"]
