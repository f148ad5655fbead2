"""Bad luck on the way of a spoken interview: the talk goes on by the next means, and the recording is whole."""

import io
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import pytest

from .conftest import assert_accessible
from .fake_server import BASE, ROOT, Running
from .test_candidate_page import begin_speaking, microphone_file, phase, until, whole

__all__ = ["microphone_file"]
WORKER = ROOT / "static/js/voice/opus-worker.js"
OWN = 23 << 3
"""First byte of a packet by the page's own encoder."""
KNOWS = """
    const post = self.postMessage.bind(self);
    let knows = false, first = Infinity;
    const isBad = (id) => id >= first + 2;
    addEventListener("message", ({ data }) => { if (knows && data.id) first = Math.min(first, data.id); });
"""
"""What runs before the encoder's worker: two pieces after the browser's encoder is known to work, it is of no use."""
SPOILT = {
    "fails": """
        self.postMessage = (data) => {
          knows ||= data.works;
          post(isBad(data.id) ? { id: data.id, made: null } : data);
        };
    """,
    "says nothing": "self.postMessage = (data) => { knows ||= data.works; if (!isBad(data.id)) post(data); };",
    "turns to silence": """
        self.postMessage = (data) => { knows ||= data.works; post(data); };
        const feed = AudioEncoder.prototype.encode;
        let last = 0;
        addEventListener("message", ({ data }) => { last = data.id ?? 0; });
        AudioEncoder.prototype.encode = function encode(data) {
          if (!isBad(last)) return feed.call(this, data);
          const about = { format: "s16", sampleRate: 16000, numberOfChannels: 1, timestamp: 0 };
          const silence = new Int16Array(data.numberOfFrames);
          feed.call(this, new AudioData({ ...about, numberOfFrames: data.numberOfFrames, data: silence }));
        };
    """,
}
"""How it is of no use."""
FROZEN = 20.0
"""Seconds."""
FREEZE = "(url) => { const asked = new XMLHttpRequest(); asked.open('GET', url, false); asked.send(); }"
"""Nothing of the page's own runs until the server answers; its recorder goes on, as in a phone's browser."""
HOLE = 0.5
"""Seconds; a chunk has one, and a busy machine may lose less."""
PROGRESS = "document.querySelector('[data-text=progress]').textContent"
NOTICE = "document.querySelector('[data-part=behind]').textContent"


def handed_in(page: Any, server: Running) -> None:
    """Every chunk of the recording has arrived, and every piece that a turn names."""
    page.wait_for_selector("h1:text('Thank you')", timeout=90_000)
    story = server.story
    runs = {key[0] for key in story.chunks}
    assert all(whole(server, run, "mix") for run in runs)
    lasts = {part["segment"]: part["last_mix_chunk"] for part in (story.finish or {})["segments"]}
    assert lasts == {run: max(n for r, t, n in story.chunks if (r, t) == (run, "mix")) for run in runs}
    answers = [turn for turn in story.turns if turn["kind"] == "answer"]
    assert answers
    for turn in answers:
        wanted = range(turn["first_chunk"], turn["last_chunk"] + 1)
        assert [n for n in wanted if (turn["segment"], "voice", n) not in story.chunks] == []


def holes(server: Running, run: int) -> list[float]:
    """Lengths of the places in a run's recording at which there is no sound, in seconds."""
    chunks = [story for key, story in sorted(server.story.chunks.items()) if key[:2] == (run, "mix")]
    found, over = [], None
    with av.open(io.BytesIO(b"".join(chunks))) as file:
        for frame in file.decode(audio=0):
            at = float(frame.pts * frame.time_base)
            if over is not None and at - over > HOLE:
                found.append(at - over)
            over = at + frame.samples / frame.sample_rate
    assert over
    return found


@pytest.mark.parametrize("how", SPOILT)
def test_an_encoder_that_goes_bad_in_mid_talk_is_left_for_the_next_form(
    with_microphone: Any, server: Running, watch: Callable[[Any], Any], microphone_file: Path, how: str
) -> None:
    code = f"{KNOWS}{SPOILT[how]}\n{WORKER.read_text(encoding='utf-8')}"
    context = with_microphone(microphone_file).new_context()
    context.route("**/opus-worker.js", lambda route: route.fulfill(body=code, content_type="text/javascript"))
    page = begin_speaking(context, server, watch)
    handed_in(page, server)
    pieces = [body for (_, track, _), body in sorted(server.story.chunks.items()) if track == "voice"]
    assert {body[:3] for body in pieces} == {b"PV\x02"}
    forms = [1 if body[6 + 2 * body[3]] == OWN else 2 for body in pieces]  # from the browser's encoder to our own
    # Silence is seen where there is sound: a piece that is silent itself, as a busy machine makes them, says nothing.
    assert 1 <= forms.count(2) <= (len(forms) - 3 if how == "turns to silence" else 2), forms
    used = forms[forms.index(2) :]  # a busy machine tries the encoder for longer than the first pieces take
    assert used == sorted(used, reverse=True)
    assert forms[-3:] == [1, 1, 1]


