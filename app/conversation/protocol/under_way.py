"""Pieces of an answer that a page is still sending when it asks about them: they are waited for here.

On a slow connection that saves the page a wait of its own: it need not know that a piece has arrived before it posts
what depends on it.
"""

import threading
import time
from collections.abc import Callable

from flask import request

LONGEST = 2.0
"""Seconds; a page whose pieces take longer gets the numbers of those that are missing, and waits for them itself."""
EVERY = 0.05
MOST_WAITING = 4
"""Requests of a process that wait at a time: a quarter of its threads, so that the pieces themselves get one."""

_waiting: set[tuple[str | None, str]] = set()
_lock = threading.Lock()


def wait_for(interview_id: str, are_there: Callable[[], bool], *, seconds: float = LONGEST) -> None:
    """Return when the pieces are there. Does not wait unless the page says (``X-Wait``) that they are on their way.

    Of the same interview, one request to an endpoint waits at a time: a page cannot occupy the server's threads.
    """
    key = request.endpoint, interview_id
    with _lock:
        if "X-Wait" not in request.headers or key in _waiting or len(_waiting) >= MOST_WAITING:
            return
        _waiting.add(key)
    try:
        until = time.monotonic() + seconds
        while not are_there() and time.monotonic() < until:
            time.sleep(EVERY)
    finally:
        with _lock:
            _waiting.discard(key)
