"""What generators and readers need of the OpenAPI document, held against what ``/v1`` really takes and sends."""

import json
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from jsonschema import Draft202012Validator

from app.interviews.jobs import processing
from app.interviews.models import Interview
from app.settings import Settings
from tests.factories import Made
from tests.people import Browser, Person

from .test_openapi import _operations, whole

DATA = {"full": "InterviewData", "text": "InterviewDataTextOnly", "none": "InterviewDataNoTranscript"}
OPERATIONS = {
    "ping",
    "listTeams",
    "listTeamMembers",
    "listInterviewFlows",
    "createInterviewFlow",
    "getInterviewFlow",
    "deleteInterviewFlow",
    "listInterviews",
    "createInterview",
    "getInterview",
    "deleteInterview",
}


@pytest.fixture
def document(client: Browser) -> Any:
    return client.get("/v1/openapi.json").json


def flaws(document: Any, schema: Any, value: Any) -> list[str]:
    """What of ``value`` does not fit ``schema`` (a name of a component, or a schema) in the document."""
    if isinstance(schema, str):
        schema = {"$ref": f"#/components/schemas/{schema}"}
    whole = Draft202012Validator({**schema, "components": document["components"]})
    return [error.message for error in whole.iter_errors(value)]


@pytest.fixture
def spoken(recorded: Made) -> Interview:
    interview: Interview = recorded()
    processing.process_interview(interview.id)
    return interview


@pytest.mark.parametrize("choice", DATA)
def test_the_sent_bytes_of_every_choice_of_transcript_are_as_documented(
    document: Any, owner: Person, spoken: Interview, choice: str
) -> None:
    one = owner.api("GET", f"/v1/interviews/{spoken.id}?transcript={choice}")
    listed = owner.api("GET", f"/v1/interviews?transcript={choice}")
    assert flaws(document, "Interview", json.loads(one.data)) == []
    assert flaws(document, "Interviews", json.loads(listed.data)) == []
    data = json.loads(one.data)["interview_data"]
    assert data == json.loads(listed.data)["interviews"][0]["interview_data"] | {"audio_url": data["audio_url"]}
    assert flaws(document, DATA[choice], data) == []
    for other in set(DATA) - {choice}:
        assert flaws(document, DATA[other], data), other


def test_an_interview_without_a_result_is_as_documented(document: Any, owner: Person, book: Made) -> None:
    assert flaws(document, "Interview", owner.api("GET", f"/v1/interviews/{book().id}").json) == []


def test_every_operation_has_a_name_and_a_tag_for_generators(document: Any) -> None:
    operations = _operations(document).values()
    assert all(one["operationId"] and one["tags"] for one in operations)
    contract = [one for one in operations if not one.get("x-parley-extension")]
    assert {one["operationId"] for one in contract} == OPERATIONS
    assert {tag for one in contract for tag in one["tags"]} == {"Teams", "Interview flows", "Interviews"}


def test_every_fixed_set_of_words_has_a_name(document: Any) -> None:
    named = document["components"]["schemas"]

    def inline(node: Any) -> list[Any]:
        if isinstance(node, dict):
            return [node] * ("enum" in node) + [one for value in node.values() for one in inline(value)]
        return [one for value in node for one in inline(value)] if isinstance(node, list) else []

    rest = {name: schema for name, schema in named.items() if "enum" not in schema}
    assert [*inline(document["paths"]), *inline(rest)] == []
    for name, field in (("VoiceId", "voice_id"), ("Language", "language"), ("InterviewType", "interview_type")):
        for shape in ("NewInterviewFlow", "InterviewFlow"):
            options = named[shape]["properties"][field]["anyOf"]
            assert options == [{"$ref": f"#/components/schemas/{name}"}, {"type": "null"}]


def test_every_component_is_used(document: Any) -> None:
    text = json.dumps(document)
    for kind in ("schemas", "headers", "responses"):
        for name in document["components"][kind]:
            assert f'"#/components/{kind}/{name}"' in text, name


