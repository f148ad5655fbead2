"""The reading process: a document on its standard input, its text as JSON on its standard output, and the end.

A program of its own file, so it loads nothing of Parley and knows no secret. It limits its memory, processor time and
files before it reads a byte, gives up the network where the kernel lets it, and ends with the process that started it.
What it was told comes as arguments: kind, language, most characters, most pages, bytes of memory, seconds of CPU.
"""

import contextlib
import ctypes
import io
import json
import logging
import os
import re
import resource
import signal
import sys
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

_CLONE_NEWUSER, _CLONE_NEWNET, _PR_SET_PDEATHSIG = 0x10000000, 0x40000000, 1
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_LARGEST_PART = 25 * 1024 * 1024
_OLD_CODES = {
    "ja-JP": "cp932",
    "ko-KR": "cp949",
    "zh-CN": "gb18030",
    "th-TH": "cp874",
    "ar-AE": "cp1256",
    "vi-VN": "cp1258",
}
"""What a text file of old was written in where it is no Unicode; elsewhere it is Windows-1252."""


class Unreadable(Exception):
    """Nothing to be had, for a reason that may be shown."""


class OutOfTime(BaseException):
    """The processor time is used up; what was read so far counts. No library may catch it by accident."""


def confine(memory: int, cpu_seconds: int) -> None:
    """Limit memory, CPU and files; end with the parent; no network where the kernel lets us."""
    for kind, soft, hard in (
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 2),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, 64, 64),
    ):
        _soft, most = resource.getrlimit(kind)
        bounded = [value if most == resource.RLIM_INFINITY else min(value, most) for value in (soft, hard)]
        resource.setrlimit(kind, (bounded[0], bounded[1]))
    signal.signal(signal.SIGXCPU, _time_is_over)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if libc.unshare(_CLONE_NEWNET) != 0:
            libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def _time_is_over(_signal: int, _frame: object) -> None:
    raise OutOfTime


def gather(pieces: Iterator[str], *, most: int) -> tuple[str, bool]:
    """The pieces joined by lines and tidied, and whether that is all: at most ``most`` characters."""
    parts: list[str] = []
    have = 0
    try:
        for piece in pieces:
            text = tidy(piece)
            parts.append(text)
            have += len(text) + 1
            if have > most:
                return tidy("\n".join(parts))[:most], False
    except (OutOfTime, MemoryError, RecursionError):
        if not any(parts):
            raise
        return tidy("\n".join(parts))[:most], False
    return tidy("\n".join(parts)), True


def tidy(text: str) -> str:
    """Plain text that any page and any database takes: no controls, no lone surrogates, no deserts of white space."""
    plain = text.replace("\r\n", "\n")
    shown = "".join(sign if sign.isprintable() or sign in "\n\t" else _instead(sign) for sign in plain)
    shown = re.sub(r"[ \t]+", " ", shown)
    return re.sub(r" ?\n( ?\n)+", "\n\n", shown).strip()


def _instead(sign: str) -> str:
    if sign in "\r\v\f\x85\u2028\u2029":
        return "\n"
    return " " if sign.isspace() else ""


def pdf(content: bytes, *, most_pages: int) -> Iterator[str]:
    """The text of each page."""
    from pypdf import PdfReader
    from pypdf.errors import PdfReadError

    logging.disable(logging.CRITICAL)  # the library's warnings quote the document
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("it is protected by a password")
        pages = len(reader.pages)
    except PdfReadError:
        raise Unreadable("it is damaged") from None
    for number in range(min(pages, most_pages)):
        with contextlib.suppress(PdfReadError):  # a damaged page costs itself
            yield reader.pages[number].extract_text()
    if pages > most_pages:
        raise OutOfTime


def docx(content: bytes) -> Iterator[str]:
    """Each paragraph of the document itself, then of its notes."""
    from defusedxml.ElementTree import iterparse

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = set(archive.namelist())
        for name in ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml"):
            if name in names:
                with archive.open(name) as part:
                    yield from _paragraphs(
                        iterparse(io.BytesIO(part.read(_LARGEST_PART)), ("start", "end"), forbid_dtd=True)
                    )


def _paragraphs(events: Iterator[tuple[str, Any]]) -> Iterator[str]:
    """Paragraphs in the order of the page; what an older program would show instead is left out."""
    words: list[str] = []
    unseen = 0
    for event, element in events:
        if element.tag == _FALLBACK:
            unseen += 1 if event == "start" else -1
        if event == "start" or unseen:
            continue
        tag = element.tag.removeprefix(_WORD)
        if tag == "t":
            words.append(element.text or "")
        elif tag in {"tab", "br", "cr"}:
            words.append("\t" if tag == "tab" else "\n")
        elif tag == "p":
            yield "".join(words)
            words = []
            element.clear()


def rtf(content: bytes) -> Iterator[str]:
    """The text without its formatting."""
    from striprtf.striprtf import rtf_to_text

    plain: str = rtf_to_text(content.decode("latin-1"), encoding="cp1252", errors="replace")  # type: ignore[no-untyped-call]  # it carries no types
    yield plain


def plain_text(content: bytes, *, language: str) -> Iterator[str]:
    """The text in whatever it was written in."""
    for code in (
        "utf-8-sig",
        "utf-16" if content[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8",
        _OLD_CODES.get(language, "cp1252"),
    ):
        with contextlib.suppress(UnicodeDecodeError):
            yield content.decode(code)
            return
    yield content.decode("cp1252", errors="replace")


def read(kind: str, content: bytes, *, language: str, most: int, most_pages: int) -> dict[str, Any]:
    """``{"text", "whole"}``, or ``{"error"}`` with a reason that may be shown."""
    readers: dict[str, Callable[[], Iterator[str]]] = {
        "pdf": lambda: pdf(content, most_pages=most_pages),
        "docx": lambda: docx(content),
        "rtf": lambda: rtf(content),
        "text": lambda: plain_text(content, language=language),
    }
    try:
        text, whole = gather(readers[kind](), most=most)
    except Unreadable as error:
        return {"error": str(error)}
    except (OutOfTime, MemoryError, RecursionError):
        return {"error": "reading it takes more time or memory than a document may use"}
    except Exception as error:  # noqa: BLE001 - a hostile document may fail in any way; its name is told, never its text
        return {"error": f"it is damaged ({type(error).__name__})"}
    return {"text": text, "whole": whole}


def main() -> None:
    parent = os.getppid()
    kind, language, *numbers = sys.argv[1:]
    most, most_pages, memory, cpu_seconds = (int(number) for number in numbers)
    confine(memory, cpu_seconds)
    if os.getppid() != parent:
        return
    answer = read(kind, sys.stdin.buffer.read(), language=language, most=most, most_pages=most_pages)
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
