"""The reading process: takes a document on standard input and writes its text as JSON to standard output.

A standalone file, so it loads nothing of Parley and has no secrets. It limits its memory, CPU time and files before it
reads a byte, gives up the network where the kernel lets it, and ends with the process that started it.
Arguments: kind, language, most characters, most pages, bytes of memory, seconds of CPU.
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
"""Legacy encodings of text files by language; Windows-1252 for all others."""


class Unreadable(Exception):
    """The text cannot be read; the message may be shown."""


class OutOfTime(BaseException):
    """The CPU time is used up; the text read so far counts. A BaseException, so that no library catches it."""


def confine(memory: int, cpu_seconds: int) -> None:
    """Limit memory, CPU and files; end with the parent; drop the network where the kernel allows it."""
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
    """The pieces joined by line breaks and tidied, at most ``most`` characters, and whether that is all."""
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
    """Plain text without control characters, lone surrogates and long runs of white space."""
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
            raise Unreadable("the document is protected by a password")
        pages = len(reader.pages)
    except PdfReadError:
        raise Unreadable("the document is damaged") from None
    for number in range(min(pages, most_pages)):
        with contextlib.suppress(PdfReadError):  # skip a damaged page
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
    """Paragraphs in the order of the page, without fallback content for older programs."""
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
    """The text, decoded as Unicode or the language's legacy encoding."""
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
        return {"error": "reading the document took too much time or memory"}
    except Exception as error:  # noqa: BLE001 - a hostile document may fail in any way; only the error's name is shown
        return {"error": f"the document is damaged ({type(error).__name__})"}
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
