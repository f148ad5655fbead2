"""Reads of access and access requests, limited to what the member may know."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import Role, TeamMember
from app.candidates.models import Candidate
from app.core import clock
from app.core.db import db, is_id
from app.core.errors import NotFound
from app.flows.models import FlowGrant, InterviewFlow, Right
from app.flows.queries import reach, who_may
from app.interviews.models import Interview
from app.review.flow_access.models import AccessRequest, RequestState

TOLD_FOR = timedelta(days=30)
"""How long answers to a request are shown."""
MOST = 200
KINDS: dict[str, Any] = {"flow": InterviewFlow, "interview": Interview, "candidate": Candidate}
"""Pages whose address can be used to request access."""


def flow_behind(member: TeamMember, kind: str, thing_id: str) -> InterviewFlow | None:
    """The flow of the thing with this id in the member's organization; None if there is none."""
    thing = db.session.get(KINDS[kind], thing_id) if kind in KINDS and is_id(thing_id) else None
    if thing is None or thing.organization_id != member.organization_id:
        return None
    flow: InterviewFlow = thing if isinstance(thing, InterviewFlow) else thing.flow
    return flow


def grantable(flow: InterviewFlow) -> Sequence[TeamMember]:
    """Members who can be granted access: those who can sign in, except administrators, who see every flow."""
    query = sa.select(TeamMember).where(
        TeamMember.organization_id == flow.organization_id,
        TeamMember.disabled_at.is_(None),
        TeamMember.role != Role.ADMIN,
    )
    return db.session.scalars(query.order_by(TeamMember.full_name, TeamMember.email)).all()


def colleague(member: TeamMember, member_id: str) -> TeamMember:
    """The member of the same organization with this id, disabled ones included; NotFound otherwise."""
    row = db.session.get(TeamMember, member_id) if is_id(member_id) else None
    if row is None or row.organization_id != member.organization_id:
        raise NotFound("There is no such member in your organization.")
    return row


def grant_of(flow_id: str, member_id: str) -> FlowGrant | None:
    """The member's own access to the flow."""
    return db.session.get(FlowGrant, (flow_id, member_id))


def deciders_of(flow: InterviewFlow, *, limit: int) -> Sequence[TeamMember]:
    """Members who can answer requests for the flow, administrators last."""
    query = sa.select(TeamMember).where(*who_may(flow, Right.EDIT))
    nearness = sa.case((TeamMember.role == Role.ADMIN, 1), else_=0)
    return db.session.scalars(query.order_by(nearness, TeamMember.email).limit(limit)).all()


def open_request(flow: InterviewFlow, member: TeamMember) -> AccessRequest | None:
    """The member's open request."""
    query = sa.select(AccessRequest).where(
        AccessRequest.flow_id == flow.id, AccessRequest.member_id == member.id, AccessRequest.state == RequestState.OPEN
    )
    return db.session.scalar(query)


def waiting_for(member: TeamMember, *, flow_id: str = "") -> Sequence[AccessRequest]:
    """Open requests that the member can answer, the oldest first, with flow and requester; of one flow or of all."""
    query = sa.select(AccessRequest).where(*_open_for(member))
    if flow_id:
        query = query.where(AccessRequest.flow_id == flow_id)
    together = joinedload(AccessRequest.flow).joinedload(InterviewFlow.team), joinedload(AccessRequest.member)
    ordered = query.order_by(AccessRequest.created_at, AccessRequest.id)
    return db.session.scalars(ordered.options(*together).limit(MOST)).all()


def how_many_wait_for(member: TeamMember) -> tuple[int, datetime | None]:
    """How many requests are in ``waiting_for``, and when the oldest was made."""
    counted = sa.select(sa.func.count(AccessRequest.id), sa.func.min(AccessRequest.created_at))
    count, oldest = db.session.execute(counted.where(*_open_for(member))).one()
    return count, oldest


def request_for(member: TeamMember, request_id: str) -> AccessRequest:
    """A request, answered or not, for a flow that the member can edit; NotFound otherwise."""
    query = sa.select(AccessRequest).where(AccessRequest.id == request_id, *_of_changeable(member))
    access_request = db.session.scalar(query) if is_id(request_id) else None
    if access_request is None:
        raise NotFound("There is no such request.")
    return access_request


def answers_to(member: TeamMember) -> Sequence[sa.Row[AccessRequest, bool]]:
    """Recent answers to the member's requests, each with whether the member can see the flow now.

    Without open requests: a list of them would reveal what exists.
    """
    flows = sa.select(InterviewFlow.id).where(*reach(member, InterviewFlow))
    query = sa.select(AccessRequest, AccessRequest.flow_id.in_(flows)).where(
        AccessRequest.member_id == member.id, AccessRequest.decided_at > clock.now() - TOLD_FOR
    )
    ordered = query.order_by(AccessRequest.decided_at.desc(), AccessRequest.id)
    return db.session.execute(ordered.options(joinedload(AccessRequest.flow)).limit(MOST)).all()


def _of_changeable(member: TeamMember) -> list[sa.ColumnElement[bool]]:
    flows = sa.select(InterviewFlow.id).where(*reach(member, InterviewFlow, Right.EDIT))
    return [AccessRequest.organization_id == member.organization_id, AccessRequest.flow_id.in_(flows)]


def _open_for(member: TeamMember) -> list[sa.ColumnElement[bool]]:
    """Conditions for open requests, without those of disabled members."""
    asks = sa.select(TeamMember.id).where(
        TeamMember.organization_id == member.organization_id, TeamMember.disabled_at.is_(None)
    )
    return [*_of_changeable(member), AccessRequest.state == RequestState.OPEN, AccessRequest.member_id.in_(asks)]
