"""Documents that a candidate adds and takes back."""

from typing import Any

import pytest
from flask import Flask

from app.core.db import db
from app.interviews.documents.models import Document
from app.operations.demo.candidate import Candidate
from tests.factories import Made

from .conftest import Candidates

CV = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


@pytest.fixture
def writer(candidates: Candidates, book: Made) -> Candidate:
    begun = candidates(book(is_doc_upload_enabled=True))
    begun.start()
    return begun


def send(candidate: Candidate, content: bytes = CV, name: str = "cv.pdf") -> Any:
    return candidate.ask("POST", "/documents", files={"file": (name, content)})


def test_a_document_is_kept_shown_and_taken_back(writer: Candidate, scripted: Flask) -> None:
    added = send(writer)
    assert (added.status_code, added.json()["name"], added.json()["size"]) == (201, "cv.pdf", len(CV))
    state = writer.call("GET", "/state")
    assert (state["documents_allowed"], state["documents"]) == (True, [added.json()])
    key = db.session.query(Document).one().storage_key
    db.session.rollback()
    storage = scripted.extensions["parley.gateways"].storage
    assert storage.size(key) == len(CV)
    assert writer.ask("DELETE", f"/documents/{added.json()['id']}").status_code == 204
    assert db.session.query(Document).count() == 0
    assert list(storage.list(key.rsplit("/", 1)[0])) == []
    assert writer.ask("DELETE", f"/documents/{added.json()['id']}").status_code == 404


@pytest.mark.parametrize(
    "content", [b"", b"MZ\x90\x00 program", b"<html><script>x</script></html>", b"x" * (10 * 1024 * 1024 + 1)]
)
def test_a_file_that_is_no_document_is_refused(writer: Candidate, content: bytes) -> None:
    answer = send(writer, content, "cv.pdf")
    assert (answer.status_code, answer.json()["field"]) == (422, "file")
    assert db.session.query(Document).count() == 0


def test_a_form_without_a_file_says_so(writer: Candidate) -> None:
    answer = writer.ask("POST", "/documents", json={})
    assert (answer.status_code, answer.json()["field"]) == (422, "file")


def test_ten_documents_are_enough(writer: Candidate) -> None:
    assert [send(writer, name=f"{n}.pdf").status_code for n in range(11)] == [201] * 10 + [422]


def test_a_flow_that_takes_no_documents_refuses_them(candidate: Candidate) -> None:
    assert send(candidate).status_code == 422


def test_nothing_is_added_or_taken_after_the_end(writer: Candidate) -> None:
    added = send(writer).json()
    writer.write(["a", "b"])
    assert send(writer).status_code == 409
    assert writer.ask("DELETE", f"/documents/{added['id']}").status_code == 409


def test_the_document_of_another_interview_cannot_be_taken(
    writer: Candidate, candidates: Candidates, book: Made
) -> None:
    theirs = send(writer).json()
    other = candidates(book(is_doc_upload_enabled=True))
    other.start()
    assert other.ask("DELETE", f"/documents/{theirs['id']}").status_code == 404
    assert db.session.query(Document).count() == 1
