"""The sound of replies: one file, or pieces of which the later ones are made when they are asked for.

A piece is made without a transaction and recorded under the sitting's fence. Later requests get the stored piece from
any process. If the process dies meanwhile, nothing is recorded and the next request makes the piece again.
"""

import hashlib
import io
import logging
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flask import Response, send_file

from app import gateways
from app.conversation import reply_audio as pieces
from app.conversation.access import holder, linked_script, protocol
from app.conversation.models import Turn
from app.conversation.queries import turn_of
from app.conversation.script.machine import Kind, Script
from app.conversation.speaking import PERSONAL, say
from app.core.db import db, reading
from app.core.errors import GatewayError, NotFound
from app.gateways.speech.sound import wav
from app.gateways.storage import Storage, read
from app.interviews.recordings import queries as recording_queries
from app.interviews.recordings.models import LAST_CHUNK

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Owed:
    """A piece of a reply as plain values; ``key`` is None while its sound is to be made."""

    turn_id: str
    script: Script
    kind: Kind
    text: str
    key: str | None


@protocol.get("/turns/<int:number>/audio")
def reply_audio(number: int) -> Response:
    """The sound of a reply, or the first piece of it."""
    with reading():
        turn = _turn(number)
        key = turn.audio_key if turn else None
        db.session.rollback()
    if key is None:
        raise NotFound("This reply has no sound.")
    return _sent(key)


@protocol.get("/turns/<int:number>/audio/<int:piece>")
def reply_piece(number: int, piece: int) -> Response:
    """One piece of a reply's sound; answers as soon as it is there."""
    if piece == 0:
        return reply_audio(number)
    with reading():
        owed = _owed(number, piece)
        db.session.rollback()
    key = owed.key or _made(owed, number, piece)
    if key is None:
        raise NotFound("This piece of the reply is only shown.")
    return _sent(key)


def _turn(number: int) -> Turn | None:
    return turn_of(holder().sitting_id, number) if number <= LAST_CHUNK else None


def _owed(number: int, piece: int) -> _Owed:
    turn = _turn(number)
    owed = pieces.owed(turn.parts, piece) if turn else None
    if turn is None or owed is None:
        raise NotFound("This reply has no such piece.")
    part, stretch = owed
    return _Owed(turn.id, linked_script(), Kind(part["kind"]), stretch["text"], stretch["key"])


def _made(owed: _Owed, number: int, piece: int) -> str | None:
    """Make the sound, note it, and give the key under which it is served; None where no voice could speak it."""
    engines, key = gateways.current(), None
    try:
        spoken = say(owed.script, owed.kind, owed.text, speaker=engines.speaker)
        key = keep(engines.storage, wav(spoken.pcm, spoken.rate), name=f"{number}-{piece}", kinds=[owed.kind])
        outcome: dict[str, Any] = {"seconds": round(spoken.duration, 3), "words": spoken.words, "key": key}
    except GatewayError as error:
        log.warning("piece of a reply is shown, not spoken: %s", type(error).__name__)
        outcome = {"silent": True}
    noted = pieces.note(holder(), owed.turn_id, piece, **outcome)
    db.session.commit()
    if key is not None and noted != key and key.startswith(recording_queries.prefix_of(holder().interview_id)):
        engines.storage.delete(key)  # another process was faster
    return noted


def keep(storage: Storage, wav: bytes, *, name: str, kinds: Iterable[Kind]) -> str:
    """Store sound of lines of these kinds and return its key; what the script alone says is stored once for all."""
    if not PERSONAL.isdisjoint(kinds):  # may quote the candidate, so it goes with the interview
        key = f"{recording_queries.prefix_of(holder().interview_id)}/replies/{name}-{secrets.token_hex(4)}.wav"
    else:
        key = f"speech/replies/{hashlib.sha256(wav).hexdigest()}.wav"
        if _is_stored(storage, key, size=len(wav)):
            return key
    storage.put(key, wav)
    return key


def _is_stored(storage: Storage, key: str, *, size: int) -> bool:
    try:
        return storage.size(key) == size
    except NotFound:
        return False


def _sent(key: str) -> Response:
    content = read(gateways.current().storage, key)
    etag = hashlib.sha256(key.encode()).hexdigest()[:32]
    return send_file(io.BytesIO(content), mimetype="audio/wav", conditional=True, etag=etag)
