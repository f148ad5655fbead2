"""Reads of rights of single members."""

from collections.abc import Sequence

import sqlalchemy as sa

from app.accounts.models import Role, TeamMember
from app.db import db
from app.flows.models import FlowGrant, InterviewFlow


def grantable(flow: InterviewFlow) -> Sequence[TeamMember]:
    """Who can be given a right of their own: members who may sign in, but for administrators, who have every right."""
    found = sa.select(TeamMember).where(
        TeamMember.organization_id == flow.organization_id, TeamMember.disabled_at.is_(None),
        TeamMember.role != Role.ADMIN,
    )  # fmt: skip
    return db.session.scalars(found.order_by(TeamMember.full_name, TeamMember.email)).all()


def grant_of(flow_id: str, member_id: str) -> FlowGrant | None:
    """The member's own right to the flow."""
    return db.session.get(FlowGrant, (flow_id, member_id))
