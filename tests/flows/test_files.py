"""Serving the logo and the intro video: to anyone with the id, in ranges, never as anything but a file."""

from collections.abc import Callable

import pytest

from app.core.db import db
from app.flows import actions
from app.flows.models import InterviewFlow
from app.gateways import Gateways
from tests.factories import Made
from tests.people import Browser

CONTENT = bytes(range(256)) * 4
Served = Callable[..., InterviewFlow]


@pytest.fixture
def with_video(make_flow: Made, engines: Gateways) -> InterviewFlow:
    db.session.rollback()
    engines.storage.put("flow-media/test.webm", CONTENT)
    flow: InterviewFlow = make_flow(preamble_video_key="flow-media/test.webm", preamble_video_type="video/webm")
    return flow


def test_a_stranger_sees_the_whole_file(client: Browser, with_video: InterviewFlow) -> None:
    seen = client.get(f"/flows/{with_video.id}/intro-video")
    assert (seen.status_code, seen.data) == (200, CONTENT)
    assert seen.content_type == "video/webm"
    assert seen.headers["Accept-Ranges"] == "bytes"
    assert seen.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in seen.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=1000-", 1000, 1024),
        ("bytes=-24", 1000, 1024),
        ("bytes=1000-99999", 1000, 1024),
    ],
)
def test_a_range_is_served(client: Browser, with_video: InterviewFlow, asked: str, start: int, end: int) -> None:
    seen = client.get(f"/flows/{with_video.id}/intro-video", headers={"Range": asked})
    assert (seen.status_code, seen.data) == (206, CONTENT[start:end])
    assert seen.headers["Content-Range"] == f"bytes {start}-{end - 1}/1024"
    assert seen.headers["Content-Length"] == str(end - start)


def test_a_range_beyond_the_end_is_a_416(client: Browser, with_video: InterviewFlow) -> None:
    seen = client.get(f"/flows/{with_video.id}/intro-video", headers={"Range": "bytes=1024-"})
    assert (seen.status_code, seen.headers["Content-Range"]) == (416, "bytes */1024")


@pytest.mark.parametrize("asked", ["bytes=x", "lines=1-2", "bytes=5-2", "bytes=0-1,5-6"])
def test_a_range_that_is_none_gives_the_whole_file(client: Browser, with_video: InterviewFlow, asked: str) -> None:
    seen = client.get(f"/flows/{with_video.id}/intro-video", headers={"Range": asked})
    assert (seen.status_code, len(seen.data)) == (200, 1024)


def test_head_tells_the_length_without_the_file(client: Browser, with_video: InterviewFlow) -> None:
    seen = client.head(f"/flows/{with_video.id}/intro-video")
    assert (seen.status_code, seen.data, seen.headers["Content-Length"]) == (200, b"", "1024")


def test_an_archived_flow_shows_nothing_any_more(client: Browser, with_video: InterviewFlow) -> None:
    actions.archive(with_video)
    db.session.commit()
    assert client.get(f"/flows/{with_video.id}/intro-video").status_code == 404


@pytest.mark.parametrize("name", ["logo", "intro-video"])
def test_a_flow_without_the_file_is_a_404(client: Browser, make_flow: Made, name: str) -> None:
    assert client.get(f"/flows/{make_flow().id}/{name}").status_code == 404


@pytest.mark.parametrize("flow_id", ["9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "x", "..%2f..%2fetc"])
@pytest.mark.parametrize("name", ["logo", "intro-video"])
def test_an_unknown_flow_is_a_404(client: Browser, flow_id: str, name: str) -> None:
    assert client.get(f"/flows/{flow_id}/{name}").status_code == 404
