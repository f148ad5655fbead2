"""The bar of the talk: it never moves, nothing in it ends the interview by accident, all of it works by keyboard."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from .conftest import assert_accessible, write_wav
from .fake_server import BASE, Running
from .rehearsal import until as waited_for
from .speech import NOISE, spoken
from .test_candidate_page import begin_speaking, phase, start_writing, until, whole

SIZES = {
    "phone": {"width": 360, "height": 640},
    "side": {"width": 640, "height": 360},
    "desk": {"width": 1280, "height": 800},
}
CONTROLS = ("repeat", "think", "skip", "write", "pause", "captions", "help", "end")
IS_ASIDE = "[...document.querySelectorAll('[data-do]')].find(one => one.dataset.do === '{}').ariaDisabled"


@pytest.fixture(params=SIZES)
def page(chromium: Any, watch: Callable[[Any], Any], request: pytest.FixtureRequest) -> Any:
    context = chromium.new_context(viewport=SIZES[request.param])
    yield watch(context.new_page())
    context.close()


@pytest.fixture
def desk(chromium: Any, watch: Callable[[Any], Any]) -> Any:
    context = chromium.new_context(viewport=SIZES["desk"])
    yield watch(context.new_page())
    context.close()


def places(page: Any) -> dict[str, Any]:
    return {name: page.locator(f"[data-do={name}]").bounding_box() for name in CONTROLS}


def test_the_bar_never_moves_and_is_always_in_view(page: Any, server: Running) -> None:
    server.story.questions = ("Short?", "Long. " * 150)
    start_writing(page, server)
    before, size = places(page), page.viewport_size
    for box in before.values():
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= size["height"]
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size["width"]
        assert min(box["width"], box["height"]) >= 24
    assert_accessible(page)
    page.click("[data-do=pause]")
    phase(page, "paused")
    assert places(page) == before
    assert_accessible(page)
    page.click("[data-do=go-on]")
    phase(page, "listening")
    page.click("[data-do=skip]")
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'")
    assert places(page) == before
    page.click("[data-do=help]")
    assert_accessible(page)
    page.keyboard.press("Escape")
    page.click("[data-do=end]")
    assert_accessible(page)
    assert [turn["kind"] for turn in server.story.turns] == ["begin", "skip"]


def test_the_question_stays_above_a_follow_up(page: Any, server: Running) -> None:
    long = "Please describe a day on which much went wrong in the warehouse, and what you and your team did about it."
    server.story.questions, server.story.follow_up = (long, "Then?"), "Could you tell me a little more about that?"
    start_writing(page, server)
    for _ in range(2):
        above, asked = page.locator("[data-text=script-question]"), page.locator("[data-text=question]")
        until(page, "!document.querySelector('[data-text=script-question]').hidden")
        assert (above.inner_text(), asked.inner_text()) == (long, server.story.follow_up)
        assert above.bounding_box()["y"] + above.bounding_box()["height"] <= asked.bounding_box()["y"]
        assert page.locator("[data-text=before]").is_hidden(), "said once more, shown once"
        assert_accessible(page)
        with page.expect_response("**/turns/*"):
            page.click("[data-do=repeat]")
        phase(page, "listening")
    server.story.follow_up = None
    page.click("[data-do=skip]")
    until(page, "document.querySelector('[data-text=question]').textContent === 'Then?'")
    assert above.is_hidden()


def says(page: Any, text: str) -> None:
    """The page writes the time twice a second, so not at once."""
    until(page, f"document.querySelector('[data-text=time]').textContent.trim() === '{text}'")


def test_the_page_says_about_how_long_it_still_takes(page: Any, server: Running) -> None:
    server.story.questions = ("Why?", "How?", "And then?", "What else?")
    start_writing(page, server)
    for text, onward in (
        ("About 10 minutes", "How?"),
        ("About 5 minutes", "And then?"),
        ("About 5 minutes", "What else?"),
    ):
        says(page, f"{text} to go")
        page.click("[data-do=skip]")
        until(page, f"document.querySelector('[data-text=question]').textContent === '{onward}'")
        phase(page, "listening")
        page.wait_for_timeout(1100)
    says(page, "A few minutes to go")


@pytest.mark.parametrize(("elapsed", "said"), [(1190, "A few minutes"), (610, "About 5 minutes")])
def test_what_the_limit_leaves_is_the_most_that_is_said(page: Any, server: Running, elapsed: int, said: str) -> None:
    """610 s into 20 minutes, it leaves less than ten."""
    server.story.questions, server.story.elapsed = ("Why?",) * 9, elapsed
    start_writing(page, server)
    says(page, f"{said} to go")


def test_a_pause_is_told_to_the_server_and_keeps_the_place(desk: Any, server: Running) -> None:
    start_writing(desk, server)
    desk.click("[data-do=pause]")
    phase(desk, "paused")
    assert desk.evaluate(IS_ASIDE.format("repeat")) == "true"
    desk.evaluate("document.querySelector('[data-do=skip]').click()")  # no click gets through while it is aside
    desk.dblclick("[data-do=go-on]")
    phase(desk, "listening")
    assert server.story.pauses == [True, False]
    assert [turn["kind"] for turn in server.story.turns] == ["begin"]


def test_whoever_reloads_in_a_pause_goes_on(desk: Any, server: Running) -> None:
    start_writing(desk, server)
    desk.click("[data-do=pause]")
    phase(desk, "paused")
    desk.reload()
    desk.click("[data-do=resume-text]")
    phase(desk, "listening")
    assert server.story.pauses == [True, False]


def test_double_clicks_and_held_keys_do_one_thing(desk: Any, server: Running) -> None:
    start_writing(desk, server)
    desk.dblclick("[data-do=end]")
    assert desk.is_visible("[data-part=end-dialog]")
    desk.click("[data-do=stay]")
    assert not desk.is_visible("[data-part=end-dialog]")
    desk.focus("[data-do=end]")
    desk.evaluate(
        """for (const repeat of [false, true, true]) {
            const key = new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, repeat });
            window.refused = [...(window.refused ?? []), !document.activeElement.dispatchEvent(key)];
        }"""
    )
    assert desk.evaluate("window.refused") == [False, True, True]
    desk.focus("[data-do=repeat]")
    desk.dblclick("[data-do=repeat]")
    until(desk, "document.querySelector('[data-part=talk]').dataset.phase === 'listening'")
    assert [turn["kind"] for turn in server.story.turns][:2] == ["begin", "repeat"]
    assert "end" not in {turn["kind"] for turn in server.story.turns}
    assert desk.evaluate("document.activeElement.dataset.do") == "repeat"  # the focus was never lost


def test_more_time_is_offered_before_the_end_and_given_at_once(page: Any, server: Running) -> None:
    server.story.elapsed = 1000
    start_writing(page, server)
    page.wait_for_selector("[data-part=time-note]:visible")
    assert page.inner_text("[data-text=time-note]") == "Your time is almost up."
    assert_accessible(page)
    page.dblclick("[data-do=more-time]")
    until(page, "document.querySelector('[data-text=time-note]').textContent === 'You have more time now.'")
    assert server.story.extensions == 1
    until(page, "document.querySelector('[data-part=time-note]').hidden")


def test_that_the_time_is_over_is_said_and_can_still_be_mended(desk: Any, server: Running) -> None:
    server.story.elapsed = 1300
    start_writing(desk, server)
    until(desk, "document.querySelector('[data-text=time-note]').textContent.startsWith('Your time is up.')")
    desk.click("[data-do=time-enough]")
    assert desk.is_hidden("[data-part=time-note]")
    desk.click("[data-do=help]")
    desk.click("[data-do=more-time-now]")
    until(desk, "document.querySelector('[data-text=more-time]').textContent === 'You have more time now.'")
    assert server.story.extensions == 1


def test_captions_are_switched_off_and_stay_off(desk: Any, server: Running) -> None:
    start_writing(desk, server)
    desk.fill("#answer", "Something.")
    desk.click("[data-do=send]")
    desk.wait_for_selector("[data-text=heard]:visible")
    desk.click("[data-do=captions]")
    assert desk.is_hidden("[data-text=heard]")
    assert desk.is_visible("[data-text=question]")
    desk.reload()
    desk.click("[data-do=resume-text]")
    assert desk.get_attribute("[data-do=captions]", "aria-pressed") == "false"
    desk.click("[data-do=captions]")
    assert desk.get_attribute("[data-do=captions]", "aria-pressed") == "true"


def test_shortcuts_press_the_same_buttons(desk: Any, server: Running) -> None:
    start_writing(desk, server)
    desk.keyboard.press("Alt+Shift+KeyP")
    phase(desk, "paused")
    desk.keyboard.press("Alt+Shift+KeyP")
    phase(desk, "listening")
    desk.keyboard.press("Alt+Shift+KeyH")
    assert desk.is_visible("[data-part=help-dialog]")
    desk.keyboard.press("Alt+Shift+KeyS")  # nothing happens behind a dialog
    desk.keyboard.press("Escape")
    desk.keyboard.press("Alt+Shift+KeyS")
    until(desk, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'")
    assert [turn["kind"] for turn in server.story.turns] == ["begin", "skip"]


def test_who_began_in_writing_can_speak_and_takes_the_draft_along(desk: Any, server: Running) -> None:
    start_writing(desk, server)
    desk.fill("#answer", "I began in writing")
    desk.click("[data-do=write]")
    until(desk, "document.querySelector('[data-part=talk]').dataset.mode === 'voice'")
    phase(desk, "listening", "answering")
    assert [(t["kind"], t.get("text"), t["unfinished"]) for t in server.story.turns[1:2]] == [
        ("text", "I began in writing", True)
    ]
    assert server.story.segments == 1
    assert desk.input_value("#answer") == ""


@pytest.fixture(scope="module")
def long_answer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds of a quiet room, then somebody who speaks for long."""
    rng = np.random.default_rng(2)
    words = spoken("I built a small house with my brother last summer, and then we painted all of its windows.")
    voice = np.concatenate([words + rng.normal(0, NOISE, len(words)) for _ in range(4)])
    room = rng.normal(0, NOISE, 16000 * 3)
    return write_wav(tmp_path_factory.mktemp("long") / "answer.wav", np.concatenate([room, voice]), rate=16000)


