"""The real platform in three engines: the recruiters' pages, and a spoken interview until its published result. Player
and captions in Chromium and Firefox.
"""

import io
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import av
import numpy as np
import pytest
import requests

from app.operations.demo.candidate import Candidate

from .conftest import PASSWORD, Installation, wait_until
from .engine import Engine
from .sound_card import SoundCard
from .speech import NOISE, spoken
from .test_engines import LOADED, TALK, THANKS
from .test_interview import book, has_video, result
from .wcag import RULES

pytestmark = [pytest.mark.engines, pytest.mark.platform, pytest.mark.xdist_group("engines")]

TWO = pytest.mark.parametrize("window", ["chromium", "firefox"], indirect=True, scope="module")
THREE = pytest.mark.parametrize("window", ["chromium", "firefox", "webkit"], indirect=True, scope="module")
QUESTION = "Why would you like to work with us?"
QUESTIONS = [QUESTION, "What did you do in your last job?", "What do you want to learn here?"]
ANSWER = "I like to help people every day and I want to learn new things."
BEFORE = "I was in a small team for three years and we had to carry water to the house every day in the winter."
AFTER = "After that I went to the city and I was a teacher for many children in a big school."
LATE = 120.0  # seconds; only bounds a hang
FAILED = "performance.getEntriesByType('resource').filter((one) => one.responseStatus >= 400).map((one) => one.name)"
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
OUTSIDE = """[...document.querySelectorAll('body *')]
    .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map((one) => one.outerHTML.slice(0, 90)).slice(0, 12)"""
MEDIA = "document.querySelector('audio, video')"


@pytest.fixture(scope="module")
def answer() -> np.ndarray:
    words = spoken(ANSWER)
    return words + np.random.default_rng(1).normal(0, NOISE, len(words))


@pytest.fixture(scope="module")
def filmed(installation: Installation, answer: np.ndarray) -> str:
    """The id of an interview with video that was taken without a browser."""
    interview_id, link = book(installation, questions=[QUESTION], is_video_enabled=True)
    candidate = Candidate(link)
    candidate.open()
    candidate.start()
    candidate.take([answer.clip(-32768, 32767).astype("<i2").tobytes()], video=True)
    wait_until(lambda: has_video(result(installation, interview_id)), seconds=LATE, what="the video")
    return interview_id


def signed_in(engine: Engine, installation: Installation) -> None:
    engine.open(f"{installation.url}/sign-in")
    if not engine.ask("!!document.querySelector('#password')"):
        return  # in an earlier test
    engine.type("#email", installation.email)
    engine.type("#password", PASSWORD)
    engine.click("main button[type=submit]")
    engine.until(f"location.pathname === '/dashboard' && {LOADED}")


def is_fine(engine: Engine, path: str, *, axe: str) -> None:
    """The page that is open: it has loaded whole, fits the window, and nothing on it complains, axe-core neither."""
    engine.until(LOADED)
    assert engine.ask(f"[location.pathname, document.querySelectorAll('h1').length, {FAILED}]") == [path, 1, []]
    assert engine.ask(WIDER) == 0, (path, engine.ask(OUTSIDE))
    engine.run(axe)
    options = json.dumps({"runOnly": RULES, "resultTypes": ["violations"]})
    told = "violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 160)}`))"
    assert engine.ask(f"window.axe.run({options}).then(({{ violations }}) => {told})") == [], path
    assert engine.trouble() == [], path


def plays_with_captions(engine: Engine) -> None:
    """The recording of the page that is open plays from a word of the transcript, which then follows it."""
    engine.until("document.querySelector('.can-seek')")
    engine.click(".said-user .speaker button[data-start]")
    engine.until(f"!{MEDIA}.paused && {MEDIA}.currentTime > 0 && document.querySelector('.said-user .word.now')")
    first = engine.ask("document.querySelector('.word.now')?.dataset.start ?? ''")
    engine.until(f"(document.querySelector('.word.now')?.dataset.start ?? {first!r}) !== {first!r}")
    engine.until(f"Number(document.querySelector('[data-wave]').getAttribute('aria-valuenow')) >= 1 && !{MEDIA}.error")


def axe_source() -> str:
    """Of axe-core."""
    api = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing")
    return str(api.Axe().axe_script)


@THREE
def test_recruiters_pages_open_without_a_complaint(installation: Installation, engine: Engine, filmed: str) -> None:
    axe = axe_source()
    signed_in(engine, installation)
    flow_id = installation.api("GET", f"/interviews/{filmed}")["interview_flow_id"]
    engine.open(f"{installation.url}/interviews/{filmed}")
    engine.until(LOADED)
    candidate = engine.ask("document.querySelector('[data-decide]').getAttribute('action').replace('/move', '')")
    for path in (
        "/dashboard",
        "/interviews",
        f"/interviews/{filmed}",
        "/candidates",
        "/candidates/board",
        candidate,
        "/flows",
        f"/flows/{flow_id}",
        f"/flows/{flow_id}/edit",
        "/insights",
        "/team",
        "/settings",
        "/profile",
    ):
        engine.open(installation.url + path)
        is_fine(engine, path, axe=axe)


