"""The sound of the reply that most answers get, made while the candidate speaks.

Script and place decide it, not the words: an acknowledgement and the next question, or the goodbye. To encode it
takes a twentieth of a second or more, for which the candidate would wait otherwise (0356).
"""

import logging
import threading

from app.conversation.protocol.sound import keep_coded
from app.conversation.script.machine import Event, Script, noticed, step
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
    thread = threading.Thread(target=_make, args=(built, script, place), kwargs={"form": form}, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the machine has no thread left
        _free.release()
        return None
    return thread


def _make(built: Gateways, script: Script, place: Place, *, form: Form) -> None:
    heard = noticed(place, 1.0)
    try:
        lines = polite(script, heard, Event.ANSWER, decided=step(script, heard, Event.ANSWER)).lines
        if PERSONAL.isdisjoint(line.kind for line in lines):
            speech = speak(script, lines, built.speaker)
            if speech.wav is not None:
                keep_coded(built, speech.wav, form)
    except (GatewayError, NotFound) as error:
        log.info("no reply was made ahead: %s", type(error).__name__)
    finally:
        _free.release()
