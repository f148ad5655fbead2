"""Static files and pages go out as gzip, unless that could reveal their content to another site.

An attacker who sees how long an encrypted answer is, and makes a browser ask for a page that repeats their guess,
learns from its compressed length whether the guess is elsewhere on the page (BREACH). So a page is compressed only
where the browser vouches that no other site asked for it; static files hold no secrets.
"""

import gzip
import re

from flask import Flask, Response, request

LEAST = 1_000
LEVEL = 6
KEPT = 300
"""Static files whose compressed bytes stay in memory: about all of them."""
TYPES = frozenset(
    {
        "text/html",
        "text/css",
        "text/javascript",
        "application/javascript",
        "text/plain",
        "application/json",
        "image/svg+xml",
        "application/manifest+json",
        "application/wasm",
    }
)
SCRIPTS = frozenset({"text/javascript", "application/javascript"})
COMMENTS = re.compile(rb"^[ \t]*//.*$|(?<=[;,{})\]]) // [^\n\"'`]*$", re.MULTILINE)
"""Comments, a fifth of our scripts. The lines stay, so that a browser's error still names the line of the source."""
ASKED_BY_OURSELVES = frozenset({"same-origin", "none"})


def register(app: Flask) -> None:
    """Hang it on the application."""
    app.after_request(_compress)
    app.extensions["parley.compressed"] = {}


def _compress(response: Response) -> Response:
    if request.method == "PUT" or request.path.startswith("/v1/"):
        return response  # a PUT brings a chunk: its answer is short, and no cache keeps it
    is_file = (request.endpoint or "").rpartition(".")[2] == "static"
    if response.status_code != 200 or response.mimetype not in TYPES or "Content-Encoding" in response.headers:
        return response
    if response.is_streamed and not is_file:
        return response
    response.vary.add("Accept-Encoding")
    if not is_file:
        response.vary.add("Sec-Fetch-Site")
    if request.method == "HEAD" or "Range" in request.headers or not _is_wanted(is_file=is_file):
        return response
    small = _file(response) if is_file else _page(response)
    if small is not None:
        response.set_data(small)
        response.headers["Content-Encoding"] = "gzip"
        response.headers.pop("Accept-Ranges", None)
        tag, _is_weak = response.get_etag()
        if tag is not None:
            response.set_etag(tag, weak=True)  # the same file in other bytes
    return response


def _is_wanted(*, is_file: bool) -> bool:
    if not request.accept_encodings.quality("gzip"):
        return False
    return is_file or request.headers.get("Sec-Fetch-Site") in ASKED_BY_OURSELVES


def _page(response: Response) -> bytes | None:
    whole = response.get_data()
    return gzip.compress(whole, LEVEL, mtime=0) if len(whole) >= LEAST else None


def _file(response: Response) -> bytes | None:
    """The compressed file, which is kept by its tag: that changes with the file."""
    from flask import current_app

    cache: dict[str, bytes] = current_app.extensions["parley.compressed"]
    key = f"{request.path} {response.get_etag()[0]}"
    if key not in cache:
        if (response.content_length or 0) < LEAST:
            return None
        response.direct_passthrough = False
        if len(cache) >= KEPT:
            cache.clear()
        content = response.get_data()
        if response.mimetype in SCRIPTS:
            content = COMMENTS.sub(b"", content)
        cache[key] = gzip.compress(content, LEVEL, mtime=0)
    elif close := getattr(response.response, "close", None):
        close()  # the opened file, which no one reads
    response.direct_passthrough = False
    return cache[key]
