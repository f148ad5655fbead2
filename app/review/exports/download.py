"""Builds the files of an export from the values that were read before."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from flask import current_app, render_template

from app.core.errors import GatewayError
from app.interviews.archive import Part, captions
from app.review.exports.sheet import as_csv

log = logging.getLogger(__name__)

STYLES = ("tokens", "report")


def as_json(export: Mapping[str, Any]) -> bytes:
    """Indented JSON, with times as in ``/v1``."""
    option = orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(export, option=option)


def has_captions(export: Mapping[str, Any]) -> bool:
    """Whether any segment has word times."""
    return any(one["words"] for one in export["transcript"])


def as_vtt(export: Mapping[str, Any]) -> str:
    """Captions with both speakers as voices."""
    segments = [
        {"role": one["role"], "shown": [(word["word"], word["start"], word["end"]) for word in one["words"]]}
        for one in export["transcript"]
    ]
    return captions(segments, agent="Agent", candidate="Candidate")


def as_pdf(export: Mapping[str, Any]) -> bytes:
    """The report as a PDF. Slow; raises GatewayError with a sentence for the member."""
    from app.review.exports.pdf import pdf_of  # few processes write a PDF

    return pdf_of(render_template("review/exports/_report.html", report=export))


def as_document(export: Mapping[str, Any]) -> str:
    """The report as one self-contained file that loads and runs nothing."""
    root = Path(current_app.static_folder or "") / "css"
    styles = "\n".join((root / f"{name}.css").read_text(encoding="utf-8") for name in STYLES)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>Interview report</title>\n'
        f"<style>\n{styles}</style>\n</head>\n<body>\n<main>\n"
        f"{render_template('review/exports/_report.html', report=export)}\n</main>\n</body>\n</html>\n"
    )


def _pdf_part(export: Mapping[str, Any]) -> Part:
    """The PDF, or a text that says why there is none: nothing is left out of an archive silently."""
    try:
        return Part("report.pdf", as_pdf(export))
    except GatewayError as error:
        log.warning("interview %s: no PDF in the archive", export["interview"]["id"])
        return Part(
            "report.pdf is missing.txt",
            f"{error.message} The archive contains the same report as report.html.\n".encode(),
        )


def parts_of(export: Mapping[str, Any], files: Sequence[Part]) -> list[Part]:
    """All files of the archive."""
    parts = [
        Part("report.html", as_document(export).encode()),
        _pdf_part(export),
        Part("interview.json", as_json(export)),
        Part("transcript.csv", "".join(as_csv(export)).encode()),
    ]
    if has_captions(export):
        parts.append(Part("captions.vtt", as_vtt(export).encode()))
    return [*parts, *files]
