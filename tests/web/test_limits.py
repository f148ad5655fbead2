"""Rate limits of /v1, counted in a real Redis or in this process while it is away."""

import pytest
from flask import Flask

from app import embedded
from app.accounts import actions
from app.db import db
from app.web import limits
from tests.people import person


@pytest.fixture
def calls(probing):
    """``calls(**settings)``: two keys and a way to ping."""

    def build(**changes):
        app: Flask = probing(**changes)
        with app.app_context():
            owner = person(app, "owner@first.example", organization="First Ltd", role="admin")
            first = owner.key
            _row, second = actions.issue_api_key(owner.organization, name="second", by=owner.member)
            db.session.commit()

        def ping(key, path="/v1/ping", **kwargs):
            return app.test_client().get(path, headers={"Authorization": f"Bearer {key}"} if key else {}, **kwargs)

        return ping, first, second

    return build


def test_every_answer_carries_the_limit(calls):
    ping, key, _ = calls(rate_limit_per_minute=3)
    headers = ping(key).headers
    assert (headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"]) == ("3", "2")
    assert int(headers["X-RateLimit-Reset"]) > 1_700_000_000
    assert "Retry-After" not in headers


def test_beyond_the_limit_a_key_waits_and_others_go_on(calls):
    ping, first, second = calls(rate_limit_per_minute=3)
    assert [ping(first).status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = ping(first)
    assert set(refused.json) == {"code", "status", "message"}
    assert 0 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.headers["X-RateLimit-Remaining"] == "0"
    assert ping(second).status_code == 200


def test_strangers_are_counted_by_address_and_do_not_shut_out_keys(calls):
    ping, key, _ = calls(rate_limit_per_minute=3)
    strangers = [f"0000000{n}-0000-4000-8000-000000000000" for n in range(5)]
    assert [ping(stranger).status_code for stranger in strangers] == [401, 401, 401, 429, 429]
    assert ping(None).status_code == 429
    assert ping(key, environ_base={"REMOTE_ADDR": "10.9.8.7"}).status_code == 200
    assert ping(None, environ_base={"REMOTE_ADDR": "10.9.8.7"}).status_code == 401


def test_zero_turns_the_limits_off(calls):
    ping, key, _ = calls(rate_limit_per_minute=0)
    assert {ping(key).status_code for _ in range(30)} == {200}
    assert {ping(None).status_code for _ in range(30)} == {401}
    assert "X-RateLimit-Limit" not in ping(key).headers


def test_other_addresses_are_not_limited(calls):
    ping, _, _ = calls(rate_limit_per_minute=1)
    assert {ping(None, "/healthz").status_code for _ in range(5)} == {200}


def test_counts_live_in_redis_and_locally_at_half_while_it_is_away(calls, tmp_path):
    url, server = embedded.found_or_started(tmp_path / "redis", "")
    try:
        ping, key, _ = calls(rate_limit_per_minute=6, redis_url=url)
        assert ping(key).headers["X-RateLimit-Remaining"] == "5"
        assert embedded_keys(url)
    finally:
        server.stop()
    codes = [ping(key).status_code for _ in range(5)]
    assert codes == [200, 200, 200, 429, 429]


def embedded_keys(url):
    from app import queue

    return queue.connect(url).keys("LIMITS*")


def test_a_bucket_never_holds_the_key_itself(calls, tmp_path):
    url, server = embedded.found_or_started(tmp_path / "redis", "")
    try:
        ping, key, _ = calls(rate_limit_per_minute=6, redis_url=url)
        ping(key)
        assert not any(key.encode() in name for name in embedded_keys(url))
    finally:
        server.stop()


def test_a_page_for_strangers_can_be_limited_by_address(probing):
    app = probing(rate_limit_per_minute=100)
    app.add_url_rule("/open", "open", lambda: limits.count("open", most=2) or "ok")
    client = app.test_client()
    assert [client.get("/open").status_code for _ in range(3)] == [200, 200, 429]
    assert "Retry-After" in client.get("/open").headers
    assert client.get("/open", environ_base={"REMOTE_ADDR": "10.1.1.1"}).status_code == 200


@pytest.mark.parametrize(
    ("given", "spelled"),
    [("", "memory://"), ("redis://h:1/0", "redis://h:1/0"), ("unix:///x/redis.sock", "redis+unix:///x/redis.sock")],
)
def test_redis_addresses_are_spelled_for_the_counting_library(given, spelled):
    assert limits.storage_address(given) == spelled
