"""The list as CSV (RFC 4180, UTF-8 with a byte order mark for spreadsheets), in pieces."""

from collections.abc import Generator, Sequence

from flask import Flask

from app.accounts.models import TeamMember
from app.candidates.models import Candidate, DecisionRecord
from app.candidates.queries import candidates_named, decisions_on, records_named
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
    "decision",
    "decision_reason",
    "decided",
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
            decided = decisions_on(candidates)
            lines = "".join(_line(candidates[one], decided.get(one)) for one in part if one in candidates)
            db.session.expunge_all()
            db.session.rollback()
        yield lines.encode()


DECISION_COLUMNS = (
    "id",
    "candidate_id",
    "pseudonym",
    "flow",
    "previous_status",
    "status",
    "meaning",
    "decided",
    "by",
    "source",
    "reason_code",
    "reason",
    "criteria_version",
    "score_version",
    "own_rating",
    "withdrawn",
    "withdrawn_by",
)


def decisions_as_csv(app: Flask, ids: Sequence[str], *, organization_id: str) -> Generator[bytes, None, None]:
    """All records with these ids in their order, as bytes, piece by piece as above. Erased candidates have only a
    pseudonym.
    """
    yield (BEGINNING + line(DECISION_COLUMNS)).encode()
    for first in range(0, len(ids), PIECE):
        part = ids[first : first + PIECE]
        with app.app_context(), reading(), row_security.only(organization_id):
            lines = "".join(_decision_line(one) for one in records_named(organization_id, part))
            db.session.expunge_all()
            db.session.rollback()
        yield lines.encode()


def _decision_line(record: DecisionRecord) -> str:
    return line(
        [
            record.id,
            record.candidate_id,
            record.pseudonym,
            record.flow.title,
            record.previous,
            record.status,
            record.meaning,
            clock.rfc3339(record.at),
            record.by.email if record.by else record.decided_by,
            record.source,
            record.reason_code,
            record.reason,
            record.criteria_version,
            record.score_version,
            record.own_rating,
            clock.rfc3339(record.withdrawn_at) if record.withdrawn_at else None,
            record.withdrawn_by.email if record.withdrawn_by else None,
        ]
    )


def _line(candidate: Candidate, decision: DecisionRecord | None) -> str:
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
            decision.meaning if decision else None,
            decision.reason if decision else None,
            clock.rfc3339(decision.at) if decision else None,
        ]
    )
