"""Rows of the candidate's talk: which browser holds it and where it stands, what was agreed to, and every turn.

All state is here, so any web process serves any turn and a reload goes on where it stopped.
"""

import enum
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.claims import Claimable
from app.core.db import Base, CreatedAt, Id, Ref, one_of


class Mode(enum.StrEnum):
    """How the candidate answers."""

    VOICE = "voice"
    TEXT = "text"


class TurnKind(enum.StrEnum):
    """What the candidate did, in the words of the protocol."""

    BEGIN = "begin"
    ANSWER = "answer"
    TEXT = "text"
    REPEAT = "repeat"
    SKIP = "skip"
    END = "end"


class TurnState(enum.StrEnum):
    """``waiting`` turns may be claimed; ``answered`` ones have their reply stored and never change again."""

    WAITING = "waiting"
    WORKING = "working"
    ANSWERED = "answered"


class Sitting(Base):
    """One interview being taken. ``token_hash`` names the browser that holds it, ``fence`` rises with every holder.

    ``place`` is the position in the script; ``next_turn`` the only turn number that is accepted next.
    ``paused`` are the seconds that the time limit does not count: no browser was connected, or the candidate had paused
    (a pause still running has ``paused_at``). ``extra_seconds`` were added in ``extensions`` steps on request.
    """

    __tablename__ = "sitting"
    __table_args__ = (
        sa.UniqueConstraint("interview_id"),
        sa.Index("ix_sitting_silent", "ended_at", "heartbeat_at"),
    )

    id: Mapped[Id]
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"))
    token_hash: Mapped[str | None] = mapped_column(sa.String(64))
    fence: Mapped[int] = mapped_column(default=0)
    mode: Mapped[Mode] = mapped_column(one_of(Mode), default=Mode.VOICE)
    place: Mapped[dict[str, Any]]
    next_turn: Mapped[int] = mapped_column(default=1)
    answers: Mapped[int] = mapped_column(default=0)
    paused: Mapped[float] = mapped_column(default=0.0)
    paused_at: Mapped[datetime | None]
    extensions: Mapped[int] = mapped_column(default=0)
    extra_seconds: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[CreatedAt]
    heartbeat_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]

    @property
    def is_taken_over(self) -> bool:
        """Whether another browser than the first one holds the interview, or it was ended for a candidate who left."""
        return self.fence > 1


class Agreement(Base):
    """That a candidate agreed to be recorded and to talk with a machine: to which text, when, in which language.

    ``shown`` is the text as it stood on the page, so that it can be read back word for word whatever changes later.
    """

    __tablename__ = "agreement"

    id: Mapped[Id]
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), index=True)
    fence: Mapped[int]
    text_version: Mapped[str] = mapped_column(sa.String(20))
    locale: Mapped[str] = mapped_column(sa.String(35))
    mode: Mapped[Mode] = mapped_column(one_of(Mode))
    shown: Mapped[str | None] = mapped_column(sa.Text)
    agreed_at: Mapped[CreatedAt]


class Turn(Claimable, Base):
    """What the candidate did at ``number`` and the reply to it, stored so that the same turn gets the same reply.

    ``parts`` are the reply's lines with their words and times; ``audio_key`` is their sound as one file; ``question``
    is the text that is open after it. Times in milliseconds: ``detected`` is end of speech to its detection in the
    browser, ``collected`` reading the stored sound and looking for speech in it, ``recognised``, ``decided`` and
    ``spoken`` the engines' shares, ``answered`` the whole request, and ``heard`` end of speech to the first sample that
    the candidate heard, which the browser reports one turn later, as it does whether the reply was ``interrupted`` and
    how many ``murmurs`` ("mm-hm", a cough, words to someone else) only made it pause.

    ``segment``, ``first_chunk`` and ``last_chunk`` are the voice chunks of a spoken answer. A turn without speech has
    no ``first_chunk``; its ``last_chunk`` is the newest that the page had sent by then, null for none.
    """

    __tablename__ = "turn"
    __table_args__ = (sa.UniqueConstraint("sitting_id", "number"),)

    id: Mapped[Id]
    sitting_id: Mapped[Ref] = mapped_column(sa.ForeignKey("sitting.id"))
    number: Mapped[int]
    kind: Mapped[TurnKind] = mapped_column(one_of(TurnKind))
    state: Mapped[TurnState] = mapped_column(one_of(TurnState), default=TurnState.WAITING)
    reply_kind: Mapped[str | None] = mapped_column(sa.String(20))
    question_index: Mapped[int | None]
    question: Mapped[str | None] = mapped_column(sa.Text)
    expects: Mapped[str | None] = mapped_column(sa.String(20))
    parts: Mapped[list[dict[str, Any]] | None] = mapped_column(sa.JSON(none_as_null=True))
    audio_key: Mapped[str | None] = mapped_column(sa.String(200))
    seconds: Mapped[float] = mapped_column(default=0.0)
    engine: Mapped[str | None] = mapped_column(sa.String(100))
    heard_text: Mapped[str | None] = mapped_column(sa.Text)
    detected_ms: Mapped[int | None]
    collected_ms: Mapped[int | None]
    recognised_ms: Mapped[int | None]
    decided_ms: Mapped[int | None]
    spoken_ms: Mapped[int | None]
    answered_ms: Mapped[int | None]
    heard_ms: Mapped[int | None]
    interrupted: Mapped[bool | None]
    murmurs: Mapped[int | None]
    segment: Mapped[int | None]
    first_chunk: Mapped[int | None]
    last_chunk: Mapped[int | None]
    created_at: Mapped[CreatedAt]
    answered_at: Mapped[datetime | None]
