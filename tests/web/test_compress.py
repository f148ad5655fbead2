"""What is sent compressed, to whom, and what never is: compression must not let strangers measure private pages."""

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.web import compress
from tests.people import Person

STATIC = Path(__file__).parents[2] / "static"
OURS = {"Accept-Encoding": "gzip, br", "Sec-Fetch-Site": "same-origin"}


def encoding(answer: Any) -> str | None:
    found: str | None = answer.headers.get("Content-Encoding")
    return found


def test_static_files_are_compressed_once_and_still_checked_by_their_tag(app: Flask) -> None:
    browser = app.test_client()
    plain = browser.get("/static/css/components.css", buffered=True)
    small = browser.get("/static/css/components.css", headers={"Accept-Encoding": "gzip"}, buffered=True)
    assert (encoding(plain), encoding(small)) == (None, "gzip")
    assert gzip.decompress(small.data) == plain.data
    assert int(small.headers["Content-Length"]) == len(small.data) < len(plain.data) / 2
    same = browser.get("/static/css/components.css", headers={"Accept-Encoding": "gzip"}, buffered=True)
    assert (same.data, encoding(same)) == (small.data, "gzip")
    assert "Accept-Encoding" in small.headers["Vary"]
    assert "Accept-Encoding" in plain.headers["Vary"], "a cache keeps both apart"
    again = browser.get(
        "/static/css/components.css",
        headers={"Accept-Encoding": "gzip", "If-None-Match": small.headers["ETag"]},
        buffered=True,
    )
    assert (again.status_code, again.data) == (304, b"")


def test_scripts_leave_their_comments_behind_and_keep_their_lines(app: Flask) -> None:
    browser = app.test_client()
    plain = browser.get("/static/js/voice/talk.js", buffered=True).text
    small = browser.get("/static/js/voice/talk.js", headers={"Accept-Encoding": "gzip"}, buffered=True)
    sent = gzip.decompress(small.data).decode()
    lines = plain.split("\n")
    assert any(line.strip().startswith("//") for line in lines)
    assert any(re.search(r"; // ", line) for line in lines)
    assert sent.split("\n") == [re.sub(r"^\s*//.*$|(?<=[;,{})\]]) // [^\"'`]*$", "", line) for line in lines]


def test_no_line_inside_a_string_looks_like_a_comment() -> None:
    for path in STATIC.rglob("*.js"):
        is_inside = False
        for line in path.read_text(encoding="utf-8").split("\n"):
            is_comment = line.strip().startswith("//")
            assert not (is_comment and is_inside), f"{path.name}: {line}"
            is_inside ^= not is_comment and re.sub(r"\s//.*|\\`", "", line).count("`") % 2 == 1
        assert not is_inside, path.name


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_pages_that_our_own_pages_or_their_reader_ask_for_are_compressed(owner: Person, site: str) -> None:
    plain = owner.browser.get("/candidates", headers={"Sec-Fetch-Site": site})
    small = owner.browser.get("/candidates", headers={**OURS, "Sec-Fetch-Site": site})
    assert (encoding(plain), encoding(small)) == (None, "gzip")
    assert b"<h1>Candidates</h1>" in gzip.decompress(small.data)
    assert {"Accept-Encoding", "Sec-Fetch-Site", "Cookie"} <= set(small.headers["Vary"].split(", "))


@pytest.mark.parametrize("site", ["cross-site", "same-site", None])
def test_pages_that_another_site_asks_for_tell_nothing_by_their_length(owner: Person, site: str | None) -> None:
    headers = {"Accept-Encoding": "gzip", **({"Sec-Fetch-Site": site} if site else {})}
    assert encoding(owner.browser.get("/candidates?text=guess", headers=headers)) is None


def test_what_is_short_packed_streamed_or_asked_for_in_parts_stays_as_it_is(owner: Person, app: Flask) -> None:
    assert encoding(app.test_client().get("/healthz", headers=OURS)) is None
    assert encoding(owner.browser.post("/candidates/export", headers=OURS, buffered=True)) is None
    assert encoding(app.test_client().head("/static/css/components.css", headers=OURS, buffered=True)) is None
    part = app.test_client().get("/static/css/components.css", headers={**OURS, "Range": "bytes=0-9"}, buffered=True)
    assert (part.status_code, encoding(part), len(part.data)) == (206, None, 10)
    refused = app.test_client().get(
        "/static/css/components.css", headers={"Accept-Encoding": "gzip;q=0, identity"}, buffered=True
    )
    assert encoding(refused) is None


def test_a_comment_behind_a_statement_begins_outside_of_strings() -> None:
    found = 0
    for path in STATIC.rglob("*.js"):
        for line in path.read_text(encoding="utf-8").split("\n"):
            kept = compress.COMMENTS.sub(b"", line.encode()).decode()
            found += bool(kept) and kept != line
            for quote in "\"'`":
                assert kept == line or kept.count(quote) % 2 == 0, f"{path.name}: {line}"
    assert found > 100
