"""Documents that candidates send to do harm: refused in words, or kept as a download that no browser runs."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app import gateways
from app.core.db import db
from app.gateways import Gateways
from app.interviews import actions
from app.interviews.models import Interview
from app.operations.demo.candidate import Candidate, Refused
from tests.conversation.direct import Direct
from tests.conversation.fakes import ScriptedInterviewer, ScriptedSpeaker
from tests.factories import Made
from tests.guards import Guarded
from tests.people import Person

BODY = b'<?xml version="1.0"?><w:document xmlns:w="urn:w"><w:body/></w:document>'
PDF = b"%PDF-1.7\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n"
BILLION = b'<!ENTITY a "aaaaaaaaaa">' + b"".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">'.encode() for n in range(8)
)


def office(parts: dict[str, bytes] | None = None, *, body: bytes = BODY, stored: bool = False) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", body)
        for name, content in (parts or {}).items():
            archive.writestr(name, content)
    return packed.getvalue()


def entity(declaration: bytes) -> bytes:
    return office(body=b'<?xml version="1.0"?><!DOCTYPE d [' + declaration + b"]><d>&a;</d>")


def overlapping() -> bytes:
    """Many entries of the directory that all point at the same bytes, each of a modest ratio."""
    one = office({"word/kernel": bytes(900_000)})
    directory_at = one.rindex(b"PK\x01\x02")
    end_at = one.rindex(b"PK\x05\x06")
    entry = one[directory_at:end_at]
    count = 1500
    directory = one[one.index(b"PK\x01\x02") : directory_at] + entry * count
    start = one.index(b"PK\x01\x02")
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count + 1, count + 1, len(directory), start, 0)
    return one[:start] + directory + end


def png_bomb() -> bytes:
    """A PNG that claims 60,000 pixels each way."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 6, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


REFUSED = {
    "huge picture": png_bomb(),
    "zip bomb": office({"word/media/a": bytes(9_000_000)}),
    "bomb in the document itself": office(body=BODY + b" " * 60_000_000),
    "nested archive of bombs": office(
        {"word/media/a.zip": office({"b": bytes(5_000_000)}, stored=False) + bytes(400_000)}
    ),
    "overlapping entries": overlapping(),
    "two thousand parts": office({f"word/{n}": b"" for n in range(2_001)}),
    "slip": office({"../../../etc/cron.d/x": b"x"}),
    "slip with backslashes": office({"..\\..\\windows\\x": b"x"}),
    "absolute": office({"/etc/passwd": b"x"}),
    "entity from a file": entity(b'<!ENTITY a SYSTEM "file:///etc/passwd">'),
    "entity from the network": entity(b'<!ENTITY a SYSTEM "http://127.0.0.1:9/x">'),
    "parameter entity": entity(b'<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;'),
    "billion laughs": entity(BILLION),
    "quadratic blowup": entity(b'<!ENTITY a "' + b"a" * 100_000 + b'">'),
    "truncated": office()[:-30],
    "no document inside": office(body=BODY).replace(b"word/document.xml", b"ward/document.xml"),
    "page": b"<!DOCTYPE html><script>alert(1)</script>",
    "page after spaces": b"\n\n \t<html><script>alert(1)</script>",
    "page after a mark": "\N{BYTE ORDER MARK}<html>".encode(),
    "picture that runs scripts": b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    "program": b"\x7fELF\x02\x01\x01" + bytes(64),
    "Windows program": b"MZ\x90\0" + bytes(64),
    "Java archive": b"\xca\xfe\xba\xbe" + bytes(64),
    "compressed": b"\x1f\x8b\x08\0" + bytes(64),
    "old Word": bytes.fromhex("d0cf11e0a1b11ae1") + bytes(512),
    "PostScript": b"\x00%!PS-Adobe-3.0\n/x (file) run",
    "UTF-16 page": "<html><script>".encode("utf-16"),
    "NUL in text": b"hello\0world",
    "half a PDF": b"%PDF-1.7\n" + b"a" * 5000,
    "only a PNG's beginning": b"\x89PNG\r\n",
}
KEPT = {
    "PDF that is also a page": b"%PDF-1.7\n<html><script>alert(1)</script></html>\n" + PDF,
    "PDF that is also an archive": PDF + office()[:-1] + b"\n%%EOF",
    "PDF that runs scripts": b"%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj\n%%EOF",
    "text that looks like a formula": b"=cmd|'/C calc'!A0\n@SUM(1)\n",
    "text with a script further down": b"dear team\n" * 200 + b"<script>alert(1)</script>",
}
NAMES = (
    "../../etc/passwd",
    "..\\..\\boot.ini",
    "/etc/passwd",
    "a\r\nSet-Cookie: x=1.pdf",
    "a\x00.pdf.exe",
    'a";filename="b.exe',
    "\N{RIGHT-TO-LEFT OVERRIDE}fdp.exe",
    "<script>alert(1)</script>.pdf",
    "{{7*7}}.pdf",
    "CON",
    ".",
    "..",
    "",
    "x" * 5000,
    "%2e%2e%2fpasswd",
    "\N{FULLWIDTH SOLIDUS}etc",
    "r\u00e9sum\u00e9 \N{SNOWMAN}.pdf",
)


