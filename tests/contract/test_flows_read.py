"""GET and DELETE of /v1/interview-flows against the interface."""

from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask

from app.accounts.models import Team
from app.core.db import db
from app.flows.models import FlowStatus, InterviewFlow
from tests.factories import Made
from tests.people import Person

from .test_flows_create import OPTIONAL

PATH = "/v1/interview-flows"
FIELDS = [
    "interview_flow_id",
    "team_id",
    "org_name",
    "title",
    "status",
    "questions",
    *OPTIONAL,
]
NOBODYS = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"


def test_a_flow_has_exactly_the_fields_of_the_interface(owner: Person, make_flow: Made) -> None:
    answer = owner.api("GET", f"{PATH}/{make_flow(assess_language=False, time_limit_minutes=9).id}")
    assert answer.status_code == 200
    assert sorted(answer.json) == sorted(FIELDS)


def test_a_list_has_the_same_objects(owner: Person, make_flow: Made) -> None:
    flow = make_flow()
    answer = owner.api("GET", PATH)
    assert answer.json == {"interview_flows": [owner.api("GET", f"{PATH}/{flow.id}").json]}


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("flow_id", [NOBODYS, "x", "9B1DEB4D-3B7D-4BAD-9BDD-2B0D7B3DCB6D", "%20", "a" * 300])
def test_an_unknown_flow_is_a_422(owner: Person, method: str, flow_id: str) -> None:
    answer = owner.api(method, f"{PATH}/{flow_id}")
    assert answer.status_code == 422
    assert answer.json["code"] == 422
    assert answer.json["message"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_id_in_upper_case_is_the_same_id(owner: Person, make_flow: Made, method: str) -> None:
    flow = make_flow()
    answer = owner.api(method, f"{PATH}/{flow.id.upper()}")
    assert (answer.status_code, answer.json["interview_flow_id"]) == (200, flow.id)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_flow_of_another_organization_is_forbidden(
    owner: Person, outsider: Person, make_flow: Made, method: str
) -> None:
    flow = make_flow(title="Very secret")
    answer = outsider.api(method, f"{PATH}/{flow.id}")
    assert answer.status_code == 403
    assert sorted(answer.json) == ["code", "message", "status"]
    assert "secret" not in answer.text
    assert db.session.get_one(InterviewFlow, flow.id).status is FlowStatus.OPEN


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_nobody_reads_or_deletes_without_a_key(app: Flask, make_flow: Made, method: str) -> None:
    assert app.test_client().open(f"{PATH}/{make_flow().id}", method=method).status_code == 401


def test_nobody_lists_without_a_key(app: Flask) -> None:
    assert app.test_client().get(PATH).status_code == 401


def test_a_method_that_is_none_is_answered_in_json(owner: Person, make_flow: Made) -> None:
    answer = owner.api("PUT", f"{PATH}/{make_flow().id}", json={})
    assert (answer.status_code, answer.json["code"]) == (405, 405)


@pytest.mark.parametrize("status", ["open", "closed"])
def test_deleting_archives_the_flow(owner: Person, make_flow: Made, status: str) -> None:
    flow = make_flow(status=FlowStatus(status))
    answer = owner.api("DELETE", f"{PATH}/{flow.id}")
    assert answer.status_code == 200
    assert answer.json == {"success": True, "interview_flow_id": flow.id, "status": "archived"}


def test_deleting_twice_answers_alike(owner: Person, make_flow: Made) -> None:
    flow = make_flow()
    assert owner.api("DELETE", f"{PATH}/{flow.id}").json == owner.api("DELETE", f"{PATH}/{flow.id}").json


def test_an_archived_flow_stays_readable_and_listed(owner: Person, make_flow: Made) -> None:
    flow = make_flow()
    owner.api("DELETE", f"{PATH}/{flow.id}")
    assert owner.api("GET", f"{PATH}/{flow.id}").json["status"] == "archived"
    assert [found["status"] for found in owner.api("GET", PATH).json["interview_flows"]] == ["archived"]


def _ids(person: Person, query: str = "") -> list[str]:
    answer = person.api("GET", PATH + query)
    assert answer.status_code == 200, answer.json
    return [flow["interview_flow_id"] for flow in answer.json["interview_flows"]]


def test_the_list_is_newest_first_and_stable_among_equals(owner: Person, make_flow: Made) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    moments = [start, start + timedelta(seconds=1), start + timedelta(seconds=1), start + timedelta(seconds=2)]
    made = [(moment, make_flow(created_at=moment).id) for moment in moments]
    expected = [flow_id for _, flow_id in sorted(made, reverse=True)]
    assert _ids(owner) == expected
    assert [flow_id for offset in range(4) for flow_id in _ids(owner, f"?limit=1&offset={offset}")] == expected


def test_the_list_shows_only_flows_of_the_own_organization(owner: Person, outsider: Person, make_flow: Made) -> None:
    mine, _theirs = make_flow(), make_flow(by=outsider)
    assert _ids(owner) == [mine.id]


def test_the_list_can_be_narrowed_to_a_team(owner: Person, make_flow: Made) -> None:
    other = Team(organization_id=owner.organization.id, name="Other")
    db.session.add(other)
    db.session.flush()
    first, second = make_flow(), make_flow(team_id=other.id)
    assert _ids(owner, f"?team_id={owner.team.id}") == [first.id]
    assert _ids(owner, f"?team_id={other.id}") == [second.id]
    assert set(_ids(owner, "?team_id=null")) == {first.id, second.id}


def test_a_team_of_another_organization_is_forbidden(owner: Person, outsider: Person) -> None:
    assert owner.api("GET", f"{PATH}?team_id={outsider.team.id}").status_code == 403
    assert owner.api("GET", f"{PATH}?team_id={NOBODYS}").status_code == 403


def test_a_hundred_is_the_default(owner: Person, make_flow: Made) -> None:
    values = {"organization_id": owner.organization.id, "team_id": owner.team.id, "org_name": "x", "title": "x"}
    db.session.add_all([InterviewFlow(**values, questions=[]) for _ in range(103)])
    db.session.commit()
    assert len(_ids(owner)) == 100
    assert len(_ids(owner, "?limit=1000")) == 103
    assert len(_ids(owner, "?offset=100")) == 3


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=1001",
        "limit=-1",
        "limit=",
        "limit=x",
        "limit=1.0",
        "limit=1_0",
        "limit=null",
        "offset=-1",
        "offset=1000000001",
        "offset=",
        "offset=x",
        "team_id=",
        "limit=99999999999999999999",
        "limit=1&limit=2",
    ],
)
def test_a_wrong_query_is_a_422_that_names_it(owner: Person, query: str) -> None:
    answer = owner.api("GET", f"{PATH}?{query}")
    assert answer.status_code == 422
    assert list(answer.json["errors"]["query"]) == [query.split("=", maxsplit=1)[0]]


def test_the_farthest_offset_gives_an_empty_list(owner: Person, make_flow: Made) -> None:
    make_flow()
    assert _ids(owner, "?offset=1000000000") == []
