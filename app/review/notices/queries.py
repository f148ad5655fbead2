"""Reads of notices: who gets one, what is due, and what pages show. Channels are read for who may change them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import aliased, joinedload

from app.accounts.models import Organization, Role, TeamMember
from app.candidate_requests.models import RequestState
from app.core import claims, clock
from app.core.db import db
from app.core.errors import Forbidden
from app.flows.models import InterviewFlow, Right
from app.flows.queries import flow_to_change, may, seen, who_may
from app.interviews.models import Interview
from app.review.notices import words
from app.review.notices.models import (
    FIRST_HOUR,
    Notice,
    NoticeChannel,
    NoticeDelivery,
    NoticeKind,
    NoticePreference,
    NoticeState,
    Pace,
    SwitchedOff,
)
from app.review.notices.words import Said, Shows
from app.webhooks.models import Route, Trouble

AT_ONCE = 20
"""Channels that one round sends to."""
RECENT = 20
"""Notices that a channel's page lists."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a member wants by mail; the defaults are those of members who have never chosen."""

    result_ready: Pace = Pace.AT_ONCE
    request_waiting: Pace = Pace.DAILY
    webhook_failing: Pace = Pace.AT_ONCE
    is_own_only: bool = True
    with_names: bool = False
    with_scores: bool = False
    hour: int = FIRST_HOUR
    time_zone: str = "UTC"

    def pace(self, kind: NoticeKind) -> Pace:
        pace: Pace = getattr(self, kind.value)
        return pace

    @property
    def shows(self) -> Shows:
        return Shows(self.with_names, self.with_scores)


def wanted_by(member: TeamMember) -> Wanted:
    """What the member wants by mail."""
    return _wanted(db.session.get(NoticePreference, member.id))


def has_chosen(member: TeamMember) -> bool:
    """Whether the member has ever saved what they want."""
    return db.session.get(NoticePreference, member.id) is not None


def _wanted(row: NoticePreference | None) -> Wanted:
    return Wanted(**{field.name: getattr(row, field.name) for field in fields(Wanted)}) if row else Wanted()


def unspread(limit: int = 50) -> list[str]:
    """Ids of notices whose destinations have not been worked out; for the sweep."""
    waiting = sa.select(Notice.id).where(Notice.spread_at.is_(None)).order_by(Notice.created_at)
    return list(db.session.scalars(waiting.limit(limit)))


def digests_due(limit: int = 50) -> list[str]:
    """Ids of members whose daily mail is due; for the sweep."""
    due = sa.select(NoticeDelivery.member_id).where(
        NoticeDelivery.member_id.is_not(None),
        NoticeDelivery.state == NoticeState.WAITING,
        NoticeDelivery.due_at <= claims.moment(),
    )
    return [member_id for member_id in db.session.scalars(due.distinct().limit(limit)) if member_id]


def sendable() -> list[str]:
    """Ids of the deliveries to send now, one for each channel that is on: the oldest, and after a failure its retry."""
    now, busy = claims.moment(), aliased(NoticeDelivery)
    is_busy = (
        sa.exists()
        .where(busy.channel_id == NoticeDelivery.channel_id, busy.state == NoticeState.SENDING, busy.lease_until >= now)
        .correlate(NoticeDelivery)
    )
    place = sa.func.row_number().over(
        partition_by=NoticeDelivery.channel_id, order_by=(NoticeDelivery.created_at, NoticeDelivery.id)
    )
    due = (
        sa.select(NoticeDelivery.id, NoticeDelivery.due_at, place.label("place"))
        .join(NoticeChannel, NoticeChannel.id == NoticeDelivery.channel_id)
        .where(
            NoticeDelivery.state.in_((NoticeState.WAITING, NoticeState.SENDING)),
            NoticeDelivery.due_at <= now,
            NoticeChannel.switched_off_at.is_(None),
            sa.or_(NoticeChannel.not_before.is_(None), NoticeChannel.not_before <= now),
            ~is_busy,
        )
        .subquery()
    )
    first = sa.select(due.c.id).where(due.c.place == 1).order_by(due.c.due_at)
    return list(db.session.scalars(first.limit(AT_ONCE)))


