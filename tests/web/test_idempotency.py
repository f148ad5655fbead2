"""``Idempotency-Key``: a repeated call is answered as before and does nothing twice."""

import hashlib
import threading
import uuid
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.accounts import idempotency
from app.accounts.models import IdempotentCall
from app.core import clock
from app.core.db import db

BODY = {"name": "Night shift"}


@pytest.fixture
def key():
    return uuid.uuid4().hex


def _post(probe, key, body=None):
    return probe("POST", "/v1/probe", json=body or BODY, headers={"Idempotency-Key": key})


def _row(probe, key):
    with probe.app.app_context():
        return db.session.scalar(sa.select(IdempotentCall).filter_by(key=key))


def _change(probe, key, **values):
    with probe.app.app_context():
        db.session.execute(sa.update(IdempotentCall).where(IdempotentCall.key == key).values(**values))
        db.session.commit()


def test_a_repeated_call_is_replayed_byte_for_byte(probe, key):
    before = probe.teams()
    first, second = _post(probe, key), _post(probe, key)
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.data == second.data
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert second.mimetype == "application/json"
    assert probe.teams() == before + 1


def test_without_the_header_every_call_counts(probe):
    before = probe.teams()
    probe("POST", "/v1/probe", json=BODY)
    probe("POST", "/v1/probe", json=BODY)
    assert probe.teams() == before + 2


def test_another_body_under_the_same_key_is_refused(probe, key):
    _post(probe, key)
    response = _post(probe, key, {"name": "Day shift"})
    assert response.status_code == 422
    assert list(response.json["errors"]["headers"]) == ["Idempotency-Key"]


def test_a_failed_call_did_nothing_and_may_be_tried_again(probe, key):
    assert _post(probe, key, {"name": ""}).status_code == 422
    assert _row(probe, key) is None
    assert _post(probe, key).status_code == 200


@pytest.mark.parametrize(
    "same", [b'{"name": "Night shift"}', b'{\n\t"name" : "Night shift"\r\n}', b'{"name":"N\\u0069ght shift"}']
)
def test_the_same_json_written_differently_is_the_same_call(probe, key, same):
    before = probe.teams()
    first = _post(probe, key)
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
    second = probe("POST", "/v1/probe", data=same, headers=headers)
    assert (second.status_code, second.data) == (200, first.data)
    assert probe.teams() == before + 1


@pytest.mark.parametrize("other", [b'{"name": "Night shift', b"", b'{"name": "Night  shift"}', b"[" * 100_000])
def test_a_body_that_is_no_json_is_another_one(probe, key, other):
    _post(probe, key)
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
    assert probe("POST", "/v1/probe", data=other, headers=headers).status_code == 422


def test_a_call_that_was_kept_by_its_raw_bytes_is_still_known(probe, key):
    raw = b'{"name" :"Night shift"}'
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
    first = probe("POST", "/v1/probe", data=raw, headers=headers)
    _change(probe, key, body_hash=hashlib.sha256(raw).hexdigest())
    assert probe("POST", "/v1/probe", data=raw, headers=headers).data == first.data


@pytest.mark.parametrize(("ago", "wait"), [(0, 2), (9, 2), (40, 61), (99.5, 1)])
def test_a_call_that_is_still_running_says_how_long_to_wait(probe, key, ago, wait):
    _post(probe, key)
    now = clock.now()
    _change(probe, key, status=None, body=None, committed=False, started_at=now - timedelta(seconds=ago))
    with clock.replaced(lambda: now):
        response = _post(probe, key)
    assert (response.status_code, response.headers["Retry-After"]) == (409, str(wait))
    if ago > 9:
        with clock.replaced(lambda: now + timedelta(seconds=wait)):
            assert _post(probe, key).status_code == 200


def test_a_call_whose_process_died_before_its_work_is_taken_over(probe, key):
    before = probe.teams()
    _post(probe, key)
    past = clock.now() - idempotency.RUNNING - timedelta(seconds=1)
    _change(probe, key, status=None, body=None, committed=False, started_at=past)
    assert _post(probe, key).status_code == 200
    assert probe.teams() == before + 2


def test_a_slow_call_that_was_taken_over_does_nothing_and_leaves_the_repeat_alone(probe, key):
    before = probe.teams()
    response = _post(probe, key, {"name": "is taken over"})
    assert (response.status_code, "repeat" in response.json["message"]) == (409, True)
    assert probe.teams() == before
    assert _row(probe, key).committed is False


def test_a_call_whose_process_died_after_its_work_is_never_done_twice(probe, key):
    before = probe.teams()
    assert _post(probe, key, {"name": "fails after the commit"}).status_code == 500
    assert _row(probe, key).committed is True
    assert _post(probe, key, {"name": "fails after the commit"}).status_code == 409
    _change(probe, key, started_at=clock.now() - idempotency.RUNNING - timedelta(seconds=1))
    response = _post(probe, key, {"name": "fails after the commit"})
    assert (response.status_code, "response was lost" in response.json["message"]) == (409, True)
    assert probe.teams() == before + 1


def test_an_answer_that_was_promised_survives_the_death_of_its_process(probe, key):
    before = probe.teams()
    assert _post(probe, key, {"name": "fails after the promise"}).status_code == 500
    repeat = _post(probe, key, {"name": "fails after the promise"})
    assert (repeat.status_code, repeat.headers["Idempotent-Replayed"], list(repeat.json)) == (200, "true", ["team_id"])
    assert probe.teams() == before + 1


def test_the_answer_is_kept_for_a_day(probe, key):
    first = _post(probe, key)
    _change(probe, key, created_at=clock.now() - timedelta(hours=23, minutes=59))
    assert _post(probe, key).data == first.data
    _change(probe, key, created_at=clock.now() - timedelta(hours=24, minutes=1))
    assert _post(probe, key).data != first.data


@pytest.mark.parametrize("bad", ["", "x" * 256, "a b", "ä"])
def test_an_impossible_key_is_named(probe, bad):
    response = _post(probe, bad)
    assert response.status_code == 422
    assert "Idempotency-Key" in response.json["message"]


def test_of_many_equal_calls_at_once_one_is_carried_out(probe, key):
    before, gate, codes = probe.teams(), threading.Barrier(6), []

    def call():
        gate.wait(10)
        codes.append(_post(probe, key).status_code)

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(codes) == 6
    assert set(codes) <= {200, 409}
    assert 200 in codes
    assert probe.teams() == before + 1


def test_a_get_ignores_the_header(probe, key):
    assert probe("GET", "/v1/ping", headers={"Idempotency-Key": key}).status_code == 200
    assert _row(probe, key) is None
