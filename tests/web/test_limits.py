"""Rate limits of /v1, counted in a real Redis or in this process while it is away."""

import re
from urllib.parse import urlsplit

import pytest
import time_machine
from flask import Flask

from app.accounts import actions
from app.conversation import link_state
from app.core import queue
from app.core.db import db
from app.gateways.redis import embedded
from app.web import rate_limits
from tests.contract.test_openapi import whole
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
            return app.test_client().open(path, headers={"Authorization": f"Bearer {key}"} if key else {}, **kwargs)

        return ping, first, second

    return build


def test_every_answer_carries_the_limit(calls):
    ping, key, _ = calls(rate_limit_per_minute=3)
    headers = ping(key).headers
    assert (headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"]) == ("3", "2")
    assert int(headers["X-RateLimit-Reset"]) > 1_700_000_000
    assert "Retry-After" not in headers


def test_the_document_has_the_headers_of_every_answer(calls):
    ping, key, _ = calls(rate_limit_per_minute=3)
    document = ping(None, path="/v1/openapi.json").json
    answers = [ping(key), ping(None), *(ping(key) for _ in range(3))]
    assert [answer.status_code for answer in answers] == [200, 401, 200, 200, 429]
    for answer in answers:
        told = document["paths"]["/v1/ping"]["get"]["responses"][str(answer.status_code)]
        documented = set(whole(document, told)["headers"])
        assert documented == {name for name, _ in answer.headers if name.startswith(("X-R", "X-P", "Retry", "WWW"))}


def test_beyond_the_limit_a_key_waits_and_others_go_on(calls):
    ping, first, second = calls(rate_limit_per_minute=3)
    assert [ping(first).status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = ping(first)
    assert set(refused.json) == {"code", "status", "message"}
    assert 0 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.headers["X-RateLimit-Remaining"] == "0"
    assert ping(second).status_code == 200


STRANGERS = [f"{n:08d}-0000-4000-8000-000000000000" for n in range(30)]


def test_strangers_are_counted_by_address(calls):
    ping, _, _ = calls(rate_limit_per_minute=3)
    assert [ping(stranger).status_code for stranger in STRANGERS[:5]] == [401, 401, 401, 429, 429]
    assert ping(None).status_code == 429
    assert ping(None, environ_base={"REMOTE_ADDR": "10.9.8.7"}).status_code == 401


def test_bad_keys_never_shut_out_a_working_key_from_the_same_address(calls):
    ping, key, other = calls(rate_limit_per_minute=5)
    assert {ping(stranger).status_code for stranger in STRANGERS} == {401, 429}
    assert ping(None).status_code == 429
    assert [ping(key).status_code for _ in range(6)] == [200] * 5 + [429]
    assert ping(other).status_code == 200


def test_bad_keys_never_shut_out_a_working_key_while_redis_is_away(calls, free_port):
    ping, key, _ = calls(rate_limit_per_minute=10, redis_url=f"redis://127.0.0.1:{free_port}/0")
    assert {ping(stranger).status_code for stranger in STRANGERS} == {401, 429}
    assert ping(key).status_code == 200


def test_unknown_keys_get_no_bucket_of_their_own(calls, redis_of_its_own):
    ping, key, _ = calls(rate_limit_per_minute=100, redis_url=redis_of_its_own)
    ping(key)
    ping(STRANGERS[0])
    before = len(buckets(redis_of_its_own))
    for stranger in STRANGERS:
        ping(stranger)
    assert len(buckets(redis_of_its_own)) == before


def test_the_window_slides(calls):
    ping, key, _ = calls(rate_limit_per_minute=60)
    with time_machine.travel(1_800_000_000, tick=False) as clock:
        assert [ping(key).status_code for _ in range(61)] == [200] * 60 + [429]
        clock.shift(61)  # with fixed windows all sixty would be free again
        codes = [ping(key).status_code for _ in range(60)]
        assert codes.count(200) <= 2
        clock.shift(30)
        assert 28 <= [ping(key).status_code for _ in range(60)].count(200) <= 32


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
        assert buckets(url)
    finally:
        server.stop()
    codes = [ping(key).status_code for _ in range(5)]
    assert codes == [200, 200, 200, 429, 429]


@pytest.fixture
def redis_of_its_own(tmp_path):
    url, server = embedded.found_or_started(tmp_path / "redis", "")
    yield url
    server.stop()


def buckets(url):
    return queue.connect(url).keys("*LIMITS*")


def test_a_bucket_never_holds_the_key_itself(calls, redis_of_its_own):
    ping, key, _ = calls(rate_limit_per_minute=6, redis_url=redis_of_its_own)
    ping(key)
    assert buckets(redis_of_its_own)
    assert not any(key.encode() in name for name in buckets(redis_of_its_own))


def test_a_page_for_strangers_can_be_limited_by_address(probing):
    app = probing(rate_limit_per_minute=100)
    app.add_url_rule("/open", "open", lambda: rate_limits.count("open", most=2) or "ok")
    client = app.test_client()
    assert [client.get("/open").status_code for _ in range(3)] == [200, 200, 429]
    assert "Retry-After" in client.get("/open").headers
    assert client.get("/open", environ_base={"REMOTE_ADDR": "10.1.1.1"}).status_code == 200


@pytest.mark.parametrize(
    ("given", "spelled"),
    [("", "memory://"), ("redis://h:1/0", "redis://h:1/0"), ("unix:///x/redis.sock", "redis+unix:///x/redis.sock")],
)
def test_redis_addresses_are_spelled_for_the_counting_library(given, spelled):
    assert rate_limits.storage_address(given) == spelled


@pytest.fixture
def school(probing):
    """``links(many)``: interviews of one flow; and a browser per candidate, all behind one address."""
    app = probing(rate_limit_per_minute=600)
    with app.app_context():
        owner = person(app, "owner@first.example", organization="First Ltd", role="admin")
        made = {"org_name": "First", "title": "Nurses", "questions": ["Why?"], "interview_type": "recruitment"}
        headers = {"Authorization": f"Bearer {owner.key}"}
        flow = app.test_client().post("/v1/interview-flows", json=made, headers=headers).json

    def links(many):
        found = []
        for number in range(many):
            body = {
                "interview_flow_id": flow["interview_flow_id"],
                "interviewee_email_address": f"person{number}@example.com",
            }
            booked = app.test_client().post("/v1/interviews", json=body, headers=headers)
            found.append(urlsplit(booked.json["interview_link"]).path)
        return found

    links.app = app
    return links


def test_a_school_opens_its_interviews_from_one_address(school):
    everyone = school(45)
    assert {school.app.test_client().get(link).status_code for link in everyone} == {200}


def test_one_link_that_is_opened_without_end_is_refused_in_words_and_no_other(school):
    often, other = school(2)
    client = school.app.test_client()
    codes = [client.get(often).status_code for _ in range(40)]
    assert (codes[:30], codes[30:]) == ([200] * 30, [429] * 10)
    refused = client.get(often)
    assert "Too many requests. Please wait a moment." in refused.text
    assert "Wait one minute" in refused.text
    assert refused.headers["Retry-After"] == "60"
    assert client.get(other).status_code == 200


@pytest.mark.parametrize("page", ["{link}/start", "{link}/own", "{link}/own/code", "/interview/api/open/x"])
def test_candidates_read_in_their_language_that_a_page_is_opened_too_often(school, monkeypatch, page):
    monkeypatch.setattr(rate_limits, "OPENS_PER_ADDRESS", 0)
    monkeypatch.setattr(link_state, "OPENS_PER_LINK", 0)
    (link,) = school(1)
    send = school.app.test_client().post if page.endswith(("start", "code")) else school.app.test_client().get
    refused = send(page.format(link=link), headers={"Accept-Language": "de"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert 'lang="de-DE"' in refused.text
    again = re.search(r'<a class="button" href="([^"]+)"', refused.text).group(1)
    assert school.app.test_client().get(again, headers={"Accept-Language": "de"}).status_code == 429, "a page, not 405"


def test_start_of_a_valid_link_is_never_refused_because_of_neighbours(school, monkeypatch):
    monkeypatch.setattr(rate_limits, "OPENS_PER_ADDRESS", 5)
    candidate, *others = school(8)
    browser = school.app.test_client()
    token = re.search(r'name="csrf_token" value="([^"]+)"', browser.get(candidate).text).group(1)
    codes = [school.app.test_client().get(link).status_code for link in others]
    assert 429 in codes
    begun = browser.post(f"{candidate}/start", data={"csrf_token": token})
    assert begun.status_code == 422  # what is missing in the form, not 429


@pytest.mark.parametrize(("path", "code"), [("/v1/nothing", 404), ("/v1/interviews/x/y", 404), ("/v1/ping", 405)])
def test_addresses_that_are_not_there_carry_and_keep_the_limit(calls, path, code):
    ping, key, _ = calls(rate_limit_per_minute=3)
    method = "DELETE" if code == 405 else "GET"
    answers = [ping(key, path, method=method) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [code, code, code, 429]
    assert [answer.headers["X-RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"]
    assert {answer.headers["X-RateLimit-Limit"] for answer in answers} == {"3"}
    assert int(answers[0].headers["X-RateLimit-Reset"]) > 1_700_000_000
    assert ping(key).status_code == 200
