"""Changes to recordings: open a run, store a chunk, seal, publish, revoke.

Functions that work on bytes (``workshop``, ``destroy``) are slow, use no rows, and are called outside transactions.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.core import claims, clock, queue
from app.core.db import Moment, db, new_id, unless_there
from app.core.db.prepared import Prepared
from app.core.errors import Conflict, DomainError, Rejected
from app.gateways.storage import Storage
from app.interviews.recordings import DRAW_WAVEFORM, queries
from app.interviews.recordings.media import MediaFile, Workshop
from app.interviews.recordings.models import (
    LARGEST_CHUNK,
    LARGEST_INTERVIEW,
    LAST_CHUNK,
    Chunk,
    RecorderRun,
    Recording,
    Revocation,
    Track,
    Waveform,
)

_MIME = re.compile(r"(audio|video)/(webm|mp4)(\s*;.*)?")
# Built once from plain tables, because they run every second for every candidate.
_ADDED = Prepared(unless_there(Chunk.__table__))  # type: ignore[arg-type]  # a declared table is a Table
_GROWN = Prepared(
    sa.update(RecorderRun.__table__)  # type: ignore[arg-type]
    .where(RecorderRun.__table__.c.id == sa.bindparam("run"))
    .values(size=RecorderRun.__table__.c.size + sa.bindparam("more"))
)
_REVOKED = Prepared(unless_there(Revocation.__table__))  # type: ignore[arg-type]
_UNDRAWN = Prepared(
    sa.delete(Waveform.__table__).where(  # type: ignore[arg-type]
        Waveform.__table__.c.interview_id == sa.bindparam("interview")
    )
)
_GONE: Any = Revocation.__table__
_NOW = sa.bindparam("now", type_=Moment())
_BYTES_GONE = Prepared(
    sa.update(_GONE)
    .where(_GONE.c.interview_id == sa.bindparam("interview"))
    .values(
        settled_at=sa.case((_GONE.c.deleted_at < sa.bindparam("before"), _NOW), else_=_GONE.c.settled_at),
        deleted_at=sa.func.coalesce(_GONE.c.deleted_at, _NOW),
    )
)
_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Arrival:
    """A chunk whose bytes are stored under ``storage_key``."""

    number: int
    sha256: str
    size: int
    storage_key: str


def open_run(interview_id: str, *, mime_type: str, device: dict[str, Any] | None = None) -> RecorderRun:
    """Open the next run of the interview's recorder. ``mime_type`` is as MediaRecorder reports it, WebM or MP4."""
    if len(mime_type) > 100 or not _MIME.fullmatch(mime_type.lower()):
        raise Rejected("mime_type must be audio or video in webm or mp4, as in MediaRecorder", field="mime_type")
    last = sa.select(sa.func.coalesce(sa.func.max(RecorderRun.number), 0)).where(
        RecorderRun.interview_id == interview_id
    )
    for _attempt in range(5):
        number = (db.session.scalar(last) or 0) + 1
        run = RecorderRun(interview_id=interview_id, number=number, mime_type=mime_type, device=device)
        try:
            with db.session.begin_nested():
                db.session.add(run)
        except IntegrityError:  # another tab took this number: try the next one
            continue
        return run
    raise Conflict("several recorders are starting at the same time; try again")


def keep_chunk(
    interview_id: str, *, segment: int, track: Track, number: int, sha256: str, size: int, storage_key: str
) -> queries.Kept:
    """Add a chunk whose bytes are stored under ``storage_key``.

    A repeated number with the same hash returns the existing row; with another hash it raises Conflict.
    """
    arrival = Arrival(number, sha256, size, storage_key)
    [outcome] = keep_chunks(interview_id, segment=segment, track=track, arrivals=[arrival])
    if isinstance(outcome, DomainError):
        raise outcome
    return outcome


