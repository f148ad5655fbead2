"""What phones do in the middle of an interview: a call, a locked screen, a microphone that goes, MP4 and no WebM."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import wait_until
from .fake_server import Running
from .test_candidate_page import begin_speaking, microphone_file, phase, until, whole

__all__ = ["microphone_file"]
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}
REACH = """
    window.contexts = [], window.tracks = [];
    const made = AudioContext;
    window.AudioContext = class extends made { constructor(...given) { super(...given); window.contexts.push(this); } };
    const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (...given) => {
        const stream = await ask(...given);
        window.tracks.push(...stream.getAudioTracks());
        return stream;
    };
    const record = window.MediaRecorder;
    window.MediaRecorder = class extends record { constructor(...given) { super(...given); window.recorder = this; } };
"""
TAKEN = (
    "document.querySelector('[data-text=phase]').textContent.startsWith('Paused: something else is using the sound')"
)


@pytest.fixture
def spoken(with_microphone: Any, server: Running, watch: Callable[[Any], Any], microphone_file: Path) -> Any:
    """A phone's page in the middle of an answer, whose sound a script of the test can reach."""
    server.story.questions = ("One?", "Two?")
    browser = with_microphone(microphone_file).new_context(**PHONE)
    browser.add_init_script(REACH)
    page = begin_speaking(browser, server, watch)
    phase(page, "listening", "answering", "thinking")
    return page


def to_the_end(page: Any, server: Running) -> list[str]:
    """Answer what is left by voice; every run of the recorder has arrived without a gap. Gives the
    kinds of the turns; a busy machine may have taken one answer in several pieces.
    """
    page.wait_for_selector("h1:text('Thank you')", timeout=90_000)
    runs = {key[0] for key in server.story.chunks}
    assert all(whole(server, run, "mix") for run in runs)
    assert {part["segment"] for part in (server.story.finish or {})["segments"]} == runs
    return [turn["kind"] for turn in server.story.turns if not turn.get("unfinished")]


def go_on(page: Any) -> None:
    page.click("[data-do=go-on]")
    phase(page, "speaking", "listening", "answering", "thinking")


@pytest.mark.parametrize(
    "what",
    [
        "context: the system takes the sound and does not give it back",
        "muted: a call holds the microphone",
        "recorder: the recorder stops by itself",
    ],
)
def test_a_call_pauses_the_interview_and_nothing_is_lost(spoken: Any, server: Running, what: str) -> None:
    page, name = spoken, what.split(":", maxsplit=1)[0]
    if name == "context":
        page.evaluate(
            "() => { const one = window.contexts.at(-1); one.resume = async () => {}; return one.suspend(); }"
        )
    elif name == "muted":
        page.evaluate("""() => {
            const track = window.tracks.at(-1);
            Object.defineProperty(track, 'muted', { get: () => window.holds ?? true, configurable: true });
            track.dispatchEvent(new Event('mute'));
        }""")
    else:
        page.evaluate("() => window.recorder.stop()")
    phase(page, "paused")
    assert page.evaluate(TAKEN)
    wait_until(lambda: server.story.paused, seconds=20, what="the pause")
    page.evaluate("() => { window.holds = false; delete window.contexts.at(-1).resume; }")
    go_on(page)
    assert server.story.paused is False
    kinds = to_the_end(page, server)
    assert kinds[0] == "begin"
    assert set(kinds) == {"begin", "answer"}


def test_a_microphone_that_is_gone_is_asked_for_again(spoken: Any, server: Running) -> None:
    page = spoken
    page.evaluate("() => { const one = window.tracks.at(-1); one.stop(); one.dispatchEvent(new Event('ended')); }")
    until(page, "document.querySelector('[data-part=talk]').dataset.mode === 'text'")
    phase(page, "listening")
    assert page.inner_text("[data-text=phase]").startswith("The microphone was disconnected.")
    page.click("[data-do=write]")
    until(page, "document.querySelector('[data-part=talk]').dataset.mode === 'voice'")
    assert page.evaluate("() => window.tracks.filter((one) => one.readyState === 'live').length") == 1
    assert "answer" in to_the_end(page, server)


def test_whoever_has_paused_can_end_without_a_microphone(spoken: Any, server: Running) -> None:
    page = spoken
    page.click("[data-do=pause]")
    phase(page, "paused")
    page.evaluate("""() => {
        window.tracks.at(-1).stop();
        navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("gone", "NotFoundError"); };
    }""")
    page.click("[data-do=go-on]")
    until(page, "document.querySelector('[data-text=phase]').textContent.startsWith('No microphone was found.')")
    page.click("[data-do=end]")
    page.click("[data-do=end-yes]")
    page.wait_for_selector("h1:text('Thank you')", timeout=60_000)
    assert server.story.turns[-1]["kind"] == "end"


def test_a_page_that_the_system_freezes_goes_on_where_it_was(spoken: Any, server: Running) -> None:
    """As phones do with a locked screen: nothing runs, then everything again."""
    system = spoken.context.new_cdp_session(spoken)
    system.send("Page.setWebLifecycleState", {"state": "frozen"})
    system.send("Page.setWebLifecycleState", {"state": "active"})
    if spoken.evaluate("document.querySelector('[data-part=talk]').dataset.phase") == "paused":
        go_on(spoken)
    assert set(to_the_end(spoken, server)) == {"begin", "answer"}


def test_a_phone_that_records_mp4_alone_hands_in_a_whole_recording(
    with_microphone: Any, server: Running, watch: Callable[[Any], Any], microphone_file: Path
) -> None:
    browser = with_microphone(microphone_file).new_context(**PHONE)
    browser.add_init_script("""
        const knows = MediaRecorder.isTypeSupported;
        MediaRecorder.isTypeSupported = (type) => !type.includes('webm') && knows.call(MediaRecorder, type);
    """)
    page = begin_speaking(browser, server, watch)
    assert set(to_the_end(page, server)) == {"begin", "answer"}
    sound = b"".join(body for key, body in sorted(server.story.chunks.items()) if key[1] == "mix")
    assert sound[4:8] == b"ftyp"
    assert set(server.story.kinds) == {"audio/mp4"}
