"""From chunks to published files: collects verified bytes, decodes them in a sandbox, stores the output.

Slow, and works on plain values without the database.
"""

import hashlib
import itertools
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from app.gateways.storage import Storage, read_verified
from app.interviews.recordings import video
from app.interviews.recordings.models import BARS, BLOCK, VOICE_CHUNK_SAMPLES, VOICE_CHUNK_SECONDS, Media
from app.interviews.recordings.queries import Piece, Take, prefix_of
from app.interviews.recordings.video import PlacedRun, RunFile, Spoken

_READERS = 8
CONTENT_TYPES = {Media.AUDIO: "audio/mp4", Media.VIDEO: "video/mp4"}
ENDINGS = {Media.AUDIO: "m4a", Media.VIDEO: "mp4"}


@dataclass(frozen=True, slots=True)
class MediaFile:
    """A stored file, ready to be published. ``duration`` in seconds; ``blocks`` as in Recording."""

    media: Media
    content_type: str
    storage_key: str
    size: int
    sha256: str
    blocks: bytes
    duration: float


@dataclass(frozen=True, slots=True)
class Finished:
    """The joined runs of an interview; ``video`` is None without a picture."""

    audio: MediaFile | None
    video: MediaFile | None
    duration: float
    runs: list[PlacedRun]


class Workshop:
    """An interview's recorder runs on a local disk, verified, during the ``with`` block.

    All methods are slow, use no database and raise GatewayError; Damaged names the chunk whose bytes have changed.
    """

    def __init__(self, interview_id: str, takes: Sequence[Take], *, storage: Storage) -> None:
        self._interview_id = interview_id
        self._takes = {take.number: take for take in takes}
        self._storage = storage
        self._runs: dict[int, RunFile] = {}
        self._room = tempfile.TemporaryDirectory(prefix="parley-recording-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._room.cleanup()

    def timeline(self) -> list[PlacedRun]:
        """Place and length of each run on the joined timeline, in seconds. Takes under a second for half an hour."""
        return video.measure(self._all())

    def shifts(self, segment: int, spans: Sequence[tuple[int, int]]) -> list[float | None]:
        """How much later the candidate's voice chunks (first, last) lie in run ``segment`` than their numbers say.

        Seconds on the run's clock, one per span; None where the recording has no clear place for it.
        """
        spoken = [self._spoken(segment, first, last) for first, last in spans]
        return video.place(self._run(segment), spoken) if spoken else []

    def quick_audio(self) -> MediaFile | None:
        """The coded sound in one seekable file, within a second or two; None when the runs' codecs differ.

        Published with the result and later replaced by the file of ``finish``, because not every player takes Opus.
        """
        copied = video.copy_sound(self._all(), directory=Path(self._room.name))
        return self._kept(copied.audio, Media.AUDIO, copied.duration)

    def finish(self, *, want_audio: bool = True, want_video: bool = False) -> Finished:
        """Join the runs and store the files to publish."""
        joined = video.assemble(
            self._all(), directory=Path(self._room.name), want_audio=want_audio, want_video=want_video
        )
        return Finished(
            audio=self._kept(joined.audio, Media.AUDIO, joined.duration),
            video=self._kept(joined.video, Media.VIDEO, joined.duration),
            duration=joined.duration,
            runs=joined.runs,
        )

    def _all(self) -> list[RunFile]:
        return [self._run(number) for number in sorted(self._takes)]

    def _run(self, number: int) -> RunFile:
        if number not in self._runs:
            path = Path(self._room.name) / f"run-{number}"
            with path.open("wb") as file:
                for content in _verified(self._takes[number].mix, self._storage):
                    file.write(content)
            self._runs[number] = RunFile(number=number, path=path)
        return self._runs[number]

    def _spoken(self, segment: int, first: int, last: int) -> Spoken:
        path = Path(self._room.name) / f"voice-{segment}-{first}-{last}"
        if not path.exists():
            wanted = {piece.number: piece for piece in self._takes[segment].voice if first <= piece.number <= last}
            contents = dict(zip(wanted, _verified(wanted.values(), self._storage), strict=True))
            silence = bytes(VOICE_CHUNK_SAMPLES * 2)
            path.write_bytes(b"".join(contents.get(number, silence) for number in range(first, last + 1)))
        return Spoken(path=path, start=first * VOICE_CHUNK_SECONDS)

    def _kept(self, path: Path | None, media: Media, duration: float) -> MediaFile | None:
        if path is None:
            return None
        return keep(path, media, interview_id=self._interview_id, duration=duration, storage=self._storage)


def _verified(pieces: Iterable[Piece], storage: Storage) -> Iterator[bytes]:
    """The chunks in order, several read in parallel; raises Damaged when a hash does not match."""
    with ThreadPoolExecutor(_READERS) as readers:
        left = iter(pieces)
        while batch := list(itertools.islice(left, 4 * _READERS)):
            yield from readers.map(lambda piece: read_verified(storage, piece.key, sha256=piece.sha256), batch)


def keep(path: Path, media: Media, *, interview_id: str, duration: float, storage: Storage) -> MediaFile:
    """Store a finished file under a key that depends on its content, so that a repeated job writes the same key."""
    sha256, blocks = _hashes(path)
    key = f"{prefix_of(interview_id)}/published/{media}-{sha256[:16]}.{ENDINGS[media]}"
    with path.open("rb") as file:
        stored = storage.put(key, file)
    return MediaFile(
        media=media,
        content_type=CONTENT_TYPES[media],
        storage_key=key,
        size=stored.size,
        sha256=sha256,
        blocks=blocks,
        duration=duration,
    )


def peaks_of(key: str, *, seconds: float, storage: Storage) -> bytes:
    """Loudness of a published file in BARS bars; empty without sound. Slow; raises GatewayError and NotFound."""
    with tempfile.TemporaryDirectory(prefix="parley-waveform-") as room:
        path = Path(room) / "published"
        with path.open("wb") as file:
            for piece in storage.open(key):
                file.write(piece)
        return video.peaks(path, seconds=seconds, count=BARS)


def _hashes(path: Path) -> tuple[str, bytes]:
    whole, blocks = hashlib.sha256(), bytearray()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            whole.update(block)
            blocks += hashlib.sha256(block).digest()
    return whole.hexdigest(), bytes(blocks)
