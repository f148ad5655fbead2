"""Talks on thin lines: replies, bytes, words and what is lost, in Chromium with the browser's throttle.

    .venv/bin/python bench/line.py [--only 128] [--seed 7] [--quick] [--beside]

Each talk has three answers of about 16 s, spoken through ``tests/browser/mouth.js``. Rows: a free line; 512, 256, 128
and 64 kbit/s up with 100, 200, 300 and 300 ms (four times that down); a line that breaks for 0.5 to 5 s and delays by
the seed; 256 kbit/s with the test camera; and a free line in a browser without an encoder (own), and with the codec
switched off (samples). All requests pass a counter, so bytes include headers. "Up" are bytes while the candidate
speaks, "down" bytes from the end of an answer to the end of the agent's words after it, by the seconds that those words
last. Page is the processor time of the page's process, with its workers, from Start to the agent's last words, and in
brackets that of its main thread (TaskDuration), in per cent of a core. Word errors compare the published words with
what was said. Lost are seconds of the recorder's chunks, and of the answers' own sound, that never arrived. A talk that
takes longer than five minutes is given up. Where a machine is busy with other work, --beside puts a talk on a free line
before each one on a thin line, and prints how much later its replies were. About twenty minutes on two cores;
docs/figures/line.md has the latest table.
"""

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench._line import Line
from bench._line_words import compare
from tests.browser.candidate import Candidate
from tests.browser.conftest import CHROMIUM
from tests.browser.rehearsal import Platform, platform_in

LONGEST = 300.0
PROCESSED = 120.0
QUESTIONS = ["Please tell me about your last job.", "What was hard in it?", "What do you want to learn here?"]
ANSWERS = {
    "1": "I have worked in a small team for three years and I like to help people every day. Last summer our system "
    "was very slow in the morning and I was the one who found the reason for it and told the others about it. We were "
    "eight people and we met every morning at nine to plan the work of the day.",
    "2": "The hardest part was to explain the delay to our customer and to find a new date with all the people who had "
    "to be there on that day. I called each of them and wrote down what they needed. In the end we were only four "
    "days late and the customer was happy with the work that we had done.",
    "3": "I would like to see how a good team plans its work for the week and how it finds out what is important. I "
    "also want to learn more about computers and about the way in which you talk with your customers. I can start in "
    "the first week of March or two weeks earlier if you need me.",
}


@dataclass(frozen=True)
class Case:
    """One row: kilobits a second up (None: free), milliseconds of latency, whether the line breaks, the camera, form."""

    name: str
    kilobits: int | None = None
    latency: int = 0
    breaks: bool = False
    video: bool = False
    form: str = "opus"


FORMS = {
    "own": ("opus-worker.js", "let isNative = false;", "let isNative = false;\ndelete globalThis.AudioEncoder;"),
    "samples": ("coder.js", "async code(pcm) {", "async code(pcm) { return plain(pcm);"),
}
"""Of which module what is changed to what."""
CASES = (
    Case("free"),
    Case("512, 100 ms", 512, 100),
    Case("256, 200 ms", 256, 200),
    Case("128, 300 ms", 128, 300),
    Case("64, 300 ms", 64, 300),
    Case("breaks", breaks=True),
    Case("video 256, 200 ms", 256, 200, video=True),
    Case("no encoder", form="own"),
    Case("samples", form="samples"),
)


