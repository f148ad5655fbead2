"""Ten moments at which a tab, the network or the server dies in the middle of an interview, and what is left then.

Real processes: Chromium whose page process is killed by its id, ``parley web`` ended by SIGKILL and started again, the
network taken away. ``test_loss.py`` runs them all, some of them in one interview, ``bench/loss.py`` prints them as a
table. An accident is prepared up to its ``yield``, then the interview begins, then it happens.
"""

import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import requests

from .candidate import ANSWERS, PROGRESS, Candidate
from .rehearsal import LONGEST, QUESTIONS, Platform, until

LOST = "Connection lost. Reconnecting: nothing is lost, and you can stay on this page."


def before_starts_answer(one: Candidate) -> Iterator[None]:
    """The server has begun the interview and dies before it says so."""
    done = one.once("**/start", "POST", lambda route: _done_but_unsaid(one, route))
    yield
    _server_returns(one, done, "Start")
    # A page that has tried for half a minute says so and lets the candidate press Start again.
    again, talk = (
        "document.querySelector('[data-do=start]').disabled",
        "document.querySelector('[data-part=talk]').hidden",
    )
    one.reach(f"!{again} || !{talk}", "Start, or the talk")
    if one.page.evaluate(f"!{again} && {talk}"):
        one.page.click("[data-do=start]")
    one.question(1)


def during_the_intro(one: Candidate) -> Iterator[None]:
    """The tab is killed while the agent speaks its first words."""
    yield
    one.phase("speaking")
    one.kill_tab()
    one.resume()
    one.question(1)


def in_mid_answer(one: Candidate) -> Iterator[None]:
    """The network goes while the second question is answered; the tab is killed with chunks that nobody else has."""
    yield
    one.question(2)
    one.phase("answering")
    one.context.set_offline(True)
    deadline = time.monotonic() + LONGEST
    while not any(track == "mix" for _, track, _ in one.stored):
        assert time.monotonic() < deadline, "nothing waits in the browser's database"
        one.page.wait_for_timeout(50)
        one.stored = one.waiting()
    one.kill_tab()
    one.context.set_offline(False)
    one.resume()
    one.question(2)


def between_chunk_and_turn(one: Candidate) -> Iterator[None]:
    """Everything of the answer is acknowledged; the server dies before the turn reaches it."""
    done = one.once("**/turns/2", "POST", lambda route: _dies(one, route))
    yield
    _server_returns(one, done, "the turn")
    one.question(2)


def while_the_server_thinks(one: Candidate) -> Iterator[None]:
    """The server has claimed the turn, has recognised the answer, and dies while the language model is at it."""
    model = one.platform.model
    model.held = True
    yield
    one.after(model.asked, "the language model")
    asked = one.progress
    one.platform.kill()
    model.held = False
    model.gate.set()
    one.told()
    one.platform.start()
    # The dead process holds the turn for 20 s; nobody learns anything from waiting for that.
    one.platform.rows("update turn set lease_until = datetime('now', '-1 second') where lease_until is not null")
    one.reach(f"{PROGRESS} !== {json.dumps(asked)}", "the reply")
    model.gate.clear()
    model.asked.clear()


def during_the_reply(one: Candidate) -> Iterator[None]:
    """The network is gone when the reply's sound is fetched, and comes back."""
    done = threading.Event()

    def cut(route: Any) -> None:
        number = int(route.request.url.rsplit("/", 2)[-2])
        mine = (
            "select reply_kind from turn join sitting on sitting.id = sitting_id "
            "where interview_id = :i and number = :n"
        )
        kinds = one.platform.rows(mine, i=one.interview_id, n=number)
        # On a machine that recognises slowly the agent asks for a moment first, or goes on without the language model.
        if one.platform.model.held or done.is_set() or ("moment",) in kinds:
            return route.continue_()
        done.set()
        one.context.set_offline(True)
        return route.abort("internetdisconnected")

    def apart(route: Any) -> None:
        """The sound does not come with the reply."""
        route.continue_(headers={name: value for name, value in route.request.headers.items() if name != "x-sound"})

    one.page.route("**/turns/*", apart)
    one.page.route(re.compile(r"/turns/(?!1/)\d+/audio"), cut)
    yield
    one.after(done, "the reply's sound")
    one.told()
    one.context.set_offline(False)
    one.phase("speaking", "listening", "answering")


