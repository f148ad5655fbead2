"""Reads of candidates and their pipeline, always with the owner."""

import re
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import Organization, Role, TeamMember
from app.accounts.queries import teams_seen_by
from app.candidates.models import DEFAULT_STATUSES, Candidate, PipelineStatus, StatusChange
from app.db import db
from app.errors import Forbidden, NotFound

Condition = sa.ColumnElement[bool]

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class CandidateFilter:
    """What a list is narrowed to; ``text`` is looked for in address and names."""

    flow_id: str = ""
    status: str = ""
    text: str = ""


def candidate_for(organization: Organization, candidate_id: str) -> Candidate:
    """The organization's candidate. Raises NotFound, or Forbidden when it is someone else's."""
    candidate = _candidate(candidate_id)
    if candidate.organization_id != organization.id:
        raise Forbidden("This candidate belongs to another organization.")
    return candidate


def candidate_seen_by(member: TeamMember, candidate_id: str) -> Candidate:
    """A candidate that the member may see: of their teams, or any of the organization for administrators."""
    candidate = _candidate(candidate_id)
    if candidate.organization_id != member.organization_id:
        raise Forbidden("This candidate belongs to another organization.")
    if member.role is not Role.ADMIN and candidate.team_id not in {team.id for team in teams_seen_by(member)}:
        raise Forbidden("This candidate belongs to a team that you are not in.")
    return candidate


def candidates_seen_by(member: TeamMember, found_by: CandidateFilter, *, limit: int, offset: int) -> list[Candidate]:
    """One page of the member's list, newest first, with flow and recruiter: no further query per row."""
    query = sa.select(Candidate).where(*_narrowed(member, found_by))
    ordered = query.order_by(Candidate.created_at.desc(), Candidate.id.desc()).limit(limit).offset(offset)
    together = ordered.options(joinedload(Candidate.flow), joinedload(Candidate.assigned_recruiter))
    return list(db.session.scalars(together))


def how_many_seen_by(member: TeamMember, found_by: CandidateFilter) -> int:
    """Length of the whole list of ``candidates_seen_by``."""
    return db.session.scalar(sa.select(sa.func.count(Candidate.id)).where(*_narrowed(member, found_by))) or 0


def statuses_of(organization: Organization) -> list[str]:
    """The pipeline's statuses in order: the organization's own, or the six defaults while it has none."""
    own = sa.select(PipelineStatus.name).where(PipelineStatus.organization_id == organization.id)
    return list(db.session.scalars(own.order_by(PipelineStatus.position))) or list(DEFAULT_STATUSES)


def status_for(organization: Organization, purpose: str) -> str:
    """What the organization calls the status that the product itself uses for ``purpose``."""
    own = sa.select(PipelineStatus.name).where(
        PipelineStatus.organization_id == organization.id, PipelineStatus.purpose == purpose
    )
    return db.session.scalar(own) or purpose


def columns_of(organization: Organization) -> list[PipelineStatus]:
    """The organization's own statuses as rows, in order; empty while it has the defaults."""
    own = sa.select(PipelineStatus).where(PipelineStatus.organization_id == organization.id)
    return list(db.session.scalars(own.order_by(PipelineStatus.position, PipelineStatus.id)))


def counts_seen_by(member: TeamMember, flow_id: str = "") -> dict[str, int]:
    """How many candidates stand in each status; statuses without any are left out."""
    narrowed = _narrowed(member, CandidateFilter(flow_id=flow_id))
    query = sa.select(Candidate.status, sa.func.count(Candidate.id)).where(*narrowed).group_by(Candidate.status)
    return {row[0]: row[1] for row in db.session.execute(query)}


def since(candidates: list[Candidate]) -> dict[str, datetime]:
    """When each of the candidates came to the status they have, by id: the last move, or the enrolment."""
    ids = [candidate.id for candidate in candidates if candidate.status_changes]
    moves = sa.select(StatusChange.candidate_id, StatusChange.at).join(
        Candidate,
        sa.and_(Candidate.id == StatusChange.candidate_id, Candidate.status_changes == StatusChange.number),
    )
    moved = {row[0]: row[1] for row in db.session.execute(moves.where(Candidate.id.in_(ids)))}
    return {candidate.id: moved.get(candidate.id, candidate.created_at) for candidate in candidates}


def history_of(candidate: Candidate) -> list[StatusChange]:
    """Every move of the candidate with who made it, newest first."""
    query = sa.select(StatusChange).where(StatusChange.candidate_id == candidate.id)
    return list(db.session.scalars(query.order_by(StatusChange.number.desc()).options(joinedload(StatusChange.by))))


def enrolled(flow_id: str, email: str) -> Candidate | None:
    """The flow's candidate with this address, in whatever letters it is written."""
    query = sa.select(Candidate).where(Candidate.flow_id == flow_id, Candidate.address == email.lower())
    return db.session.scalar(query)


def _candidate(candidate_id: str) -> Candidate:
    # What is no id at all never reaches the database: PostgreSQL stumbles over NUL in a text.
    candidate = db.session.get(Candidate, candidate_id) if _ID.fullmatch(candidate_id) else None
    if candidate is None:
        raise NotFound("There is no candidate with this id.")
    return candidate


def _narrowed(member: TeamMember, found_by: CandidateFilter) -> list[Condition]:
    conditions: list[Condition] = [Candidate.organization_id == member.organization_id]
    if member.role is not Role.ADMIN:
        conditions.append(Candidate.team_id.in_([team.id for team in teams_seen_by(member)]))
    if found_by.flow_id:
        conditions.append(Candidate.flow_id == found_by.flow_id)
    if found_by.status:
        conditions.append(Candidate.status == found_by.status)
    for word in found_by.text.split():
        places = (Candidate.email, Candidate.first_name, Candidate.last_name)
        conditions.append(sa.or_(*(place.icontains(word, autoescape=True) for place in places)))
    return conditions
