"""Reads of chunks, runs and published files, and their signed URLs."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa

from app.core import claims, clock
from app.core.db import db
from app.core.db.prepared import Prepared
from app.core.errors import NotFound
from app.interviews.recordings.addresses import Purpose, signer
from app.interviews.recordings.models import (
    Chunk,
    Media,
    RecorderRun,
    Recording,
    Revocation,
    Track,
    Waveform,
    WaveState,
)

SETTLES_AFTER = timedelta(hours=3)
"""Longer than any job that might still write files for a revoked interview."""

REPLACED_FOR = timedelta(hours=1)
"""How long a replaced file stays: longer than downloading two hours takes."""

NO_RUN = "the interview has no recorder run {}; POST segments opens one"


@dataclass(frozen=True, slots=True)
class Piece:
    """One stored chunk as plain values."""

    number: int
    key: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Take:
    """One run of the recorder as plain values, for slow work."""

    number: int
    mime_type: str
    mix: tuple[Piece, ...]
    voice: tuple[Piece, ...]

    @property
    def has_picture(self) -> bool:
        """Whether it was recorded with video."""
        return self.mime_type.lower().startswith("video")


def prefix_of(interview_id: str) -> str:
    """The storage prefix of an interview's recordings."""
    return f"recordings/{interview_id}"


def chunk_key(interview_id: str, *, segment: int, track: Track, number: int, sha256: str) -> str:
    """Storage key of a chunk; the hash in it separates two senders of the same number."""
    return f"{prefix_of(interview_id)}/{segment}/{track}/{number}-{sha256[:16]}"


def run_for(interview_id: str, segment: int) -> RecorderRun:
    """Run ``segment`` of the interview, or NotFound."""
    run = db.session.scalar(
        sa.select(RecorderRun).where(RecorderRun.interview_id == interview_id, RecorderRun.number == segment)
    )
    if run is None:
        raise NotFound(NO_RUN.format(segment))
    return run


def runs_of(interview_id: str) -> list[RecorderRun]:
    """All runs in the order of recording."""
    runs = sa.select(RecorderRun).where(RecorderRun.interview_id == interview_id).order_by(RecorderRun.number)
    return list(db.session.scalars(runs))


def missing_chunks(interview_id: str, *, segment: int, track: Track, first: int, last: int) -> list[int]:
    """Numbers from ``first`` to ``last``, both included, of chunks that have not arrived."""
    there = _chunks(interview_id, segment, track).where(Chunk.number.between(first, last))
    if db.session.scalar(there.with_only_columns(sa.func.count())) == last - first + 1:
        return []
    arrived = set(db.session.scalars(there.with_only_columns(Chunk.number)))
    return [number for number in range(first, last + 1) if number not in arrived]


def contiguous(interview_id: str, segment: int, track: Track) -> int:
    """The highest n for which chunks 0 to n have all arrived; -1 without chunk 0."""
    return arrived(interview_id, segment, track)[0]


def arrived(interview_id: str, segment: int, track: Track) -> tuple[int, int]:
    """The highest contiguous number (as ``contiguous``), and the highest number that has arrived; -1 for none."""
    [(count, last)] = _COUNTED.rows(interview=interview_id, segment=segment, track=track)
    if last is None or count == last + 1:
        return count - 1, count - 1
    return missing_chunks(interview_id, segment=segment, track=track, first=0, last=last)[0] - 1, last


class Kept(NamedTuple):
    """The columns of a chunk's row that decide about the next ones."""

    id: str
    number: int
    sha256: str
    storage_key: str


class Standing(NamedTuple):
    """What decides whether chunks are accepted: their run, the interview's total size, and the existing rows."""

    run_id: str
    last_mix_chunk: int | None
    kept_bytes: int
    chunks: dict[int, Kept]


def standing(interview_id: str, segment: int, track: Track, *, first: int, last: int) -> Standing:
    """Read in one statement, because every candidate needs it every second; NotFound without the run."""
    rows = _STANDING.rows(interview=interview_id, segment=segment, track=track, first=first, last=last)
    if not rows:
        raise NotFound(NO_RUN.format(segment))
    chunks = {row[4]: Kept(*row[3:]) for row in rows if row[3] is not None}
    run_id, last_mix_chunk, kept_bytes = rows[0][:3]
    return Standing(run_id, last_mix_chunk, kept_bytes, chunks)


