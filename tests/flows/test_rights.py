"""Who may see and change what hangs on a flow: lists, single things and the other way round say the same."""

from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.models import Team, TeamMember, TeamMembership
from app.candidates.models import Candidate
from app.db import db
from app.flows.models import InterviewFlow, Right
from app.flows.queries import may, reach, who_sees
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.wishes.models import Wish, WishKind
from app.wishes.queries import reach_of_wishes
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
    wish = Wish(organization_id=flow.organization_id, team_id=flow.team_id, interview=interview, kind=WishKind.REVIEW)
    db.session.add(wish)
    db.session.commit()
    return {"flow": flow, "interview": interview, "candidate": interview.candidate, "wish": wish}


def rights(member: TeamMember, things: dict[str, Any]) -> set[Right]:
    """What the member may do, after holding every way of asking against the others."""
    found = set()
    for right in Right:
        told = {may(member, things[name], right) for name in ("flow", "interview", "candidate")}
        for rows in (InterviewFlow, Interview, Candidate):
            told.add(db.session.scalar(sa.select(sa.func.count()).select_from(rows).where(*reach(member, rows, right))))
        wishes = sa.select(sa.func.count()).select_from(Wish).where(*reach_of_wishes(member, right))
        told.add(db.session.scalar(wishes))
        assert told in ({True}, {False}), (member.email, right, told)  # 1 and True are the same
        found |= {right} if told == {True} else set()
    for name in ("flow", "interview", "candidate"):
        seen = db.session.scalar(sa.select(TeamMember.id).where(*who_sees(things[name]), TeamMember.id == member.id))
        assert (seen is not None) == (Right.VIEW in found), (member.email, name)
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
