"""Reads of interview flows, always for an owner: an organization under ``/v1``, a member on the pages.

This module alone decides who may see and change a flow and everything that belongs to it: ``reach`` gives the SQL
conditions for lists of flows, interviews, candidates and requests, ``may`` checks one row, ``who_may`` finds members.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import contains_eager, joinedload

from app.accounts.key_scope import place, refuse_outside, within
from app.accounts.models import Owner, Role, Team, TeamMember, TeamMembership
from app.core import clock, encryption
from app.core.claims import moment
from app.core.db import contains, db, is_id, row_security, unseen
from app.core.db.prepared import Prepared
from app.core.errors import Forbidden, NotFound, Unseen
from app.core.rooms import FlowLabel
from app.flows.criteria import Criterion
from app.flows.models import FlowGrant, FlowStatus, InterviewFlow, InterviewType, Right, SpeechState
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE

Condition = sa.ColumnElement[bool]
T = TypeVar("T")
_FLOW, _GRANT = InterviewFlow.__table__.alias().c, FlowGrant.__table__.alias().c
"""For subqueries inside other reads of flows. Built once, because a page needs them a dozen times."""

MOST_OFFERED = 300
"""Flows that a form offers to choose from."""

VIEWED = "You can view this flow and its results, but you cannot change anything."
FOREIGN = "This interview flow belongs to another organization."


@dataclass(frozen=True, slots=True)
class FlowFilter:
    """Filter of the list of flows. ``text`` is searched for in title and organization name.

    ``right``: only flows to which the member has this right.
    """

    status: FlowStatus | None = None
    text: str = ""
    right: Right = Right.VIEW


def reach(member: TeamMember, rows: Any, right: Right = Right.VIEW, *, flow_id: Any = None) -> list[Condition]:
    """Conditions that limit ``rows`` to those whose flow the member has ``right`` to.

    ``flow_id`` is a column or subquery with each row's flow, for tables that have no ``flow_id`` of their own.
    """
    own = [rows.organization_id == member.organization_id]
    if member.role is Role.ADMIN:
        return own
    if right is Right.EDIT and member.role is Role.VIEWER:
        return [sa.false()]
    if flow_id is None:
        flow_id = InterviewFlow.id if rows is InterviewFlow else rows.flow_id
    return [*own, flow_id.in_(_flows_open_to(member, right))]


def may(member: TeamMember, thing: Any, right: Right = Right.VIEW) -> bool:
    """Whether the member has ``right`` to a flow, or to the flow of an interview or candidate."""
    if thing.organization_id != member.organization_id:
        return False
    if member.role is Role.ADMIN:
        return True
    flow_id = thing.id if isinstance(thing, InterviewFlow) else thing.flow_id
    permitted = sa.select(InterviewFlow.id).where(InterviewFlow.id == flow_id, *reach(member, InterviewFlow, right))
    return db.session.scalar(permitted) is not None


def who_may(thing: Any, right: Right = Right.VIEW) -> list[Condition]:
    """Conditions on members who can sign in and have ``right`` to a flow, or to an interview's or candidate's flow."""
    flow: InterviewFlow = thing if isinstance(thing, InterviewFlow) else thing.flow
    granted = sa.select(FlowGrant.member_id).where(FlowGrant.flow_id == flow.id)
    able: list[Condition] = []
    if right is Right.EDIT:
        granted, able = granted.where(FlowGrant.right == Right.EDIT), [TeamMember.role != Role.VIEWER]
    ways = [TeamMember.role == Role.ADMIN, TeamMember.id.in_(granted)]
    if not flow.is_narrowed:
        in_team = sa.select(TeamMembership.member_id).where(TeamMembership.team_id == flow.team_id)
        ways.append(TeamMember.id.in_(in_team))
    return [TeamMember.organization_id == flow.organization_id, TeamMember.disabled_at.is_(None), sa.or_(*ways), *able]


def grants_of(flow: InterviewFlow) -> Sequence[FlowGrant]:
    """Grants of single members to the flow, by name."""
    grants = sa.select(FlowGrant).join(TeamMember, TeamMember.id == FlowGrant.member_id)
    ordered = grants.where(FlowGrant.flow_id == flow.id).order_by(TeamMember.full_name, TeamMember.email)
    return db.session.scalars(ordered.options(contains_eager(FlowGrant.member))).all()


def only_viewed(member: TeamMember) -> frozenset[str]:
    """Ids of the flows that a recruiter may view but not edit."""
    if member.role is not Role.RECRUITER:
        return frozenset()
    changed = sa.select(InterviewFlow.id).where(*reach(member, InterviewFlow, Right.EDIT))
    view_only = sa.select(FlowGrant.flow_id).where(FlowGrant.member_id == member.id, FlowGrant.flow_id.not_in(changed))
    return frozenset(db.session.scalars(view_only))


class FlowTerms(NamedTuple):
    """What creating an interview needs of its flow, as plain values."""

    id: str
    organization_id: str
    team_id: str
    status: FlowStatus
    interview_type: InterviewType | None
    is_video_enabled: bool | None


_OWN = InterviewFlow.__table__
place("interview_flow_id", _OWN, team_id=_OWN.c.team_id, flow_id=_OWN.c.id)

# Of a plain table and built once: every new interview asks it.
_TERMS = Prepared(
    sa.select(*(InterviewFlow.__table__.c[name] for name in FlowTerms._fields)).where(
        InterviewFlow.__table__.c.id == sa.bindparam("flow"),
        InterviewFlow.__table__.c.organization_id == sa.bindparam("owner"),
    )
)


def terms_for(organization: Owner, flow_id: str) -> FlowTerms:
    """Of the flow that ``flow_for`` gives, without its row. Raises as that does."""
    wanted = flow_id.lower()
    rows = _TERMS.rows(flow=wanted, owner=organization.id) if is_id(wanted) else ()
    if rows:
        terms = FlowTerms._make(rows[0])
        refuse_outside(organization, team_id=terms.team_id, flow_id=terms.id)
        return terms
    flow = flow_for(organization, flow_id)
    return FlowTerms._make(getattr(flow, name) for name in FlowTerms._fields)


def flow_for(organization: Owner, flow_id: str) -> InterviewFlow:
    """A flow of the organization, archived or not. Raises NotFound, and Forbidden for another organization's flow and
    for one outside the scope of the organization's API key.
    """
    flow = _flow(flow_id.lower())  # some customers' databases store UUIDs in upper case
    if flow.organization_id != organization.id:
        raise Forbidden(FOREIGN, code="other_organization")
    refuse_outside(organization, team_id=flow.team_id, flow_id=flow.id)
    return flow


def seen(member: TeamMember, model: type[T], row_id: str, *, kind: str, access_id: str = "") -> T:
    """The row, for a member who may see it.

    Raises Unseen whether the row is missing or not theirs, so that ids cannot be probed; administrators get NotFound
    or Forbidden instead. ``access_id``: the id, where the member can request access with it.
    """
    thing = db.session.get(model, row_id) if is_id(row_id) else None
    if thing is not None and may(member, thing):
        return thing
    if member.role is not Role.ADMIN:
        raise Unseen(kind, access_id)
    foreign = f"This {kind} belongs to another organization."
    if thing is None:
        raise unseen(model, row_id, NotFound(f"There is no {kind} with this id."), foreign=foreign)
    raise Forbidden(foreign)


def flow_seen_by(member: TeamMember, flow_id: str) -> InterviewFlow:
    """A flow that the member may see. Raises what ``seen`` raises."""
    return seen(member, InterviewFlow, flow_id, kind="flow", access_id=flow_id)


def flow_to_change(member: TeamMember, flow_id: str) -> InterviewFlow:
    """A flow that the member may change. Raises what ``flow_seen_by`` raises, and Forbidden for view-only members."""
    flow = flow_seen_by(member, flow_id)
    refuse_viewer(member, flow)
    return flow


def refuse_viewer(member: TeamMember, thing: Any) -> None:
    """Raise Forbidden if the member may only view the flow, or the flow of the interview or candidate."""
    if not may(member, thing, Right.EDIT):
        raise Forbidden(VIEWED)


def open_flow(flow_id: str) -> InterviewFlow:
    """A flow for anyone who has its id: candidates see its logo and video. Raises NotFound for an archived one."""
    with row_security.finding():
        flow = _flow(flow_id)
    if flow.status is FlowStatus.ARCHIVED:
        raise NotFound("This interview flow is archived.")
    row_security.settle(flow.organization_id)
    return flow


def flows_for(organization: Owner, *, team: Team | None, limit: int, offset: int) -> list[InterviewFlow]:
    """The organization's flows, or one team's, newest first. Ties are ordered by id."""
    owned = InterviewFlow.team_id == team.id if team else InterviewFlow.organization_id == organization.id
    inside = within(organization, team_id=InterviewFlow.team_id, flow_id=InterviewFlow.id)
    return list(db.session.scalars(_newest_first(owned, *inside).limit(limit).offset(offset)))


def flows_seen_by(member: TeamMember, filters: FlowFilter, *, limit: int, offset: int) -> list[InterviewFlow]:
    """One page of the member's list, newest first, with each flow's team. Archived flows only if filtered for."""
    query = _newest_first(*_narrowed(member, filters)).options(joinedload(InterviewFlow.team))
    return list(db.session.scalars(query.limit(limit).offset(offset)))


def how_many_seen_by(member: TeamMember, filters: FlowFilter) -> int:
    """Length of the whole list that ``flows_seen_by`` pages through."""
    return db.session.scalar(sa.select(sa.func.count(InterviewFlow.id)).where(*_narrowed(member, filters))) or 0


def titles_seen_by(member: TeamMember) -> list[tuple[str, str]]:
    """Id and title of every flow the member sees, archived or not, as choices of a filter.

    Flows with the same title also show the day they were created and the start of their id.
    """
    query = sa.select(InterviewFlow.id, InterviewFlow.title, InterviewFlow.created_at)
    rows = db.session.execute(
        query.where(*reach(member, InterviewFlow)).order_by(InterviewFlow.title, InterviewFlow.created_at.desc())
    ).all()
    times = Counter(row.title for row in rows)
    return [(row.id, row.title if times[row.title] == 1 else _apart(*row)) for row in rows]


def labels_of(organization_id: str, *, ids: Collection[str] | None = None) -> list[FlowLabel]:
    """The organization's flows with these ids, or its MOST_OFFERED newest that are not archived, by title."""
    owned = InterviewFlow.organization_id == organization_id
    wanted = InterviewFlow.status != FlowStatus.ARCHIVED if ids is None else InterviewFlow.id.in_(ids)
    query = sa.select(InterviewFlow.id, InterviewFlow.title, InterviewFlow.team_id).where(owned, wanted)
    newest = query.order_by(InterviewFlow.created_at.desc(), InterviewFlow.id)
    rows = db.session.execute(newest.limit(MOST_OFFERED) if ids is None else newest)
    return sorted((FlowLabel(*row) for row in rows), key=lambda one: one.title.casefold())


