"""Whatever breaks on the way, exactly one interview is created, and the caller gets its id."""

import asyncio
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import parley
import pytest
from parley import AsyncParley, Parley

from . import breaking
from .breaking import Line, in_seconds, refuses
from .conftest import Served

WAYS = {
    "reset at once": breaking.reset_at_once,
    "reset before the headers": breaking.reset_before_headers,
    "reset after the headers": breaking.reset_after_headers,
    "half of the headers": breaking.half_headers,
    "half of the body": breaking.half_body,
    "half of the body, and no length": breaking.half_body_without_length,
    "a body that drips": breaking.slow_drip,
    "no response": breaking.silence,
    "another protocol": breaking.another_protocol,
    "429 with seconds": refuses("429 Too Many Requests", "Retry-After: 3"),
    "429 with a date": refuses("429 Too Many Requests", in_seconds(3600 * 24 * 365 * -1)),
    "429 with nonsense": refuses("429 Too Many Requests", "Retry-After: soon"),
    "500 after the work": refuses("500 Internal Server Error", works=True),
    "502 before the work": refuses("502 Bad Gateway"),
    "502 after the work": refuses("502 Bad Gateway", works=True),
    "503 with seconds": refuses("503 Service Unavailable", "Retry-After: 5"),
    "504 after the work": refuses("504 Gateway Timeout", works=True),
}


@pytest.fixture
def flow_id(served: Served) -> str:
    return served.client().flows.create(org_name="F", title="T", questions=["Why?"]).interview_flow_id


@pytest.fixture
def port(served: Served) -> int:
    return int(urlsplit(served.url).port or 0)


def created(line: Line, key: str, flow_id: str, slept: list[float]) -> str:
    with Parley(key, line.url, timeout=line.seconds) as client:
        client._sleep = slept.append
        return client.interviews.create(flow_id).interview_id


def created_with_asyncio(line: Line, key: str, flow_id: str, slept: list[float]) -> str:
    async def call() -> str:
        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        async with AsyncParley(key, line.url, timeout=line.seconds) as client:
            client._sleep = sleep
            return (await client.interviews.create(flow_id)).interview_id

    return asyncio.run(call())


@pytest.mark.parametrize("create", [created, created_with_asyncio])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_exactly_one_interview_is_created(
    served: Served, flow_id: str, port: int, way: breaking.Way, create: Callable[..., str]
) -> None:
    slept: list[float] = []
    with Line(port, way) as line:
        interview_id = create(line, served.key, flow_id, slept)
    assert [one.interview_id for one in served.client().interviews.list()] == [interview_id]
    keys = [re.findall(rb"(?i)idempotency-key: (\S+)", request) for request in line.requests]
    assert len({tuple(one) for one in keys}) == 1
    assert len(slept) == 1
    assert len(line.requests) == (1 if way is breaking.reset_at_once else 2)


@pytest.mark.parametrize("create", [created, created_with_asyncio])
def test_two_faults_in_a_row_are_survived_and_three_are_not(
    served: Served, flow_id: str, port: int, create: Callable[..., str]
) -> None:
    faults: list[Any] = [breaking.reset_before_headers, refuses("503 Service Unavailable")]
    slept: list[float] = []
    with Line(port, *faults) as line:
        create(line, served.key, flow_id, slept)
    assert 0.3 < slept[0] < slept[1] < 1.1
    with Line(port, *faults, breaking.half_body) as line, pytest.raises(parley.APIConnectionError) as lost:
        create(line, served.key, flow_id, [])
    assert len(list(served.client().interviews.list())) == 2
    client = served.client()
    found = client.interviews.create(flow_id, idempotency_key=lost.value.idempotency_key)
    assert len(list(client.interviews.list())) == 2
    assert found.interview_id in {one.interview_id for one in client.interviews.list()}


@pytest.mark.parametrize("create", [created, created_with_asyncio])
@pytest.mark.parametrize(
    "told",
    ["Retry-After: 99999999", "Retry-After: " + "9" * 40, in_seconds(24 * 3600)],  # from when tests are collected
    ids=["seconds", "forty digits", "a date"],
)
def test_nobody_waits_for_an_hour(
    served: Served, flow_id: str, port: int, told: str, create: Callable[..., str]
) -> None:
    slept: list[float] = []
    with Line(port, refuses("429 Too Many Requests", told)) as line, pytest.raises(parley.RateLimitError) as refused:
        create(line, served.key, flow_id, slept)
    assert slept == []
    assert (refused.value.retry_after or 0) > 3000
    assert list(served.client().interviews.list()) == []


def test_the_time_that_the_server_names_is_kept(served: Served, flow_id: str, port: int) -> None:
    slept: list[float] = []
    ways = [refuses("429 Too Many Requests", "Retry-After: 7"), refuses("503 Service Unavailable", in_seconds(30))]
    with Line(port, *ways) as line:
        created(line, served.key, flow_id, slept)
    assert slept[0] == 7
    assert 25 < slept[1] <= 30


def test_a_first_call_that_still_runs_is_waited_for_with_the_same_key(served: Served, flow_id: str, port: int) -> None:
    slept: list[float] = []
    running = refuses("409 Conflict", "Retry-After: 2")
    with Line(port, breaking.reset_before_headers, running, running, running) as line:
        created(line, served.key, flow_id, slept)
    assert slept[1:] == [2, 2, 2]
    assert len(list(served.client().interviews.list())) == 1


def test_other_refusals_are_not_repeated(served: Served, flow_id: str, port: int) -> None:
    for status in (
        "400 Bad Request",
        "401 Unauthorized",
        "403 Forbidden",
        "404 Not Found",
        "409 Conflict",
        "413 Large",
        "422 Unprocessable Entity",
        "301 Moved",
        "418 Teapot",
    ):
        with Line(port, refuses(status)) as line, pytest.raises(parley.APIStatusError) as refused:
            created(line, served.key, flow_id, [])
        assert len(line.requests) == 1
        assert (refused.value.code, refused.value.error) == (int(status[:3]), None)


def test_a_page_instead_of_json_is_an_error_of_its_own(served: Served, flow_id: str, port: int) -> None:
    page = refuses("200 OK")
    with Line(port, page, page, page) as line, pytest.raises(parley.UnexpectedResponseError):
        created(line, served.key, flow_id, [])


def test_without_retries_the_first_fault_is_the_last(served: Served, port: int) -> None:
    for way in (breaking.reset_at_once, breaking.silence, refuses("409 Conflict", "Retry-After: 0")):
        with Line(port, way) as line, Parley(served.key, line.url, max_retries=0, timeout=line.seconds) as client:
            with pytest.raises(parley.ParleyError):
                client.ping()
            assert client.ping() == "pong"


def test_nothing_listens(free_port: int) -> None:
    with Parley("key", f"http://127.0.0.1:{free_port}") as client:
        client._sleep = lambda seconds: None
        with pytest.raises(parley.APIConnectionError, match="GET /v1/ping: "):
            client.ping()


def test_time_is_up_is_an_error_of_its_own(served: Served, port: int) -> None:
    with Line(port, breaking.slow_drip) as line:
        client = Parley(served.key, line.url, max_retries=0, timeout=0.3)
        with client, pytest.raises(parley.APITimeoutError):
            client.ping()
