"""The list as CSV (RFC 4180, UTF-8 with a byte order mark, so that spreadsheets read it as it is)."""

from collections.abc import Iterable, Iterator

from app import clock
from app.candidates.models import Candidate
from app.web.sheets import BEGINNING, line

COLUMNS = (
    "id", "name", "email", "flow", "status", "score", "tags", "recruiter", "added", "interviewed", "reviewed",
)  # fmt: skip


def as_csv(candidates: Iterable[Candidate]) -> Iterator[str]:
    """Header and rows, one piece each."""
    yield BEGINNING + line(COLUMNS)
    for one in candidates:
        recruiter = one.assigned_recruiter
        times = (one.created_at, one.interviewed_at, one.reviewed_at)
        yield line([
            one.id, one.full_name, one.email, one.flow.title, one.status, one.score,
            ", ".join(tag.name for tag in one.tags), (recruiter.full_name or recruiter.email) if recruiter else None,
            *(clock.rfc3339(at) if at else None for at in times),
        ])  # fmt: skip
