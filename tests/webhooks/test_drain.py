"""Sending: headers, bytes, outcomes, retries on a clock that is moved by hand."""

import asyncio
import json
import threading
import time
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import request_id
from app.core.db import db
from app.core.db.row_security import as_chosen
from app.webhooks import DRAIN_WEBHOOKS, actions, delivery, jobs, queries
from app.webhooks.models import Delivery, DeliveryState, ErrorClass
from app.webhooks.schedule import DELAYS
from app.webhooks.signature import sign, standard
from tests.outbound.receiver import Receiver, hangs, says, writes

SECRET = "a secret with ünicode and 32 letters"


def test_an_event_arrives_with_exactly_the_documented_headers(office, receiver):
    office.processed(office.flow(receiver.url, secret=SECRET))
    assert office.drain() == 1
    (request,) = receiver.requests
    sent = office.delivery()
    stamp = request.headers["webhook-timestamp"]
    assert request.line == "POST /hook HTTP/1.1"
    assert request.headers == {
        "Host": f"127.0.0.1:{receiver.port}",
        "Content-Type": "application/json",
        "User-Agent": "Service-API-Webhook/1.0",
        "webhook-id": sent.event_id,
        "webhook-timestamp": stamp,
        "x-service-signature": sign(SECRET, request.body),
        "webhook-signature": standard(SECRET, request.body, event_id=sent.event_id, timestamp=int(stamp)),
        "Content-Length": str(len(request.body)),
        "Accept-Encoding": "identity",
        "Connection": "close",
    }
    assert request.body == sent.body
    assert json.loads(request.body)["status"] == "completed"
    assert abs(int(stamp) - time.time()) < 60
    assert sent.state is DeliveryState.DELIVERED
    (attempt,) = office.attempts()
    assert (attempt.status, attempt.error, attempt.address, attempt.url) == (200, None, "127.0.0.1", receiver.url)
    assert attempt.endpoint_id == sent.endpoint_id


@pytest.mark.parametrize("secret", [None, ""])
def test_without_a_secret_there_is_no_signature(office, receiver, secret):
    office.processed(office.flow(receiver.url, secret=secret))
    office.drain()
    assert not {"x-service-signature", "webhook-signature"} & set(receiver.requests[0].headers)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 226, 299])
def test_any_2xx_is_a_success(office, receiver, status):
    receiver.script = says(status)
    office.processed(office.flow(receiver.url))
    office.drain()
    assert office.states() == ["delivered"]


@pytest.mark.parametrize("status", [301, 302, 400, 401, 404, 500, 503])
def test_any_other_status_is_a_failure(office, receiver, status):
    receiver.script = says(status, b"no\x00thing", Location=receiver.url)
    office.processed(office.flow(receiver.url))
    office.drain()
    assert office.states() == ["pending"]
    (attempt,) = office.attempts()
    assert (attempt.status, attempt.error, attempt.answer) == (status, ErrorClass.HTTP, b"no\x00thing")
    assert len(receiver.requests) == 1


def test_a_long_answer_marks_only_the_log(office, receiver):
    receiver.script = says(200, b"x" * 50_000)
    office.processed(office.flow(receiver.url))
    office.drain()
    assert office.states() == ["delivered"]
    (attempt,) = office.attempts()
    assert (attempt.error, len(attempt.answer)) == (ErrorClass.TOO_LARGE, 16_384)


