"""Reads of interview flows, always with the owner: an organization under ``/v1``, a member on the pages.

Who may see, and who may change, what hangs on a flow is said here and nowhere else: ``reach`` as SQL for lists of
flows, interviews, candidates and requests, ``may`` for a single one, ``who_may`` the other way round.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import contains_eager, joinedload

from app.accounts.models import Organization, Role, Team, TeamMember, TeamMembership
from app.core import encryption
from app.core.claims import moment
from app.core.db import db, is_id, row_security, unseen
from app.core.errors import Forbidden, NotFound, Unseen
from app.flows.models import FlowGrant, FlowStatus, InterviewFlow, Right, SpeechState
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE

Condition = sa.ColumnElement[bool]
T = TypeVar("T")
_FLOW, _GRANT = InterviewFlow.__table__.alias().c, FlowGrant.__table__.alias().c
"""For what stands inside other reads of flows; made once, for pages ask a dozen times."""

VIEWED = "You may look at this flow and what came of it, but not change anything."
FOREIGN = "This interview flow belongs to another organization."


@dataclass(frozen=True, slots=True)
class FlowFilter:
    """What a list of flows on the platform is narrowed to; ``text`` is looked for in title and organization name.

    ``right``: only flows that the member has it to."""

    status: FlowStatus | None = None
    text: str = ""
    right: Right = Right.VIEW


def reach(member: TeamMember, rows: Any, right: Right = Right.VIEW, *, flow_id: Any = None) -> list[Condition]:
    """Conditions on a table with an organization: what of it the member has ``right`` to, by the flow that it hangs on.

    ``flow_id`` is the column, or a subquery, that names each row's flow, where the table itself has no ``flow_id``.
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
    """Whether the member has ``right`` to one flow, or to one interview or candidate of it."""
    if thing.organization_id != member.organization_id:
        return False
    if member.role is Role.ADMIN:
        return True
    flow_id = thing.id if isinstance(thing, InterviewFlow) else thing.flow_id
    found = sa.select(InterviewFlow.id).where(InterviewFlow.id == flow_id, *reach(member, InterviewFlow, right))
    return db.session.scalar(found) is not None


def who_may(thing: Any, right: Right = Right.VIEW) -> list[Condition]:
    """Conditions on members: who may sign in and has ``right`` to the flow, or to the interview or candidate of it."""
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
    """The members who were given a right of their own to the flow, by name."""
    found = sa.select(FlowGrant).join(TeamMember, TeamMember.id == FlowGrant.member_id)
    ordered = found.where(FlowGrant.flow_id == flow.id).order_by(TeamMember.full_name, TeamMember.email)
    return db.session.scalars(ordered.options(contains_eager(FlowGrant.member))).all()


def only_viewed(member: TeamMember) -> frozenset[str]:
    """Ids of flows that somebody who may change others may only look at."""
    if member.role is not Role.RECRUITER:
        return frozenset()
    changed = sa.select(InterviewFlow.id).where(*reach(member, InterviewFlow, Right.EDIT))
    given = sa.select(FlowGrant.flow_id).where(FlowGrant.member_id == member.id, FlowGrant.flow_id.not_in(changed))
    return frozenset(db.session.scalars(given))


def beside_teams(member: TeamMember) -> tuple[sa.Select[str], sa.Select[str]]:
    """Ids of what the member sees of other teams, and of what they do not see of their own: to correct team counts."""
    teams, granted = [team.id for team in member.teams], _granted_flows(member, Right.VIEW)
    further = sa.select(_FLOW.id).where(_FLOW.id.in_(granted), _FLOW.team_id.not_in(teams))
    hidden = sa.select(_FLOW.id).where(_FLOW.team_id.in_(teams), _FLOW.is_narrowed, _FLOW.id.not_in(granted))
    return further, hidden