def keep_chunks(
    interview_id: str, *, segment: int, track: Track, arrivals: Sequence[Arrival]
) -> list[queries.Kept | DomainError]:
    """As ``keep_chunk`` for several of a track, each number once; returns for each its row or its error."""
    numbers = [one.number for one in arrivals]
    standing = queries.standing(interview_id, segment, track, first=min(numbers), last=max(numbers))
    outcomes: dict[int, queries.Kept | DomainError] = {}
    rows: list[dict[str, Any]] = []
    for one in arrivals:
        judged = _judged(one, standing, track=track, more=sum(row["size"] for row in rows))
        if judged is None:
            judged = queries.Kept(new_id(), one.number, one.sha256, one.storage_key)
            place = {"interview_id": interview_id, "segment": segment, "track": track}
            rows.append(judged._asdict() | place | {"size": one.size, "created_at": clock.now()})
        outcomes[one.number] = judged
    if rows and _ADDED.changed(*rows) < len(rows):  # the same chunk arrived twice at once
        standing = queries.standing(interview_id, segment, track, first=min(numbers), last=max(numbers))
        outcomes |= {one.number: _judged(one, standing, track=track) or outcomes[one.number] for one in arrivals}
        rows = [row for row in rows if standing.chunks[row["number"]].id == row["id"]]
    if rows:
        _GROWN.changed({"run": standing.run_id, "more": sum(row["size"] for row in rows)})
    return [outcomes[number] for number in numbers]


def seal(interview_id: str, *, segment: int, last_mix_chunk: int) -> RecorderRun:
    """Mark a run as finished at ``last_mix_chunk``; Conflict lists the numbers that have not arrived."""
    run = queries.run_for(interview_id, segment)
    if not 0 <= last_mix_chunk <= LAST_CHUNK:
        raise Rejected(f"last_mix_chunk must be between 0 and {LAST_CHUNK}", field="last_mix_chunk")
    missing = queries.missing_chunks(interview_id, segment=segment, track=Track.MIX, first=0, last=last_mix_chunk)
    if missing:
        raise Conflict("parts of the recording have not arrived yet", details={"missing": missing})
    run.last_mix_chunk = last_mix_chunk
    db.session.flush()
    return run


def revoke(interview_id: str) -> None:
    """End access for all issued URLs. Commit, then call ``destroy``, then ``bytes_gone``. May be repeated."""
    db.session.flush()
    row = {"interview_id": interview_id, "revoked_at": clock.now()}
    if _REVOKED.changed(row) == 1:  # revoked twice has the same effect
        _UNDRAWN.changed({"interview": interview_id})


def erase(interview_id: str) -> dict[str, int]:
    """``revoke``, and delete the rows of files; returns how many there were, by kind. May be repeated."""
    revoke(interview_id)
    removed = {}
    for name, model in (("recordings", Recording), ("chunks", Chunk), ("recorder_runs", RecorderRun)):
        removed[name] = db.changed(sa.delete(model).where(model.interview_id == interview_id))
    db.session.flush()
    return removed


def destroy(interview_id: str, *, storage: Storage) -> None:
    """Delete every recorded byte of the interview; slow, without the database, may be repeated."""
    storage.delete_prefix(queries.prefix_of(interview_id))


def bytes_gone(interview_id: str) -> None:
    """Record that ``destroy`` succeeded; after ``SETTLES_AFTER`` a second success settles the revocation."""
    now = clock.now()
    _BYTES_GONE.changed({"interview": interview_id, "now": now, "before": now - queries.SETTLES_AFTER})


def unsettle(interview_id: str) -> None:
    """Destroy again: a running interview may have recorded more after its recordings were revoked."""
    again = sa.update(Revocation).where(Revocation.interview_id == interview_id)
    db.session.execute(again.values(deleted_at=None, settled_at=None).execution_options(synchronize_session="fetch"))


def workshop(interview_id: str, takes: Sequence[queries.Take], *, storage: Storage) -> Workshop:
    """The interview's runs (``queries.takes_of``) on a local disk, to measure, search and join them."""
    return Workshop(interview_id, takes, storage=storage)


