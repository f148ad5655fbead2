"""A reply whose sound comes in pieces, in a real browser: heard at once, and reported piece by piece."""

import threading
from typing import Any

from .fake_server import Running
from .test_candidate_page import phase, until

STARTS = """
    window.started = [];
    const start = AudioBufferSourceNode.prototype.start;
    AudioBufferSourceNode.prototype.start = function (...given) {
      if (this.buffer && this.buffer.duration > 0.5) window.started.push(performance.now());
      return start.apply(this, given);
    };
"""


def with_a_first_sentence(chromium: Any, server: Running, watch: Any) -> Any:
    """A started interview whose first sentence sounds."""
    page = watch(chromium.new_context().new_page())
    page.add_init_script(STARTS)
    page.goto(server.page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    until(page, "document.querySelector('[data-text=start]').textContent === 'All set.'")
    page.click("[data-do=start]")
    until(page, "window.started.length === 1")
    return page


def test_the_first_sentence_sounds_before_the_last_is_made(chromium: Any, server: Running, watch: Any) -> None:
    story = server.story
    story.questions, story.pieces, story.made = ("What did you build last?",), 2, threading.Event()
    page = with_a_first_sentence(chromium, server, watch)
    assert not story.made.is_set()
    assert page.text_content("[data-text=question]") == "What did you build last?"
    phase(page, "speaking")
    story.made.set()
    until(page, "window.started.length === 2")
    phase(page, "listening", "answering")
    page.click("[data-do=skip]")
    page.wait_for_selector("h1:text('Thank you')", timeout=30_000)
    played = story.turns[1]["played"]
    first, second = played["pieces"]
    assert (first["number"], first["whole"]) == (0, True)
    assert second["number"] == 1
    assert second["started"] >= first["started"] + first["seconds"]
    assert abs(played["seconds"] - first["seconds"] - second["seconds"]) < 0.002
    page.context.close()


def test_a_reply_that_is_skipped_while_its_second_piece_is_made_was_heard_so_far(
    chromium: Any, server: Running, watch: Any
) -> None:
    story = server.story
    story.pieces, story.made = 2, threading.Event()
    page = with_a_first_sentence(chromium, server, watch)
    page.click("[data-do=skip]")
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'")
    played = story.turns[1]["played"]
    assert played["whole"] is False
    assert [piece["number"] for piece in played["pieces"]] == [0]
    story.made.set()
    page.context.close()
