"""The list as CSV (RFC 4180, UTF-8 with a byte order mark, so that spreadsheets read it as it is)."""

import csv
import io
from collections.abc import Iterable, Iterator

from app import clock
from app.candidates.models import Candidate

COLUMNS = (
    "id", "name", "email", "flow", "status", "score", "tags", "recruiter", "added", "interviewed", "reviewed",
)  # fmt: skip
_STARTS = ("=", "+", "-", "@", "\t", "\r")


def cell(value: object) -> str:
    """Text of one cell; what a spreadsheet would run as a formula gets an apostrophe before it."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_STARTS) else text


def as_csv(candidates: Iterable[Candidate]) -> Iterator[str]:
    """Header and rows, one piece each."""
    yield "\ufeff" + _line(COLUMNS)
    for one in candidates:
        recruiter = one.assigned_recruiter
        times = (one.created_at, one.interviewed_at, one.reviewed_at)
        yield _line([
            one.id, one.full_name, one.email, one.flow.title, one.status, one.score,
            ", ".join(tag.name for tag in one.tags), (recruiter.full_name or recruiter.email) if recruiter else None,
            *(clock.rfc3339(at) if at else None for at in times),
        ])  # fmt: skip


def _line(values: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow([cell(value) for value in values])
    return out.getvalue()
