"""Logo and intro video of POST /v1/interview-flows: the usable is kept and served, all else is a 422 with a reason."""

import socket
import time
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from typing import Any

import pytest

from app.core.db import db
from app.flows import media
from app.flows.models import InterviewFlow
from app.gateways import Gateways
from app.gateways.outbound import FetchLimits, Unreachable
from tests.flows.server import Files, Page, bomb, files, picture, sound_only, video
from tests.people import Person

PATH = "/v1/interview-flows"
LEAST: dict[str, Any] = {"org_name": "First Ltd", "title": "Nurse", "questions": ["Why?"]}

__all__ = ["files"]


def _stored(engines: Gateways) -> list[str]:
    return list(engines.storage.list("flow-media"))


def _create(owner: Person, **values: Any) -> Any:
    return owner.api("POST", PATH, json={**LEAST, **values})


def _refused(owner: Person, engines: Gateways, **values: Any) -> str:
    """The reason; neither a row nor a file may be left."""
    before = _stored(engines)
    answer = _create(owner, **values)
    assert answer.status_code == 422, answer.json
    field = list(values)[-1]
    assert list(answer.json["errors"]["json"]) == [field]
    assert answer.json["message"].startswith(f"{field}: ")
    assert db.session.query(InterviewFlow).count() == 0
    db.session.rollback()
    assert _stored(engines) == before
    return str(answer.json["message"])