def during_the_last_chunks(one: Candidate) -> Iterator[None]:
    """The agent has said goodbye; the server dies while the last chunks arrive."""
    leaving, done = threading.Event(), threading.Event()

    def pass_on(route: Any) -> None:
        if leaving.is_set() and not done.is_set():
            done.set()
            _dies(one, route)
        else:
            route.continue_()

    one.page.route("**/chunks**", pass_on)
    yield
    words = "document.querySelector('[data-text=question]').textContent"
    one.reach(f"{words}.includes('Thank you, that was all.')", "the outro")
    leaving.set()
    _server_returns(one, done, "a last chunk")


def during_finish(one: Candidate) -> Iterator[None]:
    """The server has handed the interview in and dies before it says so."""
    done = one.once("**/finish", "POST", lambda route: _done_but_unsaid(one, route))
    yield
    _server_returns(one, done, "finish")


def before_the_thank_you(one: Candidate) -> Iterator[None]:
    """Everything is confirmed; the tab is killed before the thank-you is shown."""
    yield
    path = one.link.split(str(one.platform.port))[1].split("?")[0]
    done = one.once(f"**{path}", "GET", lambda _: None)  # the thank-you is never answered
    one.after(done, "the end")
    one.kill_tab()
    one.page.goto(one.link)


def during_a_document(one: Candidate) -> Iterator[None]:
    """The server dies while a document is uploaded; the page sends the rest by itself."""
    done = one.once("**/uploads/*/parts/*", "PUT", lambda route: _dies(one, route))
    yield
    one.question(1)
    content = b"My name is Ada and this is what I have done so far.\n" * 20
    one.page.set_input_files("#document", {"name": "cv.txt", "mimeType": "text/plain", "buffer": content})
    _server_returns(one, done, "the upload")
    one.page.locator("[data-part=documents] li[data-document]").wait_for(state="attached", timeout=LONGEST * 1000)
    assert one.platform.rows("select size from document where interview_id = :i", i=one.interview_id) == [
        (len(content),)
    ]
    one.question(2)


def _dies(one: Candidate, route: Any) -> None:
    one.platform.kill()
    route.abort("connectionreset")


def _done_but_unsaid(one: Candidate, route: Any) -> None:
    """The request is carried out; its answer never reaches the page."""
    headers = {**route.request.headers, "cookie": route.request.header_value("cookie") or ""}
    answer = requests.post(route.request.url, data=route.request.post_data_buffer, headers=headers, timeout=30)
    assert answer.status_code == 200, answer.text
    _dies(one, route)


def _server_returns(one: Candidate, done: threading.Event, what: str) -> None:
    """Whoever waits is told what happens; only then the server is there again."""
    one.after(done, what)
    one.told()
    one.platform.start()


POINTS: dict[str, tuple[str, Callable[[Candidate], Iterator[None]]]] = {
    "before Start's answer arrives": ("server", before_starts_answer),
    "during the intro": ("tab", during_the_intro),
    "in mid-answer": ("network, tab", in_mid_answer),
    "between chunk and turn": ("server", between_chunk_and_turn),
    "while the server thinks": ("server", while_the_server_thinks),
    "during the reply": ("network", during_the_reply),
    "during the last chunks": ("server", during_the_last_chunks),
    "during finish": ("server", during_finish),
    "after finish, before the thank-you": ("tab", before_the_thank_you),
    "during a document": ("server", during_a_document),
}


@dataclass
class Left:
    """What is in the database afterwards."""

    problems: list[str] = field(default_factory=list)
    runs: int = 0
    chunks: int = 0
    answers: int = 0
    seconds: float = 0.0
    """How long the published recording plays."""


