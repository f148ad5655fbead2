"""From chunks to published files: gathers verified bytes, has them decoded in a sandbox, stores what comes out.

Slow, and blind to the database: it is given plain values and gives plain values back.
"""

import hashlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.recordings.models import BLOCK, Media
from app.recordings.queries import Piece, prefix_of
from app.storage import Storage, read_verified

log = logging.getLogger(__name__)

CONTENT_TYPES = {Media.AUDIO: "audio/mp4", Media.VIDEO: "video/mp4"}
ENDINGS = {Media.AUDIO: "m4a", Media.VIDEO: "mp4"}


@dataclass(frozen=True, slots=True)
class MediaFile:
    """A stored file that is ready to be published. ``duration`` in seconds; ``blocks`` as in Recording."""

    media: Media
    content_type: str
    storage_key: str
    size: int
    sha256: str
    blocks: bytes
    duration: float


def gather(pieces: Iterable[Piece], path: Path, *, storage: Storage) -> int:
    """Write the chunks one after the other to ``path``; raises Damaged before a flipped bit gets anywhere."""
    written = 0
    with path.open("wb") as file:
        for piece in pieces:
            written += file.write(read_verified(storage, piece.key, sha256=piece.sha256))
    return written


def keep(path: Path, media: Media, *, interview_id: str, duration: float, storage: Storage) -> MediaFile:
    """Store a finished file under a name that its content decides, so that a repeated job writes the same key."""
    sha256, blocks = _hashes(path)
    key = f"{prefix_of(interview_id)}/published/{media}-{sha256[:16]}.{ENDINGS[media]}"
    with path.open("rb") as file:
        stored = storage.put(key, file)
    return MediaFile(
        media=media, content_type=CONTENT_TYPES[media], storage_key=key, size=stored.size, sha256=sha256, blocks=blocks,
        duration=duration,
    )  # fmt: skip


def _hashes(path: Path) -> tuple[str, bytes]:
    whole, blocks = hashlib.sha256(), bytearray()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            whole.update(block)
            blocks += hashlib.sha256(block).digest()
    return whole.hexdigest(), bytes(blocks)
