"""The files of a flow that candidates see."""

from collections.abc import Callable

from flask import Response, request

from app import gateways
from app.core import colors
from app.core.errors import NotFound
from app.flows import accent
from app.flows.pages.flows import pages
from app.flows.queries import open_flow
from app.mail_outbox import html_part

FILE_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "webm": "video/webm",
}


@pages.get("/flows/<flow_id>/logo")
def logo(flow_id: str) -> Response:
    """The logo that candidates and recruiters see. Mail shows it too, so pages of other sites may."""
    response = stored_file(open_flow(flow_id).shown_logo_key)
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


@pages.get("/flows/<flow_id>/intro-video")
def intro_video(flow_id: str) -> Response:
    """The video shown before the interview. Players request byte ranges of it."""
    return stored_file(open_flow(flow_id).preamble_video_key)


@pages.get("/accent/<color>.css")
def accent_styles(color: str) -> Response:
    """The style sheet of an accent color. It depends on nothing else, so browsers may keep it."""
    return _style_sheet(color, accent.style_sheet)


@pages.get("/accent/mail/<color>.css")
def mail_accent_styles(color: str) -> Response:
    """What the color changes in a sample of an email."""
    return _style_sheet(color, html_part.accent_styles)


def _style_sheet(color: str, of: Callable[[str], str]) -> Response:
    found = colors.read(color)
    if found != f"#{color}" or not colors.is_readable(found):
        raise NotFound("There is no such style sheet.")
    response = Response(of(found), mimetype="text/css")
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response


def stored_file(key: str | None) -> Response:
    """A stored file, whole or one byte range of it. 416 for a range beyond its end."""
    if key is None:
        raise NotFound("This flow has no such file.")
    storage = gateways.current().storage
    size = storage.size(key)
    # One byte range is supported. For any other request the standard allows answering with the whole file.
    ranges = request.range if request.range and request.range.units == "bytes" else None
    is_one = ranges is not None and len(ranges.ranges) == 1
    wanted = ranges.range_for_length(size) if ranges and is_one else None
    if is_one and wanted is None:
        return Response(status=416, headers={"Content-Range": f"bytes */{size}"})
    start, end = wanted or (0, size)
    response = Response(storage.open(key, start, end), 206 if wanted else 200)
    response.content_type = FILE_TYPES[key.rsplit(".", 1)[-1]]
    response.content_length = end - start
    response.headers.update(
        {
            "Accept-Ranges": "bytes",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, max-age=300",
            "Content-Disposition": "inline",
            "Content-Security-Policy": "default-src 'none'; sandbox",
        }
    )
    if wanted:
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return response
