"""Somebody who takes an interview in Chromium, and whose tab can be killed."""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import mouth
from .conftest import FLAGS, HEADLESS
from .rehearsal import LONGEST, Platform

PROGRESS = "document.querySelector('[data-text=progress]').textContent"
WAITING = """new Promise((resolve, reject) => {
    const opened = indexedDB.open("parley-outbox");
    opened.onerror = () => reject(opened.error);
    opened.onsuccess = () => {
        const all = opened.result.transaction("chunks").objectStore("chunks").getAll();
        all.onsuccess = () => resolve(all.result.map((one) => [one.segment, one.track, one.number]));
    };
})"""
ANSWERS = {
    "1": "I like to help people every day and to learn new things.",
    "2": "I want to see how a good team plans its work for the week.",
}


class Candidate:
    """Somebody with one browser, who answers each question once the page listens."""

    def __init__(
        self,
        playwright: Any,
        platform: Platform,
        *,
        booked: tuple[str, str] | None = None,
        answers: Mapping[str, str] = ANSWERS,
        script: str | None = None,
        executable: str | None = HEADLESS,
        **flow: Any,
    ) -> None:
        self.platform = platform
        self.interview_id, self.link = booked or platform.book(**flow)
        self._profile = tempfile.TemporaryDirectory()
        self.stored: list[tuple[int, str, int]] = []
        """Run, track and number of what waited in the browser's database when its tab was killed."""
        self.context = playwright.chromium.launch_persistent_context(
            self._profile.name,
            executable_path=executable,
            args=FLAGS,
            viewport={"width": 1280, "height": 900},
            reduced_motion="reduce",
        )
        self.context.add_init_script(script or mouth.script(answers))
        self.page = self.context.pages[0]

    def close(self) -> None:
        with suppress(Exception):
            self.context.close()
        self._profile.cleanup()

    def begin(self) -> None:
        self.page.goto(self.link)
        self.page.check("#consent")
        self.page.click("[data-do=next]")
        self.page.click("[data-do=check]")
        self.reach("!document.querySelector('[data-do=start]').disabled && !mouth.speaks", "the microphone check")
        self.page.click("[data-do=start]")

    def reach(self, expression: str, what: str) -> None:
        deadline = time.monotonic() + LONGEST
        while not self.page.evaluate(expression):
            assert time.monotonic() < deadline, f"{what}: {self.page.inner_text('body')[:600]}"
            self.page.wait_for_timeout(50)

    @property
    def remembered(self) -> list[dict[str, Any]]:
        return mouth.remembered(self.page)

    def told(self) -> None:
        """The page says that the connection is lost and that nothing else is."""
        shown = "document.querySelector('[data-part=connection]').textContent"
        self.reach(f"/Reconnecting: nothing is lost/.test({shown})", "the notice about the connection")

    def waiting(self) -> list[tuple[int, str, int]]:
        """Run, track and number of each chunk that waits in IndexedDB for the server."""
        return [tuple(one) for one in self.page.evaluate(WAITING)]

    def phase(self, *names: str) -> None:
        self.reach(
            f"{list(names)}.includes(document.querySelector('[data-part=talk]').dataset.phase)", " or ".join(names)
        )

    @property
    def progress(self) -> str:
        return str(self.page.evaluate(PROGRESS))

    def question(self, number: int) -> None:
        self.reach(f"{PROGRESS}.includes('Question {number} of 2')", f"question {number}")

    def thanked(self, seconds: float = LONGEST) -> None:
        self.page.locator("h1", has_text="Thank you").wait_for(timeout=seconds * 1000)

    def kill_tab(self) -> None:
        """SIGKILL to the process that shows the page; the browser itself lives on, as when a phone needs memory."""
        crashed = threading.Event()
        self.page.on("crash", lambda _: crashed.set())
        killed = self.renderers()
        for pid in killed:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + LONGEST
        while not crashed.is_set() or any(map(_command, killed)):
            assert time.monotonic() < deadline, "the tab did not die"
            with suppress(Exception):
                self.page.wait_for_timeout(50)
        # A new page takes a process that stands by; should the browser not know yet that it is dead, it waits for ever.
        time.sleep(0.5)
        old, self.page = self.page, self.context.new_page()
        with suppress(Exception):
            old.close()

    def renderers(self) -> list[int]:
        """The page's process, and those that stand by for pages to come."""
        browser = next(pid for pid in _descendants(os.getpid()) if self._profile.name in _command(pid))
        found = [pid for pid in _descendants(browser) if "--type=renderer" in _command(pid)]
        assert found, "no page process"
        return found

    def resume(self) -> None:
        self.page.goto(self.link)
        self.page.click("[data-do=resume]")
        self.phase("speaking", "listening", "answering", "thinking")

    def once(self, pattern: str, method: str, act: Callable[[Any], None]) -> threading.Event:
        """Call ``act(route)`` at the next request of this kind; everything else passes."""
        done = threading.Event()

        def handle(route: Any) -> None:
            if done.is_set() or route.request.method != method:
                route.continue_()
                return
            done.set()
            act(route)

        self.page.route(pattern, handle)
        return done

    def after(self, done: threading.Event, what: str) -> None:
        deadline = time.monotonic() + LONGEST
        while not done.is_set():
            assert time.monotonic() < deadline, f"{what} never happened: {self.page.inner_text('body')[:400]}"
            self.page.wait_for_timeout(50)


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(word) for word in task.read_text().split()]
    return found + [deeper for child in found for deeper in _descendants(child)]
