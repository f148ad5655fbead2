"""Reads a list of people as spreadsheets save it. Pure."""

import csv
import io
import re
from dataclasses import dataclass

from app.core.errors import Rejected

MOST_ROWS = 1_000
MOST_BYTES = 256 * 1024
LONGEST_CELL = 1_000
_HEADS = {
    "email": {"email", "e-mail", "mail", "email address", "e-mail address", "interviewee_email_address", "address"},
    "first_name": {
        *("first name", "firstname", "first", "given name", "interviewee_first_name", "first_name"),
        *("name", "full name", "candidate"),
    },
    "last_name": {"last name", "lastname", "last", "surname", "family name", "interviewee_last_name", "last_name"},
}
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Line:
    """One person of the list. ``number`` is the line number in the input, from 1."""

    number: int
    email: str
    first_name: str | None = None
    last_name: str | None = None


def decoded(content: bytes) -> str:
    """The text of a file as spreadsheets write it: UTF-8, UTF-16 with a BOM, or Windows-1252. Raises Rejected."""
    if len(content) > MOST_BYTES:
        raise Rejected("The file is larger than 256 KiB. Split it into smaller files.", field="file")
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return _text(content, "utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _text(content, "cp1252")


def _text(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        raise Rejected("This file is not a text file. Save the list as CSV (UTF-8).", field="file") from None


def lines_of(text: str) -> list[Line]:
    """The people of a list, one per line, in the order of a header row if there is one.

    Without a header row, the column of the first @ in the list has the addresses, and the other columns have first
    and last name, or the whole name if there is only one. Cells are separated by comma, semicolon or tab.
    Raises Rejected for an empty list and for more than 1,000 lines.
    """
    if "\0" in text:
        raise Rejected("This file is not a text file. Save the list as CSV (UTF-8).", field="rows")
    clean = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    rows = _rows(clean)
    if not rows:
        raise Rejected(
            "The list is empty. Enter one candidate per line: name and email address, in any order.", field="rows"
        )
    order = _order(rows[0][1])
    if order is None:
        order = _order_without_header([cells for _number, cells in rows])
    else:
        rows = rows[1:]
    if not rows:
        raise Rejected("The list has a header row, but no one is listed below it.", field="rows")
    if len(rows) > MOST_ROWS:
        raise Rejected(
            f"The list has {len(rows):,} lines. You can invite at most {MOST_ROWS:,} candidates at once.", field="rows"
        )
    return [_line(number, cells, order) for number, cells in rows]


def written(lines: list[Line]) -> str:
    """The people as CSV that ``lines_of`` reads."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("email", "first name", "last name"))
    writer.writerows((line.email, line.first_name or "", line.last_name or "") for line in lines)
    return out.getvalue()


def _rows(text: str) -> list[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text), delimiter=_delimiter(text), skipinitialspace=True)
    try:
        return [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error:
        raise Rejected(
            f"Line {reader.line_num + 1} cannot be read. Is a quotation mark missing?", field="rows"
        ) from None


def _delimiter(text: str) -> str:
    first = next((line for line in text.split("\n") if line.strip()), "")
    return max(",;\t", key=first.count)


def _order(cells: list[str]) -> dict[str, int] | None:
    """The columns' positions, if this line is a header row."""
    words = [_SPACES.sub(" ", cell.strip().lower()) for cell in cells]
    positions = {key: words.index(word) for key, names in _HEADS.items() for word in words if word in names}
    return positions if "email" in positions else None


def _order_without_header(rows: list[list[str]]) -> dict[str, int]:
    """The columns' positions by where the list has its first address; the first column if it has none."""
    email = next((at for cells in rows for at, cell in enumerate(cells) if "@" in cell), 0)
    first, last = [at for at in range(3) if at != email][:2]
    return {"email": email, "first_name": first, "last_name": last}


def _line(number: int, cells: list[str], order: dict[str, int]) -> Line:
    def cell(key: str) -> str:
        at = order.get(key)
        value = cells[at] if at is not None and at < len(cells) else ""
        return _SPACES.sub(" ", value.strip())[:LONGEST_CELL]

    return Line(number, cell("email"), cell("first_name") or None, cell("last_name") or None)
