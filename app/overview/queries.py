"""Reads across the rooms, always as far as the member may see: what waits for somebody, in a handful of statements."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app import clock
from app.accounts.models import Role, TeamMember
from app.accounts.queries import teams_seen_by
from app.candidates.models import Candidate
from app.db import db
from app.flows.models import InterviewFlow
from app.interviews import waiting as interviews
from app.interviews.models import Interview
from app.webhooks.models import Delivery, DeliveryState, Endpoint, Route
from app.wishes.models import Wish, WishState

RESENT_FOR = timedelta(days=30)
"""Webhooks can be sent again so long; what failed earlier waits for nobody."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something that waits: how many, since when (or, of requests, until when), and how many of them are late.

    ``kind`` names it (for requests, the kind of request).
    """

    kind: str
    count: int
    at: datetime | None = None
    late: int = 0


@dataclass(frozen=True, slots=True)
class Whose:
    """What a member sees: the organization, and the teams where that is not all of it."""

    organization_id: str
    team_ids: tuple[str, ...] | None
    member_id: str

    def owns(self, rows: Any) -> list[sa.ColumnElement[bool]]:
        """As conditions on a table with an organization and a team."""
        owned = [rows.organization_id == self.organization_id]
        return owned if self.team_ids is None else [*owned, rows.team_id.in_(self.team_ids)]


def seen_by(member: TeamMember) -> Whose:
    """What the member sees."""
    is_admin = member.role is Role.ADMIN
    return Whose(
        member.organization_id, None if is_admin else tuple(team.id for team in teams_seen_by(member)), member.id
    )


def tasks_of(member: TeamMember, *, link_days: int) -> list[Task]:
    """What waits for the member, the most urgent kinds first; nothing waits for those who may only look."""
    if member.role is Role.VIEWER:
        return []
    whose = seen_by(member)
    found = [*_requests(whose), *_results(whose), *_interviews(whose, link_days), *_webhooks(whose)]
    return [task for task in found if task.count]


def _requests(whose: Whose) -> Iterator[Task]:
    """What candidates ask for, by kind, what is due first on top."""
    overdue = sa.func.count(sa.case((Wish.due_at < clock.now(), 1)))
    query = sa.select(Wish.kind, sa.func.count(), sa.func.min(Wish.due_at), overdue)
    opened = query.where(*whose.owns(Wish), Wish.state == WishState.OPEN).group_by(Wish.kind)
    rows = db.session.execute(opened).all()
    for kind, count, due, late in sorted(rows, key=lambda row: (row[2] is None, row[2], row[0])):
        yield Task(kind.value, count, due, late)


def _results(whose: Whose) -> Iterator[Task]:
    """Results that no person has judged: the member's own, and those of nobody and of others in the member's teams."""
    is_mine = sa.func.coalesce(Candidate.assigned_recruiter_id, "") == whose.member_id
    mine = sa.case((is_mine, Candidate.interviewed_at))
    query = sa.select(
        sa.func.count(mine), sa.func.min(mine), sa.func.count(), sa.func.min(Candidate.interviewed_at)
    ).where(
        *whose.owns(Candidate), Candidate.interviewed_at.is_not(None), Candidate.reviewed_at.is_(None),
        Candidate.is_test.is_(False), Candidate.quarantined_at.is_(None),
    )  # fmt: skip
    my_count, my_oldest, count, oldest = db.session.execute(query).one()
    yield Task("my_results", my_count, my_oldest)
    yield Task("results", count if count > my_count else 0, oldest)


def _interviews(whose: Whose, link_days: int) -> Iterator[Task]:
    """What has stopped in processing, and invitations whose link ends soon."""
    mine = whose.owns(Interview)
    stuck = sa.select(sa.func.count()).select_from(Interview).where(*mine, interviews.stuck())
    ending = sa.select(sa.func.count(), sa.func.min(Interview.created_at)).where(
        *mine, Interview.candidate_id.is_not(None), interviews.ending(link_days)
    )
    yield Task("stuck", db.session.scalar(stuck) or 0)
    count, first = db.session.execute(ending).one()
    yield Task("ending", count, first + timedelta(days=link_days) if first else None)


def _webhooks(whose: Whose) -> Iterator[Task]:
    """Events whose attempts are used up, and receivers that take nothing."""
    lost = (
        sa.select(sa.func.count(), sa.func.min(Delivery.finished_at))
        .join(Endpoint, Endpoint.id == Delivery.endpoint_id)
        .join(InterviewFlow, InterviewFlow.id == Delivery.flow_id)
        .where(
            Endpoint.organization_id == whose.organization_id, *whose.owns(InterviewFlow),
            Delivery.state == DeliveryState.EXHAUSTED, Delivery.finished_at > clock.now() - RESENT_FOR,
        )
    )  # fmt: skip
    led = sa.select(Route.endpoint_id).join(InterviewFlow, InterviewFlow.id == Route.flow_id)
    health = sa.select(
        sa.func.count(Endpoint.disabled_at), sa.func.min(Endpoint.disabled_at),
        sa.func.count(sa.case((Endpoint.disabled_at.is_(None), Endpoint.failing_since))),
        sa.func.min(sa.case((Endpoint.disabled_at.is_(None), Endpoint.failing_since))),
    ).where(Endpoint.id.in_(led.where(*whose.owns(InterviewFlow))))  # fmt: skip
    disabled, disabled_since, failing, failing_since = db.session.execute(health).one()
    yield Task("disabled", disabled, disabled_since)
    yield Task("failing", failing, failing_since)
    count, oldest = db.session.execute(lost).one()
    yield Task("undelivered", count, oldest)
