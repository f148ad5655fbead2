"""The sound of the reply that most answers get, made and fetched while the candidate speaks.

Script and place decide it, not the words: an acknowledgement and the next question, or the goodbye. To encode it
takes a twentieth of a second or more, and to decode it about as long, for which the candidate would wait otherwise
(0356, 0360).
"""

import logging
import threading

from flask import Response, jsonify

from app import gateways
from app.conversation.access import holder, linked_script, protocol
from app.conversation.protocol.sound import form_along, keep_coded, sent_along
from app.conversation.queries import sitting_of
from app.conversation.script.machine import Event, Script, noticed, step
from app.conversation.script.manners import polite
from app.conversation.script.place import Phase, Place
from app.conversation.speaking import PERSONAL, speak
from app.core.db import db, reading
from app.core.errors import GatewayError, NotFound
from app.gateways import Gateways
from app.gateways.speech.coding import Form

log = logging.getLogger(__name__)

MOST = 2
"""Replies that a process makes ahead at a time. Another one is made when it is needed."""

_free = threading.BoundedSemaphore(MOST)


def begin(built: Gateways, script: Script, place: Place, *, form: Form | None) -> threading.Thread | None:
    """Make the sound for a page that wants it in ``form``; None where there is nothing to make, or no time for it."""
    if form is None or not _may_make(place):
        return None
    thread = threading.Thread(target=_make, args=(built, script, place), kwargs={"form": form}, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the machine has no thread left
        _free.release()
        return None
    return thread


@protocol.get("/turns/<int:number>/likely")
def likely_reply(number: int) -> Response:
    """The sound of the likely reply to this turn as ``sound`` and ``sound_name``; neither where there is none."""
    form = form_along()
    with reading():
        sitting, script = sitting_of(holder().interview_id), linked_script()
        place = Place.from_json(sitting.place) if sitting and number == sitting.next_turn else None
        db.session.rollback()
    if form is None or place is None or not _may_make(place):
        return jsonify({})
    return jsonify(sent_along(_make(gateways.current(), script, place, form=form)))


def _may_make(place: Place) -> bool:
    """Whether there is something to make; then ``_make`` has to follow."""
    return place.phase is Phase.QUESTION and _free.acquire(blocking=False)


def _make(built: Gateways, script: Script, place: Place, *, form: Form) -> str | None:
    heard = noticed(place, 1.0)
    try:
        lines = polite(script, heard, Event.ANSWER, decided=step(script, heard, Event.ANSWER)).lines
        if PERSONAL.isdisjoint(line.kind for line in lines):
            speech = speak(script, lines, built.speaker)
            if speech.wav is not None:
                return keep_coded(built, speech.wav, form)
    except (GatewayError, NotFound) as error:
        log.info("no reply was made ahead: %s", type(error).__name__)
    finally:
        _free.release()
    return None