@dataclass(frozen=True, slots=True)
class Arrived:
    """The chunks of a run's mixed track: how many, the highest number, and when the last one arrived."""

    count: int
    highest: int
    last_at: datetime


def arrivals(interview_id: str) -> dict[int, Arrived]:
    """By number of the run, without runs of which nothing has arrived."""
    last_at = sa.type_coerce(sa.func.max(Chunk.created_at), Chunk.created_at.type)
    rows = sa.select(Chunk.segment, sa.func.count(), sa.func.max(Chunk.number), last_at).where(
        Chunk.interview_id == interview_id, Chunk.track == Track.MIX
    )
    counted = db.session.execute(rows.group_by(Chunk.segment)).all()
    return {row[0]: Arrived(row[1], row[2], row[3]) for row in counted}


def pieces_of(
    interview_id: str, segment: int, track: Track, *, first: int = 0, last: int | None = None
) -> tuple[Piece, ...]:
    """The chunks that have arrived, in order, with the hashes under which they were acknowledged."""
    there = _chunks(interview_id, segment, track).where(Chunk.number >= first).order_by(Chunk.number)
    if last is not None:
        there = there.where(Chunk.number <= last)
    rows = db.session.execute(there.with_only_columns(Chunk.number, Chunk.storage_key, Chunk.sha256, Chunk.size))
    return tuple(Piece(number=row[0], key=row[1], sha256=row[2], size=row[3]) for row in rows)


def voices_after(interview_id: str, *, segment: int, number: int) -> list[tuple[int, int]]:
    """Run and number of the voice chunks after this one, in order."""
    later = sa.or_(Chunk.segment > segment, sa.and_(Chunk.segment == segment, Chunk.number > number))
    query = sa.select(Chunk.segment, Chunk.number).where(
        Chunk.interview_id == interview_id, Chunk.track == Track.VOICE, later
    )
    return [(row[0], row[1]) for row in db.session.execute(query.order_by(Chunk.segment, Chunk.number))]


def takes_of(interview_id: str) -> list[Take]:
    """All playable runs: the mixed track up to the first gap, and every voice chunk."""
    takes = []
    for run in runs_of(interview_id):
        whole = contiguous(interview_id, run.number, Track.MIX)
        if whole >= 0:
            mix = pieces_of(interview_id, run.number, Track.MIX, last=whole)
            voice = pieces_of(interview_id, run.number, Track.VOICE)
            takes.append(Take(number=run.number, mime_type=run.mime_type, mix=mix, voice=voice))
    return takes


def is_revoked(interview_id: str) -> bool:
    """Whether access to the interview's recordings has been revoked."""
    return bool(db.session.scalar(sa.select(sa.exists().where(Revocation.interview_id == interview_id))))


def recording(recording_id: str) -> Recording:
    """A published file by its id, revoked or not, for the page that serves it and checks the signature."""
    row = db.session.get(Recording, recording_id)
    if row is None:
        raise NotFound("There is no such recording.")
    return row


def recording_of(interview_id: str, media: Media) -> Recording | None:
    """The published file of this kind; None if there is none or access was revoked."""
    return db.session.scalar(_accessible([interview_id]).where(Recording.media == media))


def urls_for(interview_id: str, *, purpose: Purpose = Purpose.PLAY) -> dict[Media, str]:
    """Newly signed URLs of the interview's files, valid for an hour; none when revoked."""
    return urls_for_many([interview_id], purpose=purpose).get(interview_id, {})


def urls_for_many(interview_ids: Iterable[str], *, purpose: Purpose = Purpose.PLAY) -> dict[str, dict[Media, str]]:
    """As ``urls_for``, in one read for a whole list: interview id to its URLs."""
    rows = db.session.connection().execute(_ADDRESSED, {"ids": list(interview_ids)})
    sign = signer()
    urls: dict[str, dict[Media, str]] = {}
    for interview_id, media, recording_id, organization_id in rows:
        url = sign.url(recording_id, organization_id=organization_id, purpose=purpose)
        urls.setdefault(interview_id, {})[media] = url
    return urls


