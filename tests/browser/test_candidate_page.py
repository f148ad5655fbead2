"""The candidate's page against a server that can be told to misbehave: every state, by keyboard, with loss."""

import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .conftest import assert_accessible, write_wav
from .fake_server import Running
from .speech import NOISE, spoken

BLOCK_MICROPHONE = """
navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("no", "NotAllowedError"); };
navigator.permissions.query = async () => ({ state: "denied" });
"""
WIDTHS = {"phone": {"width": 360, "height": 740}, "desk": {"width": 1280, "height": 800}}


def until(page: Any, script: str, *, seconds: float = 20) -> None:
    """Poll until the expression holds; Playwright's own waiting evaluates strings, which the page's policy forbids."""
    deadline = time.monotonic() + seconds
    failure = import_module("playwright.sync_api").Error  # the tests are also collected where it is not installed

    def holds() -> bool:
        try:
            return bool(page.evaluate(script))
        except failure as error:
            # The page was on its way to another one, or to itself again: ask that one.
            if "Execution context was destroyed" not in error.message:
                raise
            page.wait_for_load_state()
            return False

    while not holds():
        assert time.monotonic() < deadline, f"not within {seconds} s: {script}; {page.inner_text('main')[:600]}"
        page.wait_for_timeout(50)


def phase(page: Any, *names: str, seconds: float = 20) -> None:
    wanted = " || ".join(f"document.querySelector('[data-part=talk]').dataset.phase === '{name}'" for name in names)
    until(page, wanted, seconds=seconds)