def flow_for(organization: Organization, flow_id: str) -> InterviewFlow:
    """The organization's flow, archived ones included. Raises NotFound, or Forbidden when it is someone else's."""
    flow = _flow(flow_id.lower())  # some databases of customers keep UUIDs in upper case
    if flow.organization_id != organization.id:
        raise Forbidden(FOREIGN)
    return flow


def seen(member: TeamMember, model: type[T], row_id: str, *, kind: str, asked: str = "") -> T:
    """The row for a member who may see it. Raises Unseen alike for what is not theirs and for what is not there;
    administrators are told which. ``asked``: the id, where access can be requested by it.
    """
    thing = db.session.get(model, row_id) if is_id(row_id) else None
    if thing is not None and may(member, thing):
        return thing
    if member.role is not Role.ADMIN:
        raise Unseen(kind, asked)
    foreign = f"This {kind} belongs to another organization."
    if thing is None:
        raise unseen(model, row_id, NotFound(f"There is no {kind} with this id."), foreign=foreign)
    raise Forbidden(foreign)


def flow_seen_by(member: TeamMember, flow_id: str) -> InterviewFlow:
    """A flow that the member may see. Raises as ``seen``."""
    return seen(member, InterviewFlow, flow_id, kind="flow", asked=flow_id)


def flow_to_change(member: TeamMember, flow_id: str) -> InterviewFlow:
    """A flow that the member may change. Raises as ``flow_seen_by``, and Forbidden for those who may only look."""
    flow = flow_seen_by(member, flow_id)
    refuse_viewer(member, flow)
    return flow


def refuse_viewer(member: TeamMember, thing: Any) -> None:
    """Raises Forbidden for a member who may look at the flow, or the interview or candidate of it, and no more."""
    if not may(member, thing, Right.EDIT):
        raise Forbidden(VIEWED)


def open_flow(flow_id: str) -> InterviewFlow:
    """A flow for whoever holds its id: candidates see its logo and video. An archived one is NotFound."""
    with row_security.finding():
        flow = _flow(flow_id)
    if flow.status is FlowStatus.ARCHIVED:
        raise NotFound("This interview flow has been deleted.")
    row_security.settle(flow.organization_id)
    return flow


def flows_for(organization: Organization, *, team: Team | None, limit: int, offset: int) -> list[InterviewFlow]:
    """The organization's flows, or one team's, newest first; ids decide between flows of the same moment."""
    owned = InterviewFlow.team_id == team.id if team else InterviewFlow.organization_id == organization.id
    return list(db.session.scalars(_newest_first(owned).limit(limit).offset(offset)))


def flows_seen_by(member: TeamMember, found_by: FlowFilter, *, limit: int, offset: int) -> list[InterviewFlow]:
    """What the member's list shows, newest first, with each flow's team; archived ones only when asked for."""
    query = _newest_first(*_narrowed(member, found_by)).options(joinedload(InterviewFlow.team))
    return list(db.session.scalars(query.limit(limit).offset(offset)))


def how_many_seen_by(member: TeamMember, found_by: FlowFilter) -> int:
    """Length of the whole list of ``flows_seen_by``."""
    return db.session.scalar(sa.select(sa.func.count(InterviewFlow.id)).where(*_narrowed(member, found_by))) or 0


def titles_seen_by(member: TeamMember) -> list[tuple[str, str]]:
    """Id and title of every flow the member sees, for choosing one in a filter; archived ones included.

    Where several have the same title, the day they were created and the beginning of their id tell them apart.
    """
    query = sa.select(InterviewFlow.id, InterviewFlow.title, InterviewFlow.created_at)
    rows = db.session.execute(
        query.where(*reach(member, InterviewFlow)).order_by(InterviewFlow.title, InterviewFlow.created_at.desc())
    ).all()
    times = Counter(row.title for row in rows)
    return [(row.id, row.title if times[row.title] == 1 else _apart(*row)) for row in rows]


def _apart(flow_id: str, title: str, created_at: datetime) -> str:
    return f"{title} ({created_at.day} {created_at:%b %Y}, {flow_id[:8]})"