def has_waveform(interview_id: str) -> bool:
    """Whether the interview's recording has a waveform, drawn or waiting."""
    return bool(db.session.scalar(sa.select(sa.exists().where(Waveform.interview_id == interview_id))))


def peaks_of(interview_id: str) -> bytes | None:
    """Loudness of the recording from beginning to end, BARS bytes; None until it is drawn."""
    return db.session.scalar(sa.select(Waveform.peaks).where(Waveform.interview_id == interview_id))


def undrawn(*, limit: int = 50) -> list[str]:
    """Ids of waveforms that wait to be drawn, or whose worker died."""
    free = sa.or_(Waveform.lease_until.is_(None), Waveform.lease_until < claims.moment())
    waits = Waveform.state.in_((WaveState.WAITING, WaveState.DRAWING))
    return list(db.session.scalars(sa.select(Waveform.id).where(waits, free).limit(limit)))


def unfinished_revocations(*more: sa.ColumnElement[bool], limit: int = 20) -> list[str]:
    """Ids of interviews whose bytes are still to be destroyed or checked once more; ``more`` adds conditions."""
    again = sa.and_(Revocation.settled_at.is_(None), Revocation.deleted_at < claims.moment(-SETTLES_AFTER))
    due = sa.select(Revocation.interview_id).where(sa.or_(Revocation.deleted_at.is_(None), again), *more)
    return list(db.session.scalars(due.order_by(Revocation.revoked_at).limit(limit)))


def _chunks(interview_id: str, segment: int, track: Track) -> sa.Select[Chunk]:
    return sa.select(Chunk).where(Chunk.interview_id == interview_id, Chunk.segment == segment, Chunk.track == track)


def replaced() -> list[tuple[str, str]]:
    """Ids of recordings with a replaced file that no download can still be reading, with its storage key; up to 100."""
    old = Recording.replaced_at < clock.now() - REPLACED_FOR
    rows = sa.select(Recording.id, Recording.replaced_key).where(old).order_by(Recording.replaced_at).limit(100)
    return [(row.id, str(row.replaced_key)) for row in db.session.execute(rows)]


def _accessible(interview_ids: Iterable[str]) -> sa.Select[Recording]:
    return sa.select(Recording).where(Recording.interview_id.in_(list(interview_ids)), *_HELD)


_HELD = (Recording.damaged_at.is_(None), ~sa.exists().where(Revocation.interview_id == Recording.interview_id))
# Built once from plain columns, because every list of interviews needs it.
_R = Recording.__table__.c
_ADDRESSED = sa.select(_R.interview_id, _R.media, _R.id, _R.organization_id).where(
    _R.interview_id.in_(sa.bindparam("ids", expanding=True)), *_HELD
)

_C, _RUN = Chunk.__table__.c, RecorderRun.__table__.c
_TRACK = (
    _C.interview_id == sa.bindparam("interview"),
    _C.segment == sa.bindparam("segment"),
    _C.track == sa.bindparam("track"),
)
_THESE = (*_TRACK, _C.number.between(sa.bindparam("first"), sa.bindparam("last")))
_COUNTED = Prepared(sa.select(sa.func.count(), sa.func.max(_C.number)).where(*_TRACK))
_EVERY_RUN = RecorderRun.__table__.alias("every_run").c
_STANDING = Prepared(
    sa.select(
        _RUN.id,
        _RUN.last_mix_chunk,
        sa.select(sa.func.sum(_EVERY_RUN.size)).where(_EVERY_RUN.interview_id == _RUN.interview_id).scalar_subquery(),
        _C.id,
        _C.number,
        _C.sha256,
        _C.storage_key,
    )
    .select_from(RecorderRun.__table__.outerjoin(Chunk.__table__, sa.and_(*_THESE)))
    .where(_RUN.interview_id == sa.bindparam("interview"), _RUN.number == sa.bindparam("segment"))
)