@TWO
def test_the_player_follows_the_video_and_shows_captions(
    installation: Installation, engine: Engine, filmed: str
) -> None:
    signed_in(engine, installation)
    engine.open(f"{installation.url}/interviews/{filmed}")
    engine.run("document.querySelector('video').textTracks[0].mode = 'showing';")
    plays_with_captions(engine)
    engine.until("document.querySelector('video').textTracks[0].cues?.length > 1")
    engine.run(
        "const video = document.querySelector('video'); video.pause();"
        "video.currentTime = Number(document.querySelector('.said-user .word').dataset.start) + 0.05;"
    )
    engine.until("document.querySelector('video').textTracks[0].activeCues[0]?.text.startsWith('<v Candidate>')")
    engine.until("document.querySelector('.said-user .word').classList.contains('now')")
    assert engine.ask("document.querySelector('video').videoWidth") >= 100


@THREE
def test_a_spoken_interview_with_a_reload_in_mid_answer_is_published(
    installation: Installation, engine: Engine, card: SoundCard, answer: np.ndarray
) -> None:
    interview_id, link = book(installation, questions=QUESTIONS)
    engine.open(link)
    engine.click("#consent")
    engine.click("[data-do=next]")
    engine.click("[data-do=check]")
    engine.until("!document.querySelector('[data-part=devices]').hidden")
    card.say(answer)
    engine.until("!document.querySelector('[data-do=start]').disabled")
    engine.click("[data-do=start]")
    _answers(engine, card, answer, question=1)
    _is_asked(engine, question=2)
    with ThreadPoolExecutor(1) as mouth:
        speaking = mouth.submit(card.say, spoken(BEFORE))
        engine.until(f"{TALK}.phase === 'answering'")
        time.sleep(4)
        assert engine.ask(f"{TALK}.phase") == "answering"
        engine.reload()
        speaking.result()
    engine.click("[data-do=resume]")
    _answers(engine, card, spoken(AFTER), question=2)
    _answers(engine, card, answer, question=3)
    engine.until(THANKS)
    wait_until(lambda: _data(installation, interview_id).get("audio_url"), seconds=LATE, what="the published result")
    found = result(installation, interview_id)
    assert found["status"] == "completed"
    _is_the_talk(found["interview_data"])
    if engine.name != "WebKit":  # Debian 12's cannot decode the recording
        signed_in(engine, installation)
        engine.open(f"{installation.url}/interviews/{interview_id}")
        plays_with_captions(engine)


def _is_asked(engine: Engine, *, question: int) -> None:
    number = f"document.querySelector('[data-text=progress]').textContent === 'Question {question} of 3'"
    engine.until(f"{TALK}.phase === 'listening' && {number}")


def _answers(engine: Engine, card: SoundCard, words: np.ndarray, *, question: int) -> None:
    """Once this question is asked; the next one, or the end, has come then."""
    _is_asked(engine, question=question)
    card.say(words)
    progress = "document.querySelector('[data-text=progress]').textContent"
    engine.until(f"{THANKS} || {progress} !== 'Question {question} of 3'")


def _data(installation: Installation, interview_id: str) -> dict[str, Any]:
    return dict(result(installation, interview_id)["interview_data"] or {})


def _is_the_talk(data: dict[str, Any]) -> None:
    """Transcript with every answer beside its question, and a recording as long in which somebody speaks."""
    lines = data["transcript_with_timestamp"]
    assert [line["content"] for line in lines if line["role"] == "agent"][:2] == ["Welcome.", QUESTION]
    for number, said in enumerate([ANSWER, f"{BEFORE} {AFTER}", ANSWER]):
        places = data["questions_to_transcript_mapping"][number]["transcript_item_indices"]
        heard = _words(" ".join(lines[place]["content"] for place in places if lines[place]["role"] == "user"))
        # Embedded recognition of synthetic speech gets 60 to 88 % of the words, and fewer on a busy machine.
        assert len(_words(said) & heard) >= 0.25 * len(_words(said)), (number, heard)
        if number == 1:
            assert (_words(BEFORE) - _words(AFTER)) & heard, heard
            assert (_words(AFTER) - _words(BEFORE)) & heard, heard
    ends = max(word["end"] for line in lines for word in line["words"])
    recording = requests.get(data["audio_url"], timeout=30)
    assert recording.status_code == 200, recording.text
    with av.open(io.BytesIO(recording.content)) as media:
        frames = list(media.decode(audio=0))
    assert frames[-1].time >= ends - 1
    assert max(float(np.abs(frame.to_ndarray()).max()) for frame in frames) > 0.01


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))