def script_of(flow: InterviewFlow) -> dict[str, Any]:
    """The flow as an interview takes it along: plain JSON values, frozen when the candidate begins.

    ``language``, the three switches and ``assess_language`` are settled here and never null.
    """
    assess = flow.organization.assess_language if flow.assess_language is None else flow.assess_language
    return {
        "title": flow.title,
        "org_name": flow.org_name,
        "questions": list(flow.questions),
        "intro": flow.intro,
        "outro": flow.outro,
        "language": flow.language or DEFAULT_LANGUAGE,
        "voice_id": flow.voice_id,
        "additional_info": flow.additional_info,
        "additional_instructions": flow.additional_instructions,
        "follow_up_limit": flow.follow_up_limit,
        "time_limit_minutes": flow.time_limit_minutes,
        "is_video_enabled": bool(flow.is_video_enabled),
        "is_doc_upload_enabled": bool(flow.is_doc_upload_enabled),
        "redirect_url": flow.redirect_url,
        "interview_type": flow.interview_type and flow.interview_type.value,
        "assess_language": assess,
    }


def secret_of(flow: InterviewFlow) -> str | None:
    """The webhook secret in the clear: for signing and for ``/v1`` alone, never for a log."""
    if flow.webhook_secret_sealed is None:
        return None
    return encryption.unseal(flow.webhook_secret_sealed, context=secret_context(flow.id))


def secret_context(flow_id: str) -> str:
    """What the sealed secret is bound to, so that it opens in its own row only."""
    return f"interview_flow:{flow_id}:webhook_secret"


def unspoken(limit: int = 200) -> list[str]:
    """Ids of flows whose script waits to be spoken, or whose speaking died: for the sweep."""
    free = sa.or_(InterviewFlow.lease_until.is_(None), InterviewFlow.lease_until < moment())
    waits = sa.and_(InterviewFlow.speech_state == SpeechState.PENDING, free)
    died = sa.and_(InterviewFlow.speech_state == SpeechState.PREPARING, InterviewFlow.lease_until < moment())
    return list(db.session.scalars(sa.select(InterviewFlow.id).where(sa.or_(waits, died)).limit(limit)))


def _flows_open_to(member: TeamMember, right: Right) -> sa.Select[str]:
    """Ids of the flows of those who are no administrators: what their teams have and is not narrowed, and what they
    were given themselves.
    """
    by_team = sa.and_(_FLOW.team_id.in_([team.id for team in member.teams]), _FLOW.is_narrowed.is_(False))
    mine = sa.select(_FLOW.id).where(_FLOW.organization_id == member.organization_id)
    return mine.where(sa.or_(by_team, _FLOW.id.in_(_granted_flows(member, right))))


def _granted_flows(member: TeamMember, right: Right) -> sa.Select[str]:
    given = sa.select(_GRANT.flow_id).where(_GRANT.member_id == member.id)
    return given.where(_GRANT.level == Right.EDIT) if right is Right.EDIT else given


def _flow(flow_id: str) -> InterviewFlow:
    flow = db.session.get(InterviewFlow, flow_id) if is_id(flow_id) else None
    if flow is None:
        raise unseen(InterviewFlow, flow_id, NotFound("There is no interview flow with this id."), foreign=FOREIGN)
    return flow


def _newest_first(*conditions: Condition) -> sa.Select[InterviewFlow]:
    return (
        sa.select(InterviewFlow).where(*conditions).order_by(InterviewFlow.created_at.desc(), InterviewFlow.id.desc())
    )


def _narrowed(member: TeamMember, found_by: FlowFilter) -> list[Condition]:
    status = InterviewFlow.status
    by_status = status == found_by.status if found_by.status else status != FlowStatus.ARCHIVED
    conditions = [*reach(member, InterviewFlow, found_by.right), by_status]
    for word in found_by.text.split():
        places = (InterviewFlow.title, InterviewFlow.org_name)
        conditions.append(sa.or_(*(place.icontains(word, autoescape=True) for place in places)))
    return conditions
