"""Endpoints of the organization: each event reaches them beside the flow's own URL, and neither waits for the other."""

import json
import random
from collections import defaultdict
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.accounts.models import Role
from app.core.db import db, new_id
from app.core.errors import Conflict, Forbidden
from app.webhooks import actions, queries, signature
from app.webhooks.delivery import Outcome
from app.webhooks.models import Delivery, DeliveryState, DisabledBy, Endpoint, Hold
from tests.outbound.receiver import says

SECRET = "the-organization's-own-secret-0001"


@pytest.fixture
def pair(receivers):
    """The receiver of a flow, and that of the organization."""
    return receivers(2)


def listen(office, receiver, *, secret=SECRET):
    endpoint, _secret = actions.add(office.organization, url=receiver.url, secret=secret, by=office.member)
    db.session.commit()
    return endpoint


def endpoint(endpoint_id):
    db.session.rollback()
    return db.session.get_one(Endpoint, endpoint_id, populate_existing=True)


def told(receiver):
    return [json.loads(body) for body in receiver.bodies]


def test_an_event_reaches_the_flows_url_and_the_organizations_endpoint(office, pair):
    own, all_events = pair
    flow = office.flow(own.url, secret="the flow's secret")
    listening = listen(office, all_events)
    office.processed(flow)
    assert office.drain() == 2
    (first,), (second,) = own.requests, all_events.requests
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.headers["x-service-signature"] == signature.sign("the flow's secret", first.body)
    assert second.headers["x-service-signature"] == signature.sign(SECRET, second.body)
    assert [row.lane for row in office.deliveries()] in ([["", listening.id], [listening.id, ""]])
    assert office.states() == ["delivered", "delivered"]


def test_events_of_every_flow_reach_it_even_of_one_without_a_url(office, pair):
    own, all_events = pair
    listen(office, all_events)
    office.processed(office.flow(own.url))
    office.moved(office.flow(None), new_id(), 1)
    assert office.drain() == 3
    assert len(own.requests) == 1
    assert {body["event_type"] for body in told(all_events)} == {"interview_processed", "candidate_status_updated"}


def test_another_organizations_endpoint_gets_nothing(office, pair):
    own, foreign = pair
    other, _member = office.found("Other")
    actions.add(other, url=foreign.url, by=None)
    db.session.commit()
    office.processed(office.flow(own.url))
    office.drain()
    assert (len(own.requests), len(foreign.requests)) == (1, 0)


def test_both_may_have_the_same_url_with_a_health_of_their_own(office, receiver):
    flow = office.flow(receiver.url)
    listening = listen(office, receiver)
    office.processed(flow)
    office.drain()
    assert len({request.headers["webhook-id"] for request in receiver.requests}) == 1
    assert len(receiver.requests) == 2
    actions.disable(endpoint(listening.id), because=DisabledBy.MEMBER, by=office.member)
    office.processed(flow)
    office.drain()
    assert len(receiver.requests) == 3
    assert sorted(office.states()) == ["delivered", "delivered", "delivered", "held"]


def test_a_failing_endpoint_does_not_hold_up_the_other(office, pair, stopped):
    own, all_events = pair
    all_events.script = says(500)
    flow, candidate = office.flow(own.url), new_id()
    listening = listen(office, all_events)
    for number in (1, 2, 3):
        office.moved(flow, candidate, number)
    office.drain()
    assert [body["new_status"] for body in told(own)] == ["s1", "s2", "s3"]
    assert {body["new_status"] for body in told(all_events)} == {"s1"}
    assert office.states(lane="") == ["delivered"] * 3
    assert office.states(lane=listening.id) == ["pending", "held", "held"]
    all_events.script = says()
    stopped.move(hours=1)
    office.drain()
    assert [body["new_status"] for body in told(all_events)][-3:] == ["s1", "s2", "s3"]


