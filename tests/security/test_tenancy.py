"""Every route, asked by everyone who may not, with ids of others in every place that takes one.

Compared are the status, every byte of the answer, and what has changed: rows of all tables, files, the outbox.
"""

import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.routing import Rule as Route
from werkzeug.test import TestResponse

from app.accounts import access
from app.accounts.models import ApiKey, Login, Organization, Role, TeamMember
from app.core import clock
from app.core.db import db
from app.flows.models import InterviewFlow
from app.interviews.recordings import actions as recordings
from tests.people import Browser

from .conftest import World
from .policy import POLICY, Place, Rule
from .world import Actor, Side, cookie_of

DENIED = frozenset({400, 401, 403, 404, 409, 410, 422})
MALFORMED = ("nope", "0", "\x00", "' OR '1'='1", f"{{{uuid.UUID(int=7)}}}", "a" * 3000, "\N{FULLWIDTH DIGIT ONE}" * 36)
PRIVATE = ("Runa", "@running", "resume", " why?", " info", " instructions", " secret")
"""Parts of a running interview that its link alone may never show."""
Ask = Callable[..., TestResponse]


@dataclass(frozen=True)
class Asked:
    """A request about to be made: the ids in their places, and the rest of the form or body."""

    route: Route
    rule: Rule
    ids: Mapping[Place, str]
    side: Side

    def sent(self, ask: Ask, **more: Any) -> TestResponse:
        at = {name: value for (where, name, _), value in self.ids.items() if where == "path"} | self.rule.extra
        given = dict(self.rule.given(self.side)) if self.rule.given else None
        for (where, name, _), value in self.ids.items():
            if where in {"form", "body"}:
                given = {**(given or {}), name: value}
        query = {name: value for (where, name, _), value in self.ids.items() if where == "query"}
        query |= {name: value for name, value in self.rule.extra.items() if name not in self.route.arguments}
        if given is not None:
            more["json" if self.rule.as_json else "data"] = given
        method = next(iter(self.route.methods - {"HEAD", "OPTIONS", "GET"}), "GET") if given is not None else None
        return ask(method or method_of(self.route), path_of(self.route, at), query_string=query, **more)


def method_of(route: Route) -> str:
    assert route.methods
    return "GET" if "GET" in route.methods else min(route.methods - {"OPTIONS"})


def path_of(route: Route, at: Mapping[str, Any]) -> str:
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda found: quote(str(at.get(found[1], "x")), safe=""), route.rule)


def routes(app: Flask) -> dict[str, Route]:
    return {str(route.endpoint): route for route in app.url_map.iter_rules()}


def own_ids(rule: Rule, side: Side) -> dict[Place, str]:
    return {place: side.ids[place[2]] for place in rule.places}


# --- who asks ------------------------------------------------------------------------------------------------------


def as_stranger(world: World) -> Ask:
    client = world.app.test_client()
    return lambda method, path, **more: client.open(path, method=method, **more)