def publish(interview_id: str, *, organization_id: str, file: MediaFile) -> Recording | None:
    """Publish a stored file as the interview's audio or video, replacing an earlier one.

    None when the recordings were revoked meanwhile: then the caller calls ``destroy`` again.
    """
    if queries.is_revoked(interview_id):
        return None
    earlier = db.session.scalar(
        sa.select(Recording).where(Recording.interview_id == interview_id, Recording.media == file.media)
    )
    recording = earlier or Recording(organization_id=organization_id, interview_id=interview_id, media=file.media)
    if earlier and earlier.storage_key != file.storage_key:
        recording.replaced_key, recording.replaced_at = earlier.storage_key, clock.now()
    recording.content_type, recording.storage_key = file.content_type, file.storage_key
    recording.size, recording.sha256, recording.blocks = file.size, file.sha256, file.blocks
    recording.duration, recording.damaged_at = file.duration, None
    db.session.add(recording)
    db.session.flush()
    _have_drawn(interview_id)
    return recording


def _have_drawn(interview_id: str) -> None:
    """Enqueue one waveform per interview: a file that replaces another sounds the same."""
    if queries.has_waveform(interview_id):
        return
    waveform = Waveform(interview_id=interview_id)
    with suppress(IntegrityError), db.session.begin_nested():  # sound and picture published at once
        db.session.add(waveform)
        db.session.flush()
        queue.after_commit(DRAW_WAVEFORM, waveform.id)


def mark_damaged(recording_id: str, *, storage_key: str) -> None:
    """Stop serving the file under this key, whose bytes differ from the published ones; not one that replaced it."""
    damaged = sa.update(Recording).where(
        Recording.id == recording_id, Recording.storage_key == storage_key, Recording.damaged_at.is_(None)
    )
    db.changed(damaged.values(damaged_at=claims.moment()))


def forget_replaced(recording_id: str, *, storage_key: str) -> None:
    """Record that the file that the recording's file replaced is deleted."""
    done = sa.update(Recording).where(Recording.id == recording_id, Recording.replaced_key == storage_key)
    db.changed(done.values(replaced_key=None, replaced_at=None))


def _wrong(one: Arrival) -> Rejected | None:
    if not 0 <= one.number <= LAST_CHUNK:
        return Rejected(f"the number of a chunk must be between 0 and {LAST_CHUNK}", field="number")
    if not 0 < one.size <= LARGEST_CHUNK:
        return Rejected(f"a chunk must have 1 to {LARGEST_CHUNK} bytes", field="size")
    if not _HEX.fullmatch(one.sha256):
        return Rejected("the hash of a chunk must be 64 lower-case hexadecimal digits", field="sha256")
    return None


def _judged(
    one: Arrival, standing: queries.Standing, *, track: Track, more: int = 0
) -> queries.Kept | DomainError | None:
    """The chunk's existing row, its error, or None for a new chunk. ``more`` bytes precede it in this call."""
    row = standing.chunks.get(one.number)
    if row is None or row.sha256 != one.sha256:
        return _wrong(one) or _refusal(one, standing, track=track, more=more)
    return row


def _refusal(one: Arrival, standing: queries.Standing, *, track: Track, more: int) -> DomainError | None:
    if one.number in standing.chunks:
        details: dict[str, object] = {"reason": "other hash", "number": one.number}
        return Conflict(f"chunk {one.number} has already arrived with different bytes", details=details)
    if standing.last_mix_chunk is not None and track is Track.MIX and one.number > standing.last_mix_chunk:
        return Conflict("this run of the recorder is over", details={"reason": "finished"})
    if standing.kept_bytes + more + one.size > LARGEST_INTERVIEW:
        return Rejected(f"recordings of an interview are limited to {LARGEST_INTERVIEW} bytes", field="size")
    return None
