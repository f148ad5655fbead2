"""Cancelling, versions of scores, metadata and the lookup under ``/v1``."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.accounts.models import AuditEntry
from app.core import clock
from app.core.db import db, new_id
from app.core.errors import Rejected
from app.interviews import actions, metadata
from app.interviews.metadata import KEY, MOST_BYTES, checked, is_external_id
from app.interviews.models import Interview, InterviewMetadata, Stage
from tests.factories import Made, a_flow
from tests.people import Person


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.headers["X-Parley-Error"]


def details_of(action: str) -> list[Any]:
    return [one.details for one in db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == action))]


def put(person: Person, interview: Interview, values: Any) -> Any:
    return person.api("PUT", f"/v1/interviews/{interview.id}/metadata", json={"metadata": values})


def get(person: Person, interview: Interview) -> Any:
    return person.api("GET", f"/v1/interviews/{interview.id}/metadata").json["metadata"]


def look_up(person: Person, external_id: str) -> Any:
    return person.api("GET", "/v1/lookup", query_string={"external_id": external_id})


def test_a_cancelled_link_starts_nothing(owner: Person, book: Made) -> None:
    interview = book()
    answer = owner.api("POST", f"/v1/interviews/{interview.id}/cancel")
    assert answer.json == {"success": True, "interview_id": interview.id}
    page = owner.app.test_client().get(f"/interview/api/{interview.flow_id}/{interview.id}", follow_redirects=True)
    assert page.status_code == 410
    assert details_of("interview.cancelled") == [{"through": "/v1"}]
    assert owner.api("GET", f"/v1/interviews/{interview.id}").json["status"] == "incomplete"
    shown = owner.browser.get(f"/interviews/{interview.id}").text
    assert "the interview was cancelled through the API" in " ".join(shown.split())
    again = owner.api("POST", f"/v1/interviews/{interview.id}/cancel")
    assert (again.status_code, len(details_of("interview.cancelled"))) == (200, 1)


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage is not Stage.CREATED])
def test_an_interview_that_has_started_is_not_cancelled(owner: Person, book: Made, stage: Stage) -> None:
    interview = book()
    interview.stage = stage
    db.session.commit()
    answer = owner.api("POST", f"/v1/interviews/{interview.id}/cancel")
    assert code_of(answer) == (409, "conflict")
    assert "already started" in answer.json["message"]
    assert db.session.get_one(Interview, interview.id).closed_at is None


def test_a_repeat_with_the_same_key_gets_the_first_answer(owner: Person, book: Made) -> None:
    interview, key = book(), {"Idempotency-Key": "k1"}
    answers = [owner.api("POST", f"/v1/interviews/{interview.id}/cancel", headers=key) for _ in range(2)]
    assert answers[0].data == answers[1].data
    assert answers[1].headers["Idempotent-Replayed"] == "true"


OPERATIONS = (
    ("POST", "/cancel", None),
    ("POST", "/extend", {"expires_at": "2030-01-01T00:00:00Z"}),
    ("GET", "/score-versions", None),
    ("GET", "/metadata", None),
    ("GET", "/link", None),
    ("PUT", "/metadata", {"metadata": {}}),
)


@pytest.mark.parametrize(("method", "path", "body"), OPERATIONS)
def test_others_interviews_and_unknown_ones_are_refused(
    owner: Person, outsider: Person, method: str, path: str, body: Any
) -> None:
    foreign = actions.book(outsider.organization, a_flow(outsider).id)
    db.session.commit()
    call = {"json": body} if body is not None else {}
    assert code_of(owner.api(method, f"/v1/interviews/{foreign.id}{path}", **call)) == (403, "other_organization")
    for unknown in (new_id(), "nope"):
        assert code_of(owner.api(method, f"/v1/interviews/{unknown}{path}", **call)) == (422, "not_found")
    db.session.refresh(foreign)
    assert (foreign.closed_at, foreign.link_since) == (None, None)


def test_metadata_is_replaced_as_a_whole_and_read_again(owner: Person, book: Made) -> None:
    interview = book()
    assert get(owner, interview) == {}
    first = {"external_id": "application-4711", "office": "Tromsø"}
    assert put(owner, interview, first).json == {"metadata": first}
    assert put(owner, interview, {"office": "Oslo"}).json == {"metadata": {"office": "Oslo"}}
    assert get(owner, interview) == {"office": "Oslo"}
    assert look_up(owner, "application-4711").json == {"interviews": []}
    assert put(owner, interview, {}).json == {"metadata": {}}
    assert db.session.scalar(sa.select(sa.func.count()).select_from(InterviewMetadata)) == 0
    put(owner, interview, {})
    assert details_of("interview.metadata") == [
        {"through": "/v1", "fields": ["external_id", "office"]},
        {"through": "/v1", "fields": ["office"]},
        {"through": "/v1", "fields": []},
    ]


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({f"k{number}": "" for number in range(21)}, "metadata_too_large"),
        ({"a": "x" * 5_000}, "metadata_too_large"),
        ({f"k{number}": "ü" * 120 for number in range(20)}, "metadata_too_large"),
        ({"a": "x" * 501}, "invalid_input"),
        ({"A": "x"}, "invalid_input"),
        ({"": "x"}, "invalid_input"),
        ({"a\n": "x"}, "invalid_input"),
        ({"a" * 41: "x"}, "invalid_input"),
        ({"ä": "x"}, "invalid_input"),
        ({"\ud800": "x"}, "invalid_input"),
        ({"a": 1}, "invalid_input"),
        ({"a": None}, "invalid_input"),
        ({"a": {"b": {}}}, "invalid_input"),
        ({"a": "\x00"}, "invalid_input"),
        ({"a": "\udfff"}, "invalid_input"),
        ({"external_id": ""}, "invalid_input"),
        ({"external_id": " 1"}, "invalid_input"),
        ({"external_id": "1 "}, "invalid_input"),
        ({"external_id": "1\r\nX-Evil: 1"}, "invalid_input"),
        ({"external_id": "1\n"}, "invalid_input"),
        ({"external_id": "ü"}, "invalid_input"),
        ({"external_id": "1" * 129}, "invalid_input"),
        ([], "invalid_input"),
        (None, "invalid_input"),
        ("x", "invalid_input"),
    ],
    ids=repr,
)
def test_metadata_that_cannot_be_kept_is_refused(owner: Person, book: Made, values: Any, code: str) -> None:
    interview = book()
    put(owner, interview, {"a": "b"})
    answer = put(owner, interview, values)
    assert code_of(answer) == (422, code), answer.json
    assert "metadata" in answer.json["errors"]["json"]
    assert get(owner, interview) == {"a": "b"}


def test_five_megabytes_are_refused_by_size(owner: Person, book: Made) -> None:
    answer = put(owner, book(), {"a": "x" * 5_000_000})
    assert code_of(answer) == (413, "body_too_large")
    assert code_of(put(owner, book(), {"a": "x" * 1_000_000})) == (422, "metadata_too_large")


@pytest.mark.parametrize("body", [{}, {"metadata": {}, "more": 1}, {"values": {}}])
def test_a_body_of_another_shape_is_refused(owner: Person, book: Made, body: Any) -> None:
    answer = owner.api("PUT", f"/v1/interviews/{book().id}/metadata", json=body)
    assert code_of(answer) == (422, "invalid_input")


_ANYTHING = st.dictionaries(
    st.one_of(st.sampled_from(["external_id", "a", "b_1"]), st.text(max_size=45)),
    st.one_of(st.text(max_size=520), st.text(st.characters(codec="ascii"), max_size=140), st.none(), st.integers()),
    max_size=23,
)


@given(_ANYTHING)
@settings(max_examples=300, suppress_health_check=[HealthCheck.large_base_example, HealthCheck.data_too_large])
def test_what_is_kept_fits_every_limit_and_anything_else_is_refused(values: dict[str, Any]) -> None:
    try:
        kept = checked(values)
    except Rejected as refusal:
        kept, reason = {}, refusal
    else:
        reason = None
    if reason is not None:
        assert (reason.field, reason.message.encode().decode()) == ("metadata", reason.message)
        return
    assert kept == values
    assert len(kept) <= 20
    assert len(json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()) <= MOST_BYTES
    assert all(KEY.fullmatch(key) and len(value) <= 500 and "\x00" not in value for key, value in kept.items())
    external_id = kept.get("external_id", "x")
    assert external_id == external_id.strip()
    assert external_id.isascii()
    assert external_id.isprintable()


@given(st.text(max_size=130))
def test_an_external_id_is_what_a_header_can_carry(text: str) -> None:
    carried = text.isascii() and text.isprintable() and text == text.strip(" ") and 1 <= len(text) <= 128
    assert is_external_id(text) == carried


def test_an_interview_is_found_by_its_id_elsewhere(owner: Person, outsider: Person, book: Made) -> None:
    old, new, other = book(), book(), book()
    for interview, external_id in ((old, "4711 a"), (new, "4711 a"), (other, "4711 A")):
        put(owner, interview, {"external_id": external_id})
    foreign = actions.book(outsider.organization, a_flow(outsider).id)
    db.session.commit()
    put(outsider, foreign, {"external_id": "4711 a"})
    assert look_up(owner, "4711 a").json == {
        "interviews": [
            {"interview_id": one.id, "interview_flow_id": one.flow_id, "external_id": "4711 a"} for one in (new, old)
        ]
    }
    assert look_up(owner, "4711").json == {"interviews": []}
    assert [one["interview_id"] for one in look_up(outsider, "4711 a").json["interviews"]] == [foreign.id]
    for query in (
        "",
        "external_id=",
        "external_id=a&external_id=b",
        "id=4711",
        "external_id=a&id=1",
        f"external_id={'x' * 129}",
    ):
        assert code_of(owner.api("GET", f"/v1/lookup?{query}")) == (422, "invalid_input")


def test_at_most_a_hundred_are_found(owner: Person, book: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "MOST_FOUND", 2)
    made = [book() for _ in range(3)]
    for interview in made:
        put(owner, interview, {"external_id": "1"})
    found = [one["interview_id"] for one in look_up(owner, "1").json["interviews"]]
    assert found == [made[2].id, made[1].id]


def test_metadata_is_erased_with_the_interview_and_kept_no_more(owner: Person, book: Made) -> None:
    interview = book()
    put(owner, interview, {"external_id": "4711"})
    assert actions.erase(interview)["metadata"] == 1
    db.session.commit()
    assert look_up(owner, "4711").json == {"interviews": []}
    assert get(owner, interview) == {}
    assert code_of(put(owner, interview, {"a": "b"})) == (409, "conflict")


def test_the_lookup_reads_an_index(owner: Person) -> None:
    query = sa.select(InterviewMetadata.interview_id).filter_by(organization_id="o", external_id="e")
    if db.session.get_bind().dialect.name == "sqlite":
        compiled = query.compile(db.session.get_bind(), compile_kwargs={"literal_binds": True})
        plan = str(db.session.execute(sa.text(f"EXPLAIN QUERY PLAN {compiled}")).all())
        assert "ix_interview_metadata_organization_id_external_id" in plan
    else:
        names = {one["name"] for one in sa.inspect(db.engine).get_indexes("interview_metadata")}
        assert "ix_interview_metadata_organization_id_external_id" in names


def versions(person: Person, interview: Interview) -> Any:
    return person.api("GET", f"/v1/interviews/{interview.id}/score-versions").json["score_versions"]


def test_a_result_that_was_scored_once_has_one_version(owner: Person, book: Made, completed: Made) -> None:
    assert versions(owner, book()) == []
    interview = completed()
    data = interview.data
    (only,) = versions(owner, interview)
    result = owner.api("GET", f"/v1/interviews/{interview.id}").json
    assert only == {
        "score_version_id": f"{interview.id}.1",
        "interview_id": interview.id,
        "number": 1,
        "is_current": True,
        "scores": result["interview_data"]["scores"],
        "model": data.evidence["summary"]["source"],
        "created_at": clock.rfc3339(data.created_at),
    }


def test_versions_come_newest_first_and_one_is_current(
    owner: Person, completed: Made, withdraws: Callable[[Interview], None]
) -> None:
    interview = completed()
    actions.keep_version(interview, actions.Made((), "second model"), by_id=owner.member.id)
    db.session.commit()
    shown = versions(owner, interview)
    assert [(one["number"], one["is_current"]) for one in shown] == [(2, False), (1, True)]
    assert shown[0]["model"] == "second model"
    assert set(shown[0]["scores"]) == set(shown[1]["scores"] or shown[0]["scores"])
    actions.adopt(interview, 2, by=owner.member)
    db.session.commit()
    assert [(one["number"], one["is_current"]) for one in versions(owner, interview)] == [(2, True), (1, False)]
    withdraws(interview)
    assert versions(owner, interview) == []


@pytest.fixture
def withdraws() -> Callable[[Interview], None]:
    def withdraw(interview: Interview) -> None:
        actions.withdraw(interview)
        db.session.commit()

    return withdraw
