"""The report as a PDF: it says what the HTML says, runs nothing, shows every letter or says which ones it cannot."""

import html
import io
import re
import time
from typing import Any

import pytest
from pypdf import PdfReader

from app.core.errors import GatewayError
from app.interviews.models import Interview, Role
from app.review.exports import pages
from app.review.exports.pdf import Limits, fonts, pdf_of
from app.review.exports.pdf.tree import direction, text_of, tree_of
from tests.factories import Made
from tests.people import Person

from .test_exports import audited, exported, judged, recorded, unpacked

__all__ = ["judged", "recorded"]


def text_in(pdf: bytes) -> str:
    return " ".join(" ".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages).split())


def asked_for(person: Person, interview_id: str) -> str:
    """The page that comes instead of the file."""
    given = {"data": {"format": "pdf"}, "follow_redirects": True}
    text: str = person.browser.post(f"/interviews/{interview_id}/export", **given).text
    return text


def letters_of(text: str) -> str:
    """Without spaces and what is drawn at line ends, so that lines may break anywhere; without page numbers."""
    return re.sub(r"[\s\u00ad]", "", text)


def shown_in(markup: str) -> list[str]:
    """The texts of the report, in the order of the page."""
    inside = re.sub(r"<(svg|style|title).*?</\1>", " ", markup, flags=re.DOTALL)
    return [html.unescape(one).strip() for one in re.split(r"<[^>]+>", inside) if one.strip()]


def a_report(*paragraphs: str, lang: str = "en") -> str:
    body = "".join(f'<p lang="{lang}" dir="auto">{html.escape(text)}</p>' for text in paragraphs)
    return f'<article class="report"><header><h1><bdi>Mary Hall</bdi></h1></header><section>{body}</section></article>'


def test_the_file_says_what_the_page_says(owner: Person, judged: Interview) -> None:
    page = owner.browser.get(f"/interviews/{judged.id}/report").text
    answer = exported(owner, judged.id, "pdf")
    assert (answer.status_code, answer.mimetype) == (200, "application/pdf")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="interview-{judged.id[:8]}.pdf"'
    found = letters_of(text_in(answer.get_data()))
    article = re.search(r'<article class="report">.*</article>', page, re.DOTALL)
    assert article is not None
    texts = shown_in(article[0].split("<footer>")[0])
    assert len(texts) > 50
    assert [text for text in texts if letters_of(text) not in found] == []
    assert audited("interview.exported") == [{"format": "pdf"}]
    info = PdfReader(io.BytesIO(answer.get_data()))
    assert info.metadata is not None
    assert info.metadata.title == "Interview report"
    assert info.trailer["/Root"]["/MarkInfo"]["/Marked"]  # type: ignore[index]  # tagged, for screen readers
    assert "PDF" in owner.browser.get(f"/interviews/{judged.id}").text


def test_the_archive_has_it_too(owner: Person, recorded: Interview) -> None:
    files = unpacked(exported(owner, recorded.id, "zip"))
    assert "Interview report" in text_in(files["report.pdf"])


HOSTILE = (
    '#panic("x")',
    '#read("/etc/passwd")',
    "\\ \\u{41} $x^2$ *b* _i_ `c` <l> @ref = no heading",
    '#import "@preview/x:1.0.0"',
    "// no comment /* neither */ #{ [ ] }",
    "<script>alert(1)</script> &amp; ]]> </p>",
)


def test_what_people_say_is_never_markup() -> None:
    found = letters_of(text_in(pdf_of(a_report(*HOSTILE))))
    assert [text for text in HOSTILE if letters_of(text) not in found] == []


def test_commands_of_candidates_stay_text(owner: Person, completed: Made) -> None:
    interview = completed(said=[(Role.USER, 0, text) for text in HOSTILE])
    found = letters_of(text_in(exported(owner, interview.id, "pdf").get_data()))
    assert [text for text in HOSTILE if letters_of(text) not in found] == []


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("th-TH", "ไทยสวัสดีครับ"),
        ("ar-AE", "مرحبا بالعالم"),
        ("hi-IN", "नमस्ते क्षत्रिय"),
        ("vi-VN", "Tiếng Việt được ước"),
        ("no-NO", "Blåbærsyltetøy"),
    ],
)
def test_letters_are_there_without_fonts_of_the_system(lang: str, text: str) -> None:
    assert pdf_of(a_report(text, lang=lang), with_system_fonts=False).startswith(b"%PDF-")


