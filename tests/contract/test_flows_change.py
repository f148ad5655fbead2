"""``PATCH /v1/interview-flows/{interview_flow_id}``, ``close`` and ``reopen``: extensions of the contract."""

from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts import actions as accounts
from app.accounts.key_scope import KeyScope
from app.accounts.models import AuditEntry
from app.core import encryption
from app.core.db import db
from app.flows.models import FlowStatus, InterviewFlow
from app.gateways import Gateways
from app.interviews import actions as interviews
from tests.factories import Made, a_flow
from tests.flows.server import Files, files, picture, video
from tests.people import Person

PATH = "/v1/interview-flows"
__all__ = ["files"]


def create(owner: Person, **values: Any) -> str:
    body = {"org_name": "First Ltd", "title": "Nurse", "questions": ["Why?"], **values}
    answer = owner.api("POST", PATH, json=body)
    assert answer.status_code == 200, answer.json
    return str(answer.json["interview_flow_id"])


def change(person: Person, flow_id: str, **values: Any) -> Any:
    return person.api("PATCH", f"{PATH}/{flow_id}", json=values)


def read(person: Person, flow_id: str) -> Any:
    return person.api("GET", f"{PATH}/{flow_id}").json


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.headers["X-Parley-Error"]


def stored(engines: Gateways) -> list[str]:
    return list(engines.storage.list("flow-media"))


def entries(action: str) -> list[Any]:
    return [one.details for one in db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == action))]


WHOLE: dict[str, Any] = {
    "org_name": "Second Ltd",
    "title": "Doctor",
    "questions": ["How?", "When?"],
    "voice_id": "vendora-Amy",
    "language": "de-DE",
    "additional_info": "Info",
    "additional_instructions": "Be brief.",
    "interview_type": "recruitment",
    "is_video_enabled": True,
    "is_doc_upload_enabled": True,
    "redirect_url": "https://customer.example/done",
    "webhook_url": "https://customer.example/hook",
    "webhook_secret_key": "another secret of 32 characters!",
    "intro": "Hello.",
    "outro": "Goodbye.",
}


@pytest.mark.parametrize("field", WHOLE)
def test_each_field_changes_alone(owner: Person, field: str) -> None:
    flow_id = create(owner)
    before = read(owner, flow_id)
    answer = change(owner, flow_id, **{field: WHOLE[field]})
    assert answer.status_code == 200, answer.json
    assert answer.json == {**before, field: WHOLE[field]} == read(owner, flow_id)
    assert entries("flow.changed") == [
        {
            "through": "/v1",
            "fields": [field if field != "webhook_secret_key" else "webhook_secret_sealed"],
        }
    ]


def test_what_is_absent_stays_and_null_removes(owner: Person) -> None:
    flow_id = create(owner, **WHOLE)
    before = read(owner, flow_id)
    assert change(owner, flow_id).json == before
    assert entries("flow.changed") == []
    nothing = dict.fromkeys(("intro", "webhook_url", "webhook_secret_key", "interview_type", "voice_id"))
    assert change(owner, flow_id, **nothing).json == {**before, **nothing}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"title": ""}, "title"),
        ({"title": None}, "title"),
        ({"questions": ["Why?"] * 21}, "questions"),
        ({"questions": "Why?"}, "questions"),
        ({"voice_id": "no-one"}, "voice_id"),
        ({"is_video_enabled": 1}, "is_video_enabled"),
        ({"webhook_url": "ftp://customer.example/hook"}, "webhook_url"),
        ({"redirect_url": "javascript:alert(1)"}, "redirect_url"),
        ({"team_id": "x"}, "team_id"),
        ({"status": "closed"}, "status"),
        ({"interview_flow_id": "x"}, "interview_flow_id"),
        ({"rates_first": True}, "rates_first"),
        ({"intro": "\x00"}, "intro"),
    ],
)
def test_the_rules_are_those_of_creation(owner: Person, values: dict[str, Any], field: str) -> None:
    flow_id = create(owner)
    before = read(owner, flow_id)
    answer = change(owner, flow_id, **values)
    assert code_of(answer) == (422, "invalid_input")
    assert field in answer.json["errors"]["json"]
    assert read(owner, flow_id) == before


def test_a_new_logo_replaces_the_old_file_and_the_same_url_is_not_fetched(
    owner: Person, engines: Gateways, files: Files
) -> None:
    first, second = files.serve("/first", picture()), files.serve("/second", picture("JPEG"))
    others = set(stored(engines))
    flow_id = create(owner, company_logo_url=first)
    (before,) = set(stored(engines)) - others
    assert change(owner, flow_id, company_logo_url=second, title="Doctor").status_code == 200
    (now,) = set(stored(engines)) - others
    assert now != before
    assert change(owner, flow_id, company_logo_url=second).status_code == 200
    assert files.asked == ["/first", "/second"]
    assert change(owner, flow_id, company_logo_url=None).json["company_logo_url"] is None
    assert set(stored(engines)) == others


def test_an_intro_video_is_added_and_removed(owner: Person, engines: Gateways, files: Files) -> None:
    flow_id, others = create(owner), set(stored(engines))
    assert change(owner, flow_id, preamble_video_url=files.serve("/v", video("mp4"))).status_code == 200
    assert owner.app.test_client().get(f"/flows/{flow_id}/intro-video").status_code == 200
    assert change(owner, flow_id, preamble_video_url=None).status_code == 200
    assert set(stored(engines)) == others