def with_key(world: World, key: str) -> Ask:
    client = world.app.test_client()

    def ask(method: str, path: str, **more: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {key}", **more.pop("headers", {})}
        return client.open(path, method=method, headers=headers, **more)

    return ask


def signed_in(world: World, actor: Actor, *, cookie: str | None = None) -> Ask:
    browser: Browser = world.app.test_client()  # type: ignore[assignment]
    world.settle()  # signing in leaves rows of its own
    token = cookie_of(actor)
    browser.set_cookie(access.cookie_name(world.app.extensions["parley.settings"]), cookie or token)
    return lambda method, path, **more: browser.open(path, method=method, **more)


def with_sitting(world: World, name: str, secret: str) -> Ask:
    browser = world.app.test_client()
    browser.set_cookie(name, secret)
    return lambda method, path, **more: browser.open(path, method=method, **more)


# --- how it is judged ----------------------------------------------------------------------------------------------


def everything(response: TestResponse) -> str:
    whole = response.get_data() + str(response.headers).encode()
    response.close()
    return whole.decode(errors="replace").lower()


def refused(
    world: World, asked: Asked, ask: Ask, *, statuses: frozenset[int], marks: tuple[str, ...], told: str, **more: Any
) -> None:
    """The request is answered with one of ``statuses``, shows none of ``marks``, and changes nothing."""
    told = f"{asked.route.endpoint}: {told}"
    world.watch(told)
    response = asked.sent(ask, **more)
    assert response.status_code in statuses, (told, response.status_code, response.get_data()[:300])
    text = everything(response)
    db.session.remove()
    shown = [mark for mark in marks if mark.lower() in text]
    assert not shown, (told, shown)


def allowed(world: World, asked: Asked, ask: Ask, *, told: str) -> None:
    """Those who may are let in, and see what others must not: else the refusals would prove nothing."""
    world.attempts += 1
    with world.undone():
        response = asked.sent(ask)
        told = f"{asked.route.endpoint}: {told}"
        assert response.status_code in asked.rule.own, (told, response.status_code, response.get_data()[:300])
        text = everything(response)
    if asked.rule.shows:
        mark = asked.side.team_mark if asked.rule.shows == "team" else asked.side.organization_mark
        assert mark.lower() in text, told
    assert not [mark for mark in other_side(world, asked.side).marks if mark.lower() in text], told


def other_side(world: World, side: Side) -> Side:
    return world.theirs if side is world.ours else world.ours


def replaced(ids: dict[Place, str], place: Place, value: str) -> dict[Place, str]:
    return {**ids, place: value}


def realm(name: str) -> list[str]:
    return sorted(endpoint for endpoint, rule in POLICY.items() if rule.realm == name)


# --- the matrix ----------------------------------------------------------------------------------------------------


def test_every_route_has_a_rule_and_every_rule_a_route(world: World) -> None:
    assert set(routes(world.app)) == set(POLICY)


def test_every_id_in_an_address_is_named_as_a_place(world: World) -> None:
    for endpoint, route in routes(world.app).items():
        rule = POLICY[endpoint]
        named = {name for where, name, _ in rule.places if where == "path"} | set(rule.extra)
        if rule.realm != "open":
            assert named - set(rule.extra) <= set(route.arguments) <= named, endpoint


@pytest.mark.parametrize("endpoint", realm("open"))
def test_open_addresses_tell_nothing_about_anyone(world: World, endpoint: str) -> None:
    asked = Asked(routes(world.app)[endpoint], POLICY[endpoint], {}, world.ours)
    named = {"static": "/static/css/none.css", "api_docs.file": "/v1/docs/index.css"}
    for ask in (as_stranger(world), with_key(world, world.ours.admin.key)):
        if endpoint in named:
            response = ask("GET", named[endpoint])
            assert response.status_code in {200, 404}
            assert not set(world.ours.marks) & set(everything(response).split())
            continue
        statuses = POLICY[endpoint].own
        refused(world, asked, ask, statuses=statuses, marks=(*world.ours.marks, *world.theirs.marks), told="open")


@pytest.mark.parametrize("endpoint", realm("key"))
def test_v1_serves_the_organization_of_the_key_alone(world: World, endpoint: str) -> None:
    route, rule = routes(world.app)[endpoint], POLICY[endpoint]
    ours, theirs = world.ours, world.theirs
    key = with_key(world, ours.admin.key)
    own = own_ids(rule, ours)
    allowed(world, Asked(route, rule, own, ours), key, told="own")
    for place in rule.places:
        kind = place[2]
        expected = {"team": 403, "recruiter": 422}.get(kind, 403)
        foreign = Asked(route, rule, replaced(own, place, theirs.ids[kind]), ours)
        refused(world, foreign, key, statuses=frozenset({expected}), marks=theirs.marks, told=f"foreign {place}")
        absent = Asked(route, rule, replaced(own, place, str(uuid.uuid4())), ours)
        missing = frozenset({403 if kind == "team" else 422})
        refused(world, absent, key, statuses=missing, marks=theirs.marks, told=f"absent {place}")
        for value in MALFORMED:
            asked = Asked(route, rule, replaced(own, place, value), ours)
            statuses = frozenset({403, 422} if kind == "team" else {422})
            refused(world, asked, key, statuses=statuses, marks=theirs.marks, told=f"malformed {place} {value[:20]!r}")
        if kind == "flow":
            assert rule.archived is not None
            archived = Asked(route, rule, replaced(own, place, ours.archived_flow_id), ours)
            with world.undone():
                assert archived.sent(key).status_code in rule.archived, place
    if rule.places:
        all_foreign = Asked(route, rule, own_ids(rule, theirs), theirs)
        refused(world, all_foreign, key, statuses=frozenset({403}), marks=theirs.marks, told="all foreign")


@pytest.mark.parametrize("endpoint", realm("key"))
def test_v1_refuses_every_bad_credential_with_the_same_words(world: World, endpoint: str) -> None:
    route, rule = routes(world.app)[endpoint], POLICY[endpoint]
    asked = Asked(route, rule, own_ids(rule, world.ours), world.ours)
    key = world.ours.admin.key
    client = as_stranger(world)

    def header(value: str) -> Ask:
        return lambda method, path, **more: client(method, path, headers={"Authorization": value}, **more)

    bad: dict[str, Ask] = {
        "none": client,
        "unknown": with_key(world, str(uuid.uuid4())),
        "basic": header(f"Basic {key}"),
        "braces": with_key(world, f"{{{key}}}"),
        "urn": with_key(world, f"urn:uuid:{key}"),
        "bare": header(key),
        "without hyphens": with_key(world, key.replace("-", "")),
        "browser": signed_in(world, world.ours.admin),
        "in the query": lambda method, path, query_string, **more: client(
            method, path, query_string={**query_string, "api_key": key, "access_token": key}, **more
        ),
    }
    bodies = set()
    for name, ask in bad.items():
        refused(world, asked, ask, statuses=frozenset({401}), marks=world.ours.marks, told=name)
        bodies.add(asked.sent(ask).get_data())
    for name in ("revoked", "expired", "disabled"):
        with world.undone():
            _spoil_key(world, name)
            asked.sent(with_key(world, key))  # the first use of a dead key is written down, the next ones are not
            refused(world, asked, with_key(world, key), statuses=frozenset({401}), marks=world.ours.marks, told=name)
            bodies.add(asked.sent(with_key(world, key)).get_data())
    assert len(bodies) == 1


def _spoil_key(world: World, how: str) -> None:
    organization = world.ours.admin.organization_id
    past = clock.now() - timedelta(seconds=1)
    keys = sa.update(ApiKey).where(ApiKey.organization_id == organization)
    statements = {
        "revoked": keys.values(revoked_at=past),
        "expired": keys.values(expires_at=past),
        "disabled": sa.update(Organization).where(Organization.id == organization).values(disabled_at=past),
    }
    db.session.execute(statements[how])
    db.session.commit()


@pytest.mark.parametrize("endpoint", realm("member"))
def test_pages_show_members_their_own_and_their_role_alone(world: World, endpoint: str) -> None:
    route, rule = routes(world.app)[endpoint], POLICY[endpoint]
    ours, theirs = world.ours, world.theirs
    own = own_ids(rule, ours)
    asked = Asked(route, rule, own, ours)
    asks = {
        "admin": signed_in(world, ours.admin),
        "recruiter": signed_in(world, ours.recruiter),
        "viewer": signed_in(world, ours.viewer),
    }
    for role, ask in asks.items():
        if role in rule.roles:
            allowed(world, asked, ask, told=role)
        else:
            statuses = frozenset({403, 404})
            refused(world, asked, ask, statuses=statuses, marks=_secrets(rule, ours), told=role)
    best = asks["admin" if "admin" in rule.roles else "recruiter"]
    for place in rule.places:
        _with_strange_ids(world, asked, best, place)
    if rule.places:
        foreign = Asked(route, rule, own_ids(rule, theirs), theirs)
        statuses = frozenset({200}) if _is_filter(rule, rule.places[0]) else frozenset({403, 404, 422})
        refused(world, foreign, best, statuses=statuses, marks=theirs.marks, told="all foreign")


def _secrets(rule: Rule, side: Side) -> tuple[str, ...]:
    """What someone of the organization may not see although the layout names the organization and the member."""
    return (side.team_mark, f"{side.organization_mark} key", f"{side.organization_mark} browser") if rule.shows else ()


def _is_filter(rule: Rule, place: Place) -> bool:
    return place[0] == "query" and place[1] in rule.filters


def _with_strange_ids(world: World, asked: Asked, ask: Ask, place: Place) -> None:
    rule, theirs, kind = asked.rule, world.theirs, place[2]
    narrowed = _is_filter(rule, place)
    strange = {"foreign": theirs.ids[kind], "absent": str(uuid.uuid4())}
    strange |= {f"malformed {value[:20]!r}": value for value in MALFORMED}
    for name, value in strange.items():
        changed = Asked(asked.route, rule, replaced(dict(asked.ids), place, value), asked.side)
        statuses = frozenset({200}) if narrowed else frozenset({403, 404}) if place[0] == "path" else DENIED - {401}
        refused(world, changed, ask, statuses=statuses, marks=theirs.marks, told=f"{name} {place}")
    if kind == "flow":
        assert rule.archived is not None
        archived = Asked(asked.route, rule, replaced(dict(asked.ids), place, asked.side.archived_flow_id), asked.side)
        with world.undone():
            response = archived.sent(ask)
            assert response.status_code in rule.archived, (place, response.status_code)
            response.close()


ALIKE = {"flow", "interview", "candidate", "delivery", "endpoint", "wish"}
"""What is not theirs and what is not there are the same to members."""


def _status(world: World, asked: Asked, ask: Ask) -> int:
    with world.undone():
        response = asked.sent(ask)
        response.close()
        return response.status_code


@pytest.mark.parametrize("endpoint", realm("member"))
def test_pages_keep_a_team_from_the_recruiters_of_another(world: World, endpoint: str) -> None:
    route, rule = routes(world.app)[endpoint], POLICY[endpoint]
    ours = world.ours
    asked = Asked(route, rule, own_ids(rule, ours), ours)
    ask = signed_in(world, ours.neighbour)
    if rule.places and not _is_filter(rule, rule.places[0]):
        refused(world, asked, ask, statuses=frozenset({403, 404, 422}), marks=(ours.team_mark,), told="other team")
        absent = replaced(dict(asked.ids), rule.places[0], str(uuid.uuid4()))
        if rule.places[0][2] in ALIKE:
            answers = {_status(world, one, ask) for one in (asked, Asked(route, rule, absent, ours))}
            assert len(answers) == 1, ("whether it is there is told", answers)
        return
    with world.undone():
        response = asked.sent(ask)
        assert response.status_code in {*rule.own, 403}
        assert ours.team_mark.lower() not in everything(response)


OF_A_FLOW = {"flow", "interview", "candidate", "document", "wish", "share", "delivery", "access_request"}
BESIDE = {"recruiter", "endpoint"}
"""Kinds of ids that come along with those."""


def about_a_flow() -> list[str]:
    """Pages that take an id of a flow, or of what hangs on it."""
    found = []
    for endpoint in realm("member"):
        rule = POLICY[endpoint]
        kinds = {kind for _, _, kind in rule.places}
        if kinds & OF_A_FLOW and kinds <= OF_A_FLOW | BESIDE and not _is_filter(rule, rule.places[0]):
            found.append(endpoint)
    return found


@pytest.mark.parametrize("endpoint", about_a_flow())
def test_whoever_was_given_one_flow_is_to_it_what_the_role_is_to_its_team(world: World, endpoint: str) -> None:
    """The right to view makes a recruiter of another team what a viewer is, the right to edit what a recruiter is."""
    route, rule = routes(world.app)[endpoint], POLICY[endpoint]
    ours = world.ours
    asked = Asked(route, rule, own_ids(rule, ours), ours)
    for actor, role in ((ours.guest, "viewer"), (ours.ally, "recruiter")):
        ask = signed_in(world, actor)
        if role in rule.roles:
            allowed(world, asked, ask, told=f"as a {role}")
        else:
            refused(world, asked, ask, statuses=frozenset({403, 404, 422}), marks=(), told=f"as a {role}")


@pytest.mark.parametrize("endpoint", about_a_flow())
def test_a_narrowed_flow_is_kept_from_its_own_team(world: World, endpoint: str) -> None:
    route, rule = routes(world.app)[endpoint], POLICY[endpoint]
    ours = world.ours
    db.session.execute(sa.update(InterviewFlow).where(InterviewFlow.id == ours.ids["flow"]).values(is_narrowed=True))
    db.session.commit()
    asked = Asked(route, rule, own_ids(rule, ours), ours)
    for actor in (ours.recruiter, ours.viewer):
        ask = signed_in(world, actor)
        refused(world, asked, ask, statuses=frozenset({403, 404, 422}), marks=(ours.team_mark,), told="narrowed")
    if "admin" in rule.roles:
        allowed(world, asked, signed_in(world, ours.admin), told="an administrator always may")


@pytest.mark.parametrize("endpoint", realm("member"))
def test_pages_let_nobody_in_without_a_session_that_lives(world: World, endpoint: str) -> None:
    route, rule = routes(world.app)[endpoint], POLICY[endpoint]
    asked = Asked(route, rule, own_ids(rule, world.ours), world.ours)
    admin = world.ours.admin
    asks = {
        "stranger": as_stranger(world),
        "API key": with_key(world, admin.key),
        "forged cookie": signed_in(world, admin, cookie="A" * 43),
        "no cookie value": signed_in(world, admin, cookie="-"),
    }
    for name, ask in asks.items():
        refused(world, asked, ask, statuses=frozenset({302, 401}), marks=world.ours.marks, told=name)
    for name in ("ended", "idle", "too old", "member disabled", "organization disabled"):
        with world.undone():
            ask = signed_in(world, admin)
            _spoil_login(world, name)
            refused(world, asked, ask, statuses=frozenset({302, 401}), marks=world.ours.marks, told=name)


def _spoil_login(world: World, how: str) -> None:
    admin = world.ours.admin.member_id
    now = clock.now()
    logins = sa.update(Login).where(Login.member_id == admin)
    organizations = sa.update(Organization).where(Organization.id == world.ours.admin.organization_id)
    statements = {
        "ended": logins.values(ended_at=now),
        "idle": logins.values(seen_at=now - timedelta(minutes=31)),
        "too old": logins.values(created_at=now - timedelta(hours=13)),
        "member disabled": sa.update(TeamMember).where(TeamMember.id == admin).values(disabled_at=now),
        "organization disabled": organizations.values(disabled_at=now),
    }
    db.session.execute(statements[how])
    db.session.commit()


CHANGING = sorted(
    name for name, rule in POLICY.items() if rule.realm == "member" and (rule.given or rule.own & {302, 303})
)


@pytest.mark.parametrize("endpoint", CHANGING)
def test_no_page_is_changed_from_another_site_or_without_its_token(world: World, endpoint: str) -> None:
    route, rule = routes(world.app)[endpoint], POLICY[endpoint]
    assert "GET" not in (route.methods or ()), "what changes something is no GET"
    role = "admin" if "admin" in rule.roles else "recruiter"
    actor: Actor = getattr(world.ours, role)
    asked = Asked(route, rule, own_ids(rule, world.ours), world.ours)
    ask = signed_in(world, actor)
    attacks: dict[str, dict[str, Any]] = {
        "no token": {"forged": True},
        "other site": {"headers": {"Sec-Fetch-Site": "cross-site"}},
        "other origin": {"headers": {"Origin": "https://evil.example"}},
        "null origin": {"headers": {"Origin": "null"}},
        "a token of someone else": {"headers": {"X-CSRFToken": "forged"}, "forged": True},
    }
    for name, more in attacks.items():
        refused(world, asked, ask, statuses=frozenset({400, 403}), marks=world.theirs.marks, told=name, **more)


@pytest.mark.parametrize("endpoint", realm("holder"))
def test_the_talk_goes_on_in_the_browser_that_holds_it_alone(world: World, endpoint: str) -> None:
    route, rule = routes(world.app)[endpoint], POLICY[endpoint]
    ours, theirs = world.ours, world.theirs
    own = own_ids(rule, ours)
    asked = Asked(route, rule, own, ours)
    name, secret = ours.sitting
    holder = with_sitting(world, name, secret)
    allowed(world, asked, holder, told="holder")
    no_entry = {
        "stranger": as_stranger(world),
        "another secret": with_sitting(world, name, "A" * 43),
        "the secret of another interview": with_sitting(world, name, theirs.sitting[1]),
        "an administrator": signed_in(world, ours.admin),
        "a key": with_key(world, ours.admin.key),
    }
    for told, ask in no_entry.items():
        refused(world, asked, ask, statuses=frozenset({403, 409}), marks=ours.marks, told=told)
    for place in rule.places:
        for value in (theirs.ids[place[2]], str(uuid.uuid4()), *MALFORMED):
            changed = Asked(route, rule, replaced(own, place, value), ours)
            refused(
                world, changed, holder, statuses=frozenset({403, 404}), marks=theirs.marks, told=f"{place} {value[:20]}"
            )
    foreign = Asked(route, rule, own_ids(rule, theirs), ours)
    refused(world, foreign, holder, statuses=frozenset({403, 409}), marks=theirs.marks, told="their link")


@pytest.mark.parametrize("endpoint", realm("link"))
def test_a_link_shows_strangers_no_person_and_no_question(world: World, endpoint: str) -> None:
    route, rule = routes(world.app)[endpoint], POLICY[endpoint]
    own = own_ids(rule, world.ours)
    asks = {
        "stranger": as_stranger(world),
        "member": signed_in(world, world.ours.admin),
        "another browser": with_sitting(world, world.ours.sitting[0], "A" * 43),
    }
    for told, ask in asks.items():
        asked = Asked(route, rule, own, world.ours)
        statuses = frozenset({200, 409})
        marks = (*(f"{world.ours.team_mark}{part}" for part in PRIVATE), "@running", *world.theirs.marks)
        refused(world, asked, ask, statuses=statuses, marks=marks, told=told)
    for place in rule.places:
        values = [str(uuid.uuid4()), *MALFORMED]
        if len(rule.places) > 1:
            values.append(world.theirs.ids[place[2]])
        for value in values:
            changed = Asked(route, rule, replaced(own, place, value), world.ours)
            marks = (*world.ours.marks, *world.theirs.marks)
            refused(world, changed, asks["stranger"], statuses=frozenset({404}), marks=marks, told=f"{value[:20]}")
        if place[2] == "flow" and rule.archived:
            archived = Asked(route, rule, replaced(own, place, world.ours.archived_flow_id), world.ours)
            refused(world, archived, asks["stranger"], statuses=rule.archived, marks=(), told="archived")


@pytest.mark.parametrize("endpoint", realm("own"))
def test_the_own_page_opens_for_the_candidate_alone(world: World, endpoint: str) -> None:
    route, rule = routes(world.app)[endpoint], POLICY[endpoint]
    ours, theirs = world.ours, world.theirs
    own = own_ids(rule, ours)
    candidate = with_sitting(world, *ours.own)
    allowed(world, Asked(route, rule, own, ours), candidate, told="the candidate")
    marks = (*(f"{ours.team_mark}{part}" for part in (*PRIVATE, "Mary", " because")), "@candidate", *theirs.marks)
    no_entry = {
        "stranger": as_stranger(world),
        "another secret": with_sitting(world, ours.own[0], "A" * 43),
        "the secret of another interview": with_sitting(world, ours.own[0], theirs.own[1]),
        "an administrator": signed_in(world, ours.admin),
        "a key": with_key(world, ours.admin.key),
        "a secret in the cookie of a code": with_sitting(world, f"parley-own-{ours.ids['interview'][:8]}", ours.own[1]),
    }
    for told, ask in no_entry.items():
        refused(world, Asked(route, rule, own, ours), ask, statuses=frozenset({403}), marks=marks, told=told)
    for place in rule.places:
        for value in (theirs.ids[place[2]], str(uuid.uuid4()), *MALFORMED):
            changed = Asked(route, rule, replaced(own, place, value), ours)
            told = f"{place} {value[:20]}"
            refused(world, changed, candidate, statuses=frozenset({403, 404}), marks=theirs.marks, told=told)
    foreign = Asked(route, rule, own_ids(rule, theirs), ours)
    marks = (f"{theirs.team_mark}Mary", f"{theirs.team_mark} because", *ours.marks)
    refused(world, foreign, candidate, statuses=frozenset({403}), marks=marks, told="their link")
    if rule.given is not None:
        attacks: dict[str, dict[str, Any]] = {
            "no token": {"forged": True},
            "other site": {"headers": {"Sec-Fetch-Site": "cross-site"}},
        }
        for told, more in attacks.items():
            asked = Asked(route, rule, own, ours)
            refused(world, asked, candidate, statuses=frozenset({400, 403}), marks=marks, told=told, **more)


@pytest.mark.parametrize("endpoint", realm("door"))
def test_the_door_tells_nothing_about_anyone(world: World, endpoint: str) -> None:
    route, rule = routes(world.app)[endpoint], POLICY[endpoint]
    own = own_ids(rule, world.ours)
    marks = (*(f"{world.ours.team_mark}{part}" for part in (*PRIVATE, "Mary")), "@candidate", *world.theirs.marks)
    for ask in (as_stranger(world), signed_in(world, world.theirs.admin)):
        refused(world, Asked(route, rule, own, world.ours), ask, statuses=rule.own, marks=marks, told="stranger")
    for place in rule.places:
        for value in (world.theirs.ids[place[2]], str(uuid.uuid4()), *MALFORMED):
            changed = Asked(route, rule, replaced(own, place, value), world.ours)
            marks = (*world.ours.marks, *world.theirs.marks)
            refused(
                world, changed, as_stranger(world), statuses=frozenset({404}), marks=marks, told=f"{place} {value[:9]}"
            )


def test_a_signed_address_opens_one_recording_for_an_hour(world: World) -> None:
    route, rule = routes(world.app)["recordings.recording"], POLICY["recordings.recording"]
    ours, theirs, stranger = world.ours, world.theirs, as_stranger(world)
    own = own_ids(rule, ours)
    allowed(world, Asked(route, rule, own, ours), stranger, told="whoever has it")
    recording, token = rule.places
    parts = ours.ids["token"].split(".")
    forged = {
        "token of another recording": theirs.ids["token"],
        "word for another purpose": f"{parts[0]}.{parts[1]}.download.{parts[3]}",
        "later": f"{parts[0]}.{int(parts[1], 16) + 3600:x}.play.{parts[3]}",
        "no mac": ".".join(parts[:3]) + ".",
        "padding": ours.ids["token"] + "=",
        "dots": "....",
        "letters": f"{parts[0]}.\N{ARABIC-INDIC DIGIT ONE}.play.{parts[3]}",
        **{f"malformed {value[:10]!r}": value for value in MALFORMED},
    }
    for name, value in forged.items():
        for ask in (stranger, signed_in(world, ours.admin), with_key(world, ours.admin.key)):
            asked = Asked(route, rule, replaced(own, token, value), ours)
            refused(world, asked, ask, statuses=frozenset({403, 404}), marks=ours.marks, told=name)
    for value in (theirs.ids["recording"], str(uuid.uuid4()), *MALFORMED):
        asked = Asked(route, rule, replaced(own, recording, value), ours)
        refused(
            world, asked, stranger, statuses=frozenset({403, 404}), marks=(*ours.marks, *theirs.marks), told=value[:9]
        )
    _closes(world, Asked(route, rule, own, ours))


def _closes(world: World, asked: Asked) -> None:
    """Expiry, revocation, and the end of the organization end the address too."""
    stranger, marks = as_stranger(world), world.ours.marks
    later = clock.now() + timedelta(minutes=61)
    with clock.replaced(lambda: later):
        refused(world, asked, stranger, statuses=frozenset({410}), marks=marks, told="expired")
    with world.undone():
        recordings.revoke(world.ours.ids["interview"])
        db.session.commit()
        refused(world, asked, stranger, statuses=frozenset({410}), marks=marks, told="revoked")
    with world.undone():
        _spoil_key(world, "disabled")
        refused(world, asked, stranger, statuses=frozenset({410}), marks=marks, told="organization disabled")


def test_a_role_that_was_taken_away_counts_at_once(world: World) -> None:
    ask = signed_in(world, world.ours.admin)
    assert ask("GET", "/api-keys").status_code == 200
    db.session.execute(
        sa.update(TeamMember).where(TeamMember.id == world.ours.admin.member_id).values(role=Role.VIEWER)
    )
    db.session.commit()
    assert ask("GET", "/api-keys").status_code == 403


def test_a_disabled_organization_takes_no_new_interviews_and_lets_running_ones_end(world: World) -> None:
    ours, stranger = world.ours, as_stranger(world)
    booked = f"/interview/api/{ours.ids['flow']}/{ours.ids['booked']}"
    assert stranger("GET", booked).status_code == 200
    _spoil_key(world, "disabled")
    closed = stranger("GET", booked)
    assert closed.status_code == 410
    assert stranger("POST", f"{booked}/start", data={"consent": "yes", "mode": "text"}).status_code == 410
    running = f"/interview/api/{ours.ids['flow']}/{ours.ids['sat']}/state"
    assert with_sitting(world, *ours.sitting)("GET", running).status_code == 200
