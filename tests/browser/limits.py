"""A browser that stops answering fails its test with a sentence and is ended, instead of taking the test process along.

Some calls have no time limit of their own: Playwright's ``evaluate``, ``new_page`` and ``close``, and the pipe to a
WebKit window. Firefox allows itself five minutes for a page. ``faulthandler_timeout`` ends the whole process after
that. Killing the browser closes its pipe, and so whatever waits for it fails at once.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.faults.processes import descendants

BROWSERS = ("chromium", "chrome", "firefox", "webkit_window.py", "WebKitWebProcess", "WebKitNetworkProcess")


class Unanswered(Exception):
    """A browser did not answer in time and was ended."""


@contextmanager
def within(seconds: float, sentence: str) -> Iterator[None]:
    """End this process's browsers if the block takes longer than ``seconds``. Raises Unanswered then."""
    over = threading.Event()

    def end() -> None:
        over.set()
        end_browsers()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception as error:
        if over.is_set():
            raise Unanswered(sentence) from error
        raise
    finally:
        timer.cancel()


def end_browsers() -> list[int]:
    """Kill every browser that this process has started, by its id; returns the ids."""
    ended = [pid for pid in descendants(os.getpid()) if _is_browser(pid)]
    for pid in ended:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return ended


def _is_browser(pid: int) -> bool:
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:2]
        return any(Path(word.decode(errors="replace").split(" ")[0]).name.startswith(BROWSERS) for word in words)
    return False