def test_all_attempts_send_the_same_bytes_under_the_same_id_at_the_promised_times(office, receiver, stopped):
    receiver.script = says(500)
    office.processed(office.flow(receiver.url, secret=SECRET))
    began = stopped.now
    for number, delay in enumerate(DELAYS):
        if number:
            stopped.move(seconds=delay.total_seconds() - 0.001)
            assert office.drain() == 0, "an attempt was early"
            stopped.now = office.delivery().due_at
        failed_at = stopped.now
        assert office.drain() == 1
        if number < 9:
            planned = DELAYS[number + 1]
            assert planned <= office.delivery().due_at - failed_at <= planned * 1.2
    assert office.states() == ["exhausted"]
    assert stopped.now - began >= timedelta(hours=75, minutes=35, seconds=5)
    assert len(receiver.requests) == 10
    assert len(set(receiver.bodies)) == 1
    assert len(set(receiver.events)) == 1
    assert len({request.headers["webhook-timestamp"] for request in receiver.requests}) == 10
    assert [attempt.number for attempt in office.attempts()] == list(range(1, 11))


@pytest.mark.parametrize(
    ("status", "header", "least", "most"),
    [
        (503, None, 60, 60),
        (429, "5", 60, 60),
        (502, "90", 90, 90),
        (504, "86400", 120, 120),
        (503, "-1", 60, 60),
        (503, "junk", 60, 60),
        (503, "315360000", 120, 120),
        (503, "Sun, 01 Mar 2026 12:01:30 GMT", 90, 90),
        (503, "Sun, 01 Mar 2020 12:01:30 GMT", 60, 60),
        (500, "90", 5, 6),
        (400, "90", 5, 6),
    ],
)
def test_retry_after_is_followed_within_bounds(office, receiver, stopped, status, header, least, most):
    receiver.script = says(status, **({"Retry_After": header} if header else {}))
    office.processed(office.flow(receiver.url))
    office.drain()
    assert least <= (office.delivery().due_at - stopped.now).total_seconds() <= most


def test_a_time_out_is_throttled_and_marked(office, receiver, stopped):
    receiver.script = hangs
    office.processed(office.flow(receiver.url))
    office.drain()
    assert (office.delivery().due_at - stopped.now).total_seconds() == 60
    assert office.attempts()[0].error is ErrorClass.TIMEOUT


def test_a_dripping_receiver_is_left_in_time(office, receiver):
    receiver.script = writes(*[bytes([one]) for one in b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"], every=0.5)
    office.limits(connect=0.5, total=1.0)
    office.processed(office.flow(receiver.url))
    began = time.monotonic()
    office.drain()
    assert time.monotonic() - began < 2.5
    assert office.attempts()[0].error is ErrorClass.TIMEOUT
    assert 1.0 <= office.attempts()[0].seconds < 1.5


def test_the_promised_limits_are_the_defaults():
    from app.gateways.outbound import SendLimits

    assert (SendLimits().connect, SendLimits().total, SendLimits().answer_bytes) == (5.0, 15.0, 16 * 1024)


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://169.254.169.254/", ErrorClass.FORBIDDEN_ADDRESS),
        ("http://10.0.0.1/", ErrorClass.FORBIDDEN_ADDRESS),
        ("http://no-such-host.invalid/", ErrorClass.DNS),
    ],
)
def test_what_cannot_be_reached_is_logged_with_its_class(office, url, error):
    office.processed(office.flow(url))
    office.drain()
    assert office.attempts()[0].error is error
    assert office.states() == ["pending"]


def test_a_broken_secret_is_never_sent_unsigned(office, receiver):
    flow = office.flow(receiver.url, secret=SECRET)
    flow.webhook_secret_sealed = "v1.AAAA"
    office.processed(flow)
    office.drain()
    assert receiver.requests == []
    assert "save it again" in office.attempts()[0].note


def test_address_and_secret_are_read_at_the_attempt(office, receivers, stopped):
    wrong, right = receivers(2)
    wrong.script = says(404)
    flow = office.flow(wrong.url, secret="old")
    office.processed(flow)
    office.drain()
    flow.webhook_url = right.url
    office.set_secret(flow, "new")
    office.drain()
    assert office.states() == ["delivered"]
    assert right.bodies == wrong.bodies
    assert right.requests[0].headers["x-service-signature"] == sign("new", right.bodies[0])


