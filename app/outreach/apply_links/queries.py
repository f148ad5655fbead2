"""Reads of apply links."""

from contextlib import nullcontext
from datetime import timedelta

import sqlalchemy as sa

from app.core import clock
from app.core.db import db, row_security
from app.flows.models import InterviewFlow
from app.interviews.models import Interview
from app.outreach.apply_links.models import FlowLink, FlowVisit

LIMITED_FOR = timedelta(hours=1)


def link_of(flow: InterviewFlow) -> FlowLink | None:
    """The flow's link, on or off; None if there never was one."""
    return db.session.scalar(
        sa.select(FlowLink).where(FlowLink.flow_id == flow.id, FlowLink.organization_id == flow.organization_id)
    )


def link_with(token: str) -> FlowLink | None:
    """The link with this token, unless it was turned off or renewed."""
    works = sa.select(FlowLink).where(FlowLink.token == token, FlowLink.off_at.is_(None))
    with row_security.finding():
        link = db.session.scalar(works)
    if link is not None:
        row_security.settle(link.organization_id)
    return link


def visits(link: FlowLink, *, network: str | None = None) -> int:
    """Tries of the last hour with this link, or those of one network with any link."""
    counted = sa.select(sa.func.count()).select_from(FlowVisit).where(FlowVisit.at > clock.now() - LIMITED_FOR)
    mine = FlowVisit.network == network if network else FlowVisit.link_id == link.id
    with (
        row_security.everyone() if network else nullcontext()
    ):  # a network is counted over the links of all organizations
        return db.session.scalar(counted.where(mine)) or 0


def got_before(link: FlowLink, *, browser: str, email: str) -> Interview | None:
    """The interview that this browser got with this link and email address within the last day."""
    query = (
        sa.select(Interview)
        .join(FlowVisit, FlowVisit.interview_id == Interview.id)
        .where(
            FlowVisit.link_id == link.id,
            FlowVisit.browser == browser,
            sa.func.lower(Interview.interviewee_email_address) == email.lower(),
        )
    )
    return db.session.scalar(query.order_by(Interview.org_seq.desc()).limit(1))
