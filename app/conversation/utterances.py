"""What both sides said, written down for the transcript: the agent's words only as far as they were really heard.

A reply is known when it is made, but what the candidate heard of it only one turn later, when the browser says where
its player stopped. So the agent's lines are written then, on the clock of the recorder run they were played in.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from app.conversation.models import Turn
from app.conversation.script.machine import Event, Kind
from app.conversation.script.place import Place
from app.conversation.speaking import Part, Stretch
from app.conversation.turn import Said
from app.core import queue
from app.core.db import db
from app.gateways.speech.ports import Word
from app.interviews import HEAR_AGAIN
from app.interviews.actions.hearing import CHUNK_SECONDS, place_words
from app.interviews.models import Hearing, Retake, Role, Utterance


@dataclass(frozen=True, slots=True)
class Piece:
    """Where one piece of a reply was heard: on the run's clock from ``started`` on, for ``seconds``, or all of it.

    ``rate`` is below 1 where the candidate had it spoken more slowly than it was made; ``seconds`` are as heard.
    """

    number: int
    started: float
    seconds: float
    whole: bool
    rate: float = 1.0


@dataclass(frozen=True, slots=True)
class Played:
    """Where a reply was heard: on the clock of run ``segment`` from ``started`` on, for ``seconds``, or all of it.

    ``pieces`` are given where the reply came in several; each may have waited for its sound. ``murmurs``: how often
    something like "mm-hm" made it pause and go on. ``rate``: see ``Piece``.
    """

    segment: int | None
    started: float
    seconds: float
    whole: bool
    latency_ms: int | None = None
    pieces: tuple[Piece, ...] = ()
    murmurs: int = 0
    rate: float = 1.0

    def of(self, piece: int) -> "Played | None":
        """The report on one piece; None where nothing of it was heard."""
        reports = self.pieces or (Piece(0, self.started, self.seconds, self.whole, self.rate),)
        report = next((one for one in reports if one.number == piece), None)
        if report is None:
            return None
        return Played(self.segment, report.started, report.seconds, report.whole, rate=report.rate)


@dataclass(frozen=True, slots=True)
class Heard:
    """Where the candidate's words lie: under which question, in which voice chunks. ``typed`` ones have no sound."""

    question_index: int | None = None
    segment: int | None = None
    first_chunk: int | None = None
    last_chunk: int | None = None
    typed: bool = False


