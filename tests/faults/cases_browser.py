"""A candidate in a real browser that loses the network and then its own life."""

import hashlib
import os
import signal
import time
from contextlib import suppress
from typing import Any

from tests.browser import loss, mouth
from tests.browser.candidate import ANSWERS, Candidate, _command, _descendants
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.rehearsal import Platform, platform_in
from tests.faults.case import Lab, NotRun, Verdict, case, eventually

CHUNK_SECONDS = 1.0
"""What the page puts into a chunk of the recording."""
MOST_LOST = 5.0


@case("F42", "offline in mid-interview; browser killed and opened again", invariants="I6")
def offline_and_killed(lab: Lab) -> Verdict:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise NotRun("playwright is not installed") from None
    if CHROMIUM is None:
        raise NotRun("Chromium is not installed")
    home = lab.directory / "rehearsal"
    home.mkdir()
    with sync_playwright() as playwright, platform_in(home) as platform:
        one = Candidate(playwright, platform, executable=CHROMIUM)
        try:
            return _break(lab, playwright, one)
        finally:
            one.close()


def _break(lab: Lab, playwright: Any, one: Candidate) -> Verdict:
    verdict, seconds = Verdict(), lab.amount(smoke=15, full=60)
    one.begin()
    one.phase("answering", "listening")
    one.context.set_offline(True)
    began, most = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        one.page.wait_for_timeout(250)
        most = max(most, len(one.waiting()))
    waited = one.waiting()
    one.context.set_offline(False)
    emptied = _until(one, lambda: not set(waited) & set(one.waiting()), seconds=30)
    one.question(2)
    one.phase("answering")
    recorded = "select max(number) from recorder_run where interview_id = :i"
    run = one.platform.rows(recorded, i=one.interview_id)[0][0]
    length = _seconds_of(one, run) + _waiting_seconds(one, run)
    one.stored = one.waiting()
    killed = _kill_browser(one)
    again = playwright.chromium.launch_persistent_context(
        one._profile.name,
        executable_path=CHROMIUM,
        args=FLAGS,
        viewport={"width": 1280, "height": 900},
        reduced_motion="reduce",
    )
    again.add_init_script(mouth.script(ANSWERS))
    one.context, one.page = again, again.pages[0]
    one.resume()
    one.thanked()
    lost = length - _seconds_of(one, run)
    left = loss.survived(one)
    wrong = _not_as_hashed(one.platform, one.interview_id)
    verdict.fired = f"{most} chunks waited in {seconds} s offline; SIGKILL to {killed}" if most and killed else ""
    verdict.figure = f"{left.chunks} chunks in {left.runs} runs, {left.seconds:.0f} s play; the kill cost {lost:.1f} s"
    verdict.holds(emptied, "I6 what waited in the browser did not arrive within 30 s of the network's return")
    verdict.holds(not left.problems, f"I6 {left.problems[:3]}")
    verdict.holds(not wrong, f"I6 kept otherwise than hashed: {wrong[:3]}")
    verdict.holds(lost <= MOST_LOST, f"I6 the kill cost {lost:.1f} s of sound")
    return verdict


def _until(one: Candidate, holds: Any, *, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        one.page.wait_for_timeout(100)
    return True


def _seconds_of(one: Candidate, run: int) -> float:
    chunks = "select count(*) from chunk where interview_id = :i and segment = :s and track = 'mix'"
    return one.platform.rows(chunks, i=one.interview_id, s=run)[0][0] * CHUNK_SECONDS


def _waiting_seconds(one: Candidate, run: int) -> float:
    return len([chunk for chunk in one.waiting() if chunk[:2] == (run, "mix")]) * CHUNK_SECONDS


def _kill_browser(one: Candidate) -> int | None:
    """SIGKILL to the browser itself, whose pages die with it."""
    profile = one._profile.name
    family = [pid for pid in _descendants(os.getpid()) if profile in _command(pid) and "--type=" not in _command(pid)]
    for pid in family:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    with suppress(Exception):
        one.context.close()
    gone = eventually(lambda: not any(profile in _command(pid) for pid in _descendants(os.getpid())), seconds=20)
    for name in ("SingletonLock", "SingletonCookie", "SingletonSocket"):
        with suppress(OSError):
            os.unlink(f"{profile}/{name}")  # noqa: PTH108 - a dead browser's mark on its profile
    return family[0] if family and gone else None


def _not_as_hashed(platform: Platform, interview: str) -> list[str]:
    rows = platform.rows("select sha256, storage_key from chunk where interview_id = :i", i=interview)
    files = platform.folder / "data" / "files"
    return [key for sha256, key in rows if hashlib.sha256((files / key).read_bytes()).hexdigest() != sha256]