def _apart(flow_id: str, title: str, created_at: datetime) -> str:
    return f"{title} ({created_at.day} {created_at:%b %Y}, {flow_id[:8]})"


def criteria_of(flow: InterviewFlow) -> tuple[Criterion, ...]:
    """The flow's own criteria now, in their order."""
    return flow.criteria.items if flow.criteria else ()


def secret_of(flow: InterviewFlow) -> str | None:
    """The webhook secret in plain text: only for signing and ``/v1``, never for a log."""
    if flow.webhook_secret_sealed is None:
        return None
    return encryption.unseal(flow.webhook_secret_sealed, context=secret_context(flow.id))


def old_secret_until(flow: InterviewFlow) -> datetime | None:
    """Until when the secret before the last rotation also signs; None without a rotation under way."""
    until = flow.webhook_old_secret_until
    return until if until is not None and until > clock.now() else None


def secret_context(flow_id: str) -> str:
    """Context that binds the sealed secret to its row, so that it cannot be opened from another."""
    return f"interview_flow:{flow_id}:webhook_secret"


def unspoken(limit: int = 200) -> list[str]:
    """Ids of flows whose script has not been spoken yet, or whose worker died meanwhile: for the sweep."""
    free = sa.or_(InterviewFlow.lease_until.is_(None), InterviewFlow.lease_until < moment())
    waits = sa.and_(InterviewFlow.speech_state == SpeechState.PENDING, free)
    died = sa.and_(InterviewFlow.speech_state == SpeechState.PREPARING, InterviewFlow.lease_until < moment())
    return list(db.session.scalars(sa.select(InterviewFlow.id).where(sa.or_(waits, died)).limit(limit)))