def kept_parts(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """A reply's lines as a row keeps them; ``stretches`` only where the sound comes in pieces."""
    return [
        {
            "kind": part.kind.value,
            "text": part.text,
            "question_index": part.question_index,
            "offset": round(part.offset, 3),
            "seconds": round(part.seconds, 3),
            "words": kept_words(part.words),
            **({"stretches": [_kept_stretch(stretch) for stretch in part.stretches]} if part.stretches else {}),
        }
        for part in parts
    ]


def _kept_stretch(stretch: Stretch) -> dict[str, Any]:
    return {
        "piece": stretch.piece,
        "text": stretch.text,
        "offset": round(stretch.offset, 3),
        "seconds": round(stretch.seconds, 3),
        "words": kept_words(stretch.words),
        "key": None,
        "silent": False,
    }


def kept_words(words: Iterable[Word]) -> list[list[Any]]:
    """Words as a row keeps them: word, start, end."""
    return [[word.word, round(word.start, 3), round(word.end, 3)] for word in words]


def write_agents(interview_id: str, turn: Turn, played: Played | None) -> None:
    """Add the lines of the turn's reply, as far as they were heard; without a report all of them, without times."""
    number = _next_number(interview_id)
    for part in turn.parts or []:
        heard = heard_of(part, played)
        if heard is None:
            continue
        row = Utterance(
            interview_id=interview_id,
            number=number,
            role=Role.AGENT,
            question_index=part["question_index"],
            engine=turn.engine,
            **heard,
        )
        db.session.add(row)
        number += 1
    db.session.flush()


def heard_text(turn: Turn, played: Played | None) -> str:
    """What the candidate heard of the turn's reply; empty where all of it was heard, or nothing says so.

    Without the line with their name: a language model reads this.
    """
    if played is None or played.whole:
        return ""
    heard = (heard_of(part, played) for part in turn.parts or [] if part["kind"] != Kind.NAME)
    return " ".join(str(one["content"]) for one in heard if one)


def share_heard(turn: Turn | None, played: Played | None) -> float | None:
    """The share (0..1) of the script's question in the turn's reply that was heard; None where none was said.

    What was read counts as heard, and without a report everything does.
    """
    part = next((part for part in (turn.parts if turn else None) or [] if part["kind"] == Kind.QUESTION), None)
    if part is None:
        return None
    heard = heard_of(part, played)
    if heard is None:
        return 0.0
    spoken = sum(stretch["seconds"] for stretch in part["stretches"]) if "stretches" in part else part["seconds"]
    whole = spoken / (played.rate if played else 1.0)
    return min(1.0, heard["played"] / whole) if "played" in heard and whole else 1.0


def heard_of(part: dict[str, Any], played: Played | None) -> dict[str, Any] | None:
    """What of a line was heard or read, as columns of an Utterance; None when nothing was."""
    if "stretches" in part:
        return _heard_pieces(part, played)
    return _heard_part(part, played) if part["seconds"] else _shown_part(part, played)


def _heard_pieces(part: dict[str, Any], played: Played | None) -> dict[str, Any] | None:
    if played is None:
        return {"content": part["text"]}
    rows: list[dict[str, Any]] = []
    for stretch in part["stretches"]:
        report = played.of(stretch["piece"])
        is_read = stretch["silent"] and played.whole
        row = {"content": stretch["text"]} if is_read else _heard_part(stretch, report) if report else None
        rows += [row] if row else []
    return _one_row(rows, part["text"]) if rows else None


def _one_row(rows: list[dict[str, Any]], whole: str) -> dict[str, Any]:
    """Several stretches of one line as one row."""
    text = " ".join(row["content"] for row in rows)
    content = {"content": whole if len(text.replace(" ", "")) == len(whole.replace(" ", "")) else text}
    timed = [row for row in rows if "start" in row]
    if not timed:
        return content
    words = [word for row in timed for word in row["words"] or []]
    return {
        **content,
        "words": words or None,
        "segment": timed[0]["segment"],
        "start": timed[0]["start"],
        "end": timed[-1]["end"],
        "played": round(sum(row["played"] for row in timed), 3),
    }


def _shown_part(part: dict[str, Any], played: Played | None) -> dict[str, Any]:
    """A line that was read, not heard: whole, at the moment it was shown."""
    shown = {"segment": played.segment, "start": played.started, "end": played.started} if played else {}
    return {"content": part["text"], **shown}


def _heard_part(part: dict[str, Any], played: Played | None) -> dict[str, Any] | None:
    if played is None:
        return {"content": part["text"]}
    if not part["seconds"]:  # an owed stretch whose sound was never made
        return None
    part = _as_heard(part, played.rate)
    seconds = part["seconds"] if played.whole else min(part["seconds"], played.seconds - part["offset"])
    if seconds <= 0:
        return None
    start = played.started + part["offset"]
    words = [word for word in part["words"] if word[1] < seconds]
    placed = [[word, round(start + begin, 3), round(start + min(end, seconds), 3)] for word, begin, end in words]
    content = part["text"] if seconds >= part["seconds"] else _cut(part, len(words), seconds)
    if not content:
        return None
    return {
        "content": content,
        "words": placed or None,
        "segment": played.segment,
        "start": round(start, 3),
        "end": round(start + seconds, 3),
        "played": round(seconds, 3),
    }


def _as_heard(part: dict[str, Any], rate: float) -> dict[str, Any]:
    """The line with the times at which it was heard, where it was spoken more slowly than it was made."""
    if rate == 1.0:
        return part
    words = [[word, begin / rate, end / rate] for word, begin, end in part["words"]]
    return {**part, "offset": part["offset"] / rate, "seconds": part["seconds"] / rate, "words": words}


def _cut(part: dict[str, Any], words: int, seconds: float) -> str:
    """The beginning of the text that fits the words heard; without word times, the share of it that fits the time."""
    written = part["text"].split()
    spoken = len(part["words"])
    if not spoken:
        return " ".join(written[: int(len(written) * seconds / part["seconds"])])
    if words == spoken:
        return str(part["text"])
    if len(written) == spoken:
        return " ".join(written[:words])
    return " ".join(word[0] for word in part["words"][:words])


def write_candidates(
    interview_id: str,
    said: Said,
    heard: Heard,
    *,
    is_there: bool = False,
    obeyed: bool = False,
    hears_again: bool = False,
    turn: int | None = None,
    is_retake: bool = False,
) -> None:
    """Add what the candidate said; nothing for a silent turn or a pressed button.

    ``is_there``: the turn before has written it down; words that it did not know go into its row. ``hears_again``: the
    recogniser hears a finished answer better than one that is being spoken, so a worker lets it hear this one again.
    """
    is_speech = heard.first_chunk is not None and heard.last_chunk is not None
    if said.event is Event.SILENCE or not (is_speech or heard.typed):
        return
    former = _awaited(interview_id, heard) if is_there else None
    if former is not None and former.content is not None:
        former.obeyed = obeyed
        db.session.flush()
        return
    if former is not None:
        db.session.delete(former)
        db.session.flush()
    number = _next_number(interview_id) if former is None else former.number
    row = Utterance(
        interview_id=interview_id,
        number=number,
        role=Role.USER,
        content=said.content,
        typed=heard.typed,
        engine=said.engine,
        segment=heard.segment,
        confidence=said.confidence,
        question_index=heard.question_index,
        obeyed=obeyed,
        turn=turn,
        retake=Retake.LATER if is_retake else None,
        first_chunk=heard.first_chunk,
        last_chunk=heard.last_chunk,
    )
    if is_speech:
        place_words(row, said.words)
    # An answer whose words are late is written down once more by the turn that waits for them.
    if is_speech and hears_again and said.event is not Event.LATE:
        row.hearing = Hearing.WAITING
    db.session.add(row)
    db.session.flush()
    if row.hearing == Hearing.WAITING:
        queue.after_commit(HEAR_AGAIN, row.id)


def replace_former(interview_id: str, place: Place) -> None:
    """Let what was said at ``place``, before it was begun again, count no longer. It stays in the transcript."""
    statement = sa.update(Utterance).where(
        Utterance.interview_id == interview_id,
        Utterance.role == Role.USER,
        Utterance.question_index == place.question_index,
        Utterance.turn > (place.opened or 0),
        Utterance.retake.is_(None),
        Utterance.obeyed.is_(False),
    )
    db.session.execute(statement.values(obeyed=True, retake=Retake.FORMER))


def _awaited(interview_id: str, heard: Heard) -> Utterance | None:
    """The row of an answer that was written down by the turn before."""
    rows = sa.select(Utterance).where(
        Utterance.interview_id == interview_id,
        Utterance.role == Role.USER,
        Utterance.segment == heard.segment,
        Utterance.start == (heard.first_chunk or 0) * CHUNK_SECONDS,
    )
    return db.session.scalar(rows.order_by(Utterance.number.desc()).limit(1))


def _next_number(interview_id: str) -> int:
    # The sitting's row is written first in the same transaction, so no two writers get the same number.
    highest = sa.select(sa.func.max(Utterance.number)).where(Utterance.interview_id == interview_id)
    return (db.session.scalar(highest) or 0) + 1
