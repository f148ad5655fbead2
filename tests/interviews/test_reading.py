"""The text of documents: read in a process of its own, by a job that may run twice, with its state in sight."""

import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from app.core import claims, clock
from app.core.db import db
from app.core.errors import GatewayError
from app.core.queue import SilentWaker
from app.flows.flow_script import FlowScript
from app.interviews import actions
from app.interviews.documents import READ_DOCUMENT, queries
from app.interviews.documents import jobs as reading
from app.interviews.documents.extraction import Limits, child, extract
from app.interviews.documents.file_types import DOCX
from app.interviews.documents.models import Document, TextState
from app.interviews.models import Interview, Stage
from tests.factories import Made
from tests.people import Person

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
COMPAT = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'


def pdf(*pages: str, password: str | None = None) -> bytes:
    made, font = PdfWriter(), DictionaryObject()
    kind = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    font[NameObject("/F1")] = DictionaryObject({NameObject(k): NameObject(v) for k, v in kind.items()})
    for words in pages:
        page, stream = made.add_blank_page(300, 300), DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 20 200 Td ({words}) Tj ET".encode())
        page[NameObject("/Contents")] = made._add_object(stream)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): font})
    if password:
        made.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    made.write(out)
    return out.getvalue()


def docx(body: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f"<w:document {WORD} {COMPAT}><w:body>{body}</w:body></w:document>")
    return out.getvalue()


def read(content: bytes, kind: str, *, language: str = "en-US", **limits: int) -> str:
    found = extract(content, kind, language=language, limits=replace(Limits(), **limits))
    assert found is not None
    return found.text


def test_the_text_of_a_pdf() -> None:
    assert read(pdf("Ten years as a nurse", "Night shifts"), "application/pdf") == "Ten years as a nurse\nNight shifts"


def test_the_text_of_an_office_file_without_what_stands_there_twice() -> None:
    body = (
        "<w:p><w:r><w:t>Name</w:t><w:tab/><w:t>Ada</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>Cell</w:t></w:r>"
        "</w:p></w:tc></w:tr></w:tbl><mc:AlternateContent><mc:Choice><w:p><w:r><w:t>Box</w:t></w:r></w:p></mc:Choice>"
        "<mc:Fallback><w:p><w:r><w:t>Box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>"
    )
    assert read(docx(body), DOCX) == "Name Ada\nCell\nBox"


def test_the_text_of_rtf() -> None:
    content = rb"{\rtf1\ansi\ansicpg1252 Nurse, {\b caf\'e9}\par next \u8364?}"
    assert read(content, "application/rtf") == "Nurse, café\nnext €"


@pytest.mark.parametrize(
    ("text", "code", "language"),
    [
        ("Größe", "utf-8-sig", "de-DE"),
        ("Größe", "utf-16", "de-DE"),
        ("Größe", "cp1252", "de-DE"),
        ("職務経歴", "cp932", "ja-JP"),
        ("이력서", "cp949", "ko-KR"),
    ],
)
def test_text_is_read_in_what_it_was_written_in(text: str, code: str, language: str) -> None:
    assert read(text.encode(code), "text/plain", language=language) == text


def test_controls_and_deserts_of_space_are_left_out() -> None:
    assert child.tidy("a\x00\x1b[31mb  \t c\r\n\r\n\r\n\n d\u2028e\ud800") == "a[31mb c\n\nd\ne".replace(
        "\n\nd", "\n\n d"
    )


def test_a_picture_holds_no_text() -> None:
    assert extract(b"\x89PNG", "image/png", language="en-US") is None


def test_long_text_is_cut_and_says_so() -> None:
    found = extract(b"word " * 30_000, "text/plain", language="en-US")
    assert found is not None
    assert (len(found.text), found.whole) == (100_000, False)


def test_pages_beyond_the_limit_are_not_read() -> None:
    found = extract(pdf("one", "two", "three"), "application/pdf", language="en-US", limits=replace(Limits(), pages=2))
    assert found is not None
    assert (found.text, found.whole) == ("one\ntwo", False)


