"""The list of supported browsers stands in one place, and page, statement and documentation say the same."""

import re
from pathlib import Path

from flask import Flask

from app.conversation.browsers import FEATURES, NAMED, OLDEST, TESTED
from app.conversation.pages.accessibility import LIMITS
from tests.factories import Made
from tests.people import Browser

from .conftest import path_of

ROOT = Path(__file__).resolve().parents[2]
SYNTAX = {"private methods"}  # a browser without it reads no line of the script


def test_the_check_asks_for_each_feature_of_the_list() -> None:
    source = (ROOT / "static/js/voice/microphone.js").read_text()
    table = source.partition("const NEEDED = {")[2].partition("};")[0]
    assert set(re.findall(r'^  "([^"]+)":', table, re.MULTILINE)) == {one.name for one in FEATURES} - SYNTAX
    scripts = "".join(path.read_text() for path in (ROOT / "static/js/voice").glob("*.js"))
    for word in ("AudioWorkletNode(", "new MediaRecorder(", "crypto.subtle.", "showModal()", ".findLast(", "this.#"):
        assert word in scripts, word


def test_the_oldest_version_is_the_first_that_has_everything() -> None:
    assert OLDEST == {"Chrome": 103, "Edge": 103, "Firefox": 104, "Safari": 16}
    assert NAMED == "Chrome 103, Edge 103, Firefox 104, Safari 16"


def test_the_candidate_s_check_and_the_statement_are_served_with_it(
    client: Browser, scripted: Flask, book: Made
) -> None:
    check = client.get(path_of(book())).text
    assert f"open the link in one of these browsers or a newer one: {NAMED}." in check
    *names, last = OLDEST
    assert f"Open the link in {', '.join(names)} or {last}, or write your answers." in check
    statement = client.get("/interview/api/accessibility").text
    assert f"Spoken interviews are tested in these browsers: {', '.join(TESTED)}." in statement


def test_statement_and_documentation_say_the_same() -> None:
    said = " ".join(str(sentence) for sentence in LIMITS)
    operations = (ROOT / "docs/operations.md").read_text()
    assert ", ".join(TESTED) in said
    for name in TESTED:
        assert name in operations
    for feature in FEATURES:
        assert f"| {feature.name} | {feature.chrome} | {feature.firefox} | {feature.safari:g} |" in operations
    assert NAMED in operations
