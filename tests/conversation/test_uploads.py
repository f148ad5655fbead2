"""Documents in parts: nothing that was acknowledged is sent twice, whatever breaks in between."""

import hashlib
from typing import Any

import pytest
from flask import Flask

from app.core.db import db
from app.core.queue import SilentWaker
from app.interviews.actions import PART_BYTES
from app.interviews.documents import READ_DOCUMENT
from app.interviews.documents.file_types import MOST_DOCUMENTS
from app.interviews.documents.models import Document, DocumentPart, DocumentUpload
from app.operations.demo.candidate import Candidate
from tests.factories import Made

from .conftest import Candidates

CV = b"%PDF-1.7\n" + b"% filler\n" * 70_000 + b"1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
PARTS = [CV[at : at + PART_BYTES] for at in range(0, len(CV), PART_BYTES)]
assert len(PARTS) == 3


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def writer(candidates: Candidates, book: Made) -> Candidate:
    begun = candidates(book(is_doc_upload_enabled=True))
    begun.start()
    return begun


def announce(who: Candidate, content: bytes = CV, name: str = "cv.pdf", **other: Any) -> Any:
    return who.ask("POST", "/uploads", json={"name": name, "size": len(content), "sha256": sha(content), **other})


def put(who: Candidate, upload: str, number: int, content: bytes, **headers: str) -> Any:
    given = {"X-Content-SHA256": sha(content), "Content-Type": "application/octet-stream", **headers}
    return who.ask("PUT", f"/uploads/{upload}/parts/{number}", data=content, headers=given)


def stored(app: Flask, upload: str) -> list[str]:
    db.session.rollback()
    interview = db.session.get_one(DocumentUpload, upload).interview_id
    db.session.rollback()
    return list(app.extensions["parley.gateways"].storage.list(f"documents/{interview}"))


def test_a_file_arrives_in_parts_and_in_any_order(writer: Candidate, scripted: Flask, waker: SilentWaker) -> None:
    begun = announce(writer)
    assert begun.status_code == 201
    upload = begun.json()
    assert (upload["parts"], upload["received"], upload["document"]) == (3, [], None)
    for number in (2, 0, 1):
        assert put(writer, upload["id"], number, PARTS[number]).json() == {"number": number, "duplicate": False}
    made = writer.ask("POST", f"/uploads/{upload['id']}/finish", json={})
    assert (made.status_code, made.json()["name"], made.json()["size"]) == (201, "cv.pdf", len(CV))
    assert len(stored(scripted, upload["id"])) == 1
    assert db.session.query(DocumentPart).count() == 0
    assert (READ_DOCUMENT, (made.json()["id"],)) in waker.enqueued


def test_after_a_break_only_the_missing_parts_are_sent(writer: Candidate) -> None:
    upload = announce(writer).json()["id"]
    put(writer, upload, 1, PARTS[1])
    again = announce(writer, name="the same file elsewhere.pdf").json()
    assert (again["id"], again["received"]) == (upload, [1])
    assert writer.call("GET", f"/uploads/{upload}")["received"] == [1]
    assert [one["id"] for one in writer.call("GET", "/state")["uploads"]] == [upload]
    refused = writer.ask("POST", f"/uploads/{upload}/finish", json={})
    assert (refused.status_code, refused.json()["missing"]) == (409, [0, 2])
    for number in (0, 2):
        put(writer, upload, number, PARTS[number])
    assert writer.ask("POST", f"/uploads/{upload}/finish", json={}).status_code == 201
    assert writer.call("GET", "/state")["uploads"] == []


def test_everything_may_be_sent_twice(writer: Candidate, scripted: Flask) -> None:
    upload = announce(writer).json()["id"]
    for number, part in enumerate(PARTS):
        put(writer, upload, number, part)
        assert put(writer, upload, number, part).json() == {"number": number, "duplicate": True}
    assert len(stored(scripted, upload)) == 3
    first = writer.ask("POST", f"/uploads/{upload}/finish", json={}).json()
    assert writer.ask("POST", f"/uploads/{upload}/finish", json={}).json() == first
    assert announce(writer).json()["document"] == first
    assert put(writer, upload, 0, PARTS[0]).status_code == 409
    assert db.session.query(Document).count() == 1


def test_a_document_taken_back_can_be_sent_again(writer: Candidate) -> None:
    upload = announce(writer).json()["id"]
    for _ in range(2):
        for number, part in enumerate(PARTS):
            assert put(writer, upload, number, part).status_code == 200
        made = writer.ask("POST", f"/uploads/{upload}/finish", json={}).json()
        assert writer.ask("DELETE", f"/documents/{made['id']}").status_code == 204
        assert announce(writer).json()["id"] == upload


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"size": 0}, 422),
        ({"size": 10 * 1024 * 1024 + 1}, 422),
        ({"sha256": "x"}, 422),
        ({"name": None}, 422),
        ({"other": 1}, 422),
        ({"size": 2**70}, 422),
    ],
)
def test_a_wrong_announcement_is_refused(writer: Candidate, given: dict[str, Any], status: int) -> None:
    answer = announce(writer, **given)
    assert answer.status_code == status
    assert answer.json()["message"]


