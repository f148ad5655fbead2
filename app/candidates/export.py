"""The list as CSV (RFC 4180, UTF-8 with a byte order mark for spreadsheets), in pieces."""

from collections.abc import Generator, Sequence

from flask import Flask

from app.accounts.models import TeamMember
from app.candidates.models import Candidate
from app.candidates.queries import candidates_named
from app.core import clock
from app.core.db import db, reading, row_security
from app.flows.models import Right
from app.web.csv import BEGINNING, line

PIECE = 500
COLUMNS = (
    "id",
    "name",
    "email",
    "flow",
    "status",
    "score",
    "tags",
    "recruiter",
    "added",
    "interviewed",
    "reviewed",
)


def as_csv(app: Flask, ids: Sequence[str], *, member_id: str, organization_id: str) -> Generator[bytes, None, None]:
    """Header and rows in the order of ``ids``, as bytes.

    Each piece is read in its own context, so that a slow reader holds no connection, and contains only candidates
    that the member may still change.
    """
    yield (BEGINNING + line(COLUMNS)).encode()
    for first in range(0, len(ids), PIECE):
        part = ids[first : first + PIECE]
        with app.app_context(), reading(), row_security.only(organization_id):
            candidates = candidates_named(db.session.get_one(TeamMember, member_id), part, Right.EDIT)
            lines = "".join(_line(candidates[one]) for one in part if one in candidates)
            db.session.expunge_all()
            db.session.rollback()
        yield lines.encode()


def _line(candidate: Candidate) -> str:
    recruiter = candidate.assigned_recruiter
    times = (candidate.created_at, candidate.interviewed_at, candidate.reviewed_at)
    return line(
        [
            candidate.id,
            candidate.full_name,
            candidate.email,
            candidate.flow.title,
            candidate.status,
            candidate.score,
            ", ".join(tag.name for tag in candidate.tags),
            (recruiter.full_name or recruiter.email) if recruiter else None,
            *(clock.rfc3339(at) if at else None for at in times),
        ]
    )
