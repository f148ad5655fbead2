"""Fetching and keeping, where something fails on our side or after the fetch."""

import io
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from tempfile import TemporaryFile
from typing import Any

import pytest
from flask import Flask
from PIL import Image

from app.core.db import db
from app.core.db.row_security import as_chosen
from app.core.errors import GatewayError, Rejected
from app.flows import actions, media
from app.flows.models import InterviewFlow
from app.gateways import Gateways
from tests.factories import a_flow
from tests.flows.server import Files, files, picture, video
from tests.people import Person, person

__all__ = ["files"]

LEAST: dict[str, Any] = {"org_name": "First Ltd", "title": "Nurse", "questions": []}


class FullDisk:
    """A storage that takes nothing."""

    def put(self, key: str, content: object) -> None:
        raise GatewayError("the storage is full; free some space and try again", retryable=True)

    def delete(self, key: str) -> None:
        raise GatewayError("the storage failed", retryable=True)


@pytest.fixture
def full_disk(app: Flask, engines: Gateways) -> Iterator[None]:
    app.extensions["parley.gateways"] = replace(engines, storage=FullDisk())
    yield
    app.extensions["parley.gateways"] = engines


def _stored(engines: Gateways) -> list[str]:
    return list(engines.storage.list("flow-media"))


def test_files_are_deleted_when_the_row_cannot_be_written(engines: Gateways, files: Files) -> None:
    before = _stored(engines)
    logo, intro = files.serve("/logo", picture()), files.serve("/intro", video())
    seen = []

    def write() -> None:
        with media.stored(media.Wanted(logo, intro), http=engines.http, storage=engines.storage) as new:
            seen.append(sorted({new.logo_key, new.video_key} & set(_stored(engines))))
            raise RuntimeError("the database is away")

    with pytest.raises(RuntimeError):
        write()
    assert len(seen[0]) == 2
    assert _stored(engines) == before


def test_without_addresses_nothing_is_fetched(engines: Gateways) -> None:
    with media.stored(media.Wanted(), http=engines.http, storage=engines.storage) as files:
        assert files == media.StoredMedia()


@pytest.mark.usefixtures("full_disk")
def test_a_full_storage_is_a_503_and_saves_nothing(owner: Person, files: Files) -> None:
    url = files.serve("/logo", picture())
    answer = owner.api("POST", "/v1/interview-flows", json={**LEAST, "company_logo_url": url})
    assert answer.status_code == 503
    assert "Retry-After" in answer.headers
    assert db.session.query(InterviewFlow).count() == 0


@pytest.mark.usefixtures("full_disk")
def test_a_full_storage_loses_nothing_that_was_typed(owner: Person, files: Files) -> None:
    typed = {
        "title": "Nurse",
        "org_name": "First Ltd",
        "team_id": owner.team.id,
        "questions-0": "Typed with care?",
        "interview_type": "general",
        "language": "en-US",
        "voice_id": "vendora-Kate",
        "follow_up_limit": "1",
        "company_logo_url": files.serve("/logo", picture()),
    }
    seen = owner.browser.post("/flows/new", data=typed)
    assert seen.status_code == 503
    assert "Nothing was saved" in seen.text
    assert "Typed with care?" in seen.text
    assert db.session.query(InterviewFlow).count() == 0


def test_a_logo_is_written_anew_smaller_and_without_what_else_it_carried() -> None:
    given = io.BytesIO()
    exif = Image.Exif()
    exif[0x010E] = "somebody's address"
    exif[0x0112] = 6  # lies on its side
    Image.new("RGB", (4_096, 2_048), "teal").save(given, "JPEG", exif=exif)
    written, ending = media.read_logo(given)
    with Image.open(io.BytesIO(written)) as picture_again:
        assert (ending, picture_again.format, picture_again.size) == ("jpg", "JPEG", (512, 1_024))
        assert not picture_again.getexif()
    assert b"address" not in written


def test_a_transparent_logo_stays_transparent() -> None:
    given = io.BytesIO()
    Image.new("RGBA", (10, 10), (255, 0, 0, 0)).save(given, "WEBP")
    written, ending = media.read_logo(given)
    with Image.open(io.BytesIO(written)) as picture_again:
        assert (ending, picture_again.format, picture_again.getpixel((5, 5))[3]) == ("png", "PNG", 0)


def test_the_first_bytes_alone_make_no_video() -> None:
    with TemporaryFile() as file:  # a real file: the probe reads it in a process of its own
        file.write(video("mov"))
        assert media.video_type(file) == "video/quicktime"
    with TemporaryFile() as file:
        file.write(video("mp4")[:40] + b"\0" * 2_000)
        with pytest.raises(Rejected):
            media.video_type(file)


def test_a_flow_deleted_while_its_new_logo_is_fetched_keeps_nothing_of_it(own_app: Flask, files: Files) -> None:
    with own_app.app_context():
        owner = person(own_app, "owner@first.example", organization="First Ltd", role="admin")
        flow_id, storage = a_flow(owner).id, own_app.extensions["parley.gateways"].storage
        db.session.rollback()

        @as_chosen
        def page(handler: BaseHTTPRequestHandler) -> None:
            with own_app.app_context():
                actions.archive(db.session.get_one(InterviewFlow, flow_id))
                db.session.commit()
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(picture())

        typed = {
            "title": "New",
            "org_name": "x",
            "questions-0": "Why?",
            "interview_type": "general",
            "language": "en-US",
            "voice_id": "vendora-Kate",
            "follow_up_limit": "1",
            "company_logo_url": files.serve_by("/logo", page),
        }
        seen = owner.browser.post(f"/flows/{flow_id}/edit", data=typed)
        assert seen.status_code == 422
        assert "cannot be changed" in seen.text
        assert list(storage.list("flow-media")) == []
        db.session.expire_all()
        flow = db.session.get_one(InterviewFlow, flow_id)
        assert (flow.title, flow.logo_key) == ("Nurse", None)
        db.session.remove()
        db.engine.dispose()