def test_an_event_is_held_while_its_flow_has_no_address(office, receiver):
    flow = office.flow(receiver.url)
    office.processed(flow)
    flow.webhook_url = None
    db.session.commit()
    office.drain()
    assert office.states() == ["held"]
    assert receiver.requests == []
    flow = office.delivery().flow
    flow.webhook_url = receiver.url
    db.session.commit()
    assert queries.overdue()
    office.drain()
    assert office.states() == ["delivered"]


def test_an_address_changed_between_claim_and_sending_leads_the_event_there(office, receivers):
    old, new = receivers(2)
    flow = office.flow(old.url)
    office.processed(flow)
    flow.webhook_url = new.url
    db.session.commit()
    assert actions.take(10) == []
    db.session.commit()
    office.drain()
    assert (len(old.requests), len(new.requests)) == (0, 1)


def test_the_secret_occurs_in_no_byte_that_leaves_and_in_no_row(office, receiver):
    import base64
    import urllib.parse

    secret = 's3cr3t/+key "ü" with 32 and more letters'
    raw = secret.encode()
    office.processed(office.flow(receiver.url, secret=secret))
    receiver.scripts = [says(500)]
    office.drain()
    db.session.execute(sa.update(Delivery).values(due_at=Delivery.created_at))
    office.drain()
    attempts = office.attempts()
    seen = b"".join(request.raw for request in receiver.requests)
    seen += b"".join(str(vars(attempt)).encode() for attempt in attempts) + office.delivery().body
    encodings = [
        raw,
        raw.hex().encode(),
        raw.hex().upper().encode(),
        base64.b64encode(raw).rstrip(b"="),
        base64.urlsafe_b64encode(raw).rstrip(b"="),
        urllib.parse.quote(raw).encode(),
        json.dumps(secret)[1:-1].encode(),
        urllib.parse.quote_plus(raw).encode(),
    ]
    assert len(receiver.requests) == 2
    assert not [one for one in encodings if one in seen]


def until(released):
    """A receiver that answers once ``released`` is set."""

    async def answer(request, writer):
        while not released.is_set():  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.02)
        await says()(request, writer)

    return answer


def test_hanging_receivers_do_not_delay_a_healthy_one(office, receivers):
    bad, good = receivers(2)
    released = threading.Event()
    bad.script = until(released)
    office.limits(connect=30, total=60)
    for number in range(13):
        organization, _member = office.found(f"bad{number}")
        for place in range(8):
            office.processed(office.flow(f"{bad.url}/{number}/{place}", of=organization))
    worker = threading.Thread(target=as_chosen(_drain_in_thread), args=(office.app, 30))
    worker.start()
    _wait_for(lambda: len(bad.requests) == 104)
    flow = office.flow(good.url)
    for _ in range(5):
        office.processed(flow)
    _wait_for(lambda: len(good.requests) == 5)
    assert not released.is_set()
    assert [attempt.url for attempt in office.attempts() if attempt.url != good.url] == []
    db.session.rollback()
    released.set()
    worker.join()
    assert set(office.states()) == {"delivered"}


def _wait_for(condition):
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until, "waited for 30 s in vain"
        time.sleep(0.02)


def _drain_in_thread(app, seconds=1):
    with app.app_context():
        jobs.drain(seconds=seconds)


def test_one_endpoint_gets_one_request_at_a_time_and_an_organization_eight(office):
    under_way, most = {}, {"endpoint": 0, "organization": 0}

    async def counts(request, writer):
        endpoint = request.path
        organization = endpoint.split("/")[1]
        for key in (endpoint, organization):
            under_way[key] = under_way.get(key, 0) + 1
        most["endpoint"] = max(most["endpoint"], under_way[endpoint])
        most["organization"] = max(most["organization"], under_way[organization])
        await asyncio.sleep(0.05)
        for key in (endpoint, organization):
            under_way[key] -= 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    with Receiver() as receiver:
        receiver.script = counts
        base = receiver.url.removesuffix("/hook")
        for number in range(2):
            organization, _member = office.found(f"org{number}")
            for place in range(12):
                flow = office.flow(f"{base}/{number}/{place}", of=organization)
                for _ in range(2):
                    office.processed(flow)
        drains = [threading.Thread(target=as_chosen(_drain_in_thread), args=(office.app,)) for _ in range(2)]
        for one in drains:
            one.start()
        for one in drains:
            one.join()
        office.drain()
        assert most == {"endpoint": 1, "organization": 8}
        assert len(set(receiver.events)) == len(receiver.events) == 48