def test_a_proxy_that_refuses_single_requests_costs_nothing(
    with_microphone: Any, server: Running, watch: Callable[[Any], Any], microphone_file: Path
) -> None:
    seen = Counter[str]()

    def refuse(route: Any) -> None:
        seen["requests"] += 1
        status = {0: 413, 3: 502}.get(seen["requests"] % 5)
        if status is None:
            return route.continue_()
        seen[str(status)] += 1
        return route.fulfill(status=status, body="<html><h1>nginx</h1></html>", content_type="text/html")

    context = with_microphone(microphone_file).new_context()
    context.route("**/chunks**", refuse)
    page = begin_speaking(context, server, watch)
    handed_in(page, server)
    assert seen["413"] >= 2
    assert seen["502"] >= 2
    assert holes(server, 1) == []


def test_pieces_that_are_damaged_on_the_way_arrive_in_the_end(
    with_microphone: Any, server: Running, watch: Callable[[Any], Any], microphone_file: Path
) -> None:
    damaged = []

    def damage(route: Any) -> None:
        body = route.request.post_data_buffer
        if body is None or len(damaged) > 2 or "track=voice" not in route.request.url:
            return route.continue_()
        damaged.append(route.request.url)
        return route.continue_(post_data=body[:-1] + bytes([body[-1] ^ 1]))

    context = with_microphone(microphone_file).new_context()
    context.route("**/chunks**", damage)
    page = begin_speaking(context, server, watch)
    handed_in(page, server)
    assert len(damaged) == 3


class Frozen(threading.Event):
    """Lets the server answer after ``FROZEN`` seconds, and counts the chunks: none comes while nothing runs."""

    def __init__(self, server: Running) -> None:
        super().__init__()
        self._server = server
        self.arrived: list[int] = []

    def wait(self, timeout: float | None = None) -> bool:
        """Called when the request has reached the server, so the page is frozen by now."""
        del timeout
        for seconds in (FROZEN / 2, FROZEN / 2):
            time.sleep(seconds)
            self.arrived.append(len(self._server.story.chunks))
        return True


def test_a_page_that_is_frozen_for_twenty_seconds_goes_on(
    with_microphone: Any, server: Running, watch: Callable[[Any], Any], microphone_file: Path
) -> None:
    server.story.questions = ("One?", "Two?", "Three?")
    page = begin_speaking(with_microphone(microphone_file), server, watch)
    until(page, f"{PROGRESS} === 'Question 2 of 3'", seconds=40)
    phase(page, "answering")
    story, frozen = server.story, Frozen(server)
    story.made = frozen
    page.evaluate(FREEZE, f"{BASE}/turns/1/audio/1")
    assert frozen.arrived
    assert len(set(frozen.arrived)) == 1, f"the page was not frozen: {frozen.arrived} chunks arrived"
    handed_in(page, server)
    assert story.at >= len(story.questions)  # more where a busy machine heard one answer as two
    assert holes(server, 1) == []


def test_a_page_that_is_behind_says_by_how_much_until_it_has_caught_up(
    with_microphone: Any, server: Running, watch: Callable[[Any], Any], microphone_file: Path
) -> None:
    story = server.story
    story.questions = tuple(f"Question {number}?" for number in range(20))  # the talk is not over before the notice is
    page = begin_speaking(with_microphone(microphone_file), server, watch)
    phase(page, "listening", "answering")
    held, is_fast = [], threading.Event()
    page.route("**/chunks**", lambda route: route.continue_() if is_fast.is_set() else held.append(route))
    slow = "Your connection is slow: {} seconds of the interview are still on their way. Nothing is lost."
    until(page, f"{NOTICE}.startsWith('{slow.format(10)}')", seconds=40)
    assert page.inner_text("[data-part=behind]").endswith("You can go on, or write your answers.")
    assert page.inner_text("[data-part=connection]") == ""
    assert_accessible(page)
    until(page, f"{NOTICE}.startsWith('{slow.format(15)}')", seconds=40)
    is_fast.set()
    for route in held:
        route.continue_()
    until(page, f"{NOTICE} === ''", seconds=40)
    story.questions = story.questions[: story.at + 1]
    handed_in(page, server)
