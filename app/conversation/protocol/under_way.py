"""Pieces of an answer that a page is still sending when it asks about them: they are waited for here.

On a slow connection that saves the page a wait of its own: it need not know that a piece has arrived before it posts
what depends on it.
"""

import time
from collections.abc import Callable
from threading import Event, Lock

from flask import request

LONGEST = 2.0
"""Seconds; a page whose pieces take longer gets the numbers of those that are missing, and waits for them itself."""
EVERY = 0.05
"""Seconds between two looks for pieces that come to another process. Those that come to this one end the wait."""
MOST_WAITING = 4
"""Requests of a process that wait at a time: a quarter of its threads, so that the pieces themselves get one."""

_waiting: dict[tuple[str | None, str], Event] = {}
_lock = Lock()


def wait_for(interview_id: str, are_there: Callable[[], bool], *, seconds: float = LONGEST) -> None:
    """Return when the pieces are there. Does not wait unless the page says (``X-Wait``) that they are on their way.

    Of the same interview, one request to an endpoint waits at a time: a page cannot occupy the server's threads.
    """
    key, come = (request.endpoint, interview_id), Event()
    with _lock:
        if "X-Wait" not in request.headers or key in _waiting or len(_waiting) >= MOST_WAITING:
            return
        _waiting[key] = come
    try:
        until = time.monotonic() + seconds
        while not are_there() and time.monotonic() < until:
            come.wait(EVERY)
            come.clear()
    finally:
        with _lock:
            del _waiting[key]


def has_come(interview_id: str) -> None:
    """A piece of this interview is there: requests that wait for it look again at once."""
    with _lock:
        for (_, waiting_for), come in _waiting.items():
            if waiting_for == interview_id:
                come.set()
