"""CSV as RFC 4180 has it, which spreadsheets read as it is and never run."""

import csv
import io
from collections.abc import Iterable

from flask import Response

BEGINNING = "\ufeff"
"""A byte order mark: spreadsheets then take the file for UTF-8."""
_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The wide signs count as the plain ones where Japanese is written."""


def cell(value: object) -> str:
    """Text of one cell; what a spreadsheet would run as a formula gets an apostrophe before it."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_STARTS) else text


def sheet(name: str, rows: Iterable[Iterable[object]]) -> Response:
    """A short sheet as the download ``name``."""
    return Response(
        BEGINNING + "".join(line(row) for row in rows),
        mimetype="text/csv",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"},
    )


def line(values: Iterable[object]) -> str:
    """One row with its line end."""
    out = io.StringIO()
    csv.writer(out).writerow([cell(value) for value in values])
    return out.getvalue()