def test_every_example_of_an_answer_is_as_documented(document: Any) -> None:
    for operation in _operations(document).values():
        for code, answer in operation["responses"].items():
            if code != "default":
                content = whole(document, answer)["content"]["application/json"]
                assert flaws(document, content["schema"], content["example"]) == [], (operation["operationId"], code)


def test_an_example_of_an_answer_has_the_fields_of_a_real_one(
    document: Any, owner: Person, colleague: Person, spoken: Interview
) -> None:
    paths = {
        "ping": "/v1/ping",
        "listTeams": "/v1/teams",
        "listTeamMembers": "/v1/team-members",
        "listInterviewFlows": "/v1/interview-flows",
        "getInterviewFlow": f"/v1/interview-flows/{spoken.flow_id}",
        "listInterviews": "/v1/interviews",
        "getInterview": f"/v1/interviews/{spoken.id}",
    }
    for operation in _operations(document).values():
        if operation["operationId"] in paths:
            example = operation["responses"]["200"]["content"]["application/json"]["example"]
            real = owner.api("GET", paths[operation["operationId"]]).json
            assert names_of(example) == names_of(real), operation["operationId"]


def names_of(value: Any) -> Any:
    """The names of all fields, with one item for a whole list."""
    if isinstance(value, list):
        return [names_of(value[0])] if value else []
    return {name: names_of(one) for name, one in value.items()} if isinstance(value, dict) else None


def test_the_examples_of_bodies_are_taken_as_they_stand(document: Any, owner: Person) -> None:
    bodies = {
        one["operationId"]: one["requestBody"]["content"]["application/json"]["example"]
        for one in _operations(document).values()
        if "requestBody" in one
    }
    flow = owner.api("POST", "/v1/interview-flows", json=bodies["createInterviewFlow"])
    assert flow.status_code == 200, flow.text
    booking = bodies["createInterview"] | flow.json
    made = owner.api("POST", "/v1/interviews", json=booking)
    assert made.status_code == 200, made.text
    # and the examples belong together
    created = document["paths"]["/v1/interview-flows"]["post"]["responses"]["200"]["content"]["application/json"]
    assert bodies["createInterview"]["interview_flow_id"] == created["example"]["interview_flow_id"]


@pytest.mark.parametrize(
    ("app_url", "asked_at", "named"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000", "http://localhost:8000", "http://localhost:8000"),
        ("http://127.0.0.1:8000", "https://parley.example.com", "https://parley.example.com"),
        # Behind a proxy that takes TLS off and is not trusted: APP_URL knows better.
        ("https://parley.example.com", "http://parley.example.com", "https://parley.example.com"),
    ],
)
def test_the_server_of_the_document_is_the_address_it_was_asked_at(
    app: Flask, client: Browser, monkeypatch: pytest.MonkeyPatch, app_url: str, asked_at: str, named: str
) -> None:
    settings: Settings = app.extensions["parley.settings"]
    monkeypatch.setitem(app.extensions, "parley.settings", replace(settings, app_url=app_url))
    document = client.get("/v1/openapi.json", base_url=asked_at).json
    assert document["servers"] == [{"url": named}]


def test_a_replayed_answer_carries_documented_headers(document: Any, owner: Person, book: Made) -> None:
    body, header = {"interview_flow_id": book().flow_id}, {"Idempotency-Key": "one"}
    owner.api("POST", "/v1/interviews", json=body, headers=header)
    replayed = owner.api("POST", "/v1/interviews", json=body, headers=header)
    documented = document["paths"]["/v1/interviews"]["post"]["responses"]["200"]["headers"]
    assert replayed.headers["Idempotent-Replayed"] == "true"
    assert {"Idempotent-Replayed", "X-Request-Id"} <= set(documented) & set(replayed.headers.keys())
