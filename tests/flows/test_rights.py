"""Who may see and change what hangs on a flow: lists, single things and the other way round say the same."""

from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.models import Team, TeamMember, TeamMembership
from app.candidate_requests.models import CandidateRequest, RequestKind
from app.candidate_requests.queries import reach_of_requests
from app.candidates.models import Candidate
from app.core.db import db, new_id
from app.flows.models import FlowGrant, InterviewFlow, Right
from app.flows.queries import may, only_viewed, reach, who_may
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.review.dashboard.queries import this_week
from tests.factories import Made
from tests.people import Person, person


def other_team(app: Flask, owner: Person) -> Team:
    team = Team(organization_id=owner.organization.id, name="Sales")
    db.session.add(team)
    db.session.commit()
    return team


@pytest.fixture
def neighbour(app: Flask, owner: Person) -> Person:
    """A recruiter of the organization's other team."""
    found = person(app, "neighbour@first.example", organization=owner.organization, role="recruiter")
    found.member.teams = [other_team(app, owner)]
    db.session.commit()
    return found


@pytest.fixture
def things(owner: Person, make_flow: Made) -> dict[str, Any]:
    flow = make_flow()
    interview = interviews.book(owner.organization, flow.id, email="mary@candidate.example")
    candidate_request = CandidateRequest(
        organization_id=flow.organization_id, team_id=flow.team_id, interview=interview, kind=RequestKind.REVIEW
    )
    db.session.add(candidate_request)
    db.session.commit()
    return {"flow": flow, "interview": interview, "candidate": interview.candidate, "wish": candidate_request}


def rights(member: TeamMember, things: dict[str, Any]) -> set[Right]:
    """What the member may do, after holding every way of asking against the others."""
    found = set()
    for right in Right:
        told = {may(member, things[name], right) for name in ("flow", "interview", "candidate")}
        for rows in (InterviewFlow, Interview, Candidate):
            told.add(db.session.scalar(sa.select(sa.func.count()).select_from(rows).where(*reach(member, rows, right))))
        candidate_requests = (
            sa.select(sa.func.count()).select_from(CandidateRequest).where(*reach_of_requests(member, right))
        )
        told.add(db.session.scalar(candidate_requests))
        assert told in ({True}, {False}), (member.email, right, told)  # 1 and True are the same
        found |= {right} if told == {True} else set()
        for name in ("flow", "interview", "candidate"):
            mine = sa.select(TeamMember.id).where(*who_may(things[name], right), TeamMember.id == member.id)
            assert (db.session.scalar(mine) is not None) == (right in found), (member.email, right, name)
    return found


def test_a_team_and_administrators_see_and_viewers_change_nothing(
    owner: Person, colleague: Person, viewer: Person, neighbour: Person, outsider: Person, things: dict[str, Any]
) -> None:
    assert rights(owner.member, things) == rights(colleague.member, things) == {Right.VIEW, Right.EDIT}
    assert rights(viewer.member, things) == {Right.VIEW}
    assert rights(neighbour.member, things) == set()
    assert not may(outsider.member, things["flow"])


def test_a_member_of_several_teams_reaches_all_and_one_of_none_nothing(
    app: Flask, owner: Person, neighbour: Person, things: dict[str, Any]
) -> None:
    db.session.add(TeamMembership(team_id=owner.team.id, member_id=neighbour.member.id))
    db.session.commit()
    db.session.expire_all()
    assert rights(neighbour.member, things) == {Right.VIEW, Right.EDIT}
    neighbour.member.teams = []
    db.session.commit()
    assert rights(neighbour.member, things) == set()


BOTH = {Right.VIEW, Right.EDIT}


def given(who: Person, flow: InterviewFlow, right: Right) -> None:
    known = db.session.get(FlowGrant, (flow.id, who.member.id))
    if known is None:
        known = FlowGrant(flow_id=flow.id, member_id=who.member.id, by_id=who.member.id, right=right)
        db.session.add(known)
    known.right = right
    db.session.commit()


def test_a_right_of_ones_own_reaches_beyond_the_team_and_never_beyond_the_role(
    owner: Person, viewer: Person, colleague: Person, neighbour: Person, things: dict[str, Any], make_flow: Made
) -> None:
    flow, other = things["flow"], make_flow()
    given(neighbour, flow, Right.VIEW)
    assert rights_to(neighbour, things) == {Right.VIEW}
    assert only_viewed(neighbour.member) == {flow.id}
    assert not may(neighbour.member, other)
    given(neighbour, flow, Right.EDIT)
    assert rights_to(neighbour, things) == BOTH
    assert only_viewed(neighbour.member) == frozenset()
    given(viewer, flow, Right.EDIT)
    assert rights_to(viewer, things) == {Right.VIEW}
    given(colleague, flow, Right.VIEW)
    assert rights_to(colleague, things) == BOTH, "the team's own right stays"
    assert only_viewed(colleague.member) == frozenset()


def rights_to(who: Person, things: dict[str, Any]) -> set[Right]:
    """As ``rights``, where there may be other flows: only what hangs on this one is asked for."""
    found = {right for right in Right if may(who.member, things["flow"], right)}
    for right in Right:
        for rows, name in ((InterviewFlow, "flow"), (Interview, "interview"), (Candidate, "candidate")):
            mine = sa.select(rows.id).where(*reach(who.member, rows, right), rows.id == things[name].id)
            assert (db.session.scalar(mine) is not None) == (right in found) == may(who.member, things[name], right)
        candidate_requests = sa.select(CandidateRequest.id).where(*reach_of_requests(who.member, right))
        assert (db.session.scalar(candidate_requests) is not None) == (right in found)
        other = sa.select(TeamMember.id).where(*who_may(things["flow"], right), TeamMember.id == who.member.id)
        assert (db.session.scalar(other) is not None) == (right in found)
    return found


def test_a_narrowed_flow_is_for_those_who_are_named_and_for_administrators(
    owner: Person, colleague: Person, viewer: Person, neighbour: Person, things: dict[str, Any]
) -> None:
    flow = things["flow"]
    flow.is_narrowed = True
    db.session.commit()
    assert rights(owner.member, things) == BOTH
    assert (
        rights(colleague.member, things) == rights(viewer.member, things) == rights(neighbour.member, things) == set()
    )
    given(viewer, flow, Right.VIEW)
    given(colleague, flow, Right.EDIT)
    given(neighbour, flow, Right.VIEW)
    assert rights(viewer.member, things) == rights(neighbour.member, things) == {Right.VIEW}
    assert rights(colleague.member, things) == BOTH


def test_the_dashboards_counts_are_what_the_lists_show(
    owner: Person, colleague: Person, viewer: Person, neighbour: Person, make_flow: Made
) -> None:
    plain, hidden, lent = make_flow(), make_flow(is_narrowed=True), make_flow(is_narrowed=True)
    for flow, count in ((plain, 1), (hidden, 2), (lent, 4)):
        for _ in range(count):
            interviews.book(owner.organization, flow.id, email=f"{new_id()}@candidate.example")
    db.session.commit()
    given(neighbour, lent, Right.VIEW)
    given(viewer, lent, Right.VIEW)
    expected = ((owner, 7), (colleague, 1), (viewer, 5), (neighbour, 4))
    for who, count in expected:
        new = {one.label: one.count for one in this_week(who.member)}
        assert new["New candidates"] == count, who.member.email
        listed = sa.select(sa.func.count()).select_from(Interview).where(*reach(who.member, Interview))
        assert db.session.scalar(listed) == count