def has_old(kept: timedelta) -> bool:
    """Whether there are notices older than this."""
    old = sa.select(Notice.id).where(Notice.created_at < clock.now() - kept).limit(1)
    return db.session.scalar(old) is not None


def is_news(notice: Notice) -> bool:
    """Whether there is still something to say: the result is there and not withheld, the request is open, and so on."""
    if notice.kind is NoticeKind.WEBHOOK_FAILING:
        endpoint = notice.endpoint
        if endpoint is None or notice.step == Trouble.DISABLED:
            return endpoint is not None and endpoint.disabled_at is not None
        return endpoint.disabled_at is None and endpoint.failing_since is not None
    interview = notice.interview
    gone = interview is None or interview.erased_at or interview.withdrawn_at or interview.quarantined_at
    if notice.request is not None:
        # A withdrawal of consent is itself a request that waits.
        return interview is not None and interview.erased_at is None and notice.request.state is RequestState.OPEN
    return not gone and interview is not None and interview.data is not None


def message_of(notice: Notice, shows: Shows, *, app_url: str, member: TeamMember | None = None) -> Said:
    """The notice in words, as one destination may read it; without ``member``: a channel.

    A channel reads nothing of flows that only named members see, and those who hear of endpoints see all flows.
    """
    message = words.said(notice, shows, app_url=app_url)
    if notice.endpoint_id is None:
        return message
    led = sa.select(InterviewFlow.title).join(Route, Route.flow_id == InterviewFlow.id)
    seen_there = led.where(Route.endpoint_id == notice.endpoint_id)
    if member is None:
        seen_there = seen_there.where(InterviewFlow.is_narrowed.is_(False))
    return words.with_flows(message, db.session.scalars(seen_there.order_by(InterviewFlow.title)).all())


def members_for(notice: Notice) -> list[tuple[TeamMember, Wanted]]:
    """The members who may see what the notice is about and want it by mail, with how they want it."""
    conditions: list[sa.ColumnElement[bool]] = [TeamMember.password_hash.is_not(None)]
    if notice.interview is not None:
        conditions += who_may(notice.interview, _needed(notice))
    else:
        conditions += [
            TeamMember.organization_id == notice.organization_id,
            TeamMember.disabled_at.is_(None),
            TeamMember.role == Role.ADMIN,
        ]
    query = (
        sa.select(TeamMember, NoticePreference)
        .outerjoin(NoticePreference, NoticePreference.member_id == TeamMember.id)
        .where(*conditions)
        .order_by(TeamMember.email)
    )
    found = [(member, _wanted(row)) for member, row in db.session.execute(query)]
    return [(member, wanted) for member, wanted in found if _wants(member, wanted, notice)]


def still_gets(member: TeamMember, notice: Notice) -> bool:
    """Whether a notice that waits for the daily mail may be in it: access, choices and the thing itself can change."""
    if member.disabled_at is not None or not is_news(notice) or not _wants(member, wanted_by(member), notice):
        return False
    if notice.interview is None:
        return member.role is Role.ADMIN
    return may(member, notice.interview, _needed(notice))


def _needed(notice: Notice) -> Right:
    """The right to the flow without which a notice is of no use: only those who can change a flow answer requests."""
    return Right.EDIT if notice.request_id else Right.VIEW


def _wants(member: TeamMember, wanted: Wanted, notice: Notice) -> bool:
    if wanted.pace(notice.kind) is Pace.OFF:
        return False
    if notice.interview is None or not wanted.is_own_only:
        return True
    assigned = notice.interview.assigned_recruiter_id
    # Someone has to answer a request about an interview that is assigned to no one.
    return assigned == member.id or (assigned is None and notice.request_id is not None)


def channels_for(notice: Notice) -> list[NoticeChannel]:
    """The channels that get the notice, each URL once: a flow's own channel takes precedence over the organization's.

    The organization's channels get nothing about flows that only named members see.
    """
    flow_ids, is_open = _flows_of(notice)
    places = [NoticeChannel.flow_id.in_(flow_ids), *([NoticeChannel.flow_id.is_(None)] if is_open else [])]
    query = sa.select(NoticeChannel).where(
        NoticeChannel.organization_id == notice.organization_id,
        NoticeChannel.switched_off_at.is_(None),
        sa.or_(*places),
    )
    found: dict[str, NoticeChannel] = {}
    ordered = query.order_by(NoticeChannel.flow_id.is_(None), NoticeChannel.created_at, NoticeChannel.id)
    for channel in db.session.scalars(ordered):
        if notice.kind.value in channel.kinds:
            found.setdefault(channel.address_hash, channel)
    return list(found.values())


