"""Which files a candidate may add, decided by their content and never by their name, without unpacking traps.

Limits: 10 documents of 10 MiB. An Office file is a ZIP archive; it is refused before anything of it is unpacked when
it has more than 2,000 entries, would grow beyond 100 MiB or a hundredfold, or holds links or broken XML. Its XML is
streamed, never built up in memory, and only the header of a picture is read: it may have 50 million pixels.
"""

import io
import stat
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

from app.core.errors import Rejected, sentence

MOST_DOCUMENTS = 10
LARGEST = 10 * 1024 * 1024
MOST_ENTRIES = 2_000
LARGEST_UNPACKED = 100 * 1024 * 1024
LARGEST_XML = 25 * 1024 * 1024
LARGEST_RATIO = 100
MOST_PIXELS = 50_000_000
LONGEST_NAME = 255
SURELY_TEXT = 64
"""This many bytes without a control character are text, whatever their encoding."""

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_CONTROLS = frozenset(chr(code) for code in range(32)) - set("\t\n\r\f")
_BEGINNINGS = (b"\x89PNG", b"\xff\xd8\xff", b"PK\x03\x04", b"GIF8", b"\xd0\xcf\x11\xe0")
KINDS = "PDF, DOCX, TXT, RTF, PNG, JPEG"


@dataclass(frozen=True, slots=True)
class Accepted:
    """An accepted file: its label, and its type according to its content."""

    name: str
    content_type: str
    size: int


def accept(name: str, content: bytes) -> Accepted:
    """Check a file by content. Raises Rejected(field="file") with the accepted types."""
    if not content:
        raise Rejected(sentence("The file is empty."), field="file")
    if len(content) > LARGEST:
        raise Rejected(sentence("The file is larger than 10 MiB."), field="file")
    content_type = _type_of(content)
    if content_type is None and content.startswith(b"%PDF-"):
        words = sentence("This PDF is damaged: its end is missing. Open it, save it again, and add the new file.")
        raise Rejected(words, field="file")
    if content_type is None:
        raise Rejected(
            sentence("This type of file is not accepted. You can add: %(kinds)s."), field="file", kinds=KINDS
        )
    if content_type == DOCX:
        check_archive(content)
    if content_type.startswith("image/"):
        _check_picture(content)
    return Accepted(label_of(name), content_type, len(content))


def label_of(name: str) -> str:
    """The last part of a file name without control characters: a label to show, never a path."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(sign for sign in last if sign.isprintable()).strip()
    return shown[-LONGEST_NAME:] or "document"


def _type_of(content: bytes) -> str | None:
    for content_type, fits in _SIGNS.items():
        if fits(content):
            return content_type
    return None


def _is_pdf(content: bytes) -> bool:
    return content.startswith(b"%PDF-") and b"%%EOF" in content[-2048:]


def _is_image(kind: str) -> Callable[[bytes], bool]:
    def fits(content: bytes) -> bool:
        import puremagic

        try:
            return puremagic.from_string(content, mime=True) == kind
        except puremagic.PureError:
            return False

    return fits


def _is_docx(content: bytes) -> bool:
    if not content.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return "word/document.xml" in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return False


def _is_text(content: bytes) -> bool:
    text = _decoded(content)
    if text is None or not _CONTROLS.isdisjoint(text):
        return False
    beginning = text[:1024].lstrip().lower()
    # A browser that sniffs types would run these; a damaged PDF is not text either.
    return not beginning.startswith(("<!doctype", "<html", "<svg", "<?xml", "<script", "%pdf-"))


def _decoded(content: bytes) -> str | None:
    """Decoded as Unicode or as a legacy encoding: their letters differ, their control characters do not."""
    is_wide = content[:2] in {b"\xff\xfe", b"\xfe\xff"}
    is_doubtful = len(content) < SURELY_TEXT or content.startswith(_BEGINNINGS)
    for code in ("utf-8-sig", *([] if is_doubtful else ["utf-16" if is_wide else "latin-1"])):
        try:
            return content.decode(code)
        except UnicodeDecodeError:
            continue
    return None


_SIGNS: dict[str, Callable[[bytes], bool]] = {
    "application/pdf": _is_pdf,
    DOCX: _is_docx,
    "application/rtf": lambda content: content.startswith(b"{\\rtf"),
    "image/png": _is_image("image/png"),
    "image/jpeg": _is_image("image/jpeg"),
    "text/plain": _is_text,
}


def check_archive(content: bytes) -> None:
    """Reject an Office file that is a trap. The sizes that the archive states are compared with the actual ones."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        if len(entries) > MOST_ENTRIES:
            raise _trap("it contains too many parts")
        if sum(entry.file_size for entry in entries) > LARGEST_UNPACKED:
            raise _trap("it would unpack to more than 100 MiB")
        for entry in entries:
            _check_entry(entry)
        _check_xml(archive)


def _check_entry(entry: zipfile.ZipInfo) -> None:
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise _trap("it contains links")
    if entry.filename.startswith(("/", "\\")) or ".." in entry.filename.replace("\\", "/").split("/"):
        raise _trap("it contains parts outside its own folder")
    if entry.file_size > LARGEST_RATIO * max(entry.compress_size, 1):
        raise _trap("it is compressed more than a hundredfold")
    if entry.flag_bits & 0x1:
        words = sentence("This file is protected by a password. Save it without a password, then add it again.")
        raise Rejected(words, field="file")


def _check_xml(archive: zipfile.ZipFile) -> None:
    """Read the document up to the size that the archive states; reject entities and broken XML."""
    from xml.sax import ContentHandler, SAXException

    from defusedxml import DefusedXmlException
    from defusedxml.sax import parse

    entry = archive.getinfo("word/document.xml")
    if entry.file_size > LARGEST_XML:
        raise _trap("its text alone is larger than 25 MiB")
    try:
        with archive.open(entry) as part:
            text = part.read(entry.file_size + 1)
        if len(text) > entry.file_size:
            raise _trap("it is larger than it claims")
        parse(io.BytesIO(text), ContentHandler(), forbid_dtd=True)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, SAXException, DefusedXmlException):
        raise _trap("it is damaged or contains things that a document should not") from None


def _check_picture(content: bytes) -> None:
    """Check the size in the header without decoding the picture."""
    from PIL import Image  # nosemgrep: parser-in-the-wrong-process - the header is looked at, nothing is decoded

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's warning about bombs: the size is checked below
            with Image.open(io.BytesIO(content), formats=["PNG", "JPEG"]) as picture:
                width, height = picture.size
    except Image.DecompressionBombError:
        width = height = MOST_PIXELS
    except Exception as error:  # a hostile picture may fail in any way
        raise Rejected(sentence("This picture is damaged and cannot be read."), field="file") from error
    if width * height > MOST_PIXELS:
        raise Rejected(sentence("This picture has more than 50 million pixels. Add a smaller one."), field="file")


def _trap(reason: str) -> Rejected:
    """The message tells the candidate what helps; ``reason`` stays in the error's values."""
    words = sentence("This Office file is damaged or has an unusual structure. Save it as a PDF and add the PDF.")
    return Rejected(words, field="file", reason=reason)
