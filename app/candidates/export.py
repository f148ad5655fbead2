"""The list as CSV (RFC 4180, UTF-8 with a byte order mark for spreadsheets), in pieces."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Flask

from app.accounts.models import TeamMember
from app.candidates.models import Candidate, DecisionRecord
from app.candidates.queries import candidates_named, decisions_on, records_named
from app.core import clock
from app.core.db import db, reading, row_security
from app.core.rooms import rate_first, scores
from app.flows.criteria import Criterion
from app.flows.models import Right
from app.web.csv import BEGINNING, line

PIECE = 500
COLUMNS = (
    "id",
    "name",
    "email",
    "phone",
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


HIDDEN = "Rate first"
"""In place of a score that the member does not see until they have rated the result."""


@dataclass(frozen=True, slots=True)
class Reader:
    """The member whose file it is, as plain values, and whether their lists show all scores."""

    member_id: str
    organization_id: str
    shows_scores: bool = False


def as_csv(
    app: Flask, ids: Sequence[str], reader: Reader, *, criteria: Sequence[Criterion] = ()
) -> Generator[bytes, None, None]:
    """Header and rows in the order of ``ids``, as bytes, with a column for each of the ``criteria``: 0 to 5.

    Each piece is read in its own context, so that a slow reader holds no connection, and contains only candidates
    that the member may still change.
    """
    yield (BEGINNING + line([*COLUMNS, *(f"criterion: {one.name}" for one in criteria)])).encode()
    for first in range(0, len(ids), PIECE):
        part = ids[first : first + PIECE]
        with app.app_context(), reading(), row_security.only(reader.organization_id):
            member = db.session.get_one(TeamMember, reader.member_id)
            candidates = candidates_named(member, part, Right.EDIT)
            decided = decisions_on(candidates)
            hidden = frozenset() if reader.shows_scores else rate_first().hidden_candidates(member, candidates.values())
            scored = scores().scores_in_force(part) if criteria else {}
            lines = "".join(
                line(
                    _cells(
                        candidates[one],
                        decided.get(one),
                        scored.get(one, {}),
                        criteria=criteria,
                        is_hidden=one in hidden,
                    )
                )
                for one in part
                if one in candidates
            )
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


def _cells(
    candidate: Candidate,
    decision: DecisionRecord | None,
    own: Mapping[str, float | None],
    *,
    criteria: Sequence[Criterion],
    is_hidden: bool,
) -> list[Any]:
    recruiter = candidate.assigned_recruiter
    times = (candidate.created_at, candidate.interviewed_at, candidate.reviewed_at)
    return [
        candidate.id,
        candidate.full_name,
        candidate.email,
        candidate.phone,
        candidate.flow.title,
        candidate.status,
        HIDDEN if is_hidden else candidate.score,
        ", ".join(tag.name for tag in candidate.tags),
        (recruiter.full_name or recruiter.email) if recruiter else None,
        *(clock.rfc3339(at) if at else None for at in times),
        decision.meaning if decision else None,
        decision.reason if decision else None,
        clock.rfc3339(decision.at) if decision else None,
        *(HIDDEN if is_hidden else own.get(criterion.key) for criterion in criteria),
    ]