def test_words_show_while_they_are_spoken_and_are_kept_when_the_rest_is_written(
    with_microphone: Any, server: Running, watch: Any, long_answer: Path
) -> None:
    page = begin_speaking(with_microphone(long_answer), server, watch)
    until(page, "document.querySelector('[data-text=heard]').textContent.startsWith('words up to')", seconds=40)
    page.click("[data-do=write]")
    until(page, "document.querySelector('[data-part=talk]').dataset.phase === 'listening'")
    part = server.story.turns[1]
    assert (part["kind"], part["unfinished"]) == ("answer", True)
    assert part["last_chunk"] > part["first_chunk"]
    assert page.inner_text("[data-text=progress]") == "Question 1 of 2"
    page.fill("#answer", "And the rest in writing.")
    page.click("[data-do=send]")
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'")
    assert [(turn["kind"], turn["unfinished"]) for turn in server.story.turns] == [
        ("begin", False),
        ("answer", True),
        ("text", False),
    ]


def test_a_pause_silences_the_microphone_and_ends_the_run(
    with_microphone: Any, server: Running, watch: Any, long_answer: Path
) -> None:
    page = begin_speaking(with_microphone(long_answer), server, watch)
    phase(page, "answering", seconds=40)
    page.click("[data-do=pause]")
    phase(page, "paused")
    until(page, "document.querySelector('[data-do=go-on]').hidden === false")
    deadline, before = time.monotonic() + 40, -1
    while before != len(server.story.chunks) and time.monotonic() < deadline:  # what is still on its way
        before = len(server.story.chunks)
        page.wait_for_timeout(2500)
    assert len(server.story.chunks) == before
    assert server.story.turns[1]["unfinished"] is True
    page.click("[data-do=go-on]")
    phase(page, "listening", "answering", "speaking")
    assert server.story.segments == 2
    assert server.story.pauses == [True, False]


