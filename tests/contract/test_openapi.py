"""The OpenAPI document: valid, complete, and every change of it is seen."""

import difflib
import json
import os
from pathlib import Path

import pytest
from openapi_spec_validator import validate

GOLDEN = Path(__file__).with_name("openapi.json")
REGENERATE = "GOLDEN=write .venv/bin/pytest tests/contract/test_openapi.py -k golden"

SCHEMAS = {
    "Team",
    "TeamMember",
    "InterviewFlow",
    "Interview",
    "InterviewData",
    "Segment",
    "Word",
    "BaseSegment",
    "QuestionToTranscriptMapping",
    "Scores",
    "Error",
    "ErrorResponse",
    "PingResponse",
    "InterviewDataTextOnly",
    "InterviewDataNoTranscript",
    "VoiceId",
    "Language",
    "InterviewType",
    "InterviewFlowStatus",
    "InterviewStatus",
    "TranscriptChoice",
    "ErrorCode",
}
ENDPOINTS = {
    ("get", "/v1/ping"),
    ("get", "/v1/teams"),
    ("get", "/v1/interviews"),
    ("post", "/v1/interviews"),
    ("get", "/v1/interviews/{interview_id}"),
    ("delete", "/v1/interviews/{interview_id}"),
    ("get", "/v1/interview-flows"),
    ("post", "/v1/interview-flows"),
    ("get", "/v1/interview-flows/{interview_flow_id}"),
    ("delete", "/v1/interview-flows/{interview_flow_id}"),
    ("get", "/v1/team-members"),
}
METHODS = {"get", "post", "put", "patch", "delete"}
ALWAYS = {"200", "401", "429", "500", "503"}
ERROR_SCHEMAS = {f"#/components/schemas/{name}" for name in ("Error", "ErrorResponse")}


@pytest.fixture
def document(client):
    response = client.get("/v1/openapi.json")
    assert response.status_code == 200
    return response.json


def _operations(document):
    return {
        (method, path): operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }


def whole(document, answer):
    """An answer, or the component that it refers to."""
    name = answer.get("$ref", "").removeprefix("#/components/responses/")
    return document["components"]["responses"][name] if name else answer


def test_the_document_is_valid_openapi_3_1_and_needs_no_key(document):
    assert document["openapi"] == "3.1.0"
    validate(document)


def test_the_document_has_the_eleven_endpoints_and_no_others(document):
    assert {where for where, one in _operations(document).items() if not one.get("x-parley-extension")} == ENDPOINTS


def test_the_schemas_have_the_names_of_the_interface(document):
    assert set(document["components"]["schemas"]) >= SCHEMAS


def test_every_endpoint_needs_the_bearer_key(document):
    assert document["security"] == [{"bearer": []}]
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    assert not any("security" in operation for operation in _operations(document).values())


def test_every_status_an_endpoint_can_answer_is_documented_in_the_one_shape(document):
    for (method, path), operation in _operations(document).items():
        wanted = set(ALWAYS)
        if operation.get("parameters") or operation.get("requestBody") or "{" in path:
            wanted |= {"403", "422"}
        if operation.get("requestBody"):
            wanted |= {"400", "413", "415"}
        if method == "post":
            wanted.add("409")
        if "{" in path:
            wanted |= {"404", "405"}
        assert set(operation["responses"]) >= wanted, (method, path)
        for code, response in operation["responses"].items():
            if code.isdigit() and int(code) >= 400:
                content = whole(document, response)["content"]
                assert content["application/json"]["schema"]["$ref"] in ERROR_SCHEMAS, (method, path, code)


def test_documented_errors_promise_all_three_fields(document):
    error = document["components"]["schemas"]["ErrorResponse"]
    assert set(error["required"]) == {"code", "status", "message"}
    for (method, path), operation in _operations(document).items():
        for code in {"403", "422", "500"} & set(operation["responses"]):
            content = whole(document, operation["responses"][code])["content"]
            schema = content["application/json"]["schema"]["$ref"]
            assert schema.endswith("/ErrorResponse"), (method, path, code)


def test_every_operation_says_what_it_does(document):
    for where, operation in _operations(document).items():
        assert operation.get("summary"), where
        assert all(response.keys() & {"description", "$ref"} for response in operation["responses"].values()), where


def test_the_document_has_not_changed_since_the_golden_file_was_written(document):
    now = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    if os.environ.get("GOLDEN") == "write":
        GOLDEN.write_text(now)
    golden = GOLDEN.read_text()
    changes = "\n".join(
        list(difflib.unified_diff(golden.splitlines(), now.splitlines(), "golden", "now", lineterm="", n=1))[:60]
    )
    assert now == golden, f"The interface changed. If that is meant, run: {REGENERATE}\n{changes}"