@dataclass
class Talked:
    """What was measured of one talk."""

    page: float = 0.0
    started: float = 0.0
    first: float | None = None
    replies: list[float] = field(default_factory=list)
    up: list[float] = field(default_factory=list)
    down: list[float] = field(default_factory=list)
    """Kilobits a second, one figure for each answer and each reply to it."""
    up_total: float = 0.0
    down_total: float = 0.0
    """Kilobytes of the whole talk, from Start on."""
    words: int = 0
    errors: float | None = None
    lost: float = 0.0
    ended: float | None = None
    """Seconds from the agent's last word to the thank-you."""
    page_core: float | None = None
    main_core: float | None = None
    """Processor time of the page's process and of its main thread, in per cent of a core."""
    problem: str = ""


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument(
        "--only", default="", help="parts of the names of rows, or of recognisers and forms, separated by commas"
    )
    asked.add_argument("--seed", type=int, default=7)
    asked.add_argument("--quick", action="store_true", help="the free line and 128 kbit/s")
    asked.add_argument("--beside", action="store_true", help="a free line before each thin one")
    asked.add_argument(
        "--words", type=int, default=0, help="only compare the word errors of the forms, of this many answers"
    )
    asked.add_argument("--rooms", type=int, default=1, help="how often each of them, each time with other noise")
    given = asked.parse_args()
    if CHROMIUM is None:
        print("Chromium is missing: apt-get install chromium")
        return 1
    if given.words:
        models = os.environ.get("MODELS_DIR")
        only = [part for part in given.only.split(",") if part]
        compare(Path(models) if models else None, given.words, given.rooms, only, distance=distance, plain=plain)
        return 0
    wanted = ["free", "128"] if given.quick else given.only.split(",")
    cases = [case for case in CASES if any(part in case.name for part in wanted)]
    print(f"{len(cases)} talks, seed {given.seed}, load {os.getloadavg()[0]:.1f}", flush=True)
    print(
        "| kbit/s up | page s | first question s | replies s | up kbit/s | down kbit/s | kB up, down | words | errors % | lost s | handed in s | page core % |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder, platform_in(Path(folder), with_model=False) as platform:
        talks = [talk for case in cases for talk in _row(platform, case, given)]
    return 0 if all(not talk.problem for talk in talks) else 1


def _row(platform: Platform, case: Case, given: argparse.Namespace) -> list[Talked]:
    if not (given.beside and case.kilobits):
        return [talked(platform, case, seed=given.seed)]
    free, thin = (talked(platform, one, seed=given.seed) for one in (Case("free"), case))
    if free.replies and thin.replies:
        later = statistics.mean(thin.replies) - statistics.mean(free.replies)
        print(f"{case.name}: replies {later:+.2f} s against the free line just before", flush=True)
    return [free, thin]


def talked(platform: Platform, case: Case, *, seed: int) -> Talked:
    from playwright.sync_api import sync_playwright

    line = Line(platform.port, seed=seed if case.breaks else None)
    talk = Talked()
    with warnings.catch_warnings(), sync_playwright() as playwright:
        warnings.simplefilter("ignore")
        one = Candidate(
            playwright,
            platform,
            answers=ANSWERS,
            executable=CHROMIUM,
            questions=QUESTIONS,
            is_video_enabled=case.video,
            intro="Hello.",
        )
        one.link = one.link.replace(f":{platform.port}/", f":{line.port}/")
        try:
            _throttle(one, case)
            _codes(one, case)
            _talk(one, line, talk)
        except Exception as error:  # a table with a hole says more than a stack  # noqa: BLE001
            talk.problem = f"{type(error).__name__}: {str(error)[:200]}".replace("\n", " ")
        finally:
            with suppress(Exception):
                _measure(one, line, talk)
            one.close()
            line.close()
    if not talk.problem:
        _result(platform, one.interview_id, talk)
    show(case, talk, line)
    return talk


def _throttle(one: Candidate, case: Case) -> None:
    if case.kilobits is None:
        return
    session = one.context.new_cdp_session(one.page)
    session.send("Network.enable")
    session.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": case.latency,
            "uploadThroughput": case.kilobits * 125,
            "downloadThroughput": case.kilobits * 4 * 125,
        },
    )


def _codes(one: Candidate, case: Case) -> None:
    """The page codes pieces in the case's form."""
    if case.form not in FORMS:
        return
    name, old, new = FORMS[case.form]
    text = (ROOT / "static/js/voice" / name).read_text(encoding="utf-8")
    assert old in text
    changed = text.replace(old, new)
    one.context.route(f"**/voice/{name}", lambda route: route.fulfill(body=changed, content_type="text/javascript"))


def _processor(one: Candidate, session: Any) -> tuple[float, float]:
    """Seconds of a core that the page's process has used so far, and its main thread."""
    ticks = 0
    for pid in one.renderers():
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    metrics = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    return ticks / os.sysconf("SC_CLK_TCK"), metrics["TaskDuration"]


def _talk(one: Candidate, line: Line, talk: Talked) -> None:
    one.page.set_default_timeout(120_000)
    began = time.time()
    one.page.goto(one.link)
    talk.page = time.time() - began
    one.page.check("#consent")
    one.page.click("[data-do=next]")
    one.page.click("[data-do=check]")
    one.reach("!document.querySelector('[data-do=start]').disabled && !mouth.speaks", "the microphone check")
    network = "document.querySelector('[data-check=network]').dataset.state"
    one.reach(f"{network} && {network} !== 'busy'", "the check of the network")
    session = one.context.new_cdp_session(one.page)
    session.send("Performance.enable")
    before = _processor(one, session)
    talk.started = time.time()
    one.page.click("[data-do=start]")
    last = "/Thank you, that was all/.test(document.querySelector('[data-text=question]')?.textContent)"
    over = "/Thank you/.test(document.querySelector('h1')?.textContent)"
    deadline = time.time() + LONGEST
    closing = None
    while time.time() < deadline:
        with suppress(Exception):  # the page may just be changing to the thank-you
            if closing is None and one.page.evaluate(last):
                closing = time.time()
                shares = [later - early for early, later in zip(before, _processor(one, session), strict=True)]
                talk.page_core, talk.main_core = (100 * share / (closing - talk.started) for share in shares)
            if one.page.evaluate(over):
                break
        one.page.wait_for_timeout(100)
    else:
        talk.problem = "given up"
    talk.ended = time.time() - closing if closing and not talk.problem else None


