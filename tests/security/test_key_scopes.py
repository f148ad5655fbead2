"""Every address of ``/v1`` with keys that are limited: nothing outside is shown or changed, and no secret leaves.

A new route that does nothing about scopes is refused to keys limited to teams or flows. It fails here until it either
narrows itself (``key_guard.narrows_itself``) or is named in ``ORGANIZATION_WIDE``.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.accounts import actions as accounts
from app.accounts.key_scope import EVERYTHING, KeyScope
from app.accounts.models import Organization
from app.core.db import db
from app.flows.models import FlowStatus, InterviewFlow

from .conftest import World
from .policy import POLICY
from .test_tenancy import Ask, Asked, allowed, everything, method_of, own_ids, realm, refused, routes, with_key

ORGANIZATION_WIDE = frozenset(
    f"Webhooks.{name}"
    for name in (
        "list_webhook_endpoints",
        "create_webhook_endpoint",
        "get_webhook_endpoint",
        "delete_webhook_endpoint",
        "enable_webhook_endpoint",
        "rotate_webhook_endpoint_secret",
        "switch_webhook_endpoint_secret",
    )
)
"""Routes that show or change things of the whole organization, so that keys limited to teams or flows do not reach
them."""
KINDS = ("flow", "interview", "booked", "sat", "candidate", "delivery")


def a_key(world: World, scope: KeyScope = EVERYTHING) -> Ask:
    organization = db.session.get_one(Organization, world.ours.admin.organization_id)
    _row, key = accounts.issue_api_key(organization, name="Limited", by=None, scope=scope)
    db.session.commit()
    world.settle()
    return with_key(world, key)


def elsewhere(world: World, limit: str) -> KeyScope:
    """A scope without anything of the organization's first team, or without its flows."""
    if limit == "teams":
        return KeyScope(team_ids=(world.ours.other_team_id,))
    team_id = world.ours.ids["team"]
    values = {"organization_id": world.ours.admin.organization_id, "team_id": team_id, "status": FlowStatus.OPEN}
    flow = InterviewFlow(**values, org_name="Plain", title="Plain", questions=["Why?"])
    db.session.add(flow)
    db.session.commit()
    return KeyScope(team_ids=(team_id,), flow_ids=(flow.id,))


def asked_of(world: World, endpoint: str) -> Asked:
    rule = POLICY[endpoint]
    return Asked(routes(world.app)[endpoint], rule, own_ids(rule, world.ours), world.ours)


def writes(asked: Asked) -> bool:
    return asked.rule.given is not None or method_of(asked.route) != "GET"


def code_of(world: World, asked: Asked, ask: Ask) -> tuple[int, str | None]:
    with world.undone():
        response: TestResponse = asked.sent(ask)
        response.close()
    return response.status_code, response.headers.get("X-Parley-Error")


@pytest.mark.parametrize("endpoint", realm("key"))
def test_a_read_only_key_reads_everything_and_writes_nothing(world: World, endpoint: str) -> None:
    asked, key = asked_of(world, endpoint), a_key(world, KeyScope(is_read_only=True))
    if not writes(asked):
        allowed(world, asked, key, told="read only")
        return
    assert code_of(world, asked, key) == (403, "key_read_only")
    refused(world, asked, key, statuses=frozenset({403}), marks=world.ours.marks, told="read only")


@pytest.mark.parametrize("limit", ["teams", "flows"])
@pytest.mark.parametrize("endpoint", realm("key"))
def test_a_limited_key_neither_sees_nor_changes_what_is_outside(world: World, endpoint: str, limit: str) -> None:
    asked, key = asked_of(world, endpoint), a_key(world, elsewhere(world, limit))
    ours = world.ours
    marks = (ours.team_mark, ours.archived_flow_id, *(ours.ids[kind] for kind in KINDS))
    if writes(asked) or any(where == "path" for where, _name, _kind in asked.rule.places):
        assert code_of(world, asked, key) == (403, "key_scope")
        refused(world, asked, key, statuses=frozenset({403}), marks=marks, told=limit)
    else:
        refused(world, asked, key, statuses=frozenset({200, 403}), marks=marks, told=limit)
        bare = Asked(asked.route, asked.rule, {}, ours)
        refused(world, bare, key, statuses=frozenset({200, 403}), marks=marks, told=f"{limit}, without filters")


@pytest.mark.parametrize("endpoint", realm("key"))
def test_a_limited_key_works_as_any_other_within_its_limits(world: World, endpoint: str) -> None:
    asked = asked_of(world, endpoint)
    key = a_key(world, KeyScope(team_ids=(world.ours.ids["team"],)))
    if endpoint in ORGANIZATION_WIDE:
        assert code_of(world, asked, key) == (403, "key_scope")
    else:
        allowed(world, asked, key, told="within")


@pytest.mark.parametrize("endpoint", realm("key"))
def test_a_key_without_secrets_gets_none(world: World, endpoint: str) -> None:
    asked, key = asked_of(world, endpoint), a_key(world, KeyScope(hides_secrets=True))
    with world.undone():
        response = asked.sent(key)
        told = list(_secrets(response.get_json())) if response.is_json else []
        status, code, text = response.status_code, response.headers.get("X-Parley-Error"), everything(response)
    assert (status, code) == (403, "key_scope") or status in asked.rule.own
    assert not told
    assert f"{world.ours.team_mark} secret".lower() not in text


def _secrets(value: Any) -> Iterator[str]:
    """Names of fields with the word secret that hold a text."""
    if isinstance(value, dict):
        yield from (name for name, held in value.items() if "secret" in name and isinstance(held, str))
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _secrets(inner)


def test_a_key_with_secrets_does_get_them(world: World) -> None:
    response = asked_of(world, "Interview flows.get_interview_flow").sent(a_key(world))
    assert response.get_json()["webhook_secret_key"] == f"{world.ours.team_mark} secret"