def test_after_three_time_outs_an_endpoint_is_probed_once_a_minute(office, receiver, stopped):
    receiver.script = hangs
    office.limits(connect=0.1, total=0.1)
    flow = office.flow(receiver.url)
    for _ in range(6):
        office.processed(flow)
    office.drain()
    assert len(office.attempts()) == 3
    stopped.move(seconds=59)
    assert office.drain() == 0
    stopped.move(seconds=1)
    assert office.drain() == 1
    receiver.script = says()
    stopped.move(seconds=60)
    office.drain()
    stopped.move(minutes=10)
    office.drain()
    assert office.states() == ["delivered"] * 6


def test_the_tick_rings_while_anything_is_due(office, receiver):

    office.processed(office.flow(receiver.url))
    waker = office.app.extensions["parley.bell"]
    waker.enqueued.clear()
    jobs.tick()
    assert (waker.enqueued, receiver.requests) == ([(DRAIN_WEBHOOKS, ())], [])
    jobs.drain()
    assert office.states() == ["delivered"]
    waker.enqueued.clear()
    jobs.tick()
    assert waker.enqueued == []


def test_the_drain_leaves_after_its_slice_and_rings_for_the_rest(office):
    async def slow(_request, writer):
        await asyncio.sleep(0.15)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    with Receiver() as receiver:
        receiver.script = slow
        flow = office.flow(receiver.url)
        for _ in range(8):
            office.processed(flow)
        office.app.extensions["parley.bell"].enqueued.clear()
        jobs.drain(seconds=0.3)
        assert 1 <= len(receiver.requests) < 8
        assert office.app.extensions["parley.bell"].enqueued
        assert "sending" not in office.states()
        office.drain()
        assert office.states() == ["delivered"] * 8


def test_a_drain_whose_time_is_over_serves_the_healthy_while_it_waits_for_those_that_hang(office, receivers):
    bad, good = receivers(2)
    released = threading.Event()
    bad.script = until(released)
    office.limits(connect=30, total=60)
    office.processed(office.flow(bad.url))
    worker = threading.Thread(target=as_chosen(_drain_in_thread), args=(office.app, 0.1))
    worker.start()
    _wait_for(lambda: len(bad.requests) == 1)
    time.sleep(1.2)
    office.processed(office.flow(good.url))
    _wait_for(lambda: len(good.requests) == 1)
    assert worker.is_alive()
    db.session.rollback()
    released.set()
    worker.join()
    assert office.states() == ["delivered", "delivered"]


def test_the_user_agent_is_the_interfaces():
    assert delivery.USER_AGENT == "Service-API-Webhook/1.0"


def test_what_set_an_event_off_is_in_the_log_of_its_attempts(office, receiver, stopped, caplog):
    receiver.scripts = [says(500), says(200)]
    with request_id.under("call-7"):
        office.processed(office.flow(receiver.url))
    with caplog.at_level("INFO", logger="app.webhooks.jobs"):
        office.drain()
        stopped.move(hours=1)
        office.drain()
    told = [(one.request_id, one.event_id, one.attempt, one.outcome, one.status) for one in caplog.records]
    event = office.delivery().event_id
    assert told == [("call-7", event, 1, "http", 500), ("call-7", event, 2, "delivered", 200)]
