"""Calls that are made up from the OpenAPI document: whatever is sent, the answer is one that the document promises."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.interviews.models import Interview
from tests.factories import Made
from tests.people import Person

from .test_openapi import ENDPOINTS, GOLDEN

EXAMPLES = 20
"""Of each endpoint and each kind: enough to meet every field, few enough to be quick. They are the same each time."""

CHECKS: list[Callable[..., Any]] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


PATHS = json.loads(GOLDEN.read_text(encoding="utf-8"))["paths"]
"""Of the document as it is kept: test_openapi holds that the one that is served is the same."""

CALLS = [
    pytest.param(method, path, broken, id=f"{method} {path} {'against the document' if broken else 'as documented'}")
    for method, path in sorted(ENDPOINTS)
    for broken in ([False, True] if {"parameters", "requestBody"} & {*PATHS[path], *PATHS[path][method]} else [False])
]
"""Each operation as documented, and where it takes something also against the document."""


@pytest.fixture
def document(app: Flask) -> Any:
    return schemathesis.openapi.from_wsgi("/v1/openapi.json", app)


@pytest.fixture
def ids(owner: Person, completed: Made) -> dict[str, str]:
    """Ids that exist, for paths that take one."""
    interview: Interview = completed()
    return {"interview_id": interview.id, "interview_flow_id": interview.flow_id}


def test_what_takes_nothing_is_not_asked_for_more() -> None:
    assert {(method, path) for method, path in ENDPOINTS} - {
        (call.values[0], call.values[1]) for call in CALLS if call.values[2]
    } == {("get", "/v1/ping"), ("get", "/v1/teams")}


@pytest.mark.parametrize(("method", "path", "broken"), CALLS)
def test_every_answer_is_a_documented_one(
    document: Any, owner: Person, ids: dict[str, str], method: str, path: str, broken: bool
) -> None:
    operation = document[path][method]
    mode = schemathesis.GenerationMode.NEGATIVE if broken else schemathesis.GenerationMode.POSITIVE
    known = {name: value for name, value in ids.items() if f"{{{name}}}" in path}
    answered: set[int] = set()

    @given(case=operation.as_strategy(generation_mode=mode), exists=some.booleans())
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def holds(case: Any, exists: bool) -> None:
        if known and exists and not broken:
            case.path_parameters = {**(case.path_parameters or {}), **known}
        if isinstance(case.body, dict) and "interview_flow_id" in case.body and exists and not broken:
            case.body = {**case.body, "interview_flow_id": ids["interview_flow_id"]}
        # Schemathesis asks for gzip, and does not unpack what a WSGI application answers.
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {owner.key}", "Accept-Encoding": "identity"}
        answer = case.call()
        answered.add(answer.status_code)
        checks = [*CHECKS, negative_data_rejection] if broken else CHECKS
        case.validate_response(answer, checks=checks)

    holds()
    assert answered, "nothing was asked"
    assert broken or 200 in answered, "nothing was as documented and taken"
    assert not broken or answered & {400, 403, 404, 422}


def test_the_checks_find_an_answer_that_is_not_documented(document: Any, owner: Person, app: Flask) -> None:
    """Else their silence would prove nothing."""
    app.after_request_funcs.setdefault(None, []).append(_spoilt)
    try:
        case = document["/v1/ping"]["get"].Case(headers={"Authorization": f"Bearer {owner.key}"})
        with pytest.raises((Failure, FailureGroup)):
            case.validate_response(case.call(), checks=CHECKS)
    finally:
        app.after_request_funcs[None].remove(_spoilt)


def _spoilt(response: Any) -> Any:
    if response.is_json:
        response.set_data(b'{"message": 7}')
    return response
