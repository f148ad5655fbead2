"""Links for people without an account: what is ticked and nothing else, until they end, and who opened them."""

import html
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app import gateways
from app.accounts.models import AuditEntry, Role
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.interviews import actions as booking
from app.interviews.analysis.scores import NAMES
from app.interviews.documents.models import Document
from app.interviews.models import Interview, InterviewData
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.download import CHECK_AFTER
from app.interviews.recordings.media import keep
from app.interviews.recordings.models import Media
from app.review.ratings import actions as ratings
from app.review.ratings.actions import Opinion
from app.review.share_links import actions
from app.review.share_links.actions import network_of
from app.review.share_links.models import PARTS, Opening, Share
from tests.factories import Made, a_flow
from tests.interviews.conftest import book, completed, later, scripted, submitted  # noqa: F401 - fixtures
from tests.people import Browser, Person, person

SECRETS = {
    "person": "Hall",
    "recording": "/recording/audio",
    "transcript": "We were five",
    "summary": "A summary only here",
    "scores": "Judged by this",
    "scorecard": "Has led five",
    "documents": "cv-of-mary.txt",
}
"""What a page that shows the part holds, and one that does not show it never does."""


@pytest.fixture
def interview(completed: Made, owner: Person, tmp_path: Path) -> Interview:  # noqa: F811
    """With something to show for every part."""
    found: Interview = completed()
    data = db.session.get_one(InterviewData, found.id)
    data.summary, data.scores = "A summary only here.", {**dict.fromkeys(NAMES), "skills": 3.5}
    quote = {"text": "laughed", "segment_index": 3}
    skills = {"quotes": [quote], "method": "judged", "reason": "Judged by this."}
    data.evidence = {"summary": {"source": "m"}, "scores": {"skills": skills}}
    ratings.assess(found, {"skills": Opinion(4.0, "Has led five.")}, by=owner.member)
    values = {"name": "cv-of-mary.txt", "content_type": "text/plain", "size": 4}
    db.session.add(Document(interview_id=found.id, storage_key=f"documents/{found.id}/cv", **values))
    found_id, organization_id = found.id, found.organization_id
    db.session.commit()
    storage = gateways.current().storage
    storage.put(f"documents/{found_id}/cv", b"a cv")
    path = tmp_path / "sound"
    path.write_bytes(b"sound" * 100_000)
    file = keep(path, Media.AUDIO, interview_id=found_id, duration=1.0, storage=storage)
    recordings.publish(found_id, organization_id=organization_id, file=file)
    db.session.commit()
    return db.session.get_one(Interview, found_id, populate_existing=True)


def made(who: Person, interview: Interview, *parts: str, **fields: str) -> str:
    """Make a link by the form; the path of its page."""
    browser = who.browser
    answer = browser.post(f"/interviews/{interview.id}/shares", data={"parts": list(parts), "days": "7", **fields})
    assert answer.status_code == 303, answer.text
    found = re.search(r'value="http://localhost(/shared/[\w-]{43})"', browser.get(answer.location).text)
    assert found is not None
    assert found[1] not in browser.get(answer.location).text, "shown this once"
    return found[1]


def words_of(text: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))


def revoked(who: Person, interview: Interview) -> Any:
    share = db.session.query(Share).one()
    return who.browser.post(f"/interviews/{interview.id}/shares/{share.id}/revoke")


@pytest.mark.parametrize("part", PARTS)
def test_a_link_shows_what_is_ticked_and_nothing_else(
    client: Browser, owner: Person, interview: Interview, part: str
) -> None:
    link = made(owner, interview, part)
    page = client.get(link)
    assert page.status_code == 200
    assert {name for name, secret in SECRETS.items() if secret in page.text} == {part}
    assert "mary@candidate.example" not in page.text
    document = interview.documents[0].id
    for path, needed in ((f"/documents/{document}", "documents"), ("/recording/audio", "recording")):
        assert client.get(link + path).status_code == (200 if part == needed else 404)
    assert client.get(f"{link}/recording/other").status_code == 404


