"""``/v1/interviews/{interview_id}/extend`` and ``link``: the rules of the pages, for programs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry
from app.core import clock
from app.core.db import db
from app.flows.models import FlowStatus
from app.interviews import actions as interviews
from app.interviews.models import Interview, Stage
from tests.factories import Made
from tests.outreach.test_person import DAYS, in_days, opens
from tests.people import Person

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def ada(owner: Person, make_flow: Made) -> Interview:
    interview = interviews.book(owner.organization, make_flow().id, email="ada@c.example", first_name="Ada")
    db.session.commit()
    return interview


def extend(person: Person, interview: Interview, days: float, **more: Any) -> Any:
    body = {"expires_at": clock.rfc3339(clock.now() + timedelta(days=days))}
    return person.api("POST", f"/v1/interviews/{interview.id}/extend", json=body, **more)


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.headers["X-Parley-Error"]


def test_an_expired_link_works_until_the_time_that_was_said(owner: Person, ada: Interview) -> None:
    with in_days(DAYS + 1):
        assert not opens(owner, ada)
        answer = extend(owner, ada, 10)
        assert answer.status_code == 200, answer.json
        assert answer.json == {
            "interview_id": ada.id,
            "interview_link": ada.link(owner.app.extensions["parley.settings"].app_url),
            "expires_at": clock.rfc3339(clock.now() + timedelta(days=10)),
        }
        assert opens(owner, ada)
    with in_days(DAYS + 10.9):
        assert opens(owner, ada)
    with in_days(DAYS + 11.1):
        assert not opens(owner, ada)
    entry = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "interview.link_extended")).one()
    assert (entry.details, entry.member_id) == ({"through": "/v1", "until": answer.json["expires_at"]}, None)


@pytest.mark.parametrize("days", [-1, DAYS - 1, 91])
def test_a_time_that_is_past_sooner_or_too_late_is_refused(owner: Person, ada: Interview, days: int) -> None:
    answer = extend(owner, ada, days)
    assert code_of(answer) == (422, "invalid_input")
    assert "expires_at" in answer.json["errors"]["json"]
    assert db.session.get_one(Interview, ada.id).link_since is None


@pytest.mark.parametrize(
    "value",
    ["", "tomorrow", "2026-01-31", "2026-01-31T09:15:00", "2026-13-31T09:15:00Z", 7, None, "9999-12-31T23:59:59-23:59"],
)
def test_what_is_no_time_is_refused(owner: Person, ada: Interview, value: Any) -> None:
    answer = owner.api("POST", f"/v1/interviews/{ada.id}/extend", json={"expires_at": value})
    assert code_of(answer) == (422, "invalid_input")
    assert "expires_at" in answer.json["errors"]["json"]


def test_a_time_without_its_zone_is_said_to_have_none(owner: Person, ada: Interview) -> None:
    answer = owner.api("POST", f"/v1/interviews/{ada.id}/extend", json={"expires_at": "2027-01-01T00:00:00"})
    assert answer.json["message"] == (
        "expires_at: The time zone is missing. Send 2027-01-01T00:00:00Z if it is in UTC."
    )


@pytest.mark.parametrize("body", [{}, {"expires_at": "2026-01-31T09:15:00Z", "days": 3}])
def test_a_body_of_another_shape_is_refused(owner: Person, ada: Interview, body: Any) -> None:
    assert code_of(owner.api("POST", f"/v1/interviews/{ada.id}/extend", json=body)) == (422, "invalid_input")


@pytest.mark.parametrize("field", ["withdrawn_at", "declined_at", "closed_at"])
def test_a_link_that_is_no_longer_wanted_is_not_extended(owner: Person, ada: Interview, field: str) -> None:
    setattr(ada, field, clock.now())
    db.session.commit()
    answer = extend(owner, ada, 60)
    assert code_of(answer) == (409, "conflict")
    closed = "The link was closed. Create another interview."
    assert (answer.json["message"] == closed) is (field == "closed_at")


@pytest.mark.parametrize("stage", [Stage.RUNNING, Stage.ABANDONED])
def test_the_link_of_a_candidate_who_declined_and_then_started_is_extended(
    owner: Person, ada: Interview, stage: Stage
) -> None:
    ada.declined_at, ada.stage = clock.now(), stage
    db.session.commit()
    assert extend(owner, ada, 60).status_code == 200


@pytest.mark.parametrize("stage", [Stage.SUBMITTED, Stage.PROCESSING, Stage.COMPLETED])
def test_a_finished_interview_is_not_extended(owner: Person, ada: Interview, stage: Stage) -> None:
    ada.stage = stage
    db.session.commit()
    answer = extend(owner, ada, 60)
    assert code_of(answer) == (409, "conflict")
    assert "finished" in answer.json["message"]


def test_a_cancelled_interview_is_not_extended(owner: Person, ada: Interview) -> None:
    assert owner.api("POST", f"/v1/interviews/{ada.id}/cancel").status_code == 200
    assert code_of(extend(owner, ada, 60)) == (409, "conflict")


def test_a_repeat_with_the_same_key_gets_the_first_answer(owner: Person, ada: Interview) -> None:
    body = {"expires_at": clock.rfc3339(clock.now() + timedelta(days=60))}
    call = {"json": body, "headers": {"Idempotency-Key": "k1"}}
    answers = [owner.api("POST", f"/v1/interviews/{ada.id}/extend", **call) for _ in range(2)]
    assert answers[0].status_code == 200
    assert answers[0].data == answers[1].data


@pytest.mark.parametrize(
    ("values", "state"),
    [
        ({}, "open"),
        ({"stage": Stage.RUNNING}, "in_progress"),
        ({"stage": Stage.ABANDONED}, "in_progress"),
        ({"stage": Stage.SUBMITTED}, "submitted"),
        ({"stage": Stage.COMPLETED}, "submitted"),
        ({"created_at": LONG_AGO}, "expired"),
        ({"created_at": LONG_AGO, "stage": Stage.ABANDONED}, "expired"),
        ({"created_at": LONG_AGO, "stage": Stage.RUNNING}, "in_progress"),
        ({"closed_at": LONG_AGO}, "closed"),
        ({"withdrawn_at": LONG_AGO, "stage": Stage.COMPLETED}, "closed"),
        ({"erased_at": LONG_AGO}, "closed"),
        ({"declined_at": LONG_AGO}, "open"),
    ],
)
def test_a_program_reads_whether_the_link_still_works(
    owner: Person, ada: Interview, values: dict[str, Any], state: str
) -> None:
    for name, value in values.items():
        setattr(ada, name, value)
    db.session.commit()
    answer = owner.api("GET", f"/v1/interviews/{ada.id}/link")
    ends = None if state in {"submitted", "closed"} else clock.rfc3339(ada.created_at + timedelta(days=DAYS))
    assert answer.json == {"interview_id": ada.id, "state": state, "expires_at": ends}
    if ada.stage is Stage.CREATED:
        assert opens(owner, ada) == (state == "open")


def test_the_state_of_a_link_follows_what_happens_to_it(owner: Person, ada: Interview) -> None:
    def state() -> Any:
        return owner.api("GET", f"/v1/interviews/{ada.id}/link").json["state"]

    with in_days(DAYS + 1):
        assert state() == "expired"
        extend(owner, ada, 3)
        assert state() == "open"
    ada.flow.status = FlowStatus.ARCHIVED
    db.session.commit()
    assert state() == "closed"
    ada.flow.status = FlowStatus.CLOSED
    db.session.commit()
    assert state() == "open"
    owner.api("POST", f"/v1/interviews/{ada.id}/cancel")
    assert state() == "closed"
