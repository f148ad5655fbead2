"""Request ids, the access log, proxies, readers."""

import logging
import re

import pytest
from flask import request

from app.db import _reading


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