def _flows_of(notice: Notice) -> tuple[list[str], bool]:
    """The flows that the notice is about, and whether the organization's channels may read of it."""
    if notice.interview is not None:
        return [notice.interview.flow_id], not notice.interview.flow.is_narrowed
    return list(db.session.scalars(sa.select(Route.flow_id).where(Route.endpoint_id == notice.endpoint_id))), True


def organization_of(notice: Notice) -> Organization:
    return db.session.get_one(Organization, notice.organization_id)


def notices_of(ids: Sequence[str]) -> Sequence[Notice]:
    """The notices of these deliveries, the oldest first, with the interviews that they are about."""
    query = sa.select(Notice).join(NoticeDelivery, NoticeDelivery.notice_id == Notice.id)
    together = joinedload(Notice.interview).joinedload(Interview.flow)
    return db.session.scalars(
        query.where(NoticeDelivery.id.in_(ids)).options(together).order_by(Notice.created_at, Notice.id)
    ).all()


def channels_of(organization_id: str, flow: InterviewFlow | None) -> Sequence[NoticeChannel]:
    """The channels of a flow, or those of the whole organization."""
    flow_id = flow.id if flow else None
    query = sa.select(NoticeChannel).where(
        NoticeChannel.organization_id == organization_id, NoticeChannel.flow_id.is_not_distinct_from(flow_id)
    )
    return db.session.scalars(query.order_by(NoticeChannel.created_at, NoticeChannel.id)).all()


def every_channel(organization_id: str) -> Sequence[NoticeChannel]:
    """The channels of the organization and of its flows, for administrators."""
    query = sa.select(NoticeChannel).where(NoticeChannel.organization_id == organization_id)
    ordered = query.order_by(NoticeChannel.flow_id.is_not(None), NoticeChannel.created_at, NoticeChannel.id)
    return db.session.scalars(ordered.options(joinedload(NoticeChannel.flow))).all()


def channels_in_trouble(organization_id: str) -> tuple[int, datetime | None]:
    """How many channels get nothing although no member wanted that: failing ones, and those whose URL is gone."""
    is_gone = NoticeChannel.switched_off_by == SwitchedOff.GONE
    is_failing = sa.and_(NoticeChannel.switched_off_at.is_(None), NoticeChannel.failing_since.is_not(None))
    query = sa.select(sa.func.count(), sa.func.min(NoticeChannel.failing_since)).select_from(NoticeChannel)
    row = db.session.execute(
        query.where(NoticeChannel.organization_id == organization_id, sa.or_(is_gone, is_failing))
    ).one()
    return row[0], row[1]


def place_to_change(member: TeamMember, flow_id: str) -> InterviewFlow | None:
    """The flow whose channels the member may change; None for those of the whole organization. Raises Forbidden."""
    if flow_id:
        return flow_to_change(member, flow_id)
    if member.role is not Role.ADMIN:
        raise Forbidden("Only administrators can do this.")
    return None


def channel_to_change(member: TeamMember, channel_id: str) -> NoticeChannel:
    """A channel that the member may change: of a flow that they may change, or any as an administrator.

    Raises Unseen, NotFound or Forbidden.
    """
    channel = seen(member, NoticeChannel, channel_id, kind="channel")
    place_to_change(member, channel.flow_id or "")
    return channel


def deliveries_of(channel: NoticeChannel) -> Sequence[NoticeDelivery]:
    """The newest notices to the channel."""
    query = sa.select(NoticeDelivery).where(NoticeDelivery.channel_id == channel.id)
    together = joinedload(NoticeDelivery.notice)
    newest = query.order_by(NoticeDelivery.created_at.desc(), NoticeDelivery.id).limit(RECENT)
    return db.session.scalars(newest.options(together)).all()