@pytest.mark.parametrize(
    ("content", "kind", "reason", "limits"),
    [
        (pdf("secret", password="x"), "application/pdf", "protected by a password", {}),
        (b"%PDF-1.7 nothing %%EOF", "application/pdf", "damaged", {}),
        (b"PK\x03\x04 nothing", DOCX, "damaged", {}),
        (docx("<w:p><w:r><w:t>&bomb;</w:t></w:r></w:p>"), DOCX, "damaged", {}),
        (b"{\\rtf1 " + b"a" * 9_000_000, "application/rtf", "too much time or memory", {"memory": 100_000_000}),
    ],
    ids=["password", "no pdf", "not an archive", "entity", "huge"],
)
def test_what_cannot_be_read_says_why(content: bytes, kind: str, reason: str, limits: dict[str, int]) -> None:
    with pytest.raises(GatewayError, match=reason) as refused:
        read(content, kind, **limits)
    assert not refused.value.retryable


def test_what_was_read_before_the_time_was_over_counts() -> None:
    def pages() -> Iterator[str]:
        yield "first"
        raise child.OutOfTime

    assert child.gather(pages(), most=100) == ("first", False)


def test_time_that_is_over_before_anything_was_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: Any, **__: Any) -> Iterator[str]:
        raise child.OutOfTime
        yield

    monkeypatch.setattr(child, "plain_text", late)
    answer = child.read("text", b"a", language="en-US", most=10, most_pages=1)
    assert "too much time or memory" in answer["error"]


def test_waiting_is_bounded_too() -> None:
    with pytest.raises(GatewayError, match="too long"):
        extract(b"a", "text/plain", language="en-US", limits=replace(Limits(), wall_seconds=0))


# --- the job -------------------------------------------------------------------------------------------------------


@pytest.fixture
def interview(owner: Person, make_flow: Made, waker: SilentWaker) -> Interview:
    booked = actions.book(owner.organization, make_flow(is_doc_upload_enabled=True).id, email="a@candidate.example")
    booked.stage, booked.script = Stage.RUNNING, FlowScript(is_doc_upload_enabled=True)
    db.session.commit()
    waker.enqueued.clear()
    return booked


@pytest.fixture
def add(app: Flask, interview: Interview) -> Callable[..., Document]:
    def added(content: bytes = b"Ten years as a nurse", name: str = "cv.txt") -> Document:
        key = f"documents/{interview.id}/{name}"
        db.session.rollback()
        app.extensions["parley.gateways"].storage.put(key, content)
        row = actions.add_document(interview, actions.accept_document(name, content), storage_key=key)
        db.session.commit()
        return row

    return added


def known(document: Document) -> tuple[Any, ...]:
    db.session.expire_all()
    state = (document.text_state, document.text, document.text_failure)
    db.session.rollback()
    return state


def test_a_new_document_is_read(add: Callable[..., Document], waker: SilentWaker) -> None:
    document = add()
    found = document.id
    assert waker.enqueued == [(READ_DOCUMENT, (found,))]
    db.session.rollback()
    reading.read_document(found)
    assert known(document) == (TextState.EXTRACTED, "Ten years as a nurse", None)
    reading.read_document(found)
    assert known(document) == (TextState.EXTRACTED, "Ten years as a nurse", None)


def test_the_models_get_their_share_of_each_document(add: Callable[..., Document], interview: Interview) -> None:
    for name in ("a.txt", "b.txt"):
        found = add(b"word " * 1000, name).id
        db.session.rollback()
        reading.read_document(found)
    texts = queries.document_texts(interview.id, most=1000)
    assert [len(text) for text in texts] == [500, 500]
    assert texts[1].startswith("b.txt\nword word")


