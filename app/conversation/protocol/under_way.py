"""Pieces of an answer that a page is still sending when it asks about them: they are waited for here.

On a slow connection that saves the page a wait of its own: it need not know that a piece has arrived before it posts
what depends on it.
"""

import time
from collections.abc import Callable

from flask import request

LONGEST = 2.0
"""Seconds; a page whose pieces take longer gets the numbers of those that are missing, and waits for them itself."""
EVERY = 0.02


def wait_for(are_there: Callable[[], bool]) -> None:
    """Return when the pieces are there. Does not wait unless the page says (``X-Wait``) that they are on their way."""
    if "X-Wait" not in request.headers:
        return
    until = time.monotonic() + LONGEST
    while not are_there() and time.monotonic() < until:
        time.sleep(EVERY)
