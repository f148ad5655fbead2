"""Previews in the memory of this process, limited in number, size and time.

Rows are created as for a real interview but never added to a session, so that code that reads them works unchanged and
nothing can be stored.
"""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from app.conversation import time_limit
from app.conversation.models import Mode, Sitting, Turn, TurnKind, TurnState
from app.conversation.script.machine import Kind, Script, WrongMoment, open_line
from app.conversation.script.place import Phase, Place
from app.conversation.turn import Audio, Reply, utterance_key
from app.conversation.utterances import kept_parts
from app.core import clock
from app.core.errors import Conflict, Rejected
from app.flows.flow_script import FlowScript
from app.gateways.speech.ports import Speaker, Spoken

MOST_PREVIEWS = 8
LONGEST = timedelta(hours=2)
MOST_CHUNKS = 720
"""Half seconds of the newest speech that are held for an answer: six minutes, 11 MB."""


class Forgetful:
    """A speaker that reads the shared cache and never writes to it."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    @property
    def name(self) -> str:
        return self._speaker.name

    def supports(self, language: str) -> bool:
        return self._speaker.supports(language)

    def identity(self, voice_id: str | None, language: str) -> str:
        return self._speaker.identity(voice_id, language)

    def prepare(self, *, voice_id: str | None, language: str, steady: str | None = None) -> None:
        self._speaker.prepare(voice_id=voice_id, language=language, steady=steady)

    def speak(
        self, text: str, *, voice_id: str | None, language: str, remember: bool = False, steady: str | None = None
    ) -> Spoken:
        del remember
        return self._speaker.speak(text, voice_id=voice_id, language=language, steady=steady)

    def close(self) -> None:
        """The speaker behind it belongs to others."""


@dataclass(slots=True)
class Preview:
    """One try: where it stands, the last reply with its sounds, and the newest speech."""

    id: str
    flow_id: str
    member_id: str
    frozen: FlowScript
    script: Script
    sitting: Sitting
    started_at: datetime
    place: Place = field(default_factory=Place)
    last: Turn | None = None
    sounds: dict[int, bytes] = field(default_factory=dict)
    segments: int = 0
    voice: OrderedDict[tuple[int, int], bytes] = field(default_factory=OrderedDict)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    is_over: bool = False
    turning: threading.RLock = field(default_factory=threading.RLock)
    """Held while a reply is made: one at a time."""
    _hearing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def turn(self) -> int:
        """The turn that is open."""
        return 1 if self.last is None else self.last.number + 1

    @property
    def time_is_over(self) -> bool:
        return time_limit.elapsed(self.sitting, self.started_at) > self.script.seconds + self.sitting.extra_seconds

    def hear(self, segment: int, number: int, pcm: bytes) -> None:
        """Hold half a second of speech; the oldest makes room."""
        with self._hearing:
            self.voice[segment, number] = pcm
            while len(self.voice) > MOST_CHUNKS:
                self.voice.popitem(last=False)

    def spoken(self, segment: int, first: int, last: int) -> bytes:
        """The speech of these chunks; Conflict with the missing ones."""
        with self._hearing:
            pieces = {number: self.voice.get((segment, number)) for number in range(first, last + 1)}
        missing = [number for number, pcm in pieces.items() if pcm is None]
        if missing:
            details: dict[str, object] = {"reason": "missing", "missing": missing[:500]}
            raise Conflict("Parts of the answer have not arrived yet.", details=details)
        return b"".join(pcm for pcm in pieces.values() if pcm is not None)

    def heard(self, segment: int, first: int, last: int) -> bytes | None:
        """The same; None where some have not arrived."""
        try:
            return self.spoken(segment, first, last)
        except Conflict:
            return None

    def awaits(self, body: Mapping[str, Any]) -> bool:
        """Whether this is the answer of the turn before once more, to whose words the agent asked for a moment."""
        return (
            self.last is not None
            and self.last.reply_kind == Kind.MOMENT
            and all(getattr(self.last, name) == body[name] for name in ("segment", "first_chunk", "last_chunk"))
        )

    def audio(self, segment: int, first: int, last: int, *, turn: int) -> Audio:
        """A spoken answer, as the conversation takes it."""
        if last - first >= MOST_CHUNKS:
            raise Rejected("This answer is too long for a preview.", field="last_chunk")
        pcm = self.spoken(segment, first, last)
        return Audio(utterance_key(self.id, turn=turn, segment=segment), first, last, lambda: iter([pcm]))

    def answer(self, kind: TurnKind, reply: Reply, body: Mapping[str, Any]) -> Turn:
        """Move on: the reply as a turn that no session knows."""
        place = reply.step.place
        try:
            question = open_line(self.script, place).text
        except WrongMoment:
            question = None
        turn = Turn(
            number=self.turn,
            kind=kind,
            state=TurnState.ANSWERED,
            reply_kind=str(reply.kind),
            question=question,
            question_index=place.question_index,
            expects=reply.step.expects,
            parts=kept_parts(reply.parts),
            audio_key="memory" if reply.wav else None,
            seconds=reply.seconds,
            heard_text=reply.said.content,
            segment=body["segment"],
            first_chunk=body["first_chunk"],
            last_chunk=body["last_chunk"],
        )
        if not self.is_over:
            self.last, self.place, self.sounds = turn, place, {0: reply.wav} if reply.wav else {}
        return turn

    def end(self) -> None:
        """Over: what was heard and said is forgotten at once, so that the end can be shown and nothing else."""
        self.is_over, self.sounds, self.last = True, {}, None
        self.place = Place(phase=self.place.phase, question=self.place.question)
        with self._hearing:
            self.voice.clear()

    def pause(self, *, paused: bool) -> None:
        """Stop the clock, or let it go on."""
        began, now = self.sitting.paused_at, clock.now()
        if began is not None and not paused:
            self.sitting.paused += (now - began).total_seconds()
        self.sitting.paused_at = (began or now) if paused else None

    def extend(self, number: int) -> None:
        """Add extension ``number`` once."""
        if number == self.sitting.extensions + 1:
            self.sitting.extensions = number
            self.sitting.extra_seconds += time_limit.extension_of(self.script.seconds)

    def state(self) -> dict[str, Any]:
        """As ``schemas.state`` says it of an interview, without the prompt."""
        sitting, place = self.sitting, self.place
        return {
            "stage": "finished" if self.is_over else "outro" if place.phase is Phase.OUTRO else "live",
            "mode": sitting.mode.value,
            "language": self.script.language,
            "video": self.frozen.is_video_enabled,
            "documents_allowed": self.frozen.is_doc_upload_enabled,
            "uploads": [],
            "turn": self.turn,
            "documents": [one for one in self.files.values() if one["whole"]],
            "question_index": place.question_index,
            "question_count": len(self.script.questions),
            "next_segment": self.segments + 1,
            "redirect_url": None,
            "open_speech": None,
            **time_limit.page_fields(sitting, limit=self.script.seconds, started_at=self.started_at),
        }


_previews: OrderedDict[str, Preview] = OrderedDict()
_lock = threading.Lock()


def new_id() -> str:
    """A random name for a preview."""
    return secrets.token_hex(16)


def begin(preview_id: str, *, flow_id: str, member_id: str, frozen: FlowScript, minutes: int, mode: Mode) -> Preview:
    """A preview from its start, in the place of one of the same name; the oldest ones make room."""
    sitting = Sitting(mode=mode, place={}, paused=0.0, extensions=0, extra_seconds=0)
    preview = Preview(
        preview_id,
        flow_id,
        member_id,
        frozen,
        Script.of(frozen, minutes=minutes, seed=preview_id),
        sitting,
        started_at=clock.now(),
    )
    with _lock:
        _previews.pop(preview_id, None)
        _previews[preview_id] = preview
        for name in [name for name, one in _previews.items() if clock.now() - one.started_at > LONGEST]:
            del _previews[name]
        while len(_previews) > MOST_PREVIEWS:
            _previews.popitem(last=False)
    return preview


def find(preview_id: str, *, flow_id: str, member_id: str) -> Preview | None:
    """The member's own preview of this flow, while it lasts."""
    with _lock:
        preview = _previews.get(preview_id)
    return preview if preview and (preview.flow_id, preview.member_id) == (flow_id, member_id) else None
