"""The report on quality beside an interview's result: readable, wide and narrow, and usable by everyone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from app.operations.demo.candidate import Candidate, Talk
from app.operations.demo.tape import Tape

from .conftest import Installation, assert_accessible, wait_until
from .speech import NOISE, spoken

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]
DEVICE = {
    "sample_rate": 48_000,
    "channels": 1,
    "echo_cancellation": True,
    "noise_suppression": True,
    "gain_control": False,
    "microphone": "headset",
    "width": 640,
    "height": 480,
    "frame_rate": 24,
}


@pytest.fixture(scope="module")
def taken(installation: Installation) -> str:
    """The id of an interview that was taken by voice, with an interruption and a second run of the recorder."""
    flow = installation.api(
        "POST",
        "/interview-flows",
        json={
            "org_name": "Example Freight",
            "title": "Driver",
            "team_id": installation.team_id,
            "interview_type": "general",
            "questions": ["Why do you want to drive for us?", "What did you do last?"],
        },
    )
    booked = installation.api(
        "POST",
        "/interviews",
        json={"interview_flow_id": flow["interview_flow_id"]},
    )
    candidate = Candidate(booked["interview_link"])
    candidate.open()
    candidate.start()
    candidate.call("POST", "/segments", json={"mime_type": "audio/webm", "device": DEVICE})
    talk = Talk(candidate, Tape(video=False))
    heard = talk.listen(candidate.turn(1, "begin"), until=0.6)
    said = spoken("I have driven kubernetes trucks for Vandelay since two thousand and nine.")
    said = said + np.random.default_rng(5).normal(0, NOISE, len(said))
    answer = talk.answer(said.clip(-32768, 32767).astype("<i2").tobytes())
    prompt = candidate.turn(2, "answer", **answer, played={**heard, "latency_ms": 640})
    prompt = candidate.turn(3, "end", played={**talk.listen(prompt), "latency_ms": 910})
    played = talk.listen(prompt)
    candidate.finish([talk.end()], played=played)
    found: str = booked["interview_id"]
    return found


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (360, 740)])
def test_the_report_stands_beside_the_result(
    signed_in: Callable[..., Any], taken: str, width: int, height: int
) -> None:
    page = signed_in(f"/interviews/{taken}", viewport={"width": width, "height": height})
    card = page.locator("#quality")
    assert "the candidate interrupted 1 reply" in card.inner_text()
    assert "0.64 s" in card.inner_text()
    for summary in card.locator("summary").all():
        summary.click()
    assert "48.0 kHz" in card.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert_accessible(page)


def test_the_player_moves_by_its_picture_and_by_keys_that_stay_out_of_fields(
    signed_in: Callable[..., Any], taken: str, installation: Installation
) -> None:
    wait_until(
        lambda: (installation.api("GET", f"/interviews/{taken}")["interview_data"] or {}).get("audio_url"),
        seconds=120,
        what="the sound",
    )
    page = signed_in(f"/interviews/{taken}", viewport={"width": 1280, "height": 900})
    wave = page.get_by_role("slider", name="Position in the recording")
    wait_until(lambda: page.evaluate("document.querySelector('audio')?.readyState >= 1"), seconds=60, what="the player")

    def second() -> float:
        found: float = page.evaluate("document.querySelector('audio').currentTime")
        return found

    wave.focus()
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert second() == pytest.approx(5, abs=0.1)
    wait_until(
        lambda: page.evaluate("document.querySelector('[data-wave]').getAttribute('aria-valuenow') === '5'"),
        seconds=60,
        what="the player",
    )
    page.focus("#note-text")
    page.keyboard.type("jl k?")
    assert (second(), page.input_value("#note-text")) == (pytest.approx(5, abs=0.1), "jl k?")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    assert second() == pytest.approx(0, abs=0.1)
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keyboard shortcuts").wait_for()
    assert_accessible(page)
    page.keyboard.press("Escape")
    page.select_option("#speed", "1.5")
    page.reload()
    wait_until(
        lambda: page.evaluate("document.querySelector('audio').playbackRate === 1.5"), seconds=60, what="the player"
    )
