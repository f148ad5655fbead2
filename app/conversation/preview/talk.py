"""The talk of a preview: chunks, silences, turns and the agent's sound, all of it in memory."""

from typing import Any

from flask import Response, jsonify, request

from app import gateways
from app.conversation import reply_audio as pieces
from app.conversation import silences, thinking
from app.conversation.models import TurnKind
from app.conversation.preview.pages import current, pages, prompt
from app.conversation.preview.sittings import Forgetful, Preview
from app.conversation.protocol import schemas, under_way
from app.conversation.protocol.chunks import beginning, decoded
from app.conversation.protocol.sound import form_asked, in_form, sound_file
from app.conversation.script.machine import Kind, WrongMoment, so_far
from app.conversation.speaking import say
from app.conversation.turn import Answer, Engines, respond, utterance_key
from app.conversation.utterances import Played, heard_text, share_heard
from app.core.errors import Conflict, GatewayError, NotFound, Rejected
from app.gateways.speech.coding import Undecodable
from app.gateways.speech.sound import wav
from app.interviews.recordings.models import LARGEST_CHUNK


@pages.post("/<preview_id>/segments")
def open_segment() -> tuple[Response, int]:
    """A new run of the recorder, of which nothing is kept."""
    preview = current()
    schemas.body(schemas.SegmentSchema())
    preview.segments += 1
    built, script = gateways.current(), preview.script
    built.transcriber.prepare(script.language)
    built.speaker.prepare(voice_id=script.voice_id, language=script.language, steady=script.voice)
    is_heard_well = silences.is_heard_well(built.transcriber, script.language)
    return jsonify({"segment": preview.segments, "is_heard_well": is_heard_well}), 201


@pages.put("/<preview_id>/segments/<int:segment>/chunks/<int:number>")
def put_chunk(segment: int, number: int) -> Response:
    """Acknowledge a chunk: the mix is dropped, the voice goes to the recogniser."""
    request.max_content_length = LARGEST_CHUNK
    preview, content, answer = current(), request.stream.read(), {"received": number, "missing": [], "duplicate": False}
    if request.args.get("track") != "voice":
        return jsonify(answer)
    try:
        content = decoded(content)
    except Undecodable:
        raise Rejected(f"A voice chunk has exactly {schemas.CHUNK_SAMPLES} samples.", field="body") from None
    transcriber = gateways.current().transcriber
    key = utterance_key(preview.id, turn=preview.turn, segment=segment)
    if transcriber.supports(preview.script.language):
        transcriber.feed(key, number, content, language=preview.script.language)
    preview.hear(segment, number, content)  # last: a turn that waits for it finds it with the recogniser
    under_way.has_come(preview.id)
    text = transcriber.partial(key)
    return jsonify(answer | ({"partial": text} if text else {}))


@pages.post("/<preview_id>/turns/<int:number>/silence")
def judge_silence(number: int) -> Response:
    """What a silence means, from the words so far."""
    preview, body = current(), schemas.body(schemas.SilenceSchema())
    _open_turn(preview, number)
    language, transcriber = preview.script.language, gateways.current().transcriber
    segment, first, last = body["segment"], body["first_chunk"], body["last_chunk"]
    key = utterance_key(preview.id, turn=number, segment=segment)
    whole = last - bool(body["begun"])
    under_way.wait_for(
        preview.id, lambda: preview.heard(segment, first, whole) is not None, seconds=silences.WORTH_WAITING
    )
    if not body["interrupts"]:
        before = so_far(preview.place) if body["continues"] else ""
        judged = silences.pause(transcriber, key, last=last, language=language, begun=beginning(body), before=before)
        return jsonify(judged)
    called = silences.call(
        transcriber,
        key,
        chunks=last - first + 1,
        language=language,
        softly=body["softly"],
        pcm=lambda: preview.heard(segment, first, last),
    )
    return jsonify(called)


def _open_turn(preview: Preview, number: int) -> None:
    if number != preview.turn:
        details: dict[str, object] = {"reason": "wrong turn", "expected": preview.turn}
        raise Conflict("This turn is not the one that is open.", details=details)


@pages.post("/<preview_id>/turns/<int:number>")
def post_turn(number: int) -> Response:
    """The agent's reply, the same one when it is asked for again."""
    preview, body = current(), schemas.body(schemas.TurnSchema())
    if body["kind"] is TurnKind.ANSWER:
        chunks = body["segment"], body["first_chunk"], body["last_chunk"]
        under_way.wait_for(preview.id, lambda: preview.heard(*chunks) is not None)
    with preview.turning:
        if preview.last is not None and number == preview.last.number:
            return jsonify(prompt(preview))
        _open_turn(preview, number)
        preview.pause(paused=False)
        built = gateways.current()
        engines = Engines(built.transcriber, built.interviewer, Forgetful(built.speaker))
        try:
            reply = respond(preview.script, preview.place, _answer(preview, body), engines=engines)
        except WrongMoment as error:
            raise Conflict(str(error), details={"reason": "over"}) from None
        thinking.spent(preview.id)  # a preview is in no one's usage
        preview.answer(body["kind"], reply, body)
        return jsonify(prompt(preview))


def _answer(preview: Preview, body: dict[str, Any]) -> Answer:
    kind: TurnKind = body["kind"]
    is_spoken = kind is TurnKind.ANSWER
    is_awaited = is_spoken and preview.awaits(body)
    chunks = body["segment"], body["first_chunk"], body["last_chunk"]
    audio = preview.audio(*chunks, turn=preview.turn - is_awaited) if is_spoken else None
    played: Played | None = body["played"]
    cut = heard_text(preview.last, played) if preview.last is not None else ""
    return Answer(
        kind.value,
        audio=audio,
        text=(body["text"] or "").strip(),
        time_over=preview.time_is_over,
        continues=body["continues"],
        unfinished=body["unfinished"],
        again=body["again"],
        cut=cut,
        interrupts=played is not None and not played.whole and not body["continues"],
        awaited=is_awaited,
        known=preview.last.heard_text if preview.last is not None and is_awaited else None,
        heard=share_heard(preview.last, played),
    )


@pages.get("/<preview_id>/turns/<int:number>/audio")
@pages.get("/<preview_id>/turns/<int:number>/audio/<int:piece>")
def reply_audio(number: int, piece: int = 0) -> Response:
    """A reply's sound; a piece that was owed is made now."""
    preview = current()
    with preview.turning:
        if preview.last is None or number != preview.last.number:
            raise NotFound("This reply has no sound.")
        if piece not in preview.sounds:
            owed = pieces.owed(preview.last.parts, piece)
            if owed is None:
                raise NotFound("This reply has no such piece.")
            speaker = Forgetful(gateways.current().speaker)
            try:
                spoken = say(preview.script, Kind(owed[0]["kind"]), owed[1]["text"], speaker=speaker)
            except GatewayError:
                raise NotFound("This piece of the reply is only shown.") from None
            preview.sounds[piece] = wav(spoken.pcm, spoken.rate)
        form = form_asked()
        coded = in_form(gateways.current(), preview.sounds[piece], form) if form is not None else None
        if coded is None:
            form, coded = None, preview.sounds[piece]
        return sound_file(coded, form, name=f"{preview.id} {number} {piece}")