def test_after_many_pauses_one_more_only_mutes_and_the_run_goes_on(
    with_microphone: Any, server: Running, watch: Any, long_answer: Path
) -> None:
    server.story.segments = 44  # pausing.js: KEPT_RUNS
    page = begin_speaking(with_microphone(long_answer), server, watch)
    phase(page, "answering", seconds=40)
    page.click("[data-do=pause]")
    phase(page, "paused")
    page.wait_for_timeout(4000)
    page.click("[data-do=go-on]")
    phase(page, "answering", seconds=40)
    page.wait_for_timeout(1000)
    page.click("[data-do=finished]")
    # Not by what the page shows: the voice goes on, so the second question may give way before it is seen.
    waited_for(lambda: len(server.story.turns) >= 3, what="the turn of the answer")
    assert server.story.at == 1
    before, after = server.story.turns[1:3]
    assert server.story.segments == 45
    assert [(turn["kind"], turn["segment"], turn["unfinished"]) for turn in (before, after)] == [
        ("answer", 45, True),
        ("answer", 45, False),
    ]
    assert after["first_chunk"] - before["last_chunk"] >= 6  # the pause lies between them, as on the recording
    assert whole(server, 45, "mix")


# --- the way on, after the end -----------------------------------------------------------------------------------


def open_done(page: Any, server: Running, **more: str) -> None:
    """The thank-you page as it opens after the interview, with a way on."""
    values = {"redirect_url": f"{server.url}{BASE}/elsewhere", "redirect_host": "freight.example", **more}
    page.goto(f"{server.url}/other/done?{urlencode(values)}")
    page.wait_for_selector("[data-countdown]:visible")