def test_no_cache_no_search_engine_and_no_other_site_learns_the_address(
    client: Browser, owner: Person, interview: Interview
) -> None:
    link = made(owner, interview, *PARTS)
    for path in ("", "/recording/audio", f"/documents/{interview.documents[0].id}"):
        headers = client.get(link + path).headers
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "noindex" in headers["X-Robots-Tag"]
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    token = link.rsplit("/", 1)[-1]
    kept = [repr(tuple(row)) for table in (Share, AuditEntry) for row in db.session.execute(sa.select(table.__table__))]
    assert token not in "".join(kept), "only its hash is kept"
    page = client.get(link).text
    assert re.findall(r'(?:src|href)="(/recordings/[^"]*)"', page) == [], "no address that outlives the link"
    assert "<form" not in page


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ("revoked", "This link was revoked"),
        ("expired", "This link has expired"),
        ("withdrawn", "no longer available"),
        ("quarantined", "no longer available"),
        ("maker disabled", "no longer available"),
        ("maker may only look", "no longer available"),
        ("maker left the team", "no longer available"),
        ("organization disabled", "no longer available"),
        ("erased", "Page not found"),
    ],
)
def test_a_link_that_has_ended_shows_nothing_and_serves_nothing(
    client: Browser, owner: Person, colleague: Person, interview: Interview, ends: str, said: str
) -> None:
    link = made(colleague, interview, *PARTS)
    assert client.get(link).status_code == 200
    then, status = clock.now(), 404 if ends == "erased" else 410
    if ends == "revoked":
        assert revoked(owner, interview).status_code == 303
    elif ends == "erased":
        owner.browser.post(f"/interviews/{interview.id}/erase", data={"confirm": "erase"})
        assert db.session.query(Share).count() == db.session.query(Opening).count() == 0
    elif ends == "expired":
        then += timedelta(days=7, seconds=1)
    elif ends == "withdrawn":
        interview.withdrawn_at = then
    elif ends == "quarantined":
        interview.quarantined_at = then
    elif ends == "maker may only look":
        colleague.member.role = Role.VIEWER
    elif ends == "maker left the team":
        colleague.member.teams = []
    else:
        (colleague.member if ends == "maker disabled" else owner.organization).disabled_at = then
    db.session.commit()
    with clock.replaced(lambda: then):
        for path in ("", "/recording/audio", f"/documents/{'0' * 8}-0000-4000-8000-{'0' * 12}"):
            answer = client.get(link + path)
            assert answer.status_code == status, path
            assert said in answer.text
            assert not [secret for secret in SECRETS.values() if secret in answer.text]


def test_what_is_being_sent_stops_when_the_link_ends(
    client: Browser, owner: Person, interview: Interview, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = made(owner, interview, "recording")
    answer = client.get(f"{link}/recording/audio", buffered=False)
    pieces = iter(answer.response)
    first = len(next(pieces))  # type: ignore[arg-type]
    actions.revoke(db.session.query(Share).one(), by=owner.member)
    db.session.commit()
    then = clock.now() + CHECK_AFTER
    with clock.replaced(lambda: then):
        rest = sum(len(piece) for piece in pieces)
    answer.close()
    assert first + rest < 500_000


def test_revoked_recordings_vanish_there_too(client: Browser, owner: Person, interview: Interview) -> None:
    link = made(owner, interview, "recording", "summary")
    part = client.get(f"{link}/recording/audio", headers={"Range": "bytes=5-9"})
    assert (part.status_code, part.data) == (206, b"sound")
    recordings.revoke(interview.id)
    db.session.commit()
    page = client.get(link)
    assert "The recordings of this interview were deleted" in page.text
    assert "/recording/audio" not in page.text
    assert client.get(f"{link}/recording/audio").status_code == 404


def test_every_opening_is_counted_and_listed(client: Browser, owner: Person, interview: Interview) -> None:
    link = made(owner, interview, "summary", label="For <b>Ben</b>")
    firefox = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"}
    for address in ("203.0.113.77", "2001:db8:1:2::9"):
        client.get(link, headers=firefox, environ_base={"REMOTE_ADDR": address})
    client.head(link)
    shown = owner.browser.get(f"/interviews/{interview.id}/shares").text
    assert "Opened 2 times" in words_of(shown)
    assert "Firefox on Linux · 203.0.113.0/24" in words_of(shown)
    assert "Firefox on Linux · 2001:db8:1::/48" in words_of(shown)
    assert "203.0.113.77" not in shown
    assert "For &lt;b&gt;Ben" in shown
    assert "1 active share link." in words_of(owner.browser.get(f"/interviews/{interview.id}").text)
    revoked(owner, interview)
    written = [one.action for one in db.session.scalars(sa.select(AuditEntry).order_by(AuditEntry.number))]
    told = [action for action in written if "share" in action]
    assert told == ["interview.shared", "interview.share_opened", "interview.unshared"]


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("::ffff:203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2::9", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/48"),
        ("unknown", "unknown"),
    ],
)
def test_of_an_address_only_the_network_is_kept(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "Select at least one part"),
        ({"parts": "everything"}, "not a valid choice"),
        ({"parts": "summary", "days": "91"}, "Choose 1 to 90 days"),
        ({"parts": "summary", "days": "0"}, "Choose 1 to 90 days"),
        ({"parts": "summary", "days": ""}, "Enter a number of days"),
        ({"parts": "summary", "label": "x" * 101}, "Enter up to 100 characters"),
        ({"parts": "summary", "label": "a\x00"}, "NUL character"),
    ],
)
def test_what_cannot_be_shared_is_refused(
    owner: Person, interview: Interview, fields: dict[str, str], said: str
) -> None:
    answer = owner.browser.post(f"/interviews/{interview.id}/shares", data={"days": "7", **fields})
    assert answer.status_code == 422
    assert said in words_of(answer.text)
    assert db.session.query(Share).count() == 0