def test_nothing_is_inverted_or_lost_while_both_fail_at_random(office, pair, stopped):
    chance, well = random.Random(11), False
    accepted = {one.url: defaultdict(list) for one in pair}

    def moody(url):
        async def answer(request, writer):
            status = 200 if well else chance.choice([200, 500, 503, 429])
            body = json.loads(request.body)
            if status == 200:
                accepted[url][body["interviewee_email"]].append(int(body["new_status"][1:]))
            await says(status)(request, writer)

        return answer

    for one in pair:
        one.script = moody(one.url)
    flow, people = office.flow(pair[0].url), [new_id() for _ in range(6)]
    listen(office, pair[1])
    names = {candidate: f"{position}@example.com" for position, candidate in enumerate(people)}
    for number in range(1, 9):
        for candidate in people:
            payload = {
                "event_type": "candidate_status_updated",
                "interview_flow_id": flow.id,
                "interview_flow_name": flow.title,
                "interviewee_email": names[candidate],
                "previous_status": "s",
                "new_status": f"s{number}",
            }
            kind = payload["event_type"]
            actions.announce(flow, event_type=kind, payload=payload, subject=candidate, sequence=number)
        office.drain()
        stopped.move(minutes=7)
    well = True
    for _ in range(60):
        if set(office.states()) == {"delivered"}:
            break
        stopped.move(hours=3)
        office.drain()
    assert set(office.states()) == {"delivered"}
    for by_person in accepted.values():
        assert by_person == {name: list(range(1, 9)) for name in names.values()}


def test_the_video_of_an_interview_from_before_the_endpoint_does_not_go_there(office, pair):
    own, all_events = pair
    flow = office.flow(own.url)
    interview = office.processed(flow)
    office.drain()
    listen(office, all_events)
    office.processed(flow, interview, video=True)
    office.drain()
    assert [body["event_type"] for body in told(own)] == ["interview_processed", "video_processed"]
    assert told(all_events) == []


def test_a_revoked_video_is_cancelled_for_both(office, pair):
    own, all_events = pair
    flow = office.flow(own.url)
    listen(office, all_events)
    interview = office.processed(flow)
    actions.cancel(interview, "video_processed")
    db.session.commit()
    office.processed(flow, interview, video=True)
    office.drain()
    assert office.states(event_type="video_processed") == ["cancelled", "cancelled"]
    assert len(own.requests) == len(all_events.requests) == 1


def test_an_event_announced_twice_is_sent_once_to_each(office, pair):
    own, all_events = pair
    flow = office.flow(own.url)
    listen(office, all_events)
    office.processed(flow, office.processed(flow))
    office.drain()
    assert len(own.requests) == len(all_events.requests) == 1


def test_a_killed_worker_loses_neither(office, pair, stopped):
    own, all_events = pair
    flow = office.flow(own.url)
    listen(office, all_events)
    office.processed(flow)
    assert len(actions.take(10)) == 2
    db.session.commit()
    assert office.drain() == 0
    stopped.move(seconds=61)
    assert office.drain() == 2
    assert office.states() == ["delivered", "delivered"]
    assert len(own.requests) == len(all_events.requests) == 1


def test_each_counts_towards_the_organizations_places(office, receivers):
    for one in receivers(10):
        listen(office, one)
    office.processed(office.flow(None))
    assert len(actions.take(100)) == 8
    db.session.rollback()


def test_a_replay_goes_to_the_same_endpoint_alone(office, pair):
    own, all_events = pair
    flow = office.flow(own.url)
    listening = listen(office, all_events)
    office.processed(flow)
    office.drain()
    flow.webhook_url = "https://elsewhere.example.com/hook"
    db.session.commit()
    actions.resend(office.delivery(lane=listening.id), by=office.member)
    office.drain()
    assert (len(own.requests), len(all_events.requests)) == (1, 2)
    assert len({request.headers["webhook-id"] for request in all_events.requests}) == 1


def test_replaying_a_flows_range_leaves_the_organizations_endpoint_alone(office, pair):
    own, all_events = pair
    flow = office.flow(own.url)
    listen(office, all_events)
    office.processed(flow)
    office.drain()
    since = queries.present() - timedelta(hours=1)
    assert actions.resend_range(flow, since=since, failed_only=False, by=office.member) == 1
    office.drain()
    assert (len(own.requests), len(all_events.requests)) == (2, 1)


def test_410_disables_it_alone_and_enabling_sends_what_was_held(office, pair):
    own, all_events = pair
    all_events.script = says(410)
    flow = office.flow(own.url)
    listening = listen(office, all_events)
    office.processed(flow)
    office.drain()
    office.processed(flow)
    office.drain()
    assert endpoint(listening.id).disabled_by is DisabledBy.GONE
    assert office.states(lane="") == ["delivered", "delivered"]
    assert [(row.state, row.hold) for row in office.deliveries(lane=listening.id)] == [
        (DeliveryState.HELD, Hold.DISABLED)
    ] * 2
    all_events.script = says()
    assert actions.enable(endpoint(listening.id), by=None) == 2
    db.session.commit()
    for _ in range(100):
        if not office.drain() and set(office.states()) == {"delivered"}:
            break
    assert set(office.states()) == {"delivered"}