_OPEN_AND_SPOKEN = (InterviewFlow.status == FlowStatus.OPEN, InterviewFlow.speech_state == SpeechState.READY)
_spoken_in = sa.func.coalesce(InterviewFlow.language, DEFAULT_LANGUAGE)


class SpokenScript(NamedTuple):
    """What scripts were spoken with: the voice and language of their flows, and the identity of the voice then."""

    voice_id: str | None
    language: str
    identity: str | None


def voices_of_scripts() -> list[SpokenScript]:
    """Every voice that scripts of open flows were spoken with."""
    rows = sa.select(InterviewFlow.voice_id, _spoken_in, InterviewFlow.spoken_with).where(*_OPEN_AND_SPOKEN).distinct()
    return [SpokenScript(*row) for row in db.session.execute(rows)]


def spoken_with(spoken: SpokenScript, *, limit: int) -> Sequence[InterviewFlow]:
    """Open flows whose script was spoken with this voice, the newest first."""
    same = (
        InterviewFlow.voice_id.is_not_distinct_from(spoken.voice_id),
        InterviewFlow.spoken_with.is_not_distinct_from(spoken.identity),
        _spoken_in == spoken.language,
    )
    return db.session.scalars(_newest_first(*_OPEN_AND_SPOKEN, *same).limit(limit)).all()


