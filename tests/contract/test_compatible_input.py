"""COMPATIBLE_INPUT: programs that were written for the original service, whose bodies are refused without it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app.gateways.speech.catalogue import VOICES
from tests.people import Person

PATH = "/v1/interview-flows"
LEAST: dict[str, Any] = {"org_name": "First Ltd", "title": "Nurse", "questions": ["Why?"]}


@pytest.fixture
def compatible(app: Flask) -> Iterator[None]:
    before = app.extensions["parley.settings"]
    app.extensions["parley.settings"] = replace(before, compatible_input=True)
    yield
    app.extensions["parley.settings"] = before


@pytest.mark.parametrize("more", [{"is_phone_call_enabled": False}, {"voice_id": "11labs-Kate"}])
def test_without_the_setting_they_are_refused(owner: Person, more: dict[str, Any]) -> None:
    answer = owner.api("POST", PATH, json={**LEAST, **more})
    assert (answer.status_code, "Warning" in answer.headers) == (422, False)


@pytest.mark.usefixtures("compatible")
@pytest.mark.parametrize("value", [True, None, "whatever"])
def test_a_historical_field_is_ignored_with_a_warning(owner: Person, value: object) -> None:
    answer = owner.api("POST", PATH, json={**LEAST, "is_phone_call_enabled": value})
    assert answer.status_code == 200
    assert answer.headers.getlist("Warning") == ['299 Parley "is_phone_call_enabled is not supported and was ignored"']
    read = owner.api("GET", f"{PATH}/{answer.json['interview_flow_id']}").json
    assert "is_phone_call_enabled" not in read


@pytest.mark.usefixtures("compatible")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("11labs-Kate", "vendora-Kate"),
        ("11labs-Rahul", "vendora-Rahul"),
        ("openai-Onyx", "vendorb-Onyx"),
        ("openai-Shimmer", "vendorb-Shimmer"),
        ("11labs-IPgYtHTNLjC7Bq7IPHrm", "IPgYtHTNLjC7Bq7IPHrm"),
    ],
)
def test_a_prefixed_voice_is_mapped_with_a_warning(owner: Person, given: str, kept: str) -> None:
    answer = owner.api("POST", PATH, json={**LEAST, "voice_id": given})
    assert answer.status_code == 200
    assert answer.headers["Warning"] == f'299 Parley "voice_id {given} was read as {kept}"'
    assert owner.api("GET", f"{PATH}/{answer.json['interview_flow_id']}").json["voice_id"] == kept


@pytest.mark.usefixtures("compatible")
@pytest.mark.parametrize(
    "voice", ["11labs-Onyx", "openai-Kate", "11labs-", "11Labs-Kate", 'openai-Onyx"\r\nX: y', 7, ["x"]]
)
def test_other_voices_are_still_refused(owner: Person, voice: object) -> None:
    answer = owner.api("POST", PATH, json={**LEAST, "voice_id": voice})
    assert (answer.status_code, list(answer.json["errors"]["json"])) == (422, ["voice_id"])
    assert "Warning" not in answer.headers


@pytest.mark.usefixtures("compatible")
def test_what_is_right_anyway_is_left_alone_and_unknown_fields_are_refused(owner: Person) -> None:
    for voice in VOICES:
        answer = owner.api("POST", PATH, json={**LEAST, "voice_id": voice})
        assert (answer.status_code, "Warning" in answer.headers) == (200, False)
    assert owner.api("POST", PATH, json={**LEAST, "is_phone_call_enabledd": True}).status_code == 422
    assert owner.api("POST", "/v1/interviews", json={"is_phone_call_enabled": True}).status_code == 422
