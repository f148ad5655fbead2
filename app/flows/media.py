"""Logo and intro video of a flow: fetched from the customer's address or uploaded, checked by content, stored.

This is slow, so it runs before the first write and outside any transaction. A file that cannot be used is Rejected with
the field's name and the reason. Downloads and uploads are in unnamed temporary files, so nothing is left behind.
"""

import io
import json
import logging
import shutil
import subprocess
import sys
import threading
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO

from app.core.errors import GatewayError, NotFound, Rejected
from app.gateways.outbound import FetchLimits, Unreachable
from app.gateways.storage import Storage

if TYPE_CHECKING:
    from PIL.Image import Image

    from app.gateways.outbound import Outbound

log = logging.getLogger(__name__)

LOGO_LIMITS = FetchLimits(max_bytes=2 * 1024 * 1024, seconds=10)
LOGO_PIXELS = 4_096
SHOWN_PIXELS = 1_024
"""Largest width and height of a stored logo."""
VIDEO_LIMITS = FetchLimits(max_bytes=100_000_000, seconds=60, min_rate=64 * 1024)
PROBE_SECONDS = 20
PLACE_SECONDS = 15
AT_ONCE = 4
"""Videos that one process fetches at the same time, so that slow hosts cannot occupy all its threads."""

_PROBE = Path(__file__).with_name("probe.py")
_MP4, _QUICKTIME, _WEBM = "video/mp4", "video/quicktime", "video/webm"
_ENDINGS = {_MP4: "mp4", _QUICKTIME: "mov", _WEBM: "webm"}
_DEMUXERS = {_MP4: "mov", _QUICKTIME: "mov", _WEBM: "matroska"}
_OLD_QUICKTIME = {b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"}
_places = threading.BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True, slots=True)
class StoredMedia:
    """Storage keys of the fetched files; None where nothing was. ``video_type`` is detected from the content."""

    logo_key: str | None = None
    video_key: str | None = None
    video_type: str | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where logo and video come from: an address to fetch, or an uploaded file, which wins."""

    logo_url: str | None = None
    video_url: str | None = None
    logo_file: BinaryIO | None = None
    video_file: BinaryIO | None = None


@contextmanager
def stored(wanted: Wanted, *, http: "Outbound", storage: Storage) -> Iterator[StoredMedia]:
    """Fetch or take, check and store the named files for the block that writes the row.

    If the block or the second file fails, the stored files are deleted again. Raises Rejected(field=…) for a file that
    cannot be used and GatewayError when our own storage fails.
    """
    stored: list[str] = []
    try:
        logo_key = _logo(wanted, http, storage, stored=stored)
        video_key, video_type = _video(wanted, http, storage, stored=stored)
        yield StoredMedia(logo_key, video_key, video_type)
    except BaseException:
        discard(stored, storage=storage)
        raise


def _logo(wanted: Wanted, http: "Outbound", storage: Storage, *, stored: list[str]) -> str | None:
    if wanted.logo_file is not None:
        with _uploaded(wanted.logo_file, LOGO_LIMITS, "The logo", field="logo_file") as file:
            return _keep_logo(file, storage, stored=stored)
    if not wanted.logo_url:
        return None
    with _fetched(wanted.logo_url, http, LOGO_LIMITS, unusable=_unusable_logo) as file:
        return _keep_logo(file, storage, stored=stored)


def _video(
    wanted: Wanted, http: "Outbound", storage: Storage, *, stored: list[str]
) -> tuple[str, str] | tuple[None, None]:
    if wanted.video_file is None and not wanted.video_url:
        return None, None
    if not _places.acquire(timeout=PLACE_SECONDS):
        raise GatewayError("Too many intro videos are being checked right now.", retryable=True)
    try:
        if wanted.video_file is not None:
            with _uploaded(wanted.video_file, VIDEO_LIMITS, "The intro video", field="video_file") as file:
                return _keep_video(file, storage, stored=stored)
        with _fetched(wanted.video_url or "", http, VIDEO_LIMITS, unusable=_unusable_video) as file:
            return _keep_video(file, storage, stored=stored)
    finally:
        _places.release()


@contextmanager
def copied(source: StoredMedia, *, storage: Storage) -> Iterator[StoredMedia]:
    """Copy the files that ``source`` names to new keys for the block that writes the row.

    A missing file is left out. If the block fails, the copies are deleted again. Raises GatewayError.
    """
    stored: list[str] = []
    try:
        logo_key = _copy(source.logo_key, storage, stored=stored)
        video_key = _copy(source.video_key, storage, stored=stored)
        yield StoredMedia(logo_key, video_key, source.video_type if video_key else None)
    except BaseException:
        discard(stored, storage=storage)
        raise


def _copy(key: str | None, storage: Storage, *, stored: list[str]) -> str | None:
    if key is None:
        return None
    copy = f"flow-media/{uuid.uuid4()}.{key.rsplit('.', 1)[-1]}"
    stored.append(copy)
    try:
        storage.put(copy, storage.open(key, 0, storage.size(key)))
    except NotFound:
        log.warning("media: %s is missing and was not copied", key)
        return None
    return copy


def discard(keys: list[str], *, storage: Storage) -> None:
    """Delete files that no row references any more. Failures are logged and ignored."""
    for key in keys:
        try:
            storage.delete(key)
        except GatewayError as error:
            log.warning("media: %s was not deleted: %s", key, error)


def _keep_logo(file: BinaryIO, storage: Storage, *, stored: list[str]) -> str:
    image, ending = read_logo(file)
    key = f"flow-media/{uuid.uuid4()}.{ending}"
    stored.append(key)
    storage.put(key, image)
    return key


def _keep_video(file: BinaryIO, storage: Storage, *, stored: list[str]) -> tuple[str, str]:
    content_type = video_type(file)
    key = f"flow-media/{uuid.uuid4()}.{_ENDINGS[content_type]}"
    stored.append(key)
    file.seek(0)
    storage.put(key, file)
    return key, content_type


@contextmanager
def _uploaded(sent: BinaryIO, limits: FetchLimits, what: str, *, field: str) -> Iterator[BinaryIO]:
    """The uploaded file, on which a refusal is blamed. A small one is in memory, so it moves into a real file."""
    size = sent.seek(0, SEEK_END)
    if size > limits.max_bytes:
        most = "2 MiB" if limits is LOGO_LIMITS else "100 MB"
        raise Rejected(f"{what} is larger than {most}. Make the file smaller and upload it again.", field=field)
    sent.seek(0)
    try:
        with TemporaryFile() as file:
            shutil.copyfileobj(sent, file, 1024 * 1024)
            file.flush()
            yield file
    except Rejected as refusal:
        raise Rejected(refusal.message, field=field) from refusal
    except OSError as failure:
        raise GatewayError("There is no space for the file on this server.", retryable=True) from failure


@contextmanager
def _fetched(
    url: str, http: "Outbound", limits: FetchLimits, *, unusable: Callable[[str], Rejected]
) -> Iterator[BinaryIO]:
    """The file at ``url`` in an unnamed temporary file, which disappears with the block."""
    with TemporaryFile() as file:
        try:
            http.fetch(url, file, limits=limits)
            file.flush()
        except Unreachable as failure:
            raise unusable(failure.message) from failure
        except OSError as failure:
            raise GatewayError("There is no space for the file on this server.", retryable=True) from failure
        yield file


def read_logo(file: BinaryIO) -> tuple[bytes, str]:
    """The image, encoded again so that only pixels remain, and ``png`` or ``jpg``. Raises Rejected."""
    from PIL import Image  # loaded with the first logo

    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Pillow warns of bombs before it raises
        try:
            with Image.open(file, formats=["PNG", "JPEG", "WEBP"]) as picture:
                size = picture.size
                if max(size) <= LOGO_PIXELS:
                    return _encoded(picture)
        except Exception as error:  # a hostile picture may fail in any way
            raise _unusable_logo("it is not a readable PNG, JPEG or WebP image") from error
    raise _unusable_logo(f"it has {size[0]} × {size[1]} pixels, but the limit is {LOGO_PIXELS} in each direction")


def _encoded(picture: "Image") -> tuple[bytes, str]:
    from PIL import ImageOps

    is_photo = picture.format == "JPEG"
    shown = ImageOps.exif_transpose(picture).convert("RGB" if is_photo else "RGBA")
    shown.thumbnail((SHOWN_PIXELS, SHOWN_PIXELS))
    shown.info.clear()
    written = io.BytesIO()
    if is_photo:
        shown.save(written, "JPEG", quality=90)
    else:
        shown.save(written, "PNG")
    return written.getvalue(), "jpg" if is_photo else "png"


def video_type(file: BinaryIO) -> str:
    """The video's type by its first bytes, confirmed by FFmpeg in a separate process. Raises Rejected."""
    file.seek(0)
    content_type = _by_magic(file.read(4_096))
    if content_type is None or not _is_confirmed(file, _DEMUXERS[content_type]):
        raise _unusable_video("it is not a readable MP4, QuickTime or WebM video")
    return content_type


def _by_magic(head: bytes) -> str | None:
    if head[4:8] == b"ftyp":
        return _QUICKTIME if head[8:12] == b"qt  " else _MP4
    if head[:4] == b"\x1a\x45\xdf\xa3":
        return _WEBM if b"\x42\x82\x84webm" in head[:64] else None
    return _QUICKTIME if head[4:8] in _OLD_QUICKTIME else None


def _is_confirmed(file: BinaryIO, demuxer: str) -> bool:
    file.flush()
    file.seek(0)
    try:
        done = subprocess.run(  # noqa: S603 - our own script, a fixed word, and the file as input
            [sys.executable, "-I", str(_PROBE), demuxer],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PROBE_SECONDS,
            check=True,
            env={},
        )
        return bool(json.loads(done.stdout)["width"])
    except (subprocess.SubprocessError, ValueError, KeyError):
        return False


def _unusable_logo(reason: str) -> Rejected:
    return Rejected(f"The logo cannot be used: {reason}.", field="company_logo_url")


def _unusable_video(reason: str) -> Rejected:
    return Rejected(f"The intro video cannot be used: {reason}.", field="preamble_video_url")
