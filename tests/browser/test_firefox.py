"""The page in Firefox: an interview in writing, from consent to thanks, over the page's own protocol.

Firefox starts no sound context on a machine without a sound card, as test machines are, so its spoken part is not
tested: docs/decisions/0135 says what is and what is not.
"""

from collections.abc import Iterator

import pytest

from .fake_server import Running
from .firefox import FIREFOX, Firefox


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    if FIREFOX is None:
        pytest.skip("Firefox is missing: apt-get install firefox-esr")
    running = Firefox(tmp_path_factory.mktemp("firefox"))
    yield running
    running.close()


def test_an_interview_in_writing_in_firefox(firefox: Firefox, server: Running) -> None:
    server.story.questions = ("One?", "Two?")
    firefox.open(server.page)
    firefox.click("#consent")
    firefox.click("input[name=mode][value=text]")
    firefox.click("[data-do=start]")
    for number, text in enumerate(("I built a bridge.", "Nothing at all."), 1):
        firefox.until(f"document.querySelector('[data-text=progress]').textContent === 'Question {number} of 2'")
        if number == 2:
            firefox.click("[data-do=pause]")
            firefox.until("document.querySelector('[data-part=talk]').dataset.phase === 'paused'")
            firefox.click("[data-do=go-on]")
        firefox.until("document.querySelector('[data-part=talk]').dataset.phase === 'listening'")
        firefox.type("#answer", text)
        firefox.click("[data-do=send]")
    firefox.until("document.querySelector('h1').textContent === 'Thank you'")
    assert [(turn["kind"], turn.get("text")) for turn in server.story.turns] == [
        ("begin", None),
        ("text", "I built a bridge."),
        ("text", "Nothing at all."),
    ]
    assert server.story.pauses == [True, False]
    assert server.story.finish == {"segments": [], "played": None}


def test_firefox_knows_what_the_recording_needs(firefox: Firefox, server: Running) -> None:
    firefox.open(server.page)
    firefox.click("#consent")
    firefox.click("[data-do=check]")
    firefox.until("document.querySelector('[data-text=check-browser]').textContent.startsWith('Your browser can do')")
    assert firefox.ask("MediaRecorder.isTypeSupported('audio/webm;codecs=opus')") is True
    assert firefox.ask("MediaRecorder.isTypeSupported('video/webm;codecs=vp8,opus')") is True
