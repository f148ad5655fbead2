"""Inter, the font of members' pages: a subset of the installed package's file, made once and served from here.

The package has the whole typeface (880 kB). ``make_subset`` keeps Latin and Latin Extended with the weights that the
style sheets name, as WOFF2 (https://www.w3.org/TR/WOFF2/): 47 kB. Pages without it use the font of the reader's system.
"""

import io
import os
import sys
import tempfile
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from flask import Blueprint, Flask, Response, request, url_for

from app.core.errors import NotFound

files = Blueprint("font", __name__)

KEPT_SECONDS = 365 * 86_400
_VERSION = 12

WEIGHTS = (400, 600)
OPTICAL_SIZE = 14
"""Points: the smaller of Inter's two cuts, which is drawn for the interface."""
FEATURES = ("ccmp", "kern", "locl", "mark", "mkmk", "tnum")
"""Compositions, kerning, local forms, placed accents, and figures of one width for tables."""
LETTERS = (
    *range(0x20, 0x250),  # Latin, Latin-1, Extended-A and -B
    *range(0x1E00, 0x1F00),  # Extended Additional, with Vietnamese
    *range(0x2000, 0x203B),  # dashes, quotes, spaces
    *(0x20AC, 0x2122, 0x2190, 0x2191, 0x2192, 0x2193, 0x2212, 0x2260, 0x2264, 0x2265, 0x2713),
)


def register(app: Flask) -> None:
    """Serve the subset, and tell templates its URLs."""
    app.register_blueprint(files)
    app.jinja_env.globals.update(font_urls=urls)


def place() -> Path:
    """Where the subset is or belongs: in the environment that Parley is installed in, shared by its processes."""
    return Path(sys.prefix, "share", "parley", "inter.woff2")


def make_subset() -> Path:
    """Write the subset, replacing an older one, and return its path: two seconds and 60 MB of memory.

    Raises OSError if the environment cannot be written, ImportError without fontTools, brotli or the font's package.
    """
    from fontTools import subset
    from fontTools.ttLib import TTFont
    from fontTools.varLib import instancer

    package = find_spec("fontpkg_inter")
    if package is None or package.origin is None:
        raise ImportError("the package fontpkg-inter is not installed")
    font = TTFont(Path(package.origin).parent / "files" / "Inter[opsz,wght].ttf")
    subsetter = subset.Subsetter(subset.Options(layout_features=list(FEATURES), hinting=False, name_IDs=[0, 13, 14]))
    subsetter.populate(unicodes=LETTERS)
    subsetter.subset(font)
    instancer.instantiateVariableFont(font, {"opsz": OPTICAL_SIZE, "wght": WEIGHTS}, inplace=True)
    font.flavor = "woff2"
    font.save(content := io.BytesIO())
    path = place()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content.getvalue())
    Path(file.name).chmod(0o644)
    os.replace(file.name, path)  # noqa: PTH105 - atomic, because several processes may write it
    return path


def urls() -> tuple[str, str] | None:
    """URLs of the style that names the subset and of the subset; None without it. They change with its bytes."""
    content = _content()
    if content is None:
        return None
    version = _version_of(content)
    return url_for("font.style", version=version), url_for("font.subset_file", version=version)


@files.get("/font/inter-<version>.css")
def style(version: str) -> Response:
    """The rule that names the file beside it."""
    _found(version)
    rule = (
        f"@font-face{{font-family:Inter;font-weight:{WEIGHTS[0]} {WEIGHTS[1]};font-display:swap;"
        f'src:url("inter-{version}.woff2") format("woff2")}}'
    )
    return _kept(rule.encode(), "text/css", version)


@files.get("/font/inter-<version>.woff2")
def subset_file(version: str) -> Response:
    """The subset: a public file of a public package, so no guard is needed."""
    return _kept(_found(version), "font/woff2", version)


def _found(version: str) -> bytes:
    content = _content()
    if content is None or version != _version_of(content):
        raise NotFound("There is no such file here.")
    return content


def _content() -> bytes | None:
    """Asked on every page until it is there: the first start makes it while pages are served."""
    try:
        return _read(path := place(), path.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=1)
def _read(path: Path, _changed: int) -> bytes:
    return path.read_bytes()


@lru_cache(maxsize=1)
def _version_of(content: bytes) -> str:
    return sha256(content).hexdigest()[:_VERSION]


def _kept(content: bytes, mimetype: str, version: str) -> Response:
    response = Response(content, mimetype=mimetype)
    response.set_etag(version)
    response.cache_control.public = True
    response.cache_control.max_age = KEPT_SECONDS
    response.cache_control.immutable = True
    response.make_conditional(request)
    return response


if __name__ == "__main__":
    make_subset()
