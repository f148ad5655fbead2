"""Rotation of secrets: until the old one ends, both sign, and the contract's one signature is the old one's."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import encryption
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows import actions as flow_actions
from app.flows.media import StoredMedia
from app.flows.models import InterviewFlow
from app.flows.queries import secret_of
from app.webhooks import actions, delivery, jobs, signature
from app.webhooks.actions import rotation
from app.webhooks.models import Endpoint, EventType
from tests.outbound.receiver import says

OLD, NEW = "the-old-secret-of-32-characters-1", "the-new-secret-of-32-characters-2"


@pytest.fixture(params=["flow", "organization"])
def holder(request, office, receiver):
    """Whose secret is rotated; its only receiver is ``receiver``."""
    if request.param == "flow":
        return office.flow(receiver.url, secret=OLD)
    endpoint, _secret = actions.add(office.organization, url=receiver.url, secret=OLD, by=office.member)
    db.session.commit()
    return endpoint


def rotate(office, holder, **how):
    rotated = actions.rotate(holder, **{"secret": NEW, "by": office.member, **how})
    db.session.commit()
    return rotated


def announce(office, holder):
    flow = holder if isinstance(holder, InterviewFlow) else office.flow(None)
    office.processed(flow)
    office.drain()


def signed_with(request):
    """The secrets of ``webhook-signature`` in their order, and that of ``x-service-signature``."""
    given, timestamp = request.headers["webhook-signature"].split(" "), int(request.headers["webhook-timestamp"])
    event_id = request.headers["webhook-id"]
    known = {signature.standard(one, request.body, event_id=event_id, timestamp=timestamp): one for one in (OLD, NEW)}
    plain = {signature.sign(one, request.body): one for one in (OLD, NEW)}
    return [known[one] for one in given], plain[request.headers["x-service-signature"]]


def test_during_the_overlap_both_sign_and_the_contracts_signature_is_the_old_ones(office, receiver, holder, stopped):
    rotated = rotate(office, holder)
    assert rotated == (NEW, stopped.now + timedelta(hours=24))
    announce(office, holder)
    assert signed_with(receiver.requests[0]) == ([NEW, OLD], OLD)
    assert " " not in receiver.requests[0].headers["x-service-signature"]


def test_at_the_end_of_the_overlap_only_the_new_one_signs(office, receiver, holder, stopped):
    rotate(office, holder, hours=1)
    stopped.move(seconds=3599, microseconds=999_999)
    announce(office, holder)
    stopped.move(microseconds=1)
    announce(office, holder)
    assert [signed_with(request) for request in receiver.requests] == [([NEW, OLD], OLD), ([NEW], NEW)]


def test_a_retry_after_the_end_is_signed_with_the_new_one_alone(office, receiver, holder, stopped):
    receiver.script = says(500)
    rotate(office, holder, hours=1)
    announce(office, holder)
    stopped.move(hours=2)
    receiver.script = says()
    office.drain()
    first, second = receiver.requests
    assert (signed_with(first), signed_with(second)) == (([NEW, OLD], OLD), ([NEW], NEW))
    assert first.body == second.body


def test_a_rotation_between_two_attempts_counts_for_the_second(office, receiver, holder, stopped):
    receiver.script = says(500)
    announce(office, holder)
    rotate(office, holder)
    stopped.move(minutes=1)
    receiver.script = says()
    office.drain()
    assert [signed_with(request) for request in receiver.requests] == [([OLD], OLD), ([NEW, OLD], OLD)]


def test_switching_ends_it_at_once_and_deletes_the_old_one(office, receiver, holder):
    rotate(office, holder)
    actions.switch(holder, by=office.member)
    db.session.commit()
    assert rotation.sealed_of(holder).old is None
    announce(office, holder)
    assert signed_with(receiver.requests[0]) == ([NEW], NEW)
    with pytest.raises(Conflict, match="only one secret"):
        actions.switch(holder, by=office.member)


def test_a_second_rotation_waits_for_the_first(office, holder, stopped):
    rotate(office, holder, hours=2)
    with pytest.raises(Conflict, match="Switch to the new secret first"):
        rotate(office, holder, secret="yet-another-secret-of-32-characters")
    stopped.move(hours=2)
    rotate(office, holder, secret=OLD)
    with pytest.raises(Conflict):
        rotate(office, holder, secret=None)


def test_parley_makes_a_secret_of_its_own(office, holder):
    made = rotate(office, holder, secret=None).secret
    assert len(made) >= 43
    assert made.isascii()
    assert rotation.sealed_of(holder).opened(rotation.queries.present()).present == made


@pytest.mark.parametrize("hours", [0, -1, 169, 10_000])
def test_an_overlap_lasts_from_one_hour_to_a_week(office, holder, hours):
    with pytest.raises(Rejected, match="1 to 168 hours"):
        rotate(office, holder, hours=hours)
    rotate(office, holder, hours=168)


def test_the_present_secret_is_no_new_one(office, holder):
    with pytest.raises(Rejected, match="must differ"):
        rotate(office, holder, secret=OLD)


def test_the_old_secret_is_encrypted_for_its_own_place_and_deleted_after_the_end(office, holder, stopped):
    rotate(office, holder, hours=3)
    sealed = rotation.sealed_of(holder)
    assert OLD not in sealed.old
    with pytest.raises(encryption.SealBroken):
        encryption.unseal(sealed.old, context=sealed.context)
    office.app.extensions.pop("parley.webhooks.pruned", None)
    jobs.prune()
    assert rotation.sealed_of(holder).old is not None
    stopped.move(hours=3)
    assert jobs.prune() == 1
    db.session.refresh(holder)
    assert rotation.sealed_of(holder) == (rotation.secret_keys.Sealed(sealed.present, None, None, sealed.context))


def test_the_first_secret_of_a_flow_counts_at_once(office, receiver):
    flow = office.flow(receiver.url)
    assert rotate(office, flow) == (NEW, None)
    announce(office, flow)
    assert signed_with(receiver.requests[0]) == ([NEW], NEW)


def test_a_secret_that_cannot_be_read_is_replaced_at_once(office, receiver, holder):
    model, column = (
        (InterviewFlow, "webhook_secret_sealed") if isinstance(holder, InterviewFlow) else (Endpoint, "secret_sealed")
    )
    db.session.execute(sa.update(model).values({column: "v1.spoiled"}))
    db.session.commit()
    assert rotate(office, holder) == (NEW, None)
    announce(office, holder)
    assert signed_with(receiver.requests[0]) == ([NEW], NEW)


def test_editing_the_flows_secret_ends_a_rotation_at_once(office, receiver):
    flow = office.flow(receiver.url, secret="the-first-secret-of-32-characters-0")
    rotate(office, flow, secret=OLD)
    flow_actions.edit(flow, {"webhook_secret_key": NEW}, files=StoredMedia(), by=office.member)
    db.session.commit()
    assert (flow.webhook_old_secret_sealed, flow.webhook_old_secret_until) == (None, None)
    announce(office, flow)
    assert signed_with(receiver.requests[0]) == ([NEW], NEW)


def test_saving_a_flow_with_the_same_secret_keeps_the_rotation(office, receiver):
    flow = office.flow(receiver.url, secret=OLD)
    rotate(office, flow)
    flow_actions.edit(flow, {"webhook_secret_key": NEW, "title": "Other"}, files=StoredMedia(), by=office.member)
    db.session.commit()
    announce(office, flow)
    assert signed_with(receiver.requests[0]) == ([NEW, OLD], OLD)


def test_a_copy_of_a_flow_has_the_new_secret_alone(office, receiver):
    flow = office.flow(receiver.url, secret=OLD)
    rotate(office, flow)
    copy = flow_actions.duplicate(flow, files=StoredMedia(), by=office.member)
    db.session.commit()
    assert (secret_of(copy), copy.webhook_old_secret_sealed, copy.webhook_old_secret_until) == (NEW, None, None)


def test_test_events_are_signed_the_same_way(office, receiver):
    flow = office.flow(receiver.url, secret=OLD)
    rotate(office, flow)
    message = actions.sample(flow, EventType.INTERVIEW_PROCESSED, app_url="https://parley.example.com")
    headers = delivery.headers(message, timestamp=1_700_000_000)
    wanted = [
        signature.standard(one, message.body, event_id=message.event_id, timestamp=1_700_000_000) for one in (NEW, OLD)
    ]
    assert headers["webhook-signature"].split(" ") == wanted
    assert headers["x-service-signature"] == signature.sign(OLD, message.body)