def survived(one: Candidate, *, unsealed: tuple[int, ...] = ()) -> Left:
    """Every turn answered, every run whole and sealed (but ``unsealed``), every answer there, one recording."""
    left, rows = Left(), one.platform.rows
    given = {"i": one.interview_id}
    stage = rows("select stage from interview where id = :i", **given)[0][0]
    left.problems += [] if stage != "live" else ["the interview was not handed in"]
    turns = rows(
        "select number, state from turn where sitting_id = (select id from sitting where interview_id = :i) "
        "order by number",
        **given,
    )
    if [turn[0] for turn in turns] != list(range(1, len(turns) + 1)) or any(turn[1] != "answered" for turn in turns):
        left.problems.append(f"turns {turns}")
    arrived = _runs(one, left, unsealed)
    lost = [chunk for chunk in one.stored if chunk[1] == "mix" and chunk not in arrived]
    left.problems += [f"chunks that waited in the browser never came: {lost}"] if lost else []
    _published(one, left)
    return left


def _runs(one: Candidate, left: Left, unsealed: tuple[int, ...]) -> set[tuple[int, str, int]]:
    found: set[tuple[int, str, int]] = set()
    given = {"i": one.interview_id}
    for number, last in one.platform.rows(
        "select number, last_mix_chunk from recorder_run where interview_id = :i", **given
    ):
        kept = [
            row[0]
            for row in one.platform.rows(
                "select number from chunk where interview_id = :i and segment = :s and track = 'mix' order by number",
                s=number,
                **given,
            )
        ]
        found |= {(number, "mix", chunk) for chunk in kept}
        left.runs, left.chunks = left.runs + 1, left.chunks + len(kept)
        if kept != list(range(len(kept))):
            left.problems.append(f"run {number} has {kept}")
        if kept and last != (None if number in unsealed else len(kept) - 1):
            left.problems.append(f"run {number} ends with {last} of {len(kept)}")
    return found


def _answers(lines: list[dict[str, Any]], left: Left) -> None:
    """Recognition of synthetic speech gets 60 to 88 % of the words: a third of them tells one answer from another."""
    said: dict[str, list[str]] = {question: [] for question in QUESTIONS}
    asked = QUESTIONS[0]
    for line in lines:
        if line["role"] == "user":
            said[asked] += re.findall(r"[a-z]+", line["content"].lower())
            left.answers += 1
        elif line["content"] in said:
            asked = line["content"]
    for number, question in enumerate(QUESTIONS, start=1):
        words = set(re.findall(r"[a-z]+", ANSWERS[str(number)].lower()))
        if len(words & set(said[question])) * 3 < len(words):
            left.problems.append(f"of the answer to question {number} only {said[question]} is there")


def _published(one: Candidate, left: Left) -> None:
    """One recording that plays to its end, and one transcript with every answer, whose words lie on it."""
    data: dict[str, Any] = {}

    def found() -> bool:
        listed = one.platform.api("GET", "/interviews", params={"transcript": "full", "limit": 100})["interviews"]
        this = next(each for each in listed if each["interview_id"] == one.interview_id)
        data.update(this["interview_data"] or {})
        return this["status"] == "completed" and bool(data.get("audio_url"))

    until(found, what="the recording and the transcript", seconds=240)
    left.seconds = playable_seconds(requests.get(data["audio_url"], timeout=60).content)
    lines = data["transcript_with_timestamp"]
    ends = max((word["end"] for line in lines for word in line["words"]), default=0.0)
    if not left.seconds + 0.5 >= ends > 0:
        left.problems.append(f"it plays {left.seconds:.1f} s, the last word ends at {ends:.1f} s")
    _answers(lines, left)


def taken(playwright: Any, platform: Platform, *names: str) -> Left:
    """One interview with its accidents, in the order of ``names``, to the published recording."""
    accidents = [POINTS[name][1] for name in names]
    one = Candidate(playwright, platform, is_doc_upload_enabled=during_a_document in accidents)
    try:
        under_way = [accident(one) for accident in accidents]
        for accident in under_way:
            next(accident)
        one.begin()
        for accident in under_way:
            next(accident, None)
        one.thanked()
        told = [about["text"] for about in one.remembered if about["kind"] == "notice"]
    finally:
        one.close()
    left = survived(one)
    if any("tab" not in POINTS[name][0] for name in names) and LOST not in told:
        left.problems.append(f"the candidate was told {told}")
    return left


def playable_seconds(content: bytes) -> float:
    """How long the file plays, by decoding all of it."""
    import av

    with av.open(io.BytesIO(content)) as file:
        stream = file.streams.audio[0]
        return float(sum(frame.samples / frame.sample_rate for frame in file.decode(stream)))
