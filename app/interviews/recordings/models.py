"""Tables of recordings: runs of the browser's recorder, their chunks, and the published files."""

import enum
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.claims import Claimable
from app.core.db import Base, CreatedAt, Id, Ref, one_of

BLOCK = 128 * 1024
"""Bytes of a published file that are hashed together, and the most that is read ahead for a slow reader."""

VOICE_CHUNK_SAMPLES = 8_000
VOICE_CHUNK_SECONDS = 0.5
LARGEST_CHUNK = 4 * 1024 * 1024
LARGEST_INTERVIEW = 2 * 1024**3
BARS = 400
"""Bars of a waveform."""
LAST_CHUNK = 2 * 3600 * 2 - 1
"""Highest chunk number: two hours of half-second pieces."""


class Track(enum.StrEnum):
    """``mix`` is the published track, both voices (and the picture); ``voice`` is the candidate alone, as samples."""

    MIX = "mix"
    VOICE = "voice"


class Media(enum.StrEnum):
    """Kinds of published files."""

    AUDIO = "audio"
    VIDEO = "video"


class RecorderRun(Base):
    """One run of the recorder, from start or reload to stop: a segment with its own header and clock.

    ``number`` counts from 1. ``last_mix_chunk`` is set when the browser reports the end of the run.
    ``device`` describes browser and microphone for the quality report, without names of devices.
    """

    __tablename__ = "recorder_run"
    __table_args__ = (sa.UniqueConstraint("interview_id", "number"),)

    id: Mapped[Id]
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"))
    number: Mapped[int]
    mime_type: Mapped[str] = mapped_column(sa.String(100))
    last_mix_chunk: Mapped[int | None]
    size: Mapped[int] = mapped_column(sa.BigInteger, default=0)
    device: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True))
    created_at: Mapped[CreatedAt]


class Chunk(Base):
    """A piece of a run, acknowledged after its bytes are stored. ``number`` counts from 0 within run and track.

    A ``voice`` chunk holds exactly half a second (8,000 samples, s16le, 16 kHz, mono), so its number is its time.
    """

    __tablename__ = "chunk"
    __table_args__ = (sa.UniqueConstraint("interview_id", "segment", "track", "number"),)

    id: Mapped[Id]
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"))
    segment: Mapped[int]
    track: Mapped[Track] = mapped_column(one_of(Track))
    number: Mapped[int]
    sha256: Mapped[str] = mapped_column(sa.String(64))
    size: Mapped[int]
    storage_key: Mapped[str] = mapped_column(sa.String(200))
    created_at: Mapped[CreatedAt]


class Recording(Base):
    """A published file. Revocation decides about access, at every request and while bytes flow.

    ``blocks`` holds the SHA-256 of each BLOCK of the file, 32 bytes each, to verify parts as they are served.
    ``replaced_key`` is the file that this one replaced at ``replaced_at``. It is deleted ``REPLACED_FOR`` later,
    because downloads that had begun are still reading it.
    """

    __tablename__ = "recording"
    __table_args__ = (sa.UniqueConstraint("interview_id", "media"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"))
    media: Mapped[Media] = mapped_column(one_of(Media))
    content_type: Mapped[str] = mapped_column(sa.String(100))
    storage_key: Mapped[str] = mapped_column(sa.String(200))
    size: Mapped[int] = mapped_column(sa.BigInteger)
    sha256: Mapped[str] = mapped_column(sa.String(64))
    blocks: Mapped[bytes] = mapped_column(sa.LargeBinary, deferred=True)
    duration: Mapped[float]
    created_at: Mapped[CreatedAt]
    damaged_at: Mapped[datetime | None]
    replaced_key: Mapped[str | None] = mapped_column(sa.String(200))
    replaced_at: Mapped[datetime | None] = mapped_column(index=True)


class WaveState(enum.StrEnum):
    """``failed``: nothing could be drawn and it is not retried; players show a plain line."""

    WAITING = "waiting"
    DRAWING = "drawing"
    DRAWN = "drawn"
    FAILED = "failed"


class Waveform(Claimable, Base):
    """Loudness of an interview's recording from beginning to end: BARS bytes, once it is ``drawn``."""

    __tablename__ = "waveform"
    __table_args__ = (sa.Index(None, "state", "lease_until"),)

    id: Mapped[Id]
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), unique=True)
    state: Mapped[WaveState] = mapped_column(one_of(WaveState), default=WaveState.WAITING)
    peaks: Mapped[bytes | None] = mapped_column(sa.LargeBinary)


class Revocation(Base):
    """Revokes an interview's recordings for good, including those that a late job would publish.

    ``revoked_at`` ends all access; ``deleted_at`` is when the bytes were destroyed, ``settled_at`` when a second
    deletion, after all late jobs had ended, succeeded.
    """

    __tablename__ = "revocation"

    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), primary_key=True)
    revoked_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]
    settled_at: Mapped[datetime | None]