def _flows_open_to(member: TeamMember, right: Right) -> sa.Select[str]:
    """Ids of the flows open to a member who is not an administrator: their teams' unless narrowed, and their grants."""
    by_team = sa.and_(_FLOW.team_id.in_([team.id for team in member.teams]), _FLOW.is_narrowed.is_(False))
    mine = sa.select(_FLOW.id).where(_FLOW.organization_id == member.organization_id)
    return mine.where(sa.or_(by_team, _FLOW.id.in_(_granted_flows(member, right))))


def _granted_flows(member: TeamMember, right: Right) -> sa.Select[str]:
    granted = sa.select(_GRANT.flow_id).where(_GRANT.member_id == member.id)
    return granted.where(_GRANT.level == Right.EDIT) if right is Right.EDIT else granted


def _flow(flow_id: str) -> InterviewFlow:
    flow = db.session.get(InterviewFlow, flow_id) if is_id(flow_id) else None
    if flow is None:
        raise unseen(InterviewFlow, flow_id, NotFound("There is no interview flow with this id."), foreign=FOREIGN)
    return flow


def _newest_first(*conditions: Condition) -> sa.Select[InterviewFlow]:
    return (
        sa.select(InterviewFlow).where(*conditions).order_by(InterviewFlow.created_at.desc(), InterviewFlow.id.desc())
    )


def _narrowed(member: TeamMember, filters: FlowFilter) -> list[Condition]:
    status = InterviewFlow.status
    by_status = status == filters.status if filters.status else status != FlowStatus.ARCHIVED
    words = (contains(word, InterviewFlow.title, InterviewFlow.org_name) for word in filters.text.split())
    return [*reach(member, InterviewFlow, filters.right), by_status, *words]