@pytest.mark.parametrize(("kind", "served"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/png")])
def test_a_logo_is_fetched_kept_and_served(owner: Person, files: Files, kind: str, served: str) -> None:
    url = files.serve("/logo", picture(kind), "text/html")
    flow_id = _create(owner, company_logo_url=url).json["interview_flow_id"]
    assert owner.api("GET", f"{PATH}/{flow_id}").json["company_logo_url"] == url
    seen = owner.app.test_client().get(f"/flows/{flow_id}/logo")
    assert seen.headers["Cross-Origin-Resource-Policy"] == "cross-origin", "mail on other sites shows it"
    assert (seen.status_code, seen.content_type) == (200, served)
    assert seen.headers["X-Content-Type-Options"] == "nosniff"
    assert seen.data != picture(kind)
    assert files.asked == ["/logo"]


@pytest.mark.parametrize(
    ("container", "served"), [("mp4", "video/mp4"), ("mov", "video/quicktime"), ("webm", "video/webm")]
)
def test_an_intro_video_is_fetched_kept_and_served(owner: Person, files: Files, container: str, served: str) -> None:
    content = video(container)
    url = files.serve("/intro", content, "application/octet-stream")
    flow_id = _create(owner, preamble_video_url=url).json["interview_flow_id"]
    seen = owner.app.test_client().get(f"/flows/{flow_id}/intro-video")
    assert (seen.status_code, seen.content_type, seen.data) == (200, served, content)


def test_a_redirect_of_the_host_is_followed(owner: Person, files: Files) -> None:
    files.serve("/there", picture())

    def page(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", "/there")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    assert _create(owner, company_logo_url=files.serve_by("/here", page)).status_code == 200
    assert files.asked == ["/here", "/there"]


HTML = b"<!doctype html><script>alert(1)</script>" + b" " * 5_000
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
FTYP = b"\x00\x00\x00\x1cftypisom\x00\x00\x02\x00isomiso2mp41"


@pytest.mark.parametrize(
    "content",
    [HTML, SVG, b"", b"GIF89a" + b"\0" * 50, picture("PNG")[:60], picture("GIF"), picture("BMP"), bomb(60_000, 60_000)],
    ids=["html", "svg", "empty", "gif head", "cut off", "gif", "bmp", "bomb"],
)
def test_what_is_no_picture_is_refused_as_logo(owner: Person, engines: Gateways, files: Files, content: bytes) -> None:
    reason = _refused(owner, engines, company_logo_url=files.serve("/x.png", content, "image/png"))
    assert "PNG, JPEG or WebP" in reason


def test_a_logo_of_too_many_pixels_is_refused(owner: Person, engines: Gateways, files: Files) -> None:
    reason = _refused(owner, engines, company_logo_url=files.serve("/x.png", bomb(4_097, 10), "image/png"))
    assert "4097" in reason
    assert "4096" in reason


def test_a_logo_of_too_many_bytes_is_refused(owner: Person, engines: Gateways, files: Files) -> None:
    content = picture() + b"\0" * (2 * 1024 * 1024)
    assert "2097152" in _refused(owner, engines, company_logo_url=files.serve("/x.png", content))


@pytest.mark.parametrize(
    "content",
    [
        HTML,
        b"",
        b"\0" * 100_000,
        FTYP,
        FTYP + HTML,
        picture(),
        video("matroska"),
        sound_only(),
        video("mp4")[:300],
        b"\x1a\x45\xdf\xa3" + b"\0" * 50,
        b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
    ],
    ids=["html", "empty", "zeros", "head", "head+html", "png", "matroska", "sound", "cut off", "ebml", "playlist"],
)
def test_what_is_no_video_is_refused_as_intro(owner: Person, engines: Gateways, files: Files, content: bytes) -> None:
    reason = _refused(owner, engines, preamble_video_url=files.serve("/x.mp4", content, "video/mp4"))
    assert "MP4, QuickTime or WebM" in reason


def _promising(length: str, sent: bytes) -> Page:
    def page(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", length)
        handler.end_headers()
        handler.wfile.write(sent)
        handler.close_connection = True

    return page


def test_a_host_that_promises_too_much_is_refused_before_it_sends(
    owner: Person, engines: Gateways, files: Files
) -> None:
    url = files.serve_by("/x", _promising("100000001", video("mp4")))
    assert "100000001" in _refused(owner, engines, preamble_video_url=url)


def test_a_host_that_sends_less_than_it_promised_is_refused(owner: Person, engines: Gateways, files: Files) -> None:
    content = video("mp4")
    url = files.serve_by("/x", _promising(str(len(content) + 50), content))
    _refused(owner, engines, preamble_video_url=url)


def test_a_host_that_never_ends_is_cut_off(owner: Person, engines: Gateways, files: Files) -> None:
    sent = []

    def page(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(picture() + b"\0" * 65_536)
            sent.append(65_536)

    assert "2097152" in _refused(owner, engines, company_logo_url=files.serve_by("/x", page))
    assert sum(sent) < 20 * 1024 * 1024


@pytest.mark.parametrize("status", [204, 206, 404, 500])
def test_a_host_that_has_no_file_is_named_with_its_status(
    owner: Person, engines: Gateways, files: Files, status: int
) -> None:
    def page(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    assert str(status) in _refused(owner, engines, company_logo_url=files.serve_by("/x", page))


def test_a_host_that_does_not_answer_is_refused(owner: Person, engines: Gateways, free_port: int) -> None:
    _refused(owner, engines, preamble_video_url=f"http://127.0.0.1:{free_port}/x.mp4")


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/x.png",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:10.0.0.1]/x",
        "http://192.168.1.1/x.png",
        "http://[fd00:ec2::254]/",
    ],
)
def test_an_address_inside_is_never_asked(owner: Person, engines: Gateways, url: str) -> None:
    _refused(owner, engines, company_logo_url=url)


def test_a_redirect_to_an_address_inside_is_not_followed(owner: Person, engines: Gateways, files: Files) -> None:
    def page(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(301)
        handler.send_header("Location", "http://10.0.0.1/x.png")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    _refused(owner, engines, company_logo_url=files.serve_by("/x", page))


def test_a_good_logo_is_not_kept_when_the_video_is_unusable(owner: Person, engines: Gateways, files: Files) -> None:
    logo, broken = files.serve("/logo", picture()), files.serve("/video", HTML)
    _refused(owner, engines, company_logo_url=logo, preamble_video_url=broken)


def test_a_repeated_call_fetches_and_creates_once(owner: Person, files: Files) -> None:
    body = {**LEAST, "company_logo_url": files.serve("/logo", picture())}
    headers = {"Idempotency-Key": "one"}
    first, second = (owner.api("POST", PATH, json=body, headers=headers) for _ in range(2))
    assert (first.status_code, second.json) == (200, first.json)
    assert files.asked == ["/logo"]
    assert db.session.query(InterviewFlow).count() == 1


def test_nothing_is_fetched_for_a_body_that_is_wrong_anyway(owner: Person, files: Files) -> None:
    url = files.serve("/logo", picture())
    assert _create(owner, company_logo_url=url, questions=[" "]).status_code == 422
    assert _create(owner, company_logo_url=url, team_id="x").status_code == 403
    assert files.asked == []


def test_a_slow_trickle_does_not_outlive_the_deadline(owner: Person, engines: Gateways, files: Files) -> None:
    """The logo's ten seconds hold for the whole download, however the bytes come."""

    def page(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            handler.wfile.write(b"\0")
            time.sleep(0.05)

    assert (media.LOGO_LIMITS.seconds, media.VIDEO_LIMITS.seconds) == (10, 60)
    with pytest.raises(Unreachable) as failure:
        engines.http.fetch(files.serve_by("/x", page), BytesIO(), limits=FetchLimits(max_bytes=10**9, seconds=0.5))
    assert failure.value.kind == "timeout"


def test_an_endless_video_is_cut_off_and_leaves_nothing(owner: Person, engines: Gateways, files: Files) -> None:
    def page(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(video("mp4"))
        while True:
            handler.wfile.write(b"\0" * 1024 * 1024)

    assert "100000000" in _refused(owner, engines, preamble_video_url=files.serve_by("/x", page))