def test_a_file_that_cannot_be_used_changes_nothing(owner: Person, engines: Gateways, files: Files) -> None:
    flow_id = create(owner, company_logo_url=files.serve("/good", picture()))
    before, kept = read(owner, flow_id), stored(engines)
    answer = change(owner, flow_id, title="Doctor", company_logo_url=files.serve("/bad", b"<svg/>"))
    assert code_of(answer) == (422, "invalid_input")
    assert "PNG, JPEG or WebP" in answer.json["message"]
    both = {"company_logo_url": files.serve("/other", picture()), "preamble_video_url": files.serve("/no", b"no")}
    assert code_of(change(owner, flow_id, **both)) == (422, "invalid_input")
    assert (read(owner, flow_id), set(stored(engines))) == (before, set(kept))


def test_a_started_interview_keeps_its_questions(owner: Person) -> None:
    flow_id = create(owner)
    interview = interviews.book(owner.organization, flow_id)
    interviews.begin(interview)
    db.session.commit()
    assert change(owner, flow_id, questions=["How?"]).status_code == 200
    db.session.refresh(interview)
    assert list(interview.script.questions) == ["Why?"]


def test_a_flow_is_closed_and_reopened(owner: Person) -> None:
    flow_id = create(owner)
    closed = owner.api("POST", f"{PATH}/{flow_id}/close")
    assert closed.json == {"success": True, "interview_flow_id": flow_id, "status": "closed"}
    refused = owner.api("POST", "/v1/interviews", json={"interview_flow_id": flow_id})
    assert refused.status_code == 422
    assert owner.api("POST", f"{PATH}/{flow_id}/close").json["status"] == "closed"
    assert change(owner, flow_id, title="Doctor").json["status"] == "closed"
    opened = owner.api("POST", f"{PATH}/{flow_id}/reopen")
    assert opened.json == {"success": True, "interview_flow_id": flow_id, "status": "open"}
    assert owner.api("POST", "/v1/interviews", json={"interview_flow_id": flow_id}).status_code == 200
    assert entries("flow.closed") == entries("flow.reopened") == [{"through": "/v1"}]


@pytest.mark.parametrize("path", ["/close", "/reopen"])
def test_a_repeat_with_the_same_key_gets_the_first_answer(owner: Person, path: str) -> None:
    flow_id, key = create(owner), {"Idempotency-Key": "k1"}
    answers = [owner.api("POST", f"{PATH}/{flow_id}{path}", headers=key) for _ in range(2)]
    assert answers[0].data == answers[1].data
    assert answers[1].headers["Idempotent-Replayed"] == "true"


CALLS = (("PATCH", "", {"title": "Doctor"}), ("POST", "/close", None), ("POST", "/reopen", None))


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
def test_an_archived_flow_is_not_changed(
    owner: Person, make_flow: Made, files: Files, method: str, path: str, body: Any
) -> None:
    flow = make_flow(status=FlowStatus.ARCHIVED)
    call = {"json": {**body, "company_logo_url": files.serve("/logo", picture())}} if body else {}
    assert code_of(owner.api(method, f"{PATH}/{flow.id}{path}", **call)) == (409, "conflict")
    assert files.asked == []
    assert db.session.get_one(InterviewFlow, flow.id).status is FlowStatus.ARCHIVED


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
def test_others_flows_and_unknown_ones_are_refused(
    owner: Person, outsider: Person, method: str, path: str, body: Any
) -> None:
    foreign = a_flow(outsider, title="Secret")
    call = {"json": body} if body else {}
    answer = owner.api(method, f"{PATH}/{foreign.id}{path}", **call)
    assert code_of(answer) == (403, "other_organization")
    assert "Secret" not in answer.text
    assert code_of(owner.api(method, f"{PATH}/nope{path}", **call)) == (422, "not_found")
    db.session.refresh(foreign)
    assert (foreign.title, foreign.status) == ("Secret", FlowStatus.OPEN)


def test_the_same_idempotency_key_for_another_flow_is_refused(owner: Person) -> None:
    first, second = create(owner), create(owner)
    key = {"Idempotency-Key": "close-4711"}
    assert owner.api("POST", f"{PATH}/{first}/close", headers=key).json["interview_flow_id"] == first
    assert code_of(owner.api("POST", f"{PATH}/{second}/close", headers=key)) == (422, "idempotency_key_reused")
    again = owner.api("POST", f"{PATH}/{first.upper()}/close", headers=key)
    assert (again.headers["Idempotent-Replayed"], again.json["interview_flow_id"]) == ("true", first)
    assert read(owner, second)["status"] == "open"


def test_a_key_without_secrets_cannot_replace_or_remove_one(owner: Person) -> None:
    flow_id = create(owner, webhook_secret_key="a secret of more than 32 characters")
    _row, key = accounts.issue_api_key(owner.organization, name="Plain", by=None, scope=KeyScope(hides_secrets=True))
    db.session.commit()
    for secret in ("mine", None):
        answer = owner.app.test_client().patch(
            f"{PATH}/{flow_id}", json={"webhook_secret_key": secret}, headers={"Authorization": f"Bearer {key}"}
        )
        assert code_of(answer) == (403, "key_scope")
    assert read(owner, flow_id)["webhook_secret_key"] == "a secret of more than 32 characters"


def test_a_secret_that_cannot_be_opened_stops_nothing_and_can_be_saved_again(owner: Person) -> None:
    flow_id = create(owner, webhook_secret_key="a secret of more than 32 characters")
    db.session.execute(sa.update(InterviewFlow).values(webhook_secret_sealed=encryption.PREFIX + "broken"))
    db.session.commit()
    assert read(owner, flow_id)["webhook_secret_key"] is None
    answer = change(owner, flow_id, webhook_secret_key="another secret of 32 characters..")
    assert (answer.status_code, answer.json["webhook_secret_key"]) == (200, "another secret of 32 characters..")
