"""Keys that are limited: read only, to teams or flows, without secrets, until a last day."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest

from app.accounts import actions, members, queries
from app.accounts.key_scope import EVERYTHING, KeyScope, scope_of_key
from app.accounts.models import ApiKey, AuditEntry, Team, TeamMembership
from app.core import clock, encryption
from app.core.db import db
from app.core.errors import Rejected
from app.flows.models import InterviewFlow
from app.flows.queries import secret_context
from tests.factories import a_flow


@pytest.fixture
def second_team(owner):
    team = Team(organization_id=owner.organization.id, name="Second team")
    db.session.add(team)
    db.session.commit()
    return team


def api_with(owner, **limits):
    row, key = actions.issue_api_key(owner.organization, name="Limited", by=owner.member, scope=KeyScope(**limits))
    db.session.commit()

    def api(method, path, **more):
        headers = {"Authorization": f"Bearer {key}", **more.pop("headers", {})}
        return owner.app.test_client().open(path, method=method, headers=headers, **more)

    api.row_id = row.id
    return api


def only_key(name):
    return db.session.query(ApiKey).filter_by(name=name).one()


def book(api, flow_id, **headers):
    return api("POST", "/v1/interviews", json={"interview_flow_id": flow_id}, headers=headers)


def flow_of(team, owner, **values):
    return a_flow(owner, team_id=team.id, **values)


def ids_in(response, things, name):
    assert response.status_code == 200, response.json
    return [one[name] for one in response.json[things]]


# --- in reads ------------------------------------------------------------------------------------------------------


def test_lists_leave_out_what_is_outside(owner, second_team):
    flows = {name: flow_of(team, owner) for name, team in (("first", owner.team), ("second", second_team))}
    booked = {name: book(owner.api, flow.id).json["interview_id"] for name, flow in flows.items()}
    api = api_with(owner, team_ids=(second_team.id,))
    assert ids_in(api("GET", "/v1/teams"), "teams", "id") == [second_team.id]
    assert ids_in(api("GET", "/v1/interview-flows"), "interview_flows", "interview_flow_id") == [flows["second"].id]
    for query in ("", "?status=incomplete", "?mode=live", f"?team_id={second_team.id}"):
        listed = ids_in(api("GET", f"/v1/interviews{query}"), "interviews", "interview_id")
        assert listed == [booked["second"]], query
    assert ids_in(api("GET", "/v1/interviews?mode=test"), "interviews", "interview_id") == []
    assert ids_in(api("GET", "/v1/interviews?status=completed"), "interviews", "interview_id") == []


def test_pages_of_interviews_follow_each_other_as_without_limits(owner, second_team):
    flow = flow_of(second_team, owner)
    ids = [book(owner.api, flow.id).json["interview_id"] for _ in range(3)]
    book(owner.api, flow_of(owner.team, owner).id)
    api = api_with(owner, team_ids=(second_team.id,), flow_ids=(flow.id,))
    pages = [ids_in(api("GET", f"/v1/interviews?limit=2&offset={at}"), "interviews", "interview_id") for at in (0, 2)]
    assert pages == [[ids[2], ids[1]], [ids[0]]]
    whole = [api("GET", f"/v1/interviews?transcript={one}").data for one in ("none", "text", "full")]
    assert whole == [
        owner.api("GET", f"/v1/interviews?transcript={one}&team_id={second_team.id}").data
        for one in ("none", "text", "full")
    ]


def test_one_thing_outside_is_refused_by_its_id(owner, second_team):
    flow = flow_of(owner.team, owner)
    interview_id = book(owner.api, flow.id).json["interview_id"]
    api = api_with(owner, team_ids=(second_team.id,))
    calls = [
        ("GET", f"/v1/interview-flows/{flow.id}"),
        ("GET", f"/v1/interview-flows/{flow.id.upper()}"),
        ("DELETE", f"/v1/interview-flows/{flow.id}"),
        ("GET", f"/v1/interviews/{interview_id}"),
        ("DELETE", f"/v1/interviews/{interview_id}"),
        ("GET", f"/v1/interviews?team_id={owner.team.id}"),
        ("GET", f"/v1/team-members?team_id={owner.team.id}"),
    ]
    for method, path in calls:
        response = api(method, path)
        assert (response.status_code, response.headers["X-Parley-Error"]) == (403, "key_scope"), path
        assert set(response.json) == {"code", "status", "message"}


def test_members_of_other_teams_are_left_out(owner, second_team, colleague):
    assert colleague.organization.id == owner.organization.id
    db.session.query(TeamMembership).filter_by(member_id=colleague.member.id).delete()
    db.session.add(TeamMembership(team_id=second_team.id, member_id=colleague.member.id))
    db.session.commit()
    api = api_with(owner, team_ids=(second_team.id,))
    assert ids_in(api("GET", "/v1/team-members"), "team_members", "id") == [colleague.member.id]
    assert len(owner.api("GET", "/v1/team-members").json["team_members"]) == 2


def test_the_secret_is_null_without_access_to_secrets(owner):
    flow = a_flow(owner, webhook_url="https://example.com/hook")
    flow.webhook_secret_sealed = encryption.seal("hush", context=secret_context(flow.id))
    db.session.commit()
    api = api_with(owner, hides_secrets=True)
    assert api("GET", f"/v1/interview-flows/{flow.id}").json["webhook_secret_key"] is None
    assert [one["webhook_secret_key"] for one in api("GET", "/v1/interview-flows").json["interview_flows"]] == [None]
    assert owner.api("GET", f"/v1/interview-flows/{flow.id}").json["webhook_secret_key"] == "hush"


# --- in writes -----------------------------------------------------------------------------------------------------


def test_an_interview_is_booked_within_the_limits_alone(owner, second_team):
    inside, outside = flow_of(second_team, owner), flow_of(owner.team, owner)
    api = api_with(owner, team_ids=(second_team.id,), flow_ids=(inside.id,))
    assert book(api, inside.id).status_code == 200
    response = book(api, outside.id)
    assert (response.status_code, response.headers["X-Parley-Error"]) == (403, "key_scope")


NEW_FLOW = {"org_name": "First Ltd", "title": "Nurse", "questions": ["Why?"]}


def test_a_key_limited_to_teams_creates_flows_in_its_oldest_team(owner, second_team):
    third = Team(organization_id=owner.organization.id, name="Third team")
    db.session.add(third)
    db.session.commit()
    api = api_with(owner, team_ids=(second_team.id, third.id))
    created = api("POST", "/v1/interview-flows", json=NEW_FLOW).json["interview_flow_id"]
    assert db.session.get_one(InterviewFlow, created).team_id == second_team.id
    refused = api("POST", "/v1/interview-flows", json=NEW_FLOW | {"team_id": owner.team.id})
    assert (refused.status_code, refused.headers["X-Parley-Error"]) == (403, "key_scope")


def test_a_key_limited_to_flows_creates_none(owner):
    flow = a_flow(owner)
    api = api_with(owner, team_ids=(owner.team.id,), flow_ids=(flow.id,))
    response = api("POST", "/v1/interview-flows", json=NEW_FLOW)
    assert (response.status_code, response.headers["X-Parley-Error"]) == (403, "key_scope")
    assert db.session.query(InterviewFlow).count() == 1


def test_a_read_only_key_does_not_write(owner):
    flow = a_flow(owner)
    api = api_with(owner, is_read_only=True)
    response = book(api, flow.id)
    assert (response.status_code, response.headers["X-Parley-Error"]) == (403, "key_read_only")
    assert response.json["message"] == "This API key is read only. Use a key that may write."
    assert api("GET", f"/v1/interview-flows/{flow.id}").status_code == 200
    assert api("HEAD", f"/v1/interview-flows/{flow.id}").status_code == 200


def test_a_key_repeats_no_call_of_a_key_with_another_scope(owner, second_team):
    flow = flow_of(second_team, owner)
    first = book(owner.api, flow.id, **{"Idempotency-Key": "same"})
    api, twin = (api_with(owner, team_ids=(second_team.id,)) for _ in range(2))
    own = book(api, flow.id, **{"Idempotency-Key": "same"})
    assert own.json["interview_id"] != first.json["interview_id"]
    assert "Idempotent-Replayed" not in own.headers
    for caller, answer in ((api, own), (twin, own), (owner.api, first)):
        again = book(caller, flow.id, **{"Idempotency-Key": "same"})
        assert (again.data, again.headers["Idempotent-Replayed"]) == (answer.data, "true")


def test_an_interview_outside_is_not_replayed(owner, second_team):
    flow = flow_of(owner.team, owner)
    book(owner.api, flow.id, **{"Idempotency-Key": "same"})
    response = book(api_with(owner, team_ids=(second_team.id,)), flow.id, **{"Idempotency-Key": "same"})
    assert response.status_code == 403


# --- how they are chosen -------------------------------------------------------------------------------------------


def test_the_page_creates_a_limited_key_and_shows_what_it_may(owner, second_team):
    flow = flow_of(second_team, owner, title="Nights")
    day = clock.now().date() + timedelta(days=30)
    form = {"name": "Report", "is_read_only": "y", "hides_secrets": "y", "expires": day.isoformat(), "flows": flow.id}
    assert owner.browser.post("/api-keys", data=form).status_code == 302
    key = only_key("Report")
    assert scope_of_key(key) == KeyScope(True, True, (second_team.id,), (flow.id,))
    assert key.expires_at == datetime.combine(day + timedelta(days=1), datetime.min.time(), UTC)
    page = re.sub(r"<[^>]*>", " ", owner.browser.get("/api-keys").get_data(as_text=True))
    assert re.search(r"Report\s+…\S+\s+Read only\s+No secrets\s+Only\s+flow\s+Nights\s", page), page
    assert re.search(r"\sEverything\s", page)
    entry = db.session.query(AuditEntry).filter_by(action="api_key.issued", subject=key.id).one()
    assert entry.details == {
        "read_only": True,
        "no_secrets": True,
        "teams": [second_team.id],
        "flows": [flow.id],
        "expires": clock.rfc3339(key.expires_at),
    }
    assert "Flows: Nights" in owner.browser.get("/audit").get_data(as_text=True)


def test_without_a_choice_a_key_may_do_everything(owner):
    owner.browser.post("/api-keys", data={"name": "Import"})
    key = only_key("Import")
    assert scope_of_key(key) is EVERYTHING
    assert (key.team_ids, key.flow_ids, key.expires_at) == (None, None, None)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"teams": "nothing"}, "Choose teams in your organization."),
        ({"flows": "nothing"}, "Choose interview flows in your organization."),
        ({"expires": "2020-01-31"}, "Choose today or a later day."),
        ({"expires": "9999-12-31"}, "Choose today or a later day, before the year 2200."),
        ({"expires": "soon"}, "Enter a day, such as 2027-01-31."),
        ({"teams": ["x"] * 101}, "Choose at most 100 teams."),
    ],
)
def test_a_wrong_limit_is_refused_and_names_its_field(owner, wrong, words):
    response = owner.browser.post("/api-keys", data={"name": "Import", **wrong})
    assert response.status_code == 422
    assert words in response.get_data(as_text=True)
    assert db.session.query(ApiKey).filter_by(name="Import").count() == 0


def test_teams_and_flows_of_others_cannot_be_chosen(owner, outsider, second_team):
    for limits in ({"teams": [outsider.team.id]}, {"flows": [a_flow(outsider).id]}):
        with pytest.raises(Rejected):
            members.chosen_scope(owner.organization, **limits)
    with pytest.raises(Rejected) as refusal:
        members.chosen_scope(owner.organization, teams=[second_team.id], flows=[a_flow(owner).id])
    assert refusal.value.field == "flows"


def test_a_key_works_until_the_end_of_its_last_day(owner):
    end = members.end_of(date(2027, 1, 31))
    _row, key = actions.issue_api_key(owner.organization, name="Short", by=None, expires_at=end)
    db.session.commit()
    for moment, status in ((datetime(2027, 1, 31, 23, 59, 59, tzinfo=UTC), 200), (end, 401)):
        with clock.replaced(lambda moment=moment: moment):
            headers = {"Authorization": f"Bearer {key}"}
            assert owner.app.test_client().get("/v1/ping", headers=headers).status_code == status


def test_a_key_that_replaces_another_may_do_the_same(owner, second_team):
    scope = KeyScope(True, True, (second_team.id,))
    end = clock.now() + timedelta(days=90)
    row, _key = actions.issue_api_key(owner.organization, name="Old", by=None, scope=scope, expires_at=end)
    db.session.commit()
    browser = owner.browser
    browser.post(f"/api-keys/{row.id}/rotate", data={"ends": "24h"})
    new = re.search(r'value="([0-9a-f-]{36})"', browser.get("/api-keys").get_data(as_text=True)).group(1)
    old = db.session.get_one(ApiKey, row.id)
    replacement = next(key for key in queries.keys_of(owner.organization) if key.key_hash == actions.key_digest(new))
    assert scope_of_key(replacement) == scope
    assert replacement.expires_at == end
    assert old.expires_at < end


def test_a_scope_with_the_words_of_nothing_covers_nothing():
    assert not KeyScope(team_ids=()).covers(team_id="a", flow_id="b")
    assert KeyScope(team_ids=("a",), flow_ids=("b",)).covers(team_id="a", flow_id="b")
    assert not KeyScope(team_ids=("a",), flow_ids=("b",)).covers(team_id="a", flow_id="c")
    assert not KeyScope(team_ids=("a",), flow_ids=("b",)).covers(team_id="c", flow_id="b")
