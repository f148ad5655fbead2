"""The sound of replies: one file, or pieces of which the later ones are made when they are asked for.

It is stored as WAV. A page that says with ``as=opus`` or ``as=aac`` that it decodes this gets a tenth of the bytes: the
file is encoded when it is first asked for in this form, and stored beside the other (0288).

A piece is made without a transaction and recorded under the sitting's fence. Later requests get the stored piece from
any process. If the process dies meanwhile, nothing is recorded and the next request makes the piece again.
"""

import base64
import hashlib
import io
import logging
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flask import Response, request, send_file

from app import gateways
from app.conversation import reply_audio as pieces
from app.conversation.access import holder, linked_script, protocol
from app.conversation.models import Turn
from app.conversation.queries import turn_of
from app.conversation.script.machine import Kind, Script
from app.conversation.speaking import PERSONAL, say
from app.core.db import db, reading, set_reading
from app.core.errors import GatewayError, NotFound
from app.gateways import Gateways
from app.gateways.speech.coding import CONTENT_TYPES, ENDINGS, Form
from app.gateways.speech.sound import read_wav, wav
from app.gateways.storage import Storage, read
from app.interviews.recordings import queries as recording_queries
from app.interviews.recordings.models import LAST_CHUNK

log = logging.getLogger(__name__)

LARGEST_ALONG = 600_000
"""Bytes of a WAV file that comes with the reply, in a codec: some 13 s. The words do not wait for a longer one."""


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
    db.session.rollback()
    set_reading(False)  # a GET begins as a reader, whose first write SQLite refuses once anyone else has written
    noted = pieces.note(holder(), owed.turn_id, piece, **outcome)
    db.session.commit()
    if key is not None and noted != key and key.startswith(recording_queries.prefix_of(holder().interview_id)):
        engines.storage.delete(key)  # another process was faster
    return noted


def keep(storage: Storage, wav: bytes, *, name: str, kinds: Iterable[Kind]) -> str:
    """Store sound of lines of these kinds and return its key; what the script alone says is stored once for all."""
    if not PERSONAL.isdisjoint(kinds):  # may quote the candidate, so it goes with the interview
        key = f"{recording_queries.prefix_of(holder().interview_id)}/replies/{name}-{secrets.token_hex(4)}.wav"
        storage.put(key, wav)
        return key
    return _shared(storage, wav)


def _shared(storage: Storage, wav: bytes) -> str:
    key = f"speech/replies/{hashlib.sha256(wav).hexdigest()}.wav"
    if not _is_stored(storage, key, size=len(wav)):
        storage.put(key, wav)
    return key


def keep_coded(built: Gateways, wav: bytes, form: Form) -> str | None:
    """Store what the script alone says, in the codec too, and return its key; None where it is long.

    Raises GatewayError, NotFound.
    """
    if len(wav) > LARGEST_ALONG:
        return None
    key = _shared(built.storage, wav)
    _coded(built, key, form)
    return key


def _is_stored(storage: Storage, key: str, *, size: int) -> bool:
    try:
        return storage.size(key) == size
    except NotFound:
        return False


def _sent(key: str) -> Response:
    form = form_asked()
    content = _coded(gateways.current(), key, form) if form is not None else None
    if form is None or content is None:
        form, content = None, read(gateways.current().storage, key)
    return sound_file(content, form, name=key)


def sent_along(key: str | None) -> dict[str, str]:
    """``sound``: the sound of a reply in base64, where the page asks for that (``X-Sound: opus``) and it is small.

    A page without it asks for the sound as soon as it has the reply. ``sound_name`` tells two sounds apart: a page that
    names the one that it has got ahead (``X-Sound-Ahead``) does not get the same one again.
    """
    form = form_along()
    if key is None or form is None:
        return {}
    built = gateways.current()
    try:
        content = _coded(built, key, form) if built.storage.size(key) <= LARGEST_ALONG else None
    except (GatewayError, NotFound) as error:
        log.warning("reply is sent without its sound: %s", type(error).__name__)
        return {}
    if content is None:
        return {}
    name = _name(key, form)
    is_there = request.headers.get("X-Sound-Ahead") == name
    return {"sound_name": name, **({} if is_there else {"sound": base64.b64encode(content).decode()})}


def form_along() -> Form | None:
    """The codec in which this page wants the sound of a reply with the reply itself; None: it asks for it later."""
    return _form(request.headers.get("X-Sound"))


def form_asked() -> Form | None:
    """The codec in which this page wants the sound; None for WAV, which every page takes."""
    return _form(request.args.get("as"))


def _form(asked: str | None) -> Form | None:
    return next((form for form in CONTENT_TYPES if form == asked), None)


def in_form(built: Gateways, content: bytes, form: Form) -> bytes | None:
    """The WAV file in this codec; None where it cannot be encoded, which no page has to know. Slow."""
    try:
        return built.codec.encode(*read_wav(content), form)
    except GatewayError as error:
        log.warning("reply is sent as WAV: %s", type(error).__name__)
        return None


def _coded(built: Gateways, key: str, form: Form) -> bytes | None:
    storage, coded_key = built.storage, f"{key.removesuffix('.wav')}.{ENDINGS[form]}"
    try:
        return read(storage, coded_key)
    except NotFound:
        coded = in_form(built, read(storage, key), form)
    if coded is not None:
        storage.put(coded_key, coded)
    return coded


def sound_file(content: bytes, form: Form | None, *, name: str) -> Response:
    """The response with this sound. ``name`` and ``form`` decide on the bytes."""
    mimetype = CONTENT_TYPES[form] if form is not None else "audio/wav"
    return send_file(io.BytesIO(content), mimetype=mimetype, conditional=True, etag=_name(name, form))


def _name(key: str, form: Form | None) -> str:
    return hashlib.sha256(f"{key} {form}".encode()).hexdigest()[:32]
