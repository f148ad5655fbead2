"""CVs uploaded by a recruiter: read, checked, invited; and nothing kept of the others."""

import io
import struct
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from pypdf import PdfWriter
from werkzeug.datastructures import FileStorage
from werkzeug.test import encode_multipart

from app.candidates.models import Candidate
from app.core import clock
from app.core.db import db
from app.gateways import Gateways
from app.interviews import actions as interviews
from app.interviews.documents.models import Document
from app.interviews.models import Interview
from app.outreach.cvs import jobs, queries
from app.outreach.cvs.models import CvFile, CvUpload, State
from app.privacy.actions import erase
from tests.factories import Made
from tests.interviews.test_reading import docx, pdf
from tests.people import Person

ADA = b"Ada Lovelace\nada.lovelace@mail.example\n+44 20 7946 0958\n\nExperience\n2019 - 2023 Analyst\n"
BOB = b"Bob Stone\nbob.stone@mail.example\n"
NO_ADDRESS = b"Grace Hopper\nNavy, 1943 - 1986. Compilers, and a moth.\n"


def _encrypted_pdf() -> bytes:
    written, writer = io.BytesIO(), PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(written)
    return written.getvalue()


@pytest.fixture(autouse=True)
def _empty(engines: Gateways) -> None:
    engines.storage.delete_prefix("cv-uploads")


@pytest.fixture
def flow_id(make_flow: Made) -> str:
    flow_id: str = make_flow().id
    return flow_id


def _upload(person: Person, flow_id: str, *files: tuple[str, bytes]) -> str:
    """The page of an upload of these files."""
    sent = [FileStorage(io.BytesIO(content), name) for name, content in files]
    boundary, body = encode_multipart({"flow": flow_id, "files": sent})
    answer = person.browser.post("/candidates/cvs", data=body, content_type=f"multipart/form-data; boundary={boundary}")
    assert answer.status_code == 303, answer.text
    return str(answer.location)


def _worked() -> None:
    """What workers do, until nothing is due."""
    for _ in range(500):
        due = [(jobs.read_cv, one) for one in queries.unread()] + [(jobs.invite_cv, one) for one in queries.uninvited()]
        db.session.rollback()
        if not due:
            return
        for job, file_id in due:
            job(file_id)


def _rows() -> dict[str, CvFile]:
    db.session.expire_all()
    return {row.name: row for row in db.session.query(CvFile)}


def _form(**changes: Any) -> dict[str, str]:
    """The check as it is shown, with changes by the names of files: values, or None to leave someone out."""
    form = {}
    for name, row in _rows().items():
        if row.state not in {State.READY, State.FAILED}:
            continue
        values = {"email": row.email, "first_name": row.first_name, "last_name": row.last_name, "phone": row.phone}
        changed = changes.get(name.replace(".", "_"), {})
        if changed is not None:
            form[f"take-{row.id}"] = "y"
        form |= {f"{key}-{row.id}": value or "" for key, value in {**values, **(changed or {})}.items()}
    db.session.rollback()
    return form


def _kept(engines: Gateways) -> list[str]:
    db.session.rollback()
    return list(engines.storage.list("cv-uploads"))