def test_the_action_itself_knows_its_bounds(owner: Person, interview: Interview, book: Made) -> None:  # noqa: F811
    for wrong in ({"days": 91}, {"days": 0}, {"parts": ["everything"]}, {"parts": []}):
        given: dict[str, Any] = {"days": 7, "parts": ["summary"], **wrong}
        with pytest.raises(Rejected):
            actions.make(interview, given["parts"], days=given["days"], label=None, by=owner.member)
    with pytest.raises(Conflict):
        actions.make(book(), ["summary"], days=7, label=None, by=owner.member)
    for _ in range(actions.MOST_LIVE):
        actions.make(interview, ["summary"], days=7, label=None, by=owner.member)
    with pytest.raises(Conflict):
        actions.make(interview, ["summary"], days=7, label=None, by=owner.member)
    with later(days=8):
        actions.make(interview, ["summary"], days=7, label=None, by=owner.member)


def test_viewers_make_no_links_and_see_none(app: Flask, owner: Person, viewer: Person, interview: Interview) -> None:
    assert viewer.browser.get(f"/interviews/{interview.id}/shares").status_code == 403
    assert viewer.browser.post(f"/interviews/{interview.id}/shares", data={"parts": "summary"}).status_code == 403
    assert "/shares" not in viewer.browser.get(f"/interviews/{interview.id}").text
    made(owner, interview, "summary")
    stranger = person(app, "eve@second.example", organization="Other Ltd", role="admin")
    assert revoked(stranger, interview).status_code == 403
    assert db.session.query(Share).one().revoked_at is None


def test_whoever_tries_secrets_is_stopped(
    owner: Person, interview: Interview, client: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    monkeypatch.setattr("app.web.rate_limits.count", lambda name, *, most: counted.append(f"{name} {most}"))
    link = made(owner, interview, "recording")
    for path in (link, f"{link}/recording/audio", "/shared/" + "A" * 43):
        client.get(path)
    assert counted == ["shared 60", "shared 600", "shared 60", "shared in vain 20"]


def test_a_link_serves_no_document_of_another_interview_or_organization(
    client: Browser, owner: Person, outsider: Person, interview: Interview
) -> None:
    link = made(owner, interview, "documents")
    storage, others = gateways.current().storage, []
    for someone in (owner, outsider):
        other = booking.book(someone.organization, a_flow(someone).id, email="other@candidate.example")
        values = {"name": "secret.txt", "content_type": "text/plain", "size": 6}
        document = Document(interview_id=other.id, storage_key=f"documents/{other.id}/cv", **values)
        db.session.add(document)
        db.session.commit()
        others.append((other.id, document.id))
        db.session.commit()
        storage.put(f"documents/{others[-1][0]}/cv", b"secret")
    assert client.get(f"{link}/documents/{interview.documents[0].id}").data == b"a cv"
    for _interview_id, document_id in others:
        answer = client.get(f"{link}/documents/{document_id}")
        assert (answer.status_code, b"secret" in answer.data) == (404, False)
