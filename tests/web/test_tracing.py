"""Request ids, the access log, proxies, readers."""

import logging
import re
from dataclasses import replace

import pytest
from flask import request

from app.core.db import _reading
from app.gateways.redis import embedded
from app.operations.cli import check


@pytest.mark.parametrize("given", ["abc-123_X.y", "x" * 64])
def test_a_safe_request_id_is_kept(client, given):
    assert client.get("/healthz", headers={"X-Request-Id": given}).headers["X-Request-Id"] == given


@pytest.mark.parametrize("given", [None, "", "x" * 65, "a b", "<script>", "é"])
def test_any_other_request_id_is_replaced(client, given):
    response = client.get("/healthz", headers={"X-Request-Id": given} if given is not None else {})
    assert re.fullmatch(r"[0-9a-f]{32}", response.headers["X-Request-Id"])


def test_the_access_log_names_routes_and_ids_and_nothing_else(client, caplog):
    with caplog.at_level(logging.INFO, logger="parley.access"):
        client.get("/setup/very-secret-token?email=a@b.example")
    assert "GET /setup/<token> 404" in caplog.text
    assert "very-secret-token" not in caplog.text
    assert "a@b.example" not in caplog.text


@pytest.mark.parametrize(("hops", "seen"), [(0, "127.0.0.1"), (1, "10.0.0.2"), (2, "10.0.0.1")])
def test_only_trusted_proxies_are_believed(probing, hops, seen):
    app = probing(trusted_proxies=hops)
    app.add_url_rule("/who", "who", lambda: request.remote_addr)
    response = app.test_client().get("/who", headers={"X-Forwarded-For": "10.0.0.1, 10.0.0.2"})
    assert response.data.decode() == seen


def test_a_proxy_that_is_not_counted_is_warned_of_once(probing, caplog):
    client = probing(trusted_proxies=0).test_client()
    client.get("/healthz")
    assert "TRUSTED_PROXIES" not in caplog.text
    for _ in range(3):
        client.get("/healthz", headers={"X-Forwarded-For": "10.0.0.1"})
    assert caplog.text.count("a request had X-Forwarded-For, but TRUSTED_PROXIES is 0") == 1
    caplog.clear()
    probing(trusted_proxies=1).test_client().get("/healthz", headers={"X-Forwarded-For": "10.0.0.1"})
    assert "TRUSTED_PROXIES" not in caplog.text


def test_parley_check_warns_of_a_proxy_that_is_not_counted(probing, tmp_path):
    url, server = embedded.found_or_started(tmp_path / "redis", "")
    try:
        app = probing(trusted_proxies=0, redis_url=url)
        known = app.extensions["parley.settings"]
        words = lambda **changes: check.look_at_proxies(replace(known, **changes))[1]  # noqa: E731
        assert words() == "none in front"
        assert "TRUSTED_PROXIES" in words(app_url="https://parley.example.com")
        app.test_client().get("/healthz", headers={"X-Forwarded-For": "10.0.0.1"})
        assert "in the last 24 hours a request had X-Forwarded-For, but TRUSTED_PROXIES is 0" in words()
        assert words(trusted_proxies=2) == "2 in front; their X-Forwarded-* headers are trusted"
    finally:
        server.stop()


def test_only_requests_that_change_something_begin_as_writers(probing):
    app = probing()
    app.add_url_rule("/mode", "mode", lambda: "reader" if _reading.get() else "writer", methods=["GET", "POST"])
    client = app.test_client()
    assert [client.get("/mode").data, client.post("/mode").data, client.get("/mode").data] == [
        b"reader",
        b"writer",
        b"reader",
    ]


def test_what_a_thread_does_after_a_request_begins_as_a_writer(client):
    client.get("/healthz")
    assert _reading.get() is False
