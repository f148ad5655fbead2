"""The sound of the reply that most answers get, made while the candidate speaks.

Script and place decide it, not the words: an acknowledgement and the next question, or the goodbye. To encode it
takes a twentieth of a second or more, for which the candidate would wait otherwise (0356).
"""

import logging
import threading
from collections.abc import Callable

from app.conversation.protocol.sound import keep_coded
from app.conversation.script.machine import Event, Script, WrongMoment, noticed, step
from app.conversation.script.manners import polite
from app.conversation.script.place import Phase, Place
from app.conversation.speaking import PERSONAL, speak
from app.core.errors import GatewayError, NotFound
from app.gateways import Gateways
from app.gateways.speech.coding import Form

log = logging.getLogger(__name__)

MOST = 2
"""Replies that a process makes ahead at a time. Another one is made when it is needed."""

_free = threading.BoundedSemaphore(MOST)


def begin(built: Gateways, script: Script, place: Place, *, form: Form | None) -> threading.Thread | None:
    """Make the sound for a page that wants it in ``form``; None where there is nothing to make, or no time for it."""
    if form is None or place.phase is not Phase.QUESTION or not _free.acquire(blocking=False):
        return None
    thread = threading.Thread(target=_released, args=(lambda: make(built, script, place, form=form),), daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the machine has no thread left
        _free.release()
        return None
    return thread


def _released(work: Callable[[], object]) -> None:
    try:
        work()
    except (GatewayError, NotFound, WrongMoment) as error:
        log.info("no reply was made ahead: %s", type(error).__name__)
    finally:
        _free.release()


def make(built: Gateways, script: Script, place: Place, *, form: Form) -> str | None:
    """Store the sound of the reply to an answer at this place, and give its key; None where none is shared."""
    heard = noticed(place, 1.0)
    lines = polite(script, heard, Event.ANSWER, decided=step(script, heard, Event.ANSWER)).lines
    if not PERSONAL.isdisjoint(line.kind for line in lines):
        return None
    speech = speak(script, lines, built.speaker)
    return None if speech.wav is None else keep_coded(built, speech.wav, form)
