"""Who takes part in a test: people with an organization, a team, an API key and a browser."""

import secrets
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from itsdangerous import URLSafeTimedSerializer
from werkzeug.test import TestResponse

from app.accounts import access, actions
from app.accounts.models import Organization, Role, Team, TeamMember, TeamMembership
from app.core.db import db


class Browser(FlaskClient):
    """A test client that sends a valid CSRF token, as the pages' forms do; ``forged=True`` leaves it out."""

    def open(self, *args: Any, forged: bool = False, **kwargs: Any) -> TestResponse:
        method = str(kwargs.get("method", "GET")).upper()
        if method not in {"GET", "HEAD", "OPTIONS"} and not forged:
            with self.session_transaction() as session:
                mine = session.setdefault("csrf_token", secrets.token_hex(20))
            secret = str(self.application.secret_key)
            token = URLSafeTimedSerializer(secret, salt="wtf-csrf-token").dumps(mine)
            headers = dict(kwargs.get("headers") or {})
            headers.setdefault("X-CSRFToken", str(token))
            kwargs["headers"] = headers
        return super().open(*args, **kwargs)


@dataclass
class Person:
    """A member of an organization. ``api`` calls ``/v1`` with a key; ``browser`` is signed in."""

    app: Flask
    member: TeamMember
    organization: Organization
    team: Team
    key: str

    @property
    def browser(self) -> Browser:
        signed_in: Browser = self.app.test_client()  # type: ignore[assignment]
        _login, token = actions.sign_in(self.member, address="127.0.0.1", browser="test")
        db.session.commit()
        signed_in.set_cookie(access.cookie_name(self.app.extensions["parley.settings"]), token)
        return signed_in

    def api(self, method: str, path: str, **kwargs: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.key}", **kwargs.pop("headers", {})}
        return self.app.test_client().open(path, method=method, headers=headers, **kwargs)


def person(app: Flask, email: str, *, organization: str | Organization, role: str) -> Person:
    """Someone with ``role``, in a new organization or an existing one."""
    if isinstance(organization, str):
        organization = Organization(name=organization)
        db.session.add(organization)
        db.session.flush()
        db.session.add(Team(organization_id=organization.id, name="Hiring"))
        db.session.flush()
    team = db.session.query(Team).filter_by(organization_id=organization.id).order_by(Team.created_at).first()
    assert team is not None
    member = TeamMember(
        organization_id=organization.id,
        email=email,
        full_name=email.partition("@")[0].title(),
        role=Role(role),
        password_hash="one that no password fits",
    )
    db.session.add(member)
    db.session.flush()
    db.session.add(TeamMembership(team_id=team.id, member_id=member.id))
    _row, key = actions.issue_api_key(organization, name="test", by=member)
    db.session.commit()
    return Person(app=app, member=member, organization=organization, team=team, key=key)


def moved_away(person: Person) -> Team:
    """They leave their teams for a new one of the same organization."""
    other = Team(organization_id=person.organization.id, name="Other")
    db.session.add(other)
    db.session.flush()
    db.session.execute(sa.delete(TeamMembership).where(TeamMembership.member_id == person.member.id))
    db.session.add(TeamMembership(team_id=other.id, member_id=person.member.id))
    db.session.commit()
    return other