def test_the_address_is_guarded_like_a_flows(office, stopped):
    actions.add(office.organization, url="http://169.254.169.254/latest", by=office.member)
    office.processed(office.flow(None))
    office.drain()
    (attempt,) = office.attempts()
    assert (attempt.error.value, attempt.status) == ("forbidden_address", None)


def test_a_removed_endpoint_gets_nothing_more_and_keeps_its_log(office, pair, stopped):
    own, all_events = pair
    all_events.script = says(500)
    flow = office.flow(own.url)
    listening = listen(office, all_events)
    office.processed(flow)
    office.processed(flow, office.processed(flow), video=True)
    office.drain()
    sent = len(all_events.requests)
    assert actions.remove(endpoint(listening.id), by=office.member) == 3
    db.session.commit()
    stopped.move(days=1)
    office.drain()
    assert len(all_events.requests) == sent
    assert {row.ending.value for row in office.deliveries(lane=listening.id)} == {"endpoint_removed"}
    assert office.states(lane="") == ["delivered"] * 3
    gone = endpoint(listening.id)
    assert (gone.secret_sealed, gone.old_secret_sealed) == (None, None)
    with pytest.raises(Conflict, match="was removed"):
        actions.resend(office.deliveries(lane=listening.id)[0], by=office.member)
    assert listen(office, all_events).id != listening.id


def test_an_outcome_that_arrives_after_the_removal_is_dropped(office, receiver):
    office.processed(office.flow(None))
    listening = listen(office, receiver)
    office.processed(office.flow(None))
    (turn,) = actions.take(10)
    db.session.commit()
    actions.remove(endpoint(listening.id), by=office.member)
    db.session.commit()
    actions.record([(turn, Outcome(queries.present(), 0.1, receiver.url, status=410))])
    db.session.commit()
    assert office.states() == ["cancelled"]
    assert endpoint(listening.id).disabled_at is None


def test_an_event_announced_just_as_its_endpoint_is_removed_is_cancelled(office, receiver):
    listening = listen(office, receiver)
    office.processed(office.flow(None))
    db.session.execute(sa.update(Endpoint).where(Endpoint.id == listening.id).values(removed_at=queries.present()))
    db.session.commit()
    assert queries.overdue()
    assert office.drain() == 0
    assert office.states() == ["cancelled"]
    assert not queries.overdue()


def test_a_delivery_that_the_previous_release_held_is_sent(office, receiver):
    listen(office, receiver)
    office.processed(office.flow(None))
    db.session.execute(sa.update(Delivery).values(state=DeliveryState.HELD, hold=Hold.NO_URL))
    db.session.commit()
    assert queries.overdue()
    office.drain()
    assert office.states() == ["delivered"]


def test_an_erased_subject_leaves_no_payload_with_either(office, pair):
    own, all_events = pair
    flow = office.flow(own.url)
    listen(office, all_events)
    subject = office.processed(flow)
    office.drain()
    assert actions.forget(subject) == 2
    db.session.commit()
    assert [row.body for row in office.deliveries()] == [None, None]


def test_ten_are_the_most_and_a_url_is_taken_once(office, receivers):
    own = [listen(office, one) for one in receivers(10)]
    with pytest.raises(Conflict, match="can have 10 webhook endpoints"):
        actions.add(office.organization, url="https://one.more.example.com", by=office.member)
    db.session.rollback()
    actions.remove(endpoint(own[0].id), by=office.member)
    with pytest.raises(Conflict, match="with this URL already"):
        actions.add(office.organization, url=own[1].url, by=office.member)


def test_a_flows_endpoint_is_not_removed(office, receiver):
    office.processed(office.flow(receiver.url))
    with pytest.raises(Conflict, match="Change the flows"):
        actions.remove(office.endpoint(), by=office.member)


def test_replaying_is_for_administrators(office, receiver):
    listening = listen(office, receiver)
    office.processed(office.flow(None))
    delivery = office.delivery(lane=listening.id)
    office.member.role = Role.RECRUITER
    with pytest.raises(Forbidden):
        actions.resend(delivery, by=office.member)