def test_a_reader_that_died_is_replaced_and_three_times_is_enough(
    add: Callable[..., Document], monkeypatch: Any
) -> None:
    document = add()
    found, now = document.id, clock.now()

    def dies(*_: Any, **__: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as broken:
        broken.setattr(reading, "extract", dies)
        for attempt in range(4):
            moment = now + attempt * timedelta(minutes=4)
            broken.setattr(clock, "now", lambda moment=moment: moment)
            broken.setattr(clock, "is_replaced", lambda: True)
            assert queries.unread_documents() == [found]
            db.session.rollback()
            try:
                reading.read_document(found)
            except SystemExit:
                db.session.rollback()
    assert known(document) == (TextState.FAILED, None, reading.BROKEN_OFF)


def test_a_storage_that_is_away_is_tried_again_and_then_said(
    add: Callable[..., Document], monkeypatch: Any, interview: Interview
) -> None:
    document = add()

    def away(*_: Any, **__: Any) -> None:
        raise GatewayError("the storage is away", retryable=True)

    monkeypatch.setattr(claims, "LATER", timedelta(0))
    monkeypatch.setattr(reading, "read", away)
    for state in (TextState.PENDING, TextState.PENDING, TextState.FAILED):
        db.session.rollback()
        reading.read_documents(interview.id)
        assert known(document)[0] is state
    assert known(document)[2] == "the storage is away"


def test_the_processing_waits_for_a_document_that_another_worker_reads(
    add: Callable[..., Document], monkeypatch: Any, interview: Interview
) -> None:
    own, other = add(name="own.txt"), add(name="other.txt")
    other.text_state, other.lease_until = TextState.READING, clock.now() + timedelta(minutes=1)
    db.session.commit()
    found, looks = other.id, []

    def passes(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            done = {"text_state": TextState.EXTRACTED, "text": "read elsewhere", "lease_until": None}
            db.session.query(Document).filter_by(id=found).update(done)
            db.session.commit()

    monkeypatch.setattr(reading, "time", SimpleNamespace(sleep=passes))
    db.session.rollback()
    reading.read_documents(interview.id)
    assert looks == [reading.LOOKS_AGAIN] * 3
    assert known(own)[0] is TextState.EXTRACTED
    assert known(other)[:2] == (TextState.EXTRACTED, "read elsewhere")


def test_a_document_whose_reader_dies_is_read_by_the_processing(
    add: Callable[..., Document], monkeypatch: Any, interview: Interview
) -> None:
    document = add()
    document.text_state, document.lease_until = TextState.READING, clock.now() + timedelta(minutes=1)
    db.session.commit()

    def passes(_seconds: float) -> None:
        later = clock.now() + timedelta(minutes=2)
        monkeypatch.setattr(clock, "now", lambda: later)
        monkeypatch.setattr(clock, "is_replaced", lambda: True)

    monkeypatch.setattr(reading, "time", SimpleNamespace(sleep=passes))
    reading.read_documents(interview.id)
    assert known(document)[0] is TextState.EXTRACTED


def test_a_document_taken_back_meanwhile_is_no_error(
    add: Callable[..., Document], interview: Interview, app: Flask
) -> None:
    document = add()
    found, key = document.id, document.storage_key
    db.session.rollback()
    app.extensions["parley.gateways"].storage.delete(key)
    reading.read_document(found)
    assert known(document)[0] is TextState.READING  # its row would be gone; otherwise the sweep comes back to it
    actions.remove_document(interview, db.session.get_one(Document, found))
    db.session.commit()
    reading.read_document(found)


def test_the_recruiter_reads_the_text_and_never_the_markup(
    add: Callable[..., Document], interview: Interview, owner: Person
) -> None:
    found = add(b"Hello <script>alert(1)</script>", "cv.txt").id
    path = f"/interviews/{interview.id}"
    browser = owner.browser
    assert "extracting text" in browser.get(path).text
    assert "is being extracted" in browser.get(f"{path}/documents/{found}/text").text
    db.session.rollback()
    reading.read_document(found)
    assert "text extracted" in browser.get(path).text
    assert "Hello &lt;script&gt;alert(1)" in browser.get(f"{path}/documents/{found}/text").text


def test_a_failure_is_shown_and_tried_again(
    add: Callable[..., Document], interview: Interview, owner: Person, viewer: Person, waker: SilentWaker
) -> None:
    document = add(pdf("x", password="y"), "cv.pdf")
    found = document.id
    path = f"/interviews/{interview.id}/documents/{found}"
    db.session.rollback()
    reading.read_document(found)
    assert "protected by a password" in owner.browser.get(f"{path}/text").text
    assert "Try again" not in viewer.browser.get(f"{path}/text").text
    waker.enqueued.clear()
    assert owner.browser.post(f"{path}/read").status_code == 303
    assert (known(document)[0], waker.enqueued) == (TextState.PENDING, [(READ_DOCUMENT, (found,))])
    assert owner.browser.post(f"{path}/read").status_code == 303
    assert len(waker.enqueued) == 1