def _measure(one: Candidate, line: Line, talk: Talked) -> None:
    events = one.remembered
    for event in events:
        event["epoch"] = (event["page"] + event["at"]) / 1000
        if event["kind"] == "agent":
            event["epoch"] = (event["page"] + event["sounds"]) / 1000
    agent = [event for event in events if event["kind"] == "agent" and event["epoch"] > talk.started]
    talk.first = agent[0]["epoch"] - talk.started if agent else None
    up, down = line.bytes_between(talk.started, time.time())
    talk.up_total, talk.down_total = up / 1000, down / 1000
    for at, said in enumerate(events):
        if said["kind"] != "said" or said["name"] == "hello":
            continue
        ends = (said["page"] + said["ends"]) / 1000
        talk.up.append(line.bytes_between(said["epoch"], ends)[0] * 8 / 1000 / (ends - said["epoch"]))
        after = []
        for event in events[at + 1 :]:
            if event["kind"] == "said":
                break
            after += [event] if event["kind"] == "agent" else []
        if after:
            talk.replies.append(after[0]["epoch"] - ends)
            seconds = sum(event["seconds"] for event in after)
            over = after[-1]["epoch"] + after[-1]["seconds"]
            talk.down.append(line.bytes_between(ends, over)[1] * 8 / 1000 / seconds)


def _result(platform: Platform, interview: str, talk: Talked) -> None:
    deadline = time.time() + PROCESSED
    lines: list[dict[str, Any]] = []
    while time.time() < deadline and not lines:
        listed = platform.api("GET", "/interviews", params={"transcript": "full", "limit": 100})["interviews"]
        this = next(each for each in listed if each["interview_id"] == interview)
        lines = (this["interview_data"] or {}).get("transcript_with_timestamp") or []
        time.sleep(0.5)
    heard = [word for line in lines if line["role"] == "user" for word in plain(line["content"])]
    truth = [word for text in ANSWERS.values() for word in plain(text)]
    talk.words, talk.errors = len(heard), 100 * distance(truth, heard) / len(truth)
    talk.lost = lost_seconds(platform, interview)


def lost_seconds(platform: Platform, interview: str) -> float:
    """Seconds of the recording, and of the answers' own sound, that the server never got."""
    chunks = platform.rows("select segment, track, number from chunk where interview_id = :i", i=interview)
    there = {tuple(row) for row in chunks}
    runs = platform.rows("select number, last_mix_chunk from recorder_run where interview_id = :i", i=interview)
    lost = sum((run, "mix", number) not in there for run, last in runs for number in range((last or 0) + 1))
    answers = platform.rows(
        "select segment, first_chunk, last_chunk from turn where kind = 'answer' and sitting_id = "
        "(select id from sitting where interview_id = :i)",
        i=interview,
    )
    voice = sum(
        (run, "voice", number) not in there for run, first, last in answers for number in range(first, last + 1)
    )
    return lost + 0.5 * voice


def plain(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def distance(truth: list[str], heard: list[str]) -> int:
    """Words to change, add or leave out."""
    row = list(range(len(heard) + 1))
    for number, word in enumerate(truth, 1):
        before, row[0] = row[:], number
        for place, other in enumerate(heard, 1):
            row[place] = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (word != other))
    return row[-1]


def show(case: Case, talk: Talked, line: Line) -> None:
    def mean(figures: list[float]) -> str:
        return f"{statistics.mean(figures):.0f}" if figures else "–"

    first = "–" if talk.first is None else f"{talk.first:.1f}"
    errors = "–" if talk.errors is None else f"{talk.errors:.1f}"
    name = case.name + (f" ({line.breaks} times)" if case.breaks else "")
    ended = "–" if talk.ended is None else f"{talk.ended:.1f}"
    core = "–" if talk.page_core is None else f"{talk.page_core:.1f} ({talk.main_core:.1f})"
    print(
        f"| {name} | {talk.page:.1f} | {first} | {' '.join(f'{one:.2f}' for one in talk.replies) or '–'} | "
        f"{mean(talk.up)} | {mean(talk.down)} | {talk.up_total:.0f}, {talk.down_total:.0f} | {talk.words} | {errors} | "
        f"{talk.lost:.1f} | {ended} | {core} |{' ' + talk.problem if talk.problem else ''}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
