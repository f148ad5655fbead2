"""How many statements the frequent calls of ``/v1`` send to the database: each costs about as much as all of Flask."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.core.db import new_id
from app.flows.models import InterviewType
from tests import statements
from tests.factories import Made
from tests.people import Person

PATH = "/v1/interviews"


@contextmanager
def _counted() -> Iterator[list[str]]:
    """Those that read or write; a commit of these tests is a SAVEPOINT."""
    with statements.sent() as everything:
        counted: list[str] = []
        yield counted
    counted += [one for one in everything if one.split(" ", 1)[0] in {"SELECT", "INSERT", "UPDATE", "DELETE"}]


@pytest.mark.parametrize(
    ("named", "repeatable", "most"),
    [(False, False, 7), (True, False, 8), (False, True, 10)],
    ids=["booking", "with an address", "with an Idempotency-Key"],
)
def test_a_booking(owner: Person, make_flow: Made, *, named: bool, repeatable: bool, most: int) -> None:
    body = {"interview_flow_id": make_flow(interview_type=InterviewType.RECRUITMENT).id}
    assert owner.api("POST", PATH, json=body).status_code == 200  # the key's last use is noted once a minute
    if named:
        body["interviewee_email_address"] = "mary@candidate.example"
    headers = {"Idempotency-Key": new_id()} if repeatable else {}
    with _counted() as sent:
        answer = owner.api("POST", PATH, json=body, headers=headers)
    assert answer.status_code == 200
    assert len(sent) <= most, sent


@pytest.mark.parametrize("address", [f"{PATH}?transcript=none", f"{PATH}/{{}}?transcript=none"], ids=["list", "one"])
def test_a_read(owner: Person, make_flow: Made, address: str) -> None:
    booked = owner.api("POST", PATH, json={"interview_flow_id": make_flow().id}).json["interview_id"]
    with _counted() as sent:
        answer = owner.api("GET", address.format(booked))
    assert answer.status_code == 200
    assert len(sent) <= 2, sent


def test_taking_recordings_back(owner: Person, make_flow: Made) -> None:
    booked = owner.api("POST", PATH, json={"interview_flow_id": make_flow().id}).json["interview_id"]
    with _counted() as sent:
        answer = owner.api("DELETE", f"{PATH}/{booked}")
    assert answer.status_code == 200
    assert len(sent) <= 11, sent