def _zip(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def test_cvs_become_interviews_with_the_cv_as_their_document(owner: Person, flow_id: str, engines: Gateways) -> None:
    page = _upload(owner, flow_id, ("../ada.txt", ADA), ("bob.txt", BOB), ("grace.txt", NO_ADDRESS))
    assert "0 of 3 files read" in owner.browser.get(page).text
    _worked()
    seen = owner.browser.get(page).text
    for words in (
        'value="ada.lovelace@mail.example"',
        'value="Lovelace"',
        "Check 3 candidates",
        "No email address was found",
    ):
        assert words in seen
    assert db.session.query(Interview).count() == 0
    answer = owner.browser.post(page, data=_form(bob_txt=None, grace_txt={"email": "grace@mail.example"}))
    assert answer.status_code == 303
    assert "bob.txt" not in _rows()
    _worked()
    made = {one.interviewee_email_address: one for one in db.session.query(Interview)}
    assert sorted(made) == ["ada.lovelace@mail.example", "grace@mail.example"]
    ada = made["ada.lovelace@mail.example"]
    document = db.session.query(Document).filter_by(interview_id=ada.id).one()
    assert (document.name, document.content_type, document.size) == ("ada.txt", "text/plain", len(ADA))
    assert (
        db.session.query(Candidate).filter_by(address=ada.interviewee_email_address).one().phone == "+44 20 7946 0958"
    )
    key = document.storage_key
    assert key.startswith(f"documents/{ada.id}/")
    assert _kept(engines) == []
    assert engines.storage.size(key) == len(ADA)
    row = _rows()["ada.txt"]
    assert (row.email, row.first_name, row.last_name, row.phone, row.storage_key) == (None,) * 5
    seen = owner.browser.get(page).text
    assert "Candidates from this upload" in seen
    assert "+44 20 7946 0958" in owner.browser.get(f"/interviews/{ada.id}").text


def test_a_job_that_runs_twice_invites_once(owner: Person, flow_id: str, engines: Gateways) -> None:
    page = _upload(owner, flow_id, ("ada.txt", ADA))
    _worked()
    owner.browser.post(page, data=_form())
    file_id, key = _rows()["ada.txt"].id, _rows()["ada.txt"].storage_key
    db.session.rollback()
    for _ in range(3):
        jobs.invite_cv(file_id)
    assert key is not None
    engines.storage.put(key, ADA)
    row = db.session.get_one(CvFile, file_id)
    row.state, row.storage_key = State.CONFIRMED, key  # as if the worker had died before it wrote the outcome
    db.session.commit()
    jobs.invite_cv(file_id)
    assert (db.session.query(Interview).count(), db.session.query(Document).count()) == (1, 1)


def test_duplicates_are_marked_and_stay_out_until_they_are_corrected(owner: Person, flow_id: str) -> None:
    interviews.book(owner.organization, flow_id, email="Ada.Lovelace@mail.example")
    db.session.commit()
    page = _upload(owner, flow_id, ("ada.txt", ADA), ("bob.txt", BOB), ("again.txt", BOB))
    _worked()
    seen = owner.browser.get(page).text
    for words in ("Already invited on", "Same email address as in “bob.txt”."):
        assert words in seen
    refused = owner.browser.post(page, data=_form())
    assert (refused.status_code, "Nothing has been created yet" in refused.text) == (422, True)
    assert db.session.query(Interview).count() == 1
    assert owner.browser.post(page, data=_form(ada_txt=None, again_txt=None)).status_code == 303
    _worked()
    assert db.session.query(Interview).count() == 2


def test_pdf_and_word_files_are_read(owner: Person, flow_id: str) -> None:
    lines = ADA.decode().split("\n")
    paragraphs = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in lines)
    both = {"ada.docx": docx(paragraphs), "ada.pdf": pdf(*lines)}
    _upload(owner, flow_id, *both.items())
    _worked()
    for name, row in _rows().items():
        assert (name, row.state, row.email) == (name, State.READY, "ada.lovelace@mail.example"), row.reason


def test_every_unusable_file_is_named_with_its_reason(owner: Person, flow_id: str, engines: Gateways) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(64)
    files = {
        "locked.pdf": _encrypted_pdf(),
        "scan.pdf": b"%PDF-1.4\n%%EOF",
        "page.html": b"<html>",
        "photo.png": picture,
        "empty.txt": b"",
        "huge.txt": b"a" * (10 * 1024 * 1024 + 1),
        "ada.txt": ADA,
    }
    page = _upload(owner, flow_id, *files.items())
    _worked()
    rows = _rows()
    assert {name for name, row in rows.items() if row.state == State.REFUSED} == set(files) - {"ada.txt"}
    assert all(row.reason and row.reason.endswith(".") for row in rows.values() if row.state == State.REFUSED)
    assert "password" in (rows["locked.pdf"].reason or "")
    assert "10 MiB" in (rows["huge.txt"].reason or "")
    seen = owner.browser.get(page).text
    assert all(name in seen for name in files)
    assert len(_kept(engines)) == 1


