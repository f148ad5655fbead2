"""The page's modules on their own, inside Chromium: each sentence in unit/*.test.js is one test."""

import re
from pathlib import Path
from typing import Any

import pytest

from .fake_server import Running

UNIT = Path(__file__).parent / "unit"
SENTENCE = re.compile(r'^  (?:async )?"([^"]+)"\(\)', re.MULTILINE)
CASES = [
    (path.name, sentence) for path in sorted(UNIT.glob("*.test.js")) for sentence in SENTENCE.findall(path.read_text())
]


@pytest.fixture(scope="module")
def workshop(chromium: Any) -> Any:
    """A page that can import the modules and their tests."""
    from .fake_server import Story

    running = Running(Story())
    page = chromium.new_page()
    page.route(
        "**/unit/*.js",
        lambda route: route.fulfill(path=UNIT / route.request.url.rsplit("/", 1)[1], content_type="text/javascript"),
    )
    page.goto(f"{running.url}/modules")
    yield page
    page.close()
    running.stop()


@pytest.mark.parametrize(
    ("name", "sentence"), CASES, ids=[f"{name.split('.')[0]}: {sentence}" for name, sentence in CASES]
)
def test_module(workshop: Any, name: str, sentence: str) -> None:
    failure = workshop.evaluate(
        """async ([name, sentence]) => {
            const { tests } = await import(`/unit/${name}`);
            try { await tests[sentence](); return null; } catch (error) { return error.stack; }
        }""",
        [name, sentence],
    )
    if name == "conversation.test.js":
        workshop.reload()  # hundreds of talks leave work behind, for which the next test would wait a minute
    assert failure is None


def test_no_sentence_is_left_out(workshop: Any) -> None:
    for path in UNIT.glob("*.test.js"):
        known = workshop.evaluate("async (name) => Object.keys((await import(`/unit/${name}`)).tests)", path.name)
        assert sorted(known) == sorted(sentence for name, sentence in CASES if name == path.name)