def test_wrong_parts_are_refused_and_cost_nothing(writer: Candidate, scripted: Flask) -> None:
    upload = announce(writer).json()["id"]
    assert put(writer, upload, 3, PARTS[0]).json()["field"] == "number"
    assert put(writer, upload, 0, PARTS[0][:-1]).json()["field"] == "body"
    assert put(writer, upload, 0, PARTS[0], **{"X-Content-SHA256": "nonsense"}).status_code == 422
    assert put(writer, upload, 0, PARTS[0], **{"X-Content-SHA256": sha(b"else")}).status_code == 422
    assert put(writer, upload, 0, b"x" * (PART_BYTES + 1)).status_code == 413
    put(writer, upload, 0, PARTS[0])
    assert put(writer, upload, 0, PARTS[1]).status_code == 409
    assert stored(scripted, upload) != []
    assert len(stored(scripted, upload)) == 1


def test_a_file_that_is_no_document_is_forgotten(writer: Candidate, scripted: Flask) -> None:
    content = b"MZ\x90\x00 program"
    upload = announce(writer, content).json()["id"]
    put(writer, upload, 0, content)
    answer = writer.ask("POST", f"/uploads/{upload}/finish", json={})
    assert (answer.status_code, answer.json()["field"]) == (422, "file")
    assert db.session.query(DocumentUpload).count() == 0
    assert announce(writer, content).json()["received"] == []


def test_a_file_that_changed_on_the_way_is_said(writer: Candidate) -> None:
    upload = announce(writer).json()["id"]
    for number, part in enumerate(PARTS):
        put(writer, upload, number, part if number else b"x" * PART_BYTES)
    answer = writer.ask("POST", f"/uploads/{upload}/finish", json={})
    assert (answer.status_code, "changed" in answer.json()["message"]) == (422, True)


def test_a_file_for_which_there_is_no_room_any_more_is_forgotten(writer: Candidate) -> None:
    late = announce(writer).json()["id"]
    for number, part in enumerate(PARTS):
        put(writer, late, number, part)
    for number in range(MOST_DOCUMENTS):
        content = f"note {number}".encode()
        other = announce(writer, content, name=f"{number}.txt").json()["id"]
        put(writer, other, 0, content)
        assert writer.ask("POST", f"/uploads/{other}/finish", json={}).status_code == 201
    answer = writer.ask("POST", f"/uploads/{late}/finish", json={})
    assert (answer.status_code, "at most" in answer.json()["message"]) == (422, True)
    assert writer.call("GET", "/state")["uploads"] == []
    assert db.session.query(DocumentPart).count() == 0


def test_an_unfinished_file_can_be_given_up(writer: Candidate, scripted: Flask) -> None:
    upload = announce(writer).json()["id"]
    put(writer, upload, 0, PARTS[0])
    key = stored(scripted, upload)[0]
    assert writer.ask("DELETE", f"/uploads/{upload}").status_code == 204
    assert list(scripted.extensions["parley.gateways"].storage.list(key.rsplit("/", 1)[0])) == []
    assert writer.ask("DELETE", f"/uploads/{upload}").status_code == 404


def test_only_so_many_files_may_be_on_their_way(writer: Candidate) -> None:
    answers = [announce(writer, bytes([n]) * 9).status_code for n in range(11)]
    assert answers == [201] * 10 + [422]


def test_nothing_is_sent_after_the_end_or_where_no_documents_are_taken(writer: Candidate, candidate: Candidate) -> None:
    upload = announce(writer).json()["id"]
    writer.write(["a", "b"])
    assert announce(writer).status_code == 409
    assert put(writer, upload, 0, PARTS[0]).status_code == 409
    assert announce(candidate).status_code == 422


def test_the_upload_of_another_interview_cannot_be_reached(
    writer: Candidate, candidates: Candidates, book: Made
) -> None:
    upload = announce(writer).json()["id"]
    other = candidates(book(is_doc_upload_enabled=True))
    other.start()
    assert put(other, upload, 0, PARTS[0]).status_code == 404
    assert other.ask("GET", f"/uploads/{upload}").status_code == 404
    assert other.ask("POST", f"/uploads/{upload}/finish", json={}).status_code == 404
    assert other.ask("DELETE", f"/uploads/{upload}").status_code == 404