@pytest.mark.parametrize(("lang", "text"), [("ja-JP", "こんにちは"), ("zh-CN", "你好"), ("ko-KR", "안녕")])
def test_letters_without_a_font_are_named_and_never_an_empty_box(lang: str, text: str) -> None:
    with pytest.raises(GatewayError) as refused:
        pdf_of(a_report("Hello", text, lang=lang), with_system_fonts=False)
    assert all(letter in str(refused.value) for letter in text)
    assert "Open the report and save it as a PDF with your browser instead" in str(refused.value)


def test_symbols_without_a_font_are_spelled_out() -> None:
    found = text_in(pdf_of(a_report("Great 😀 and 👩‍💻 ❤️!"), with_system_fonts=False))
    assert "Great [grinning face] and [woman][personal computer]" in found


def test_a_report_that_cannot_be_typeset_says_what_to_do(owner: Person, judged: Interview, monkeypatch: Any) -> None:
    def refuse(_html: str) -> bytes:
        raise GatewayError("This server has no font with these characters: 你.", retryable=False)

    monkeypatch.setattr("app.review.exports.pdf.pdf_of", refuse)
    assert "no font with these characters: 你" in asked_for(owner, judged.id)
    files = unpacked(exported(owner, judged.id, "zip"))
    assert "report.pdf" not in files
    assert "no font with these characters" in files["report.pdf is missing.txt"].decode()
    assert "report.html" in files
    assert audited("interview.exported") == [{"format": "zip"}]


def test_nothing_is_sent_once_access_has_changed(owner: Person, judged: Interview, monkeypatch: Any) -> None:
    states = iter([(False, False), (True, False)])
    monkeypatch.setattr(pages, "access_to", lambda *_, **__: next(states))
    assert "changed while the PDF was being created" in asked_for(owner, judged.id)
    assert audited("interview.exported") == []


def test_two_hours_of_talk_take_bounded_time_and_memory() -> None:
    """18,000 words in 600 turns."""
    turns = [f"Turn {number}: " + "this is what I did in my last job and why. " * 3 for number in range(600)]
    began = time.monotonic()
    pdf = pdf_of(a_report(*turns), limits=Limits(memory=640 * 1024**2, cpu_seconds=20, wall_seconds=60))
    assert time.monotonic() - began < 60
    assert len(PdfReader(io.BytesIO(pdf)).pages) > 15
    assert len(pdf) < 3 * 1024**2


@pytest.mark.parametrize("limits", [Limits(memory=64 * 1024**2), Limits(wall_seconds=0), Limits(size=100)])
def test_a_limit_is_said_in_words(limits: Limits) -> None:
    with pytest.raises(GatewayError, match="with your browser instead"):
        pdf_of(a_report("Hello"), limits=limits)


def test_fonts_come_along() -> None:
    assert len(fonts()) == 4


def test_the_tree_keeps_words_lines_and_directions() -> None:
    tree = tree_of(
        '<article>\n <p class="summary" lang="en">One\nTwo</p>\n'
        " <dl> <div><dt> A </dt><dd><bdi>مرحبا</bdi></dd></div> </dl>"
        '<p>3 <svg class="bar"><rect class="bar-back" width="50"/><rect class="bar-value" width="25.0"/></svg></p>'
        "</article>"
    )
    summary, facts, bar = tree["k"][0]["k"]
    assert summary["k"] == ["One", {"t": "br", "k": []}, "Two"]
    assert text_of(facts) == "Aمرحبا"
    assert facts["k"][0]["k"][1]["k"][0]["d"] == "rtl"
    assert bar["k"][1]["w"] == 25.0
    assert [direction(text) for text in ("1. abc", "12 مرحبا", "?")] == ["ltr", "rtl", "ltr"]
