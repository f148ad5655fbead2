"""The spoken interview in Chromium, Firefox and WebKit, with a sound card: what may happen to microphone and network.

The answers are said into the microphone once the page listens; nothing waits by a clock of its own, but for the time
without a network.
"""

import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from app.interviews.recordings.video import Limits
from app.interviews.recordings.video.tracks import opened

from .engine import Engine
from .fake_server import Running
from .limits import Unanswered
from .sound_card import SoundCard
from .speech import NOISE, spoken
from .test_candidate_page import whole

pytestmark = [pytest.mark.engines, pytest.mark.xdist_group("engines")]

AWAY = 20.0  # seconds without a network
TALK = "document.querySelector('[data-part=talk]')?.dataset"
THANKS = "document.querySelector('h1').textContent === 'Thank you'"
LOADED = """document.readyState === 'complete' && [...document.querySelectorAll('[data-module]')]
    .flatMap((one) => one.dataset.module.split(' '))
    .every((name) => performance.getEntriesByType('resource').some((one) => one.name.includes(`/${name}.js`)))"""
"""The modules of a page arrive after it."""


@pytest.fixture(scope="module")
def answer() -> np.ndarray:
    words = spoken("I built a small house with my brother.")
    return words + np.random.default_rng(1).normal(0, NOISE, len(words))


def phase(engine: Engine, *names: str) -> None:
    engine.until(f"{list(names)}.includes({TALK}.phase)")


def check(engine: Engine, server: Running, card: SoundCard, answer: np.ndarray) -> None:
    """From the invitation to a microphone that is known to work."""
    engine.open(server.page)
    engine.until(LOADED)  # its modules still move what is to be tapped
    engine.click("#consent")
    engine.click("[data-do=next]")
    engine.click("[data-do=check]")
    engine.until("!document.querySelector('[data-part=devices]').hidden")
    card.say(answer)
    engine.until("!document.querySelector('[data-do=start]').disabled")


def begin(engine: Engine, server: Running, card: SoundCard, answer: np.ndarray) -> None:
    """From the invitation to the first question."""
    check(engine, server, card, answer)
    engine.click("[data-do=start]")


def answers(engine: Engine, server: Running, card: SoundCard, answer: np.ndarray) -> None:
    """One answer, in as many pieces as a busy machine takes it in."""
    before = server.story.at
    phase(engine, "listening", "answering")
    card.say(answer)
    engine.until(f"{THANKS} || !['answering', 'thinking'].includes({TALK}.phase)")
    assert server.story.at > before


def ended(engine: Engine, server: Running) -> None:
    """The thank-you stands there, and every run of the recorder has arrived without a gap."""
    engine.until(f"{THANKS} && {LOADED}")  # else the server ends before a module has come
    runs = {run for run, _, _ in server.story.chunks}
    assert runs
    assert all(whole(server, run, "mix") for run in runs)
    assert {part["segment"] for part in (server.story.finish or {})["segments"]} == runs


def decoded(server: Running, kind: str) -> list[Any]:
    """Frames of the first run's recording, as Parley reads it."""
    with tempfile.NamedTemporaryFile() as file:
        file.writelines(body for key, body in sorted(server.story.chunks.items()) if key[:2] == (1, "mix"))
        file.flush()
        with opened({"number": 1, "path": file.name}, limits=asdict(Limits())) as tracks:
            assert tracks is not None
            packets = [packet for packet, _ in tracks.packets() if packet.stream.type == kind]
            return [frame for packet in packets for frame in packet.decode()]


