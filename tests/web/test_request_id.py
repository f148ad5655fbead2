"""The id of a request goes along: into the log in both its forms, into jobs, into what they write."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer

from app.core import request_id, rooms
from app.core.queue import Queued, RedisWaker
from app.gateways.redis import embedded
from app.interviews.recordings import DRAW_WAVEFORM
from app.operations.processes.kinds import worker_for


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    url, server = embedded.found_or_started(tmp_path / "redis", "")
    assert server is not None
    with Redis.from_url(url) as client:
        yield client
    server.stop()


def test_a_wake_up_carries_the_id_and_the_job_works_under_it(app: Flask, redis: Redis, caplog: Any) -> None:
    caplog.handler.addFilter(request_id.RequestIdFilter())
    with request_id.under("call-9"):
        RedisWaker(redis).enqueue(DRAW_WAVEFORM, ("no-such-drawing",))
    queue = Queue(Queued.SPEECH.value, connection=redis, serializer=JSONSerializer)
    queue.enqueue_call(DRAW_WAVEFORM.key, args=("of-nobody",), result_ttl=0)  # by a release without ids
    with caplog.at_level("INFO", logger="app.operations.processes.runs"):
        worker_for(app, redis, Queued.SPEECH, jobs=rooms.jobs()).work(burst=True)
    told = [one for one in caplog.records if one.name == "app.operations.processes.runs"]
    assert {one.job for one in told} == {"recordings.jobs.draw_waveform"}
    assert [(one.ids, one.outcome) for one in told] == [("no-such-drawing", "done"), ("of-nobody", "done")]
    assert told[0].request_id == "call-9"
    assert request_id.SAFE.match(told[1].request_id)
    assert len(told[1].request_id) == 32
    assert request_id.current() == request_id.NONE


def test_lines_are_json_when_asked_for(client: Any, configured: Any, capsys: Any) -> None:
    configured("json")
    client.get("/setup/very-secret-token?email=a@b.example", headers={"X-Request-Id": "call-1"})
    (line,) = [one for one in capsys.readouterr().err.splitlines() if "parley.access" in one]
    told = json.loads(line)
    assert told.pop("time").endswith("+00:00")
    assert isinstance(told.pop("ms"), int)
    assert told.pop("message").startswith("GET /setup/<token> 404 ")
    assert told == {
        "level": "INFO",
        "logger": "parley.access",
        "request_id": "call-1",
        "event": "%s %s %d %d ms",
        "method": "GET",
        "route": "/setup/<token>",
        "status": 404,
    }


def test_lines_are_text_otherwise(client: Any, configured: Any, capsys: Any) -> None:
    configured("text")
    client.get("/healthz", headers={"X-Request-Id": "call-2"})
    (line,) = [one for one in capsys.readouterr().err.splitlines() if "parley.access" in one]
    assert " INFO parley.access [call-2]: GET /healthz 200 " in line


def test_what_nobody_set_off_has_no_id() -> None:
    assert request_id.current_or_none() is None
    with request_id.under("call-4"):
        assert request_id.current_or_none() == "call-4"


def test_an_id_that_could_forge_lines_is_replaced() -> None:
    with request_id.under("a\nb"):
        assert request_id.current() != "a\nb"
        assert request_id.SAFE.match(request_id.current())
