"""How long a turn waits for the words of an answer: a moment, then the agent asks for one, then a little more.

The recogniser works in its own thread and goes on where a turn has stopped waiting, so that the next request to
this process finds its words. Another process starts again.
"""

import enum
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError

from app.gateways.speech.ports import Heard

SOON = 0.5
"""Seconds within which a recogniser that keeps up delivers the words. Too short to notice."""
WAITS = 2.0
"""Seconds until the agent says that it needs a moment."""
WAITS_MORE = 6.0
"""Seconds after that; what is not recognised then is recognised in the processing."""
ENOUGH_SPEECH = 6.0
"""Seconds of detected speech that are an answer of more than eight words, and no words to the agent."""
FORGOTTEN_AFTER = 120.0

_running: dict[str, tuple[Future[Heard], float]] = {}
_lock = threading.Lock()


class Late(enum.Enum):
    """The words are not there yet."""

    LATE = enum.auto()


def begin(key: str, recognise: Callable[[], Heard]) -> None:
    """Have the answer ``key`` recognised, unless that is under way."""
    now = time.monotonic()
    with _lock:
        for old in [name for name, (_, since) in _running.items() if now - since > FORGOTTEN_AFTER]:
            del _running[old]
        if key in _running:
            return
        words: Future[Heard] = Future()
        _running[key] = words, now
    threading.Thread(target=_work, args=(words, recognise), name="recognises", daemon=True).start()


def _work(words: Future[Heard], recognise: Callable[[], Heard]) -> None:
    try:
        words.set_result(recognise())
    except BaseException as error:  # noqa: BLE001 - it is the waiting turn's
        words.set_exception(error)


def words(key: str, *, seconds: float) -> Heard | Late:
    """The words of the answer, if they come within ``seconds``. Raises what the recogniser raised."""
    with _lock:
        waited = _running[key][0]
    try:
        heard = waited.result(seconds)
    except FutureTimeoutError:
        if not waited.done():
            return Late.LATE
        raise
    finally:
        if waited.done():
            with _lock:
                _running.pop(key, None)
    return heard
