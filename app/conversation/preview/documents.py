"""Documents in a preview: taken and dropped, so that the page behaves as it does for candidates."""

import math
from typing import Any

from flask import Response, jsonify, request

from app.conversation.preview.pages import current, pages
from app.conversation.protocol import schemas
from app.core.errors import NotFound, Rejected

PART_BYTES = 256 * 1024
LARGEST = 10 * 1024 * 1024
MOST = 10


@pages.post("/<preview_id>/uploads")
def begin_upload() -> tuple[Response, int]:
    """A file that will be taken and dropped."""
    preview, announced = current(), schemas.body(schemas.UploadSchema())
    if not preview.frozen.is_doc_upload_enabled or len(preview.files) >= MOST or announced["size"] > LARGEST:
        raise Rejected("This preview does not accept this file.", field="file")
    name = announced["sha256"][:32]
    preview.files[name] = {"id": name, "name": announced["name"][:255], "size": announced["size"], "whole": False}
    answer = {**announced, "id": name, "part_bytes": PART_BYTES, "parts": math.ceil(announced["size"] / PART_BYTES)}
    return jsonify({**answer, "received": [], "document": None}), 201


@pages.put("/<preview_id>/uploads/<name>/parts/<int:number>")
def put_part(name: str, number: int) -> Response:
    """A part, dropped."""
    request.max_content_length = PART_BYTES
    _file(name)
    request.stream.read()
    return jsonify({"number": number, "duplicate": False})


@pages.post("/<preview_id>/uploads/<name>/finish")
def finish_upload(name: str) -> tuple[Response, int]:
    """The name of the file stays for the rest of the preview."""
    one = _file(name)
    one["whole"] = True
    return jsonify({key: one[key] for key in ("id", "name", "size")}), 201


@pages.delete("/<preview_id>/uploads/<name>")
@pages.delete("/<preview_id>/documents/<name>")
def drop_file(name: str) -> tuple[str, int]:
    """Take it back."""
    _file(name)
    del current().files[name]
    return "", 204


@pages.post("/<preview_id>/documents")
def add_document() -> Response:
    """Pages without https send files whole; a preview does not take those."""
    raise Rejected("This is a preview: files are not stored.", field="file")


def _file(name: str) -> dict[str, Any]:
    one = current().files.get(name)
    if one is None:
        raise NotFound("There is no such document.")
    return one