def start_writing(page: Any, server: Running) -> None:
    page.goto(server.page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.check("input[name=mode][value=text]")
    page.click("[data-do=start]")
    page.wait_for_selector("#answer:visible")
    page.wait_for_selector("[data-do=send][aria-disabled=false]")  # the first question has arrived


@pytest.fixture
def page(chromium: Any, watch: Callable[[Any], Any]) -> Any:
    context = chromium.new_context(viewport=WIDTHS["phone"])
    yield watch(context.new_page())
    context.close()


def test_the_talk_is_accessible_on_a_desk_with_a_camera(chromium: Any, watch: Any, server: Running) -> None:
    """On phones, and in each state, test_accessibility.py checks far more."""
    context = chromium.new_context(viewport=WIDTHS["desk"])
    page = watch(context.new_page())
    server.story.flow["is_video_enabled"] = True
    page.goto(server.page)
    assert_accessible(page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    until(page, "document.querySelector('[data-text=start]').textContent === 'All set.'")
    assert_accessible(page)
    page.click("[data-do=start]")
    phase(page, "listening", "answering")
    assert_accessible(page)
    page.click("[data-do=end]")
    assert_accessible(page)
    page.click("[data-do=stay]")
    page.click("[data-do=write]")
    assert_accessible(page)
    page.fill("#answer", "A written answer.")
    page.click("[data-do=send]")
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'")
    server.story.stage = "live"
    page.reload()
    page.wait_for_selector("[data-do=resume]:visible")
    assert_accessible(page)
    context.close()


def test_an_interview_in_writing_needs_only_the_keyboard(page: Any, server: Running) -> None:
    page.goto(server.page)

    def go_to(selector: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("(wanted) => document.activeElement?.matches(wanted)", selector):
                return
        raise AssertionError(f"the Tab key never reached {selector}")

    go_to("#consent")
    page.keyboard.press("Space")
    go_to("[data-do=next]")
    page.keyboard.press("Enter")
    go_to("#first_name")
    page.keyboard.type("Ada")
    go_to("input[name=mode]")
    page.keyboard.press("ArrowDown")
    go_to("[data-do=start]")
    page.keyboard.press("Enter")
    for answer in ("I built a bridge.", "Nothing at all."):
        until(page, "document.activeElement.id === 'answer'")
        page.keyboard.type(answer)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        until(page, "document.getElementById('answer').value === ''")
    page.wait_for_selector("h1:text('Thank you')", timeout=30_000)
    story = server.story
    assert story.started == {
        "consent": "yes",
        "mode": "text",
        "first_name": "Ada",
        "last_name": "",
        "email_address": "",
        "locale": "en-US",
        "consent_version": "2",
    }
    assert [(turn["kind"], turn.get("text")) for turn in story.turns] == [
        ("begin", None),
        ("text", "I built a bridge."),
        ("text", "Nothing at all."),
    ]
    assert story.finish == {"segments": [], "played": None}


def test_nothing_starts_without_consent_and_a_working_microphone(page: Any, server: Running) -> None:
    page.goto(server.page)
    assert page.is_disabled("[data-do=start]")
    assert page.is_disabled("[data-do=check]")
    page.check("#consent")
    page.click("[data-do=next]")
    assert page.is_disabled("[data-do=start]")
    assert page.inner_text("[data-text=start]") == "Please check your microphone first, or choose to write."
    page.check("input[name=mode][value=text]")
    assert page.is_enabled("[data-do=start]")
    assert server.story.started is None


def test_a_refused_microphone_is_explained(chromium: Any, server: Running) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.add_init_script(BLOCK_MICROPHONE)
    page.goto(server.page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    until(page, "document.querySelector('[data-text=check]').textContent.startsWith('The browser did not allow')")
    assert "camera" not in page.inner_text("[data-text=check]"), "this interview takes no video"
    assert page.is_disabled("[data-do=start]")
    context.close()


def test_a_wrong_address_is_said_beside_the_button_and_nothing_is_lost(page: Any, server: Running) -> None:
    page.goto(server.page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.check("input[name=mode][value=text]")
    page.fill("#email_address", "wrong")
    page.click("[data-do=start]")
    until(page, "document.querySelector('[data-text=start]').textContent === 'This is not an email address.'")
    assert page.evaluate("document.activeElement.id") == "email_address"
    assert page.input_value("#email_address") == "wrong"


def test_without_scripts_the_page_says_so_and_cannot_start(chromium: Any, server: Running) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.page)
    assert "needs JavaScript" in page.inner_text("noscript")
    assert page.is_disabled("[data-do=start]")
    context.close()


def test_repeat_skip_and_end_reach_the_server(page: Any, server: Running) -> None:
    start_writing(page, server)
    page.click("[data-do=repeat]")
    until(page, "document.querySelector('[data-do=skip]').ariaDisabled === 'false'")
    page.click("[data-do=skip]")
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'")
    page.click("[data-do=end]")
    page.click("[data-do=end-yes]")
    page.wait_for_selector("h1:text('Thank you')", timeout=30_000)
    assert [turn["kind"] for turn in server.story.turns] == ["begin", "repeat", "skip", "end"]


def test_a_written_answer_is_read_and_given_again_with_the_keyboard(page: Any, server: Running) -> None:
    server.story.may_say_again = True
    start_writing(page, server)
    assert page.is_hidden("[data-do=again]")
    page.click("[data-do=captions]")
    page.fill("#answer", "I built a brigde.")
    page.click("[data-do=send]")
    page.wait_for_selector("[data-do=again]:visible")
    assert page.inner_text("[data-text=again]") == "I built a brigde."
    assert page.is_hidden("[data-text=heard]")
    page.focus("[data-do=again]")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 1 of 2'")
    assert page.is_hidden("[data-do=again]")
    page.fill("#answer", "I built a bridge.")
    page.click("[data-do=send]")
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'")
    assert page.is_hidden("[data-do=again]")
    page.fill("#answer", "Nothing at all.")
    page.click("[data-do=send]")
    phase(page, "lingering")
    assert page.inner_text("[data-text=again]") == "Nothing at all."
    page.click("[data-do=finished]")
    page.wait_for_selector("h1:text('Thank you')", timeout=30_000)
    turns = [(turn["kind"], turn.get("again"), turn.get("text")) for turn in server.story.turns[1:]]
    assert turns == [
        ("text", None, "I built a brigde."),
        ("repeat", True, None),
        ("text", None, "I built a bridge."),
        ("text", None, "Nothing at all."),
    ]


def test_a_server_that_restarts_costs_nothing(page: Any, server: Running) -> None:
    start_writing(page, server)
    server.story.fail_next["/turns/2"] = [503, 502, 503]
    page.fill("#answer", "Patience.")
    page.click("[data-do=send]")
    page.wait_for_selector(".connection .notice-warn")
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'")
    assert [turn["kind"] for turn in server.story.turns] == ["begin", "text"]
    page.wait_for_selector(".connection .notice-good")


def test_a_turn_that_was_answered_unseen_is_caught_up_with(page: Any, server: Running) -> None:
    start_writing(page, server)
    story = server.story
    story.at, story.turn = 1, 3  # as if the answer to turn 2 had been lost on the way back
    story.prompt = {
        **(story.prompt or {}),
        "turn": 2,
        "text": "Question two?",
        "question": "Question two?",
        "parts": [],
        "question_index": 1,
    }
    page.fill("#answer", "Late.")
    page.click("[data-do=send]")
    until(page, "document.querySelector('[data-text=question]').textContent === 'Question two?'")
    assert [turn["t"] for turn in story.turns] == [1]


def test_an_interview_that_goes_on_elsewhere_stops_here(page: Any, server: Running) -> None:
    start_writing(page, server)
    page.route("**/turns/2", lambda route: route.fulfill(status=409, json={"message": "x", "reason": "taken over"}))
    page.fill("#answer", "Hello?")
    page.click("[data-do=send]")
    page.wait_for_selector("[data-part=stopped]:visible")
    assert page.inner_text("[data-text=stopped-title]") == "The interview continues elsewhere"
    assert page.is_hidden("[data-part=talk]")
    assert_accessible(page)


def test_documents_are_added_refused_and_taken_away(page: Any, server: Running) -> None:
    start_writing(page, server)
    deleted: list[str] = []
    page.on("request", lambda request: deleted.append(request.url) if request.method == "DELETE" else None)
    page.click("text=Add a document")
    page.set_input_files("#document", {"name": "tool.exe", "mimeType": "application/octet-stream", "buffer": b"MZ"})
    until(page, "document.querySelector('[data-text=document]').textContent.startsWith('file: programs are not taken')")
    assert deleted == [], "the server has forgotten the file that it refused"
    page.set_input_files("#document", {"name": "cv.pdf", "mimeType": "application/pdf", "buffer": b"%PDF"})
    page.wait_for_selector(".documents li")
    until(page, "document.querySelector('[data-text=documents]').textContent === '(1)'")
    assert server.story.documents == {"d1": "cv.pdf"}
    assert_accessible(page)
    page.click(".documents button")
    until(page, "document.querySelectorAll('.documents li').length === 0")
    assert server.story.documents == {}


def test_a_broken_upload_goes_on_where_it_stopped(page: Any, server: Running) -> None:
    start_writing(page, server)
    server.story.takes_parts = 2
    page.click("text=Add a document")
    cv = {"name": "cv.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 four parts"}
    page.set_input_files("#document", cv)
    until(page, "document.querySelector('.documents progress').value > 0.2")
    page.wait_for_selector("[data-part=connection] .notice-warn")
    assert_accessible(page)
    server.story.takes_parts = 3
    until(page, "document.querySelector('.documents progress').value > 0.5")
    server.story.stage = "live"
    page.reload()
    page.click("[data-do=resume-text]")
    page.wait_for_selector("#answer:visible")
    page.click("text=Add a document")
    assert "Choose the same file again" in page.inner_text(".documents li")
    server.story.takes_parts = 1_000_000
    page.set_input_files("#document", cv)
    until(page, "document.querySelector('[data-text=documents]').textContent === '(1)'")
    assert server.story.parts == [0, 1, 2, 3, 4]
    assert page.locator(".documents li").count() == 1


def test_a_file_on_its_way_can_be_given_up(page: Any, server: Running) -> None:
    start_writing(page, server)
    server.story.takes_parts = 1
    page.click("text=Add a document")
    page.set_input_files("#document", {"name": "cv.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 parts"})
    until(page, "document.querySelector('.documents progress').value > 0")
    page.click(".documents button")
    server.story.takes_parts = 2
    until(page, "document.querySelectorAll('.documents li').length === 0")
    assert (server.story.on_their_way, server.story.documents) == ({}, {})
    page.set_input_files(
        "#document", {"name": "big.pdf", "mimeType": "application/pdf", "buffer": bytes(10 * 1024 * 1024 + 1)}
    )
    until(page, "document.querySelector('[data-text=document]').textContent.includes('larger than 10 MiB')")


# --- with a voice --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def microphone_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Again and again: three seconds of a quiet room, an answer, two seconds of a quiet room."""
    rng = np.random.default_rng(1)
    answer = spoken("I built a small house with my brother last summer.")
    room = [rng.normal(0, NOISE, 16000 * seconds) for seconds in (3, 2)]
    samples = np.concatenate([room[0], answer + rng.normal(0, NOISE, len(answer)), room[1]])
    return write_wav(tmp_path_factory.mktemp("sound") / "answer.wav", samples, rate=16000)


def begin_speaking(browser: Any, server: Running, watch: Any) -> Any:
    page = watch(browser.new_page())
    page.goto(server.page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    until(page, "document.querySelector('[data-text=start]').textContent === 'All set.'")
    page.click("[data-do=start]")
    return page


def whole(server: Running, run: int, track: str) -> bool:
    numbers = sorted(n for r, t, n in server.story.chunks if (r, t) == (run, track))
    return numbers == list(range(len(numbers))) and bool(numbers)


def test_a_spoken_interview_with_lost_chunks_a_dead_network_and_a_reload(
    with_microphone: Any, server: Running, watch: Any, microphone_file: Path
) -> None:
    browser = with_microphone(microphone_file)
    server.story.lose_chunks = {(1, "mix", 2)}
    server.story.questions = ("One?", "Two?", "Three?")
    page = begin_speaking(browser, server, watch)
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 3'", seconds=40)
    page.context.set_offline(True)  # type: ignore[attr-defined]
    page.wait_for_timeout(2500)
    page.context.set_offline(False)
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 3 of 3'", seconds=40)
    page.reload()
    page.click("[data-do=resume]")
    page.wait_for_selector("h1:text('Thank you')", timeout=60_000)
    story = server.story
    kinds = [turn["kind"] for turn in story.turns]
    assert kinds == ["begin", "answer", "answer", "answer"], kinds
    assert [turn["segment"] for turn in story.turns] == [1, 1, 1, 2]
    assert whole(server, 1, "mix")
    assert whole(server, 2, "mix")
    finish = {part["segment"]: part for part in (story.finish or {})["segments"]}
    assert {run: part["last_mix_chunk"] + 1 for run, part in finish.items()} == {
        run: sum(key[:2] == (run, "mix") for key in story.chunks) for run in (1, 2)
    }
    # The words are unknown here: the least silence is that after a voice that came to rest, and not a millisecond less.
    least = page.evaluate("async () => new (await import('/static/js/voice/patience.js')).Patience().send(null, true)")
    for turn in story.turns[1:]:
        wanted = range(turn["first_chunk"], turn["last_chunk"] + 1)
        assert all((turn["segment"], "voice", number) in story.chunks for number in wanted)
        assert turn["timing"]["detected_ms"] - turn["timing"]["speech_end_ms"] >= least
        assert turn["played"]["segment"] == turn["segment"]
    pieces = [body for (_, track, _), body in story.chunks.items() if track == "voice"]
    assert all(body.startswith(b"PV\x02") and len(body) < 2_700 for body in pieces)


def test_an_answer_whose_words_are_late_is_posted_once_more_after_the_request_for_a_moment(
    with_microphone: Any, server: Running, watch: Any, microphone_file: Path
) -> None:
    server.story.late = 1
    page = begin_speaking(with_microphone(microphone_file), server, watch)
    until(page, "document.querySelector('[data-text=before]').textContent === 'One moment, please.'", seconds=40)
    assert page.inner_text("[data-text=question]") == server.story.questions[0]
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'", seconds=40)
    begin, answer, again = server.story.turns[:3]
    assert (begin["kind"], answer["kind"], again["kind"]) == ("begin", "answer", "answer")
    named = ("segment", "first_chunk", "last_chunk")
    assert [again[name] for name in named] == [answer[name] for name in named]
    assert again["played"]["seconds"] > 0


def test_a_spoken_answer_is_given_again_after_a_reload(
    with_microphone: Any, server: Running, watch: Any, microphone_file: Path
) -> None:
    server.story.may_say_again = True
    page = begin_speaking(with_microphone(microphone_file), server, watch)
    page.wait_for_selector("[data-do=again]:visible", timeout=40_000)
    page.reload()
    page.click("[data-do=resume]")
    page.click("[data-do=again]")
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 1 of 2'", seconds=40)
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'", seconds=40)
    assert page.is_hidden("[data-do=again]")
    answers = [turn for turn in server.story.turns if turn["kind"] == "answer"]
    assert len(answers) == 2
    for turn in answers:
        wanted = range(turn["first_chunk"], turn["last_chunk"] + 1)
        assert all((turn["segment"], "voice", number) in server.story.chunks for number in wanted)


def test_speech_silences_the_agent_within_a_fifth_of_a_second(
    with_microphone: Any, server: Running, watch: Any, microphone_file: Path
) -> None:
    server.story.spoken_seconds = 30.0  # the agent would talk for half a minute
    page = begin_speaking(with_microphone(microphone_file), server, watch)
    phase(page, "answering")
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'", seconds=40)
    answer = server.story.turns[1]
    assert answer["kind"] == "answer"
    played = answer["played"]
    assert played["whole"] is False
    assert 0 <= played["seconds"] < 20  # nothing of it, where somebody spoke before it began
    # What was heard ends about where the answer's track begins: one chunk of pre-roll before the first sound.
    begins = (answer["first_chunk"] + 1) * 0.5
    assert played["started"] + played["seconds"] - begins <= 0.5 + 0.25 + 0.2


def test_a_reply_that_takes_long_is_announced(page: Any, server: Running) -> None:
    start_writing(page, server)
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() / 1000") + 10)  # time passes only where this test says so
    page.route("**/turns/2", lambda route: None)
    page.fill("#answer", "A written answer.")
    page.click("[data-do=send]")
    phase(page, "thinking")
    page.clock.run_for(3_900)
    assert page.inner_text("[data-text=phase]") == "One moment: the reply is on its way."
    page.clock.run_for(200)
    assert page.inner_text("[data-text=phase]") == "This takes a little longer than usual. Nothing is lost."
