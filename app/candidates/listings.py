"""What ``/v1`` reads of candidates: pages of them, one, and the pipeline, as it shows them."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from app.accounts.key_scope import within
from app.accounts.models import Organization, Owner
from app.candidates.models import DEFAULT_MEANINGS, Candidate, Meaning
from app.candidates.pipeline import unknown
from app.candidates.queries import columns_of, statuses_of
from app.candidates.reasons import reasons_for
from app.core import clock
from app.core.db import db, is_id, unseen
from app.core.errors import Forbidden, NotFound
from app.web.cursors import cursor, place_in

MISSING = "There is no candidate with this id."
FOREIGN = "This candidate belongs to another organization."


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which candidates; None means all. Candidates of test interviews are apart."""

    flow_id: str | None = None
    team_id: str | None = None
    status: str | None = None
    email: str | None = None
    is_test: bool = False


def candidate_for(organization: Owner, candidate_id: str) -> Candidate:
    """A candidate of the organization. Raises NotFound, and Forbidden for another organization's."""
    wanted = candidate_id.lower()
    candidate = db.session.get(Candidate, wanted) if is_id(wanted) else None
    if candidate is None:
        raise unseen(Candidate, wanted, NotFound(MISSING), foreign=FOREIGN)
    if candidate.organization_id != organization.id:
        raise Forbidden(FOREIGN, code="other_organization")
    return candidate


def candidates_of(
    organization: Owner, chosen: Chosen, *, limit: int, after: str | None
) -> tuple[Sequence[Candidate], str | None]:
    """One page, newest first, without those in quarantine; and the cursor of the next page, if there is one.

    Raises Rejected for a status that is not in the pipeline.
    """
    if chosen.status is not None:
        _refuse_unknown(organization, chosen.status)
    mine = [
        Candidate.organization_id == organization.id,
        Candidate.quarantined_at.is_(None),
        Candidate.is_test.is_(chosen.is_test),
    ]
    equal = {
        Candidate.flow_id: chosen.flow_id,
        Candidate.team_id: chosen.team_id,
        Candidate.status: chosen.status,
        Candidate.address: chosen.email.lower() if chosen.email else None,
    }
    mine += within(organization, team_id=Candidate.team_id, flow_id=Candidate.flow_id)
    mine += [column == value for column, value in equal.items() if value is not None]
    if after is not None:
        at, row_id = place_in(after)
        mine.append(sa.or_(Candidate.created_at < at, sa.and_(Candidate.created_at == at, Candidate.id < row_id)))
    newest = sa.select(Candidate).where(*mine).order_by(Candidate.created_at.desc(), Candidate.id.desc())
    rows = db.session.scalars(newest.limit(limit + 1)).all()
    page = rows[:limit]
    return page, cursor(page[-1].created_at, page[-1].id) if len(rows) > limit else None


def _refuse_unknown(organization: Owner, status: str) -> None:
    """A move that was under way while its status was removed can leave a candidate there: that one stays findable."""
    statuses = statuses_of(organization)
    there = sa.exists().where(Candidate.organization_id == organization.id, Candidate.status == status)
    if status not in statuses and not db.session.scalar(sa.select(there)):
        raise unknown(status, statuses)


def shown(candidates: Collection[Candidate]) -> list[dict[str, Any]]:
    """Candidates as ``/v1`` shows them."""
    interviews = _interviews([candidate.id for candidate in candidates])
    return [
        {
            "candidate_id": candidate.id,
            "team_id": candidate.team_id,
            "interview_flow_id": candidate.flow_id,
            "interviewee_email_address": candidate.email,
            "interviewee_first_name": candidate.first_name,
            "interviewee_last_name": candidate.last_name,
            "status": candidate.status,
            "assigned_recruiter_id": candidate.assigned_recruiter_id,
            "interview_ids": interviews[candidate.id],
            "created_at": clock.rfc3339(candidate.created_at),
        }
        for candidate in candidates
    ]


def _interviews(candidate_ids: Collection[str]) -> dict[str, list[str]]:
    """Interview ids by candidate, the newest first. The rows are of a room above this one."""
    rows = Candidate.interviews.property.mapper.local_table.c
    query = sa.select(rows.candidate_id, rows.id).where(rows.candidate_id.in_(candidate_ids))
    found: dict[str, list[str]] = defaultdict(list)
    for candidate_id, interview_id in db.session.execute(query.order_by(rows.org_seq.desc())):
        found[candidate_id].append(interview_id)
    return found


def statuses_shown(organization: Organization) -> list[dict[str, Any]]:
    """The pipeline in order, as ``/v1`` shows it. The six defaults have no rows: their names are their ids."""
    own = [(row.id, row.name, Meaning(row.meaning) if row.meaning else None) for row in columns_of(organization)]
    statuses = own or [(name, name, meaning) for name, meaning in DEFAULT_MEANINGS.items()]
    return [
        {
            "status_id": status_id,
            "name": name,
            "meaning": meaning.value if meaning else None,
            "position": position,
            "reason_codes": [
                {"code": reason.code, "label": reason.label} for reason in reasons_for(organization, meaning)
            ],
        }
        for position, (status_id, name, meaning) in enumerate(statuses)
    ]