def test_the_way_on_is_taken_by_itself_and_names_where_it_leads(desk: Any, server: Running) -> None:
    desk.clock.install()
    open_done(desk, server)
    assert desk.inner_text("[data-countdown]") == "Seconds until you are taken there: 30"
    assert "freight.example" in desk.inner_text("main")
    desk.clock.run_for(29_000)
    assert "/other/done" in desk.url
    desk.clock.run_for(2_000)
    desk.wait_for_url(f"**{BASE}/elsewhere")


def stay(page: Any) -> None:
    page.set_viewport_size(SIZES["desk"])  # here it is in view: scrolling to it would end the countdown by itself
    page.click("text=Stay here")


@pytest.mark.parametrize(
    "act",
    [
        stay,
        lambda page: page.keyboard.press("Shift"),
        lambda page: page.mouse.click(5, 5),
        lambda page: page.mouse.wheel(0, 40),
        lambda page: page.evaluate("document.scrollingElement.scrollTop = 40"),
        lambda page: page.evaluate(
            "document.querySelector('#comment').dispatchEvent(new Event('input', {bubbles: true}))"
        ),
        lambda page: page.focus("#comment"),
    ],
    ids=["stay", "key", "touch", "wheel", "scroll", "entry", "focus"],
)
def test_anything_that_the_candidate_does_ends_the_countdown_for_good(desk: Any, server: Running, act: Any) -> None:
    desk.clock.install()
    open_done(desk, server)
    desk.set_viewport_size({"width": 360, "height": 400})
    act(desk)
    until(desk, "getComputedStyle(document.querySelector('[data-countdown]')).visibility === 'hidden'")
    desk.clock.run_for(60_000)
    desk.reload()
    desk.wait_for_selector("text=Thank you")
    desk.clock.run_for(60_000)
    assert "/other/done" in desk.url
    assert not desk.is_visible("[data-countdown]")
    assert desk.is_visible("text=Go to freight.example now")


def test_a_preview_is_never_left_by_itself(desk: Any, server: Running) -> None:
    desk.clock.install()
    desk.goto(
        f"{server.url}/other/done?{urlencode({'redirect_url': '/x', 'redirect_host': 'x.example', 'preview_of': 'f'})}"
    )
    desk.wait_for_selector("text=Go to x.example now")
    desk.clock.run_for(60_000)
    assert "/other/done" in desk.url


def test_a_link_below_the_countdown_stays_under_the_pointer(page: Any, server: Running) -> None:
    open_done(page, server, own_url=f"{server.url}{BASE}/elsewhere?own")
    link = page.locator("a[href$='elsewhere?own']")
    link.scroll_into_view_if_needed()
    at = link.bounding_box()
    page.mouse.move(at["x"] + 5, at["y"] + 5)
    page.mouse.down()  # the link takes the focus, which ends the countdown
    until(page, "getComputedStyle(document.querySelector('[data-countdown]')).visibility === 'hidden'")
    assert link.bounding_box() == at
    page.mouse.up()
    page.wait_for_url("**/elsewhere?own")


def test_the_page_with_a_countdown_is_accessible(desk: Any, server: Running) -> None:
    desk.clock.install()
    open_done(desk, server)
    assert_accessible(desk)