@pytest.fixture
def writer(app: Flask, engines: Gateways, owner: Person, make_flow: Made) -> Iterator[Candidate]:
    """A candidate in the middle of a written interview that takes documents."""
    scripted: dict[str, Any] = {"speaker": Guarded(ScriptedSpeaker()), "interviewer": Guarded(ScriptedInterviewer())}
    kept = app.extensions["parley.gateways"]
    app.extensions["parley.gateways"] = replace(engines, **scripted)
    interview = actions.book(owner.organization, make_flow(is_doc_upload_enabled=True).id, email="x@candidate.example")
    db.session.commit()
    link = f"http://localhost/interview/api/{interview.flow_id}/{interview.id}"
    candidate = Candidate(link, session=Direct(app.test_client()))  # type: ignore[arg-type]
    candidate.open()
    candidate.start("text")
    yield candidate
    app.extensions["parley.gateways"] = kept


def _interview(candidate: Candidate) -> Interview:
    db.session.expire_all()
    return db.session.get_one(Interview, candidate.link.rsplit("/", 1)[-1])


def _stored(interview_id: str) -> list[str]:
    db.session.rollback()
    return list(gateways.current().storage.list(f"documents/{interview_id}"))


@pytest.mark.parametrize("content", REFUSED.values(), ids=REFUSED.keys())
def test_a_harmful_document_is_refused_in_words_and_leaves_nothing(writer: Candidate, content: bytes) -> None:
    with pytest.raises(Refused) as refusal:
        writer.call("POST", "/documents", files={"file": ("cv.docx", content)})
    assert refusal.value.status == 422
    assert refusal.value.body["field"] == "file"
    assert "passwd" not in refusal.value.body["message"]
    interview = _interview(writer)
    assert interview.documents == []
    assert _stored(interview.id) == []
    assert writer.call("GET", "/state")["stage"] == "live"  # the talk goes on


@pytest.mark.parametrize("content", KEPT.values(), ids=KEPT.keys())
def test_what_is_kept_is_a_download_that_no_browser_runs(writer: Candidate, owner: Person, content: bytes) -> None:
    made = writer.call("POST", "/documents", files={"file": ("cv.html", content, "text/html")})
    answer = owner.browser.get(f"/interviews/{_interview(writer).id}/documents/{made['id']}")
    assert answer.data == content
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    assert "html" not in answer.headers["Content-Type"]
    assert "svg" not in answer.headers["Content-Type"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox")
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_label_everywhere(writer: Candidate, owner: Person, name: str) -> None:
    accepted = actions.accept_document(name, PDF)
    assert "/" not in accepted.name
    assert "\\" not in accepted.name
    assert accepted.name.isprintable()
    assert 1 <= len(accepted.name) <= 255
    interview = _interview(writer)
    key = f"documents/{interview.id}/fixed"
    db.session.commit()
    gateways.current().storage.put(key, PDF)
    interview = _interview(writer)
    document = actions.add_document(interview, accepted, storage_key=key)
    interview_id, document_id = interview.id, document.id
    db.session.commit()
    answer = owner.browser.get(f"/interviews/{interview_id}/documents/{document_id}")
    assert answer.status_code == 200
    label = answer.headers["Content-Disposition"]
    assert label.isascii()
    assert "Set-Cookie" not in answer.headers
    assert label.count('"') == 2
    page = owner.browser.get(f"/interviews/{interview_id}").get_data(as_text=True)
    assert "<script>alert" not in page


def test_a_body_beyond_the_limit_is_refused_without_being_kept(writer: Candidate) -> None:
    with pytest.raises(Refused) as refusal:
        writer.call("POST", "/documents", files={"file": ("a.txt", b"a" * (11 * 1024 * 1024))})
    assert refusal.value.status in {413, 422}
    assert _stored(_interview(writer).id) == []


@pytest.mark.filterwarnings("ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings(
    "ignore:Unclosed file:ResourceWarning"
)  # Werkzeug leaves the parts it read to the collector
def test_a_form_of_thousands_of_parts_is_refused(writer: Candidate) -> None:
    files = {f"part{n}": ("a.txt", b"a") for n in range(2_000)}
    with pytest.raises(Refused) as refusal:
        writer.call("POST", "/documents", files=files)
    assert refusal.value.status == 413
