"""Documents are judged by what they are, not by what they are called."""

import io
import zipfile

import pytest
from PIL import Image

from app.core.errors import Rejected
from app.interviews.documents import file_types
from app.interviews.documents.file_types import DOCX, LARGEST, accept, label_of

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer<<>>\n%%EOF\n"
BODY = b'<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>'


def image(kind: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "white").save(file, kind)
    return file.getvalue()


def docx(body: bytes = BODY, extra: dict[str, bytes] | None = None) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", body)
        for name, content in (extra or {}).items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PDF, "application/pdf"),
        (docx(), DOCX),
        (b"{\\rtf1 hello}", "application/rtf"),
        (image("PNG"), "image/png"),
        (image("JPEG"), "image/jpeg"),
        ("Grüße, my résumé".encode(), "text/plain"),
    ],
)
def test_the_six_kinds_are_known_by_content(content: bytes, kind: str) -> None:
    accepted = accept("virus.exe", content)
    assert (accepted.content_type, accepted.size, accepted.name) == (kind, len(content), "virus.exe")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"MZ\x90\x00\x03\x00",
        b"<!DOCTYPE html><p>",
        b"  <svg xmlns='x'>",
        b"<?xml version='1.0'?><a/>",
        b"\xff\xfe\x00x",
        b"%PDF-1.7 without an end",
        b"PK\x03\x04 no archive",
        b"\x89PNG broken in the middle \xff\xfe",
        b"GIF89a\x01\x00\xff",
    ],
)
def test_anything_else_is_refused_in_words(content: bytes) -> None:
    with pytest.raises(Rejected) as refusal:
        accept("resume.pdf", content)
    assert refusal.value.field == "file"


def test_a_pdf_without_its_end_is_called_damaged() -> None:
    with pytest.raises(Rejected, match="This PDF is damaged"):
        accept("resume.pdf", PDF[:-8])


def test_a_file_over_the_limit_is_refused() -> None:
    with pytest.raises(Rejected, match="10 MiB"):
        accept("a.txt", b"a" * (LARGEST + 1))


@pytest.mark.parametrize(
    "content",
    [
        docx(extra={"word/media/bomb": bytes(3_000_000)}),
        docx(extra={f"word/{number}": b"x" for number in range(file_types.MOST_ENTRIES)}),
        docx(extra={"../../outside": b"x"}),
        docx(body=b'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]><d>&e;</d>'),
        docx(body=b"<w:document"),
    ],
    ids=["packed a thousandfold", "too many parts", "outside its folder", "entities", "broken xml"],
)
def test_an_office_file_that_is_a_trap_is_refused(content: bytes) -> None:
    with pytest.raises(Rejected, match="Office file"):
        accept("cv.docx", content)


def test_an_office_file_with_links_is_refused() -> None:
    file = io.BytesIO(docx())
    with zipfile.ZipFile(file, "a") as archive:
        link = zipfile.ZipInfo("word/link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(Rejected) as refused:
        accept("cv.docx", file.getvalue())
    assert refused.value.values == {"reason": "it contains links"}


def test_an_office_file_that_lies_about_its_size_is_refused() -> None:
    file = io.BytesIO(docx(body=BODY + b" " * 5000))
    raw = bytearray(file.getvalue())
    with zipfile.ZipFile(file) as archive:
        size = archive.getinfo("word/document.xml").file_size.to_bytes(4, "little")
    while size in raw:
        at = raw.index(size)
        raw[at : at + 4] = (1000).to_bytes(4, "little")
    with pytest.raises(Rejected):
        accept("cv.docx", bytes(raw))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("C:\\Users\\me\\cv.pdf", "cv.pdf"),
        ("../../etc/passwd", "passwd"),
        ("a\x00b\n.pdf", "ab.pdf"),
        ("", "document"),
        ("x" * 300 + ".pdf", "x" * 251 + ".pdf"),
        ("履歴書.pdf", "履歴書.pdf"),
    ],
)
def test_a_name_is_a_label_and_never_a_path(given: str, shown: str) -> None:
    assert label_of(given) == shown
