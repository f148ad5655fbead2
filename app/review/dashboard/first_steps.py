"""How far a new organization has come: a flow, a preview, an invitation, a result."""

from dataclasses import dataclass

import sqlalchemy as sa

from app.accounts.models import Role, TeamMember
from app.core.db import db
from app.flows.models import FlowStatus, InterviewFlow, Right
from app.flows.queries import FlowFilter, flows_seen_by, reach
from app.interviews.models import Interview, InterviewStatus
from app.outreach.apply_links.models import FlowLink


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """What is done already. ``flow``: the newest open flow that the member may change, for the steps that need one.

    ``result``: the interview with the first result.
    """

    flow: InterviewFlow | None
    has_flow: bool
    has_tried: bool
    has_invited: bool
    result: str | None

    @property
    def done(self) -> int:
        """How many of the four steps are done."""
        return sum((self.has_flow, self.has_tried, self.has_invited, self.result is not None))


def first_steps_of(member: TeamMember) -> FirstSteps | None:
    """The steps as the member sees them. None for viewers, once they are hidden, and with a second result."""
    if member.role is Role.VIEWER or member.organization.first_steps_hidden_at is not None:
        return None
    seen = [*reach(member, Interview), Interview.is_test.is_(False)]
    ready = sa.select(Interview.id).where(*seen, Interview.status == InterviewStatus.COMPLETED)
    results = db.session.scalars(ready.order_by(Interview.org_seq).limit(2)).all()
    if len(results) > 1:
        return None
    flows = flows_seen_by(member, FlowFilter(status=FlowStatus.OPEN, right=Right.EDIT), limit=1, offset=0)
    link_is_on = sa.exists().where(
        FlowLink.organization_id == member.organization_id,
        FlowLink.off_at.is_(None),
        FlowLink.flow_id.in_(sa.select(InterviewFlow.id).where(*reach(member, InterviewFlow))),
    )
    invited = sa.or_(sa.exists().where(*seen), link_is_on)
    return FirstSteps(
        flow=flows[0] if flows else None,
        has_flow=db.session.scalar(sa.select(sa.exists().where(*reach(member, InterviewFlow)))) or False,
        has_tried=member.organization.previewed_at is not None,
        has_invited=db.session.scalar(sa.select(invited)) or False,
        result=results[0] if results else None,
    )
