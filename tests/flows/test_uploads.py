"""Logo and intro video uploaded in the flow's editor."""

import io
from typing import Any

import pytest
from werkzeug.datastructures import FileStorage
from werkzeug.test import encode_multipart

from app.core.db import db
from app.flows.models import InterviewFlow
from app.gateways import Gateways
from tests.factories import Made
from tests.flows.server import picture, video
from tests.people import Browser, Person

MIB = 1024 * 1024


def _typed(person: Person, **values: Any) -> dict[str, Any]:
    typed = {"title": "Nurse", "org_name": "First Ltd", "team_id": person.team.id, "interview_type": "recruitment"}
    settings = {"language": "en-US", "voice_id": "vendora-Kate", "follow_up_limit": "1", "assess_language": ""}
    return {**typed, **settings, "questions-0": "Why?", **values}


def _file(content: bytes, name: str) -> FileStorage:
    return FileStorage(io.BytesIO(content), name)


def _sent(browser: Browser, path: str, typed: dict[str, Any]) -> Any:
    """The answer to a form. It is encoded here: the test client would leave the file of a large one open."""
    boundary, body = encode_multipart(typed)
    return browser.post(path, data=body, content_type=f"multipart/form-data; boundary={boundary}")


def _kept(engines: Gateways) -> list[str]:
    db.session.rollback()
    return list(engines.storage.list("flow-media"))


def _only_flow() -> InterviewFlow:
    db.session.expire_all()
    return db.session.query(InterviewFlow).one()


@pytest.fixture(autouse=True)
def _empty(engines: Gateways) -> None:
    engines.storage.delete_prefix("flow-media")


def test_logo_and_video_are_uploaded_replaced_and_removed(owner: Person, client: Browser, engines: Gateways) -> None:
    browser = owner.browser
    both = {"logo_file": _file(picture(), "../a.png"), "video_file": _file(video("webm"), "film.webm")}
    assert _sent(browser, "/flows/new", _typed(owner, **both)).status_code == 303
    flow = _only_flow()
    logo_key, video_key, edit = flow.logo_key, flow.preamble_video_key, f"/flows/{flow.id}/edit"
    assert (flow.company_logo_url, flow.preamble_video_url, flow.preamble_video_type) == (None, None, "video/webm")
    assert client.get(f"/flows/{flow.id}/logo").content_type == "image/png"
    assert client.get(f"/flows/{flow.id}/intro-video").content_type == "video/webm"

    assert _sent(browser, edit, _typed(owner, title="Doctor")).status_code == 303
    assert (_only_flow().logo_key, _only_flow().preamble_video_key) == (logo_key, video_key)

    assert _sent(browser, edit, _typed(owner, logo_file=_file(picture("JPEG"), "b.jpg"))).status_code == 303
    assert _only_flow().logo_key.endswith(".jpg")
    assert logo_key not in _kept(engines)

    assert _sent(browser, edit, _typed(owner, remove_logo="y", remove_video="y")).status_code == 303
    assert (_only_flow().logo_key, _only_flow().preamble_video_key) == (None, None)
    assert _kept(engines) == []


def test_an_uploaded_file_takes_the_place_of_one_from_a_url(owner: Person, make_flow: Made) -> None:
    flow = make_flow(logo_key="flow-media/old.png", company_logo_url="https://example.com/a.png")
    typed = _typed(owner, company_logo_url="https://example.com/a.png", logo_file=_file(picture(), "b.png"))
    assert _sent(owner.browser, f"/flows/{flow.id}/edit", typed).status_code == 303
    assert _only_flow().company_logo_url is None
    assert _only_flow().logo_key not in {None, "flow-media/old.png"}


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"logo_file": (b"<svg/>", "a.svg")}, "The logo cannot be used: it is not a readable PNG, JPEG or WebP image."),
        ({"logo_file": (b"\x89PNG" + bytes(2 * MIB), "a.png")}, "The logo is larger than 2 MiB."),
        ({"video_file": (b"\x1a\x45\xdf\xa3 no", "a.webm")}, "The intro video cannot be used: it is not a readable"),
        ({"logo_file": (b"", "a.png"), "remove_logo": "y"}, "only one of these"),
        ({"logo_file": (b"", "a.png"), "company_logo_url": "https://example.com/b.png"}, "only one of these"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_nothing_is_kept(
    owner: Person, engines: Gateways, typed: dict[str, Any], words: str
) -> None:
    sent = {name: _file(*value) if isinstance(value, tuple) else value for name, value in typed.items()}
    seen = _sent(owner.browser, "/flows/new", _typed(owner, outro="Typed with care", **sent))
    assert (seen.status_code, words in seen.text, "Typed with care" in seen.text) == (422, True, True), seen.text
    assert f'href="#{next(iter(typed))}"' in seen.text
    assert (db.session.query(InterviewFlow).count(), _kept(engines)) == (0, [])


def test_only_signed_in_browsers_may_send_more_than_other_forms(owner: Person, client: Browser) -> None:
    def answer(browser: Browser, size: int) -> int:
        status: int = _sent(browser, "/flows/new", _typed(owner, video_file=_file(bytes(size), "a.mp4"))).status_code
        return status

    assert [answer(owner.browser, 17 * MIB), answer(owner.browser, 105 * MIB)] == [422, 413]
    assert answer(client, 17 * MIB) == 413