def test_a_zip_is_taken_apart_without_its_folders_and_traps(owner: Person, flow_id: str, engines: Gateways) -> None:
    inside = {
        "team/ada.txt": ADA,
        "x/../bob.txt": BOB,
        "nested.zip": _zip({"ada.txt": ADA}),
        "bomb.txt": bytes(9_000_000),
    }
    content = _zip({**inside, "__MACOSX/ada.txt": b"x", "team/.DS_Store": b"x"})
    page = _upload(owner, flow_id, ("all.zip", content))
    _worked()
    rows = _rows()
    states = {name: row.state for name, row in rows.items()}
    assert states == {
        "all.zip": "unpacked",
        "ada.txt": "ready",
        "bob.txt": "ready",
        "nested.zip": "refused",
        "bomb.txt": "refused",
    }
    assert "ZIP inside a ZIP" in (rows["nested.zip"].reason or "")
    assert "100 times its size" in (rows["bomb.txt"].reason or "")
    assert len(_kept(engines)) == 2
    assert "all.zip" not in owner.browser.get(page).text


def _locked() -> bytes:
    """A ZIP whose only file says that it is encrypted."""
    content = bytearray(_zip({"ada.txt": ADA}))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.index(signature) + at
        content[place] |= 1
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04 broken", "damaged or has an unusual structure"),
        (_zip({}), "no files"),
        (_locked(), "protected by a password"),
        (
            _zip({"a.txt": b"x"})[:-22] + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 9, 9, 99_000_000, 0, 0),
            "too many",
        ),
    ],
)
def test_a_hostile_zip_is_refused_in_words(owner: Person, flow_id: str, content: bytes, words: str) -> None:
    page = _upload(owner, flow_id, ("all.zip", content))
    _worked()
    assert words in owner.browser.get(page).text
    assert {row.state for row in _rows().values()} <= {State.REFUSED, State.UNPACKED}


def test_201_files_are_200_and_one_with_a_reason(owner: Person, flow_id: str) -> None:
    page = _upload(owner, flow_id, *((f"{number}.txt", BOB) for number in range(201)))
    refused = [row for row in _rows().values() if row.state == State.REFUSED]
    assert [(row.name, row.reason) for row in refused] == [
        ("200.txt", "You can upload at most 200 CVs at once. Upload the rest separately.")
    ]
    assert "0 of" not in page
    assert db.session.query(CvFile).count() == 201


def test_what_was_never_confirmed_is_deleted_after_a_week(owner: Person, flow_id: str, engines: Gateways) -> None:
    page = _upload(owner, flow_id, ("ada.txt", ADA))
    _worked()
    now = clock.now()
    assert jobs.sweep() == 0
    with clock.replaced(lambda: now + timedelta(days=8)):
        assert jobs.sweep() == 1
        assert (db.session.query(CvUpload).count(), db.session.query(CvFile).count()) == (0, 0)
        assert _kept(engines) == []
    assert owner.browser.get(page).status_code == 404


def test_an_erasure_reaches_the_rows_of_an_upload(owner: Person, flow_id: str) -> None:
    page = _upload(owner, flow_id, ("ada.txt", ADA))
    _worked()
    owner.browser.post(page, data=_form())
    _worked()
    interview = db.session.query(Interview).one()
    erase(interview, by=owner.member)
    db.session.commit()
    assert (db.session.query(CvFile).count(), db.session.query(Document).count()) == (0, 0)


def test_an_interview_that_cannot_be_created_says_why_and_stays_to_check(
    owner: Person, flow_id: str, make_flow: Made
) -> None:
    page = _upload(owner, flow_id, ("ada.txt", ADA))
    _worked()
    owner.browser.post(page, data=_form())
    owner.browser.post(f"/flows/{flow_id}/close")
    _worked()
    row = _rows()["ada.txt"]
    assert (row.state, row.email) == (State.FAILED, "ada.lovelace@mail.example")
    assert "closed" in (row.reason or "")
    owner.browser.post(f"/flows/{flow_id}/reopen")
    assert owner.browser.post(page, data=_form()).status_code == 303
    _worked()
    assert db.session.query(Interview).count() == 1


def test_nothing_to_upload_is_an_error_of_the_form(owner: Person, flow_id: str) -> None:
    seen = owner.browser.post("/candidates/cvs", data={"flow": flow_id})
    assert (seen.status_code, "Choose at least one file." in seen.text) == (422, True)
    assert db.session.query(CvUpload).count() == 0