def test_with_a_camera_the_picture_is_recorded(
    engine: Engine, server: Running, card: SoundCard, answer: np.ndarray
) -> None:
    """The first, because WebKit 2.52 crashes where an imitated camera follows a real microphone in one window."""
    assert engine.records_pictures, "WebKit's recorder finds no autovideoflip"
    server.story.flow["is_video_enabled"] = True
    server.story.questions = ("One?",)
    engine.camera(True)
    try:
        begin(engine, server, card, answer)
        phase(engine, "listening", "answering")
        card.say(answer)
        # Imitated microphones beep. A beep soon after the button counts as more of the answer: it is pressed again.
        may = f"['listening', 'answering'].includes({TALK}.phase) && performance.now() > (window.again ?? 0)"
        button = "document.querySelector('[data-do=finished][aria-disabled=false]')"
        press = f"({button}.click(), window.again = performance.now() + 2000)"
        engine.until(f"{THANKS} || ({may} && {button} && {press}, false)")
        ended(engine, server)
    finally:
        engine.camera(False)
    pictures = decoded(server, "video")
    assert len(pictures) > 10
    assert min(pictures[0].width, pictures[0].height) >= 100
    middle, *later = [one.to_ndarray(format="gray").astype(int) for one in pictures[len(pictures) // 2 :]]
    # Firefox's imitated camera changes about 400 points from one picture to the next, the others thousands.
    assert max(int((np.abs(one - middle) > 50).sum()) for one in later) > 100, "the pictures do not move"


def test_an_engine_that_does_not_answer_is_ended_with_a_sentence(
    engine: Engine, window: Callable[[], Engine], server: Running
) -> None:
    engine.open(server.page)
    engine.answer_seconds = 3
    said = f"^{engine.name} did not answer within 3 s and was ended: .*new Promise"
    with pytest.raises(Unanswered, match=said):
        engine.ask("new Promise((done) => { window.done = done; })")  # WebKit notices one that nobody can end
    again = window()
    assert again is not engine
    again.open(server.page)
    assert again.text("h1") == "Team lead, warehouse"


def test_the_agent_sounds_and_the_answers_are_recorded(
    engine: Engine, server: Running, card: SoundCard, answer: np.ndarray
) -> None:
    with card.listening() as heard:
        begin(engine, server, card, answer)
        answers(engine, server, card, answer)
        answers(engine, server, card, answer)
        ended(engine, server)
    assert [turn["kind"] for turn in server.story.turns] == ["begin", "answer", "answer"]
    assert heard() > 500, "the loudspeaker was silent"
    loudest = [float(np.abs(frame.to_ndarray()).max()) for frame in decoded(server, "audio")]
    assert len(loudest) > 100
    assert max(loudest) > 0.01


def test_a_denied_microphone_is_explained_and_can_be_allowed_later(engine: Engine, server: Running) -> None:
    engine.allow(False)
    engine.open(server.page)
    engine.click("#consent")
    engine.click("[data-do=next]")
    engine.click("[data-do=check]")
    says = "document.querySelector('[data-text=check]').textContent"
    engine.until(f"/^(The browser did not allow|You have not allowed) the microphone/.test({says})")
    assert engine.text("[data-text=check-browser]") == "Your browser has everything this interview needs."
    assert engine.ask("document.querySelector('[data-do=start]').disabled")
    engine.allow(True)
    engine.click("[data-do=check]")
    engine.until("!document.querySelector('[data-part=devices]').hidden")
    engine.until("document.querySelector('[data-text=check]').textContent.startsWith('Say something')")


def test_a_microphone_that_is_pulled_out_and_plugged_in_again(
    engine: Engine, server: Running, card: SoundCard, answer: np.ndarray
) -> None:
    begin(engine, server, card, answer)
    phase(engine, "listening", "answering")
    card.unplug()
    try:
        engine.until(f"{TALK}.mode === 'text'")
        engine.until("document.querySelector('[data-text=phase]').textContent.startsWith('The microphone was disconn')")
    finally:
        card.plug_in()
    engine.click("[data-do=write]")
    engine.until(f"{TALK}.mode === 'voice'")
    answers(engine, server, card, answer)
    answers(engine, server, card, answer)
    ended(engine, server)


def test_from_speaking_to_writing_and_back(
    engine: Engine, server: Running, card: SoundCard, answer: np.ndarray
) -> None:
    begin(engine, server, card, answer)
    phase(engine, "listening", "answering")
    engine.click("[data-do=write]")
    engine.until(f"{TALK}.mode === 'text'")
    engine.type("#answer", "I built a bridge.")
    engine.click("[data-do=send]")
    engine.until("document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'")
    engine.click("[data-do=write]")
    engine.until(f"{TALK}.mode === 'voice'")
    answers(engine, server, card, answer)
    ended(engine, server)
    told = [(turn["kind"], turn.get("text")) for turn in server.story.turns]
    assert told == [("begin", None), ("text", "I built a bridge."), ("answer", None)]


def test_twenty_seconds_without_a_network_cost_nothing(
    engine: Engine, server: Running, card: SoundCard, answer: np.ndarray
) -> None:
    begin(engine, server, card, answer)
    phase(engine, "listening", "answering")
    server.stop()
    since = time.monotonic()
    card.say(answer)
    engine.until("document.querySelector('[data-part=connection]').textContent.startsWith('Connection lost')")
    time.sleep(max(0.0, since + AWAY - time.monotonic()))
    server.come_back()
    engine.until("document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'")
    answers(engine, server, card, answer)
    ended(engine, server)
    assert [turn["kind"] for turn in server.story.turns] == ["begin", "answer", "answer"]
