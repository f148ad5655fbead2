"""GET /v1/interviews and /v1/interviews/{id} against the interface: fields, options, order, bytes."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.models import Team
from app.core import clock
from app.core.db import db, new_id
from app.interviews import actions, listings
from app.interviews.actions import list_counters
from app.interviews.models import Interview, InterviewStatus
from app.interviews.schemas import InterviewSchema, InterviewsSchema
from tests.factories import Made, a_flow
from tests.people import Person
from tests.statements import sent

PATH = "/v1/interviews"
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
NOBODYS = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"
FIELDS = ["interview_data", "interview_flow_id", "interview_id", "status", "team_id"]
DATA = [
    "audio_url",
    "interviewee_email_address",
    "interviewee_first_name",
    "interviewee_last_name",
    "questions_to_transcript_mapping",
    "scores",
    "summary",
    "transcript",
    "transcript_with_timestamp",
    "video_url",
]
SCORES = [
    "communication",
    "language_comprehension",
    "language_fluency_and_pace",
    "language_grammar_and_structure",
    "language_vocabulary_and_expression",
    "motivation",
    "skills",
]


def test_an_incomplete_interview_has_no_data(owner: Person, book: Made) -> None:
    interview = book()
    answer = owner.api("GET", f"{PATH}/{interview.id}")
    assert answer.json == {
        "interview_flow_id": interview.flow_id,
        "interview_id": interview.id,
        "team_id": interview.team_id,
        "status": "incomplete",
        "interview_data": None,
    }


def test_a_completed_interview_has_exactly_the_fields_of_the_interface(owner: Person, completed: Made) -> None:
    interview = completed()
    answer = owner.api("GET", f"{PATH}/{interview.id}")
    assert sorted(answer.json) == FIELDS
    data = answer.json["interview_data"]
    assert sorted(data) == DATA
    assert sorted(data["scores"]) == SCORES
    assert (data["audio_url"], data["video_url"]) == (None, None)
    assert data["interviewee_email_address"] == "mary@candidate.example"
    assert data["summary"] == "Likes to help people."
    assert [sorted(segment) for segment in data["transcript_with_timestamp"]] == [["content", "role", "words"]] * 4
    assert data["questions_to_transcript_mapping"][1]["transcript_item_indices"] == [2, 3]
    assert data["questions_to_transcript_mapping"][1]["transcript_items"][0] == {
        "content": "Tell me about your last team.",
        "role": "agent",
    }


@pytest.mark.parametrize("encoding", ["gzip", "identity", "br, gzip;q=0", "*;q=0.1"])
def test_the_sent_bytes_fit_the_published_schema(owner: Person, completed: Made, encoding: str) -> None:
    completed()
    answer = owner.api("GET", PATH, headers={"Accept-Encoding": encoding})
    raw = answer.data
    if answer.headers.get("Content-Encoding") == "gzip":
        raw = gzip.decompress(raw)
    assert int(answer.headers["Content-Length"]) == len(answer.data)
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert InterviewsSchema().validate(json.loads(raw)) == {}


def test_gzip_is_sent_to_those_who_take_it(owner: Person, completed: Made) -> None:
    interview = completed()
    answers = [
        owner.api("GET", f"{PATH}/{interview.id}", headers={"Accept-Encoding": encoding})
        for encoding in ("gzip", "identity")
    ]
    assert [answer.headers.get("Content-Encoding") for answer in answers] == ["gzip", None]
    assert gzip.decompress(answers[0].data) == answers[1].data
    assert InterviewSchema().validate(answers[1].json) == {}


@pytest.mark.parametrize(
    ("choice", "missing"),
    [
        ("full", set()),
        ("text", {"transcript_with_timestamp", "questions_to_transcript_mapping"}),
        ("none", {"transcript", "transcript_with_timestamp", "questions_to_transcript_mapping"}),
    ],
)
def test_the_transcript_option_leaves_fields_out(
    owner: Person,
    completed: Made,
    choice: str,
    missing: set[str],
) -> None:
    interview = completed()
    single = owner.api("GET", f"{PATH}/{interview.id}?transcript={choice}").json
    listed = owner.api("GET", f"{PATH}?transcript={choice}").json["interviews"]
    assert set(DATA) - set(single["interview_data"]) == missing
    assert listed == [single]


def test_names_are_read_fresh_and_results_are_not(owner: Person, completed: Made) -> None:
    interview = completed()
    interview.interviewee_first_name = "Anna"
    db.session.commit()
    assert owner.api("GET", f"{PATH}/{interview.id}").json["interview_data"]["interviewee_first_name"] == "Anna"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("interview_id", [NOBODYS, "x", "%20", "a" * 300])
def test_an_unknown_interview_is_a_422(owner: Person, method: str, interview_id: str) -> None:
    answer = owner.api(method, f"{PATH}/{interview_id}")
    assert answer.status_code == 422
    assert answer.json["message"]


def test_an_id_in_upper_case_is_the_same_id(owner: Person, book: Made) -> None:
    interview = book()
    answer = owner.api("GET", f"{PATH}/{interview.id.upper()}")
    assert (answer.status_code, answer.json["interview_id"]) == (200, interview.id)
    body = {"interview_flow_id": interview.flow_id.upper()}
    assert f"/{interview.flow_id}/" in owner.api("POST", PATH, json=body).json["interview_link"]
    assert owner.api("DELETE", f"{PATH}/{interview.id.upper()}").json == {"success": True}


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_interview_of_another_organization_is_forbidden(
    outsider: Person,
    book: Made,
    method: str,
) -> None:
    answer = outsider.api(method, f"{PATH}/{book().id}")
    assert answer.status_code == 403
    assert sorted(answer.json) == ["code", "message", "status"]


def test_a_list_is_newest_first_and_pages(owner: Person, outsider: Person, book: Made) -> None:
    flow = a_flow(owner)
    ids = [book(flow).id for _ in range(5)][::-1]
    assert _ids(owner, "") == ids
    assert _ids(owner, "?limit=2") == ids[:2]
    assert _ids(owner, "?limit=2&offset=3") == ids[3:]
    assert _ids(owner, "?offset=5") == []
    assert _ids(owner, "?offset=1000000000&limit=1000") == []
    assert _ids(outsider, "") == []


def test_a_list_of_a_team_has_that_team_only(owner: Person, outsider: Person, make_flow: Made, book: Made) -> None:
    other = Team(organization_id=owner.organization.id, name="Other")
    db.session.add(other)
    db.session.commit()
    first, second = make_flow(), make_flow(team_id=other.id)
    ids = [book(flow).id for flow in (first, second, first, second)]
    assert _ids(owner, f"?team_id={other.id}") == [ids[3], ids[1]]
    assert _ids(owner, f"?team_id={other.id}&limit=1&offset=1") == [ids[1]]
    assert _ids(owner, "?team_id=null") == ids[::-1]
    for team_id in (outsider.team.id, new_id(), "x"):
        assert owner.api("GET", f"{PATH}?team_id={team_id}").status_code == 403


def test_a_status_narrows_the_list(owner: Person, completed: Made, book: Made) -> None:
    flow = a_flow(owner)
    done, left = completed(flow), book(flow)
    assert _ids(owner, "?status=completed") == [done.id]
    assert _ids(owner, "?status=incomplete") == [left.id]
    assert _ids(owner, "?status=null") == [left.id, done.id]
    assert _ids(owner, f"?status=completed&team_id={owner.team.id}&offset=1") == []


@pytest.mark.parametrize("of", ["organization", "team"])
def test_deep_pages_of_a_status_are_the_same_as_shallow_ones(owner: Person, make_flow: Made, of: str) -> None:
    _many(owner, make_flow().id, 2_500)
    params = {"team": owner.team if of == "team" else None, "status": InterviewStatus.COMPLETED}
    whole = _page(owner, limit=5000, offset=0, **params)
    assert len(whole) == 834
    for offset in (0, 1, 300, 332, 333, 334, 600, 833, 834, 10_000):
        assert _page(owner, limit=20, offset=offset, deep=0, **params) == whole[offset : offset + 20]


@pytest.fixture
def mixed(owner: Person, make_flow: Made) -> dict[str, list[str]]:
    """Eleven interviews of two teams, newest first: every third a test, the first half completed."""
    other = Team(organization_id=owner.organization.id, name="Second")
    db.session.add(other)
    db.session.flush()
    flows = make_flow(), make_flow(team_id=other.id)
    made: dict[str, list[str]] = {}
    for n in range(11):
        interview = actions.book(owner.organization, flows[n % 2].id, is_test=n % 3 == 0)
        if n < 6:
            interview.status = InterviewStatus.COMPLETED
            list_counters.count(interview, {InterviewStatus.INCOMPLETE: -1, InterviewStatus.COMPLETED: 1})
        mode, status = "test" if n % 3 == 0 else "live", interview.status.value
        for name in ("all", mode, f"{mode} {status}", f"{mode} {flows[n % 2].team_id}"):
            made.setdefault(name, []).insert(0, interview.id)
    db.session.commit()
    return made


@pytest.mark.parametrize("mode", ["live", "test"])
def test_live_and_test_interviews_are_listed_apart(owner: Person, mixed: dict[str, list[str]], mode: str) -> None:
    assert _ids(owner, "") == _ids(owner, "?mode=null") == mixed["all"]
    assert _ids(owner, f"?mode={mode}") == mixed[mode]
    pages = [_ids(owner, f"?mode={mode}&limit=2&offset={offset}") for offset in range(0, 10, 2)]
    assert [one for page in pages for one in page] == mixed[mode]
    for status in ("completed", "incomplete"):
        assert _ids(owner, f"?mode={mode}&status={status}") == mixed[f"{mode} {status}"]
        assert _ids(owner, f"?mode={mode}&status={status}&offset=1&limit=1") == mixed[f"{mode} {status}"][1:2]
    for team_id in {name.split()[1] for name in mixed if "-" in name}:
        assert _ids(owner, f"?mode={mode}&team_id={team_id}") == mixed[f"{mode} {team_id}"]


@pytest.mark.parametrize("status", list(InterviewStatus))
def test_deep_pages_of_one_mode_are_the_pages_that_a_plain_list_has(
    owner: Person, make_flow: Made, monkeypatch: pytest.MonkeyPatch, status: InterviewStatus
) -> None:
    monkeypatch.setattr(listings, "BUCKET", 4)
    monkeypatch.setattr(list_counters, "BUCKET", 4)
    flow = make_flow()
    for n in range(30):
        interview = actions.book(owner.organization, flow.id, is_test=n % 3 == 0 or 8 <= n < 13)
        if n % 2:
            interview.status = InterviewStatus.COMPLETED
            list_counters.count(interview, {InterviewStatus.INCOMPLETE: -1, InterviewStatus.COMPLETED: 1})
    db.session.commit()
    for is_test in (True, False):
        for team in (None, owner.team):
            whole = _page(owner, status=status, is_test=is_test, team=team, limit=50, offset=0)
            assert len(whole) > 3
            for offset in range(len(whole) + 2):
                page = _page(owner, status=status, is_test=is_test, team=team, limit=3, offset=offset, deep=0)
                assert page == whole[offset : offset + 3]


@pytest.fixture
def minutely(owner: Person, make_flow: Made) -> tuple[list[Interview], dict[str, str]]:
    """Forty interviews in turn of two flows, a minute apart but for two whose order of creation is not that of
    numbers; and the flows' ids by name.
    """
    flows = [make_flow(), make_flow()]
    made = []
    for number in range(40):
        interview = actions.book(owner.organization, flows[number % 2].id)
        interview.created_at = NOON + timedelta(minutes={20: 21, 21: 20}.get(number, number))
        made.append(interview)
    db.session.commit()
    return made, {"even": flows[0].id, "odd": flows[1].id}


@pytest.mark.parametrize("minute", [-100, -1, 0, 19, 20, 21, 38, 39, 100])
def test_only_interviews_created_later_than_a_time(
    owner: Person, minutely: tuple[list[Interview], dict[str, str]], minute: int
) -> None:
    made, flows = minutely
    moment = NOON + timedelta(minutes=minute)
    expected = [one.id for one in reversed(made) if one.created_at > moment]
    query = f"?limit=100&created_after={clock.rfc3339(moment)}"
    assert _ids(owner, query) == expected
    assert _ids(owner, f"{query}&offset=3") == expected[3:]
    odd = [one.id for one in made if one.flow_id == flows["odd"]]
    assert _ids(owner, f"{query}&interview_flow_id={flows['odd']}") == [one for one in expected if one in odd]


def test_a_plus_that_a_url_turned_into_a_space_is_named(owner: Person) -> None:
    refused = owner.api("GET", f"{PATH}?created_after=2026-01-31T09:15:00+02:00")
    assert refused.json["message"] == "created_after: Has a space where + belongs. Write + as %2B in a URL."
    assert owner.api("GET", f"{PATH}?created_after=2026-01-31T09:15:00%2B02:00").status_code == 200


def test_a_flows_interviews_by_status_and_page(
    owner: Person, outsider: Person, minutely: tuple[list[Interview], dict[str, str]]
) -> None:
    made, flows = minutely
    even = [one.id for one in reversed(made) if one.flow_id == flows["even"]]
    query = f"?interview_flow_id={flows['even']}"
    assert _ids(owner, query) == even
    assert _ids(owner, f"{query}&limit=5&offset=10") == even[10:15]
    assert _ids(owner, f"{query}&status=completed") == []
    foreign = a_flow(outsider).id
    db.session.commit()
    for flow_id, status in ((foreign, 403), (new_id(), 422), ("nope", 422)):
        assert owner.api("GET", f"/v1/interviews?interview_flow_id={flow_id}").status_code == status


def test_a_time_is_found_among_many_interviews_without_reading_them(owner: Person, make_flow: Made) -> None:
    _many(owner, make_flow().id, 3_000)
    of = sa.update(Interview).values(created_at=sa.case((Interview.org_seq <= 2_990, NOON), else_=NOON + timedelta(1)))
    db.session.execute(of)
    db.session.commit()
    with sent() as asked:
        ids = _ids(owner, f"?limit=100&created_after={clock.rfc3339(NOON + timedelta(hours=1))}")
    assert len(ids) == 10
    assert 0 < len([one for one in asked if "created_at" in one]) < 16


def _page(owner: Person, **params: Any) -> list[str]:
    return [row.id for row in listings.published_page(owner.organization, transcript="none", **params)]


def _many(owner: Person, flow_id: str, number: int) -> None:
    """Rows as booking and completion leave them: every third is completed."""
    rows = [
        {
            "id": new_id(),
            "organization_id": owner.organization.id,
            "team_id": owner.team.id,
            "flow_id": flow_id,
            "org_seq": seq,
            "team_seq": seq,
            "status": "completed" if seq % 3 == 0 or seq == 1 else "incomplete",
        }
        for seq in range(1, number + 1)
    ]
    db.session.execute(sa.insert(Interview), rows)
    counts: dict[tuple[str, int], int] = {}
    for row in rows:
        place = (str(row["status"]), int(str(row["org_seq"])) // listings.BUCKET)
        counts[place] = counts.get(place, 0) + 1
    buckets = [
        {"owner_id": owner_id, "status": status, "bucket": bucket, "interviews": count}
        for (status, bucket), count in counts.items()
        for owner_id in (owner.organization.id, owner.team.id)
    ]
    db.session.execute(sa.insert(listings.InterviewBucket), buckets)
    owner.organization.interview_seq = owner.team.interview_seq = number
    db.session.commit()


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=", "limit"),
        ("limit=two", "limit"),
        ("limit=1.5", "limit"),
        ("offset=-1", "offset"),
        ("offset=1000000001", "offset"),
        ("offset=", "offset"),
        ("status=", "status"),
        ("status=running", "status"),
        ("interview_flow_id=", "interview_flow_id"),
        ("created_after=", "created_after"),
        ("created_after=2026-01-31T09:15:00", "created_after"),
        ("transcript=", "transcript"),
        ("transcript=all", "transcript"),
        ("transcript=null", "transcript"),
        ("team_id=", "team_id"),
        ("mode=", "mode"),
        ("mode=both", "mode"),
        ("mode=LIVE", "mode"),
        ("mode=live&mode=test", "mode"),
    ],
)
def test_bad_parameters_are_named(owner: Person, query: str, field: str) -> None:
    answer = owner.api("GET", f"{PATH}?{query}")
    assert answer.status_code == 422
    assert field in answer.json["errors"]["query"]


def test_nobody_reads_without_a_key(app: Flask, book: Made) -> None:
    client = app.test_client()
    assert client.get(PATH).status_code == 401
    assert client.get(f"{PATH}/{book().id}").status_code == 401


def _ids(person: Person, query: str) -> list[str]:
    answer = person.api("GET", PATH + query)
    assert answer.status_code == 200
    return [interview["interview_id"] for interview in answer.json["interviews"]]
