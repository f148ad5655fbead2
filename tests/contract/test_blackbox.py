"""``/v1`` as a customer's engineer reads the interface: nothing here but requests and the shapes it promises.

``Shape`` tables are written from the interface, not from our schemas, so that an error in both is found.
"""

import itertools
import re
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.interviews.jobs import processing
from app.interviews.models import Interview
from tests.factories import Made
from tests.people import Browser, Person

Check = Callable[[Any], bool]
Shape = dict[str, Check]

ID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
FLOWS, INTERVIEWS = "/v1/interview-flows", "/v1/interviews"
ENDPOINTS = [
    ("GET", "/v1/ping"),
    ("GET", "/v1/teams"),
    ("GET", "/v1/team-members"),
    ("GET", FLOWS),
    ("POST", FLOWS),
    ("GET", f"{FLOWS}/x"),
    ("DELETE", f"{FLOWS}/x"),
    ("GET", INTERVIEWS),
    ("POST", INTERVIEWS),
    ("GET", f"{INTERVIEWS}/x"),
    ("DELETE", f"{INTERVIEWS}/x"),
]
MORE = {"/v1/interview-flows/x": {"PATCH"}}
"""Methods beyond the contract, by path."""
METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"}
LEAST = {"org_name": "First Ltd", "title": "Nurse", "questions": ["Why?"]}


def exactly(shape: Shape, found: Any) -> bool:
    """Whether ``found`` has these fields and no others, each as it should be; it names the first that is not."""
    assert isinstance(found, dict), found
    assert set(found) == set(shape), set(found) ^ set(shape)
    for name, check in shape.items():
        assert check(found[name]), (name, found[name])
    return True


def text(value: Any) -> bool:
    return isinstance(value, str)


def number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def flag(value: Any) -> bool:
    return isinstance(value, bool)


def new_id(value: Any) -> bool:
    return isinstance(value, str) and ID4.fullmatch(value) is not None


def moment(value: Any) -> bool:
    return bool(datetime.fromisoformat(value).tzinfo) and str(value).endswith("Z")


def or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


def word(*allowed: str) -> Check:
    return lambda value: value in allowed


def each(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def made_of(shape: Shape) -> Check:
    return lambda value: exactly(shape, value)


PING: Shape = {"message": word("pong")}
TEAM: Shape = {"id": new_id, "name": text, "created_at": moment}
MEMBER: Shape = {"id": new_id, "email": or_null(text), "full_name": or_null(text)}
FLOW: Shape = {
    "interview_flow_id": new_id,
    "team_id": new_id,
    "org_name": text,
    "title": text,
    "status": word("open", "closed", "archived"),
    "questions": each(text),
    "voice_id": or_null(text),
    "language": or_null(text),
    "company_logo_url": or_null(text),
    "additional_info": or_null(text),
    "additional_instructions": or_null(text),
    "interview_type": or_null(word("recruitment", "general")),
    "is_video_enabled": or_null(flag),
    "is_doc_upload_enabled": or_null(flag),
    "redirect_url": or_null(text),
    "webhook_url": or_null(text),
    "webhook_secret_key": or_null(text),
    "intro": or_null(text),
    "outro": or_null(text),
}
WORD: Shape = {"word": text, "start": number, "end": number}
ITEM: Shape = {"content": text, "role": word("agent", "user")}
SEGMENT: Shape = {**ITEM, "words": each(made_of(WORD))}
MAPPING: Shape = {
    "script_question": text,
    "transcript_item_indices": each(lambda value: isinstance(value, int)),
    "start_timestamp": number,
    "end_timestamp": number,
    "transcript_items": each(made_of(ITEM)),
}
SCORES: Shape = dict.fromkeys(
    (
        "communication",
        "motivation",
        "skills",
        "language_vocabulary_and_expression",
        "language_grammar_and_structure",
        "language_fluency_and_pace",
        "language_comprehension",
    ),
    or_null(number),
)
NO_TRANSCRIPT: Shape = {
    "audio_url": or_null(text),
    "video_url": or_null(text),
    "summary": or_null(text),
    "scores": or_null(made_of(SCORES)),
    "interviewee_email_address": or_null(text),
    "interviewee_first_name": or_null(text),
    "interviewee_last_name": or_null(text),
}
ONLY_TEXT: Shape = {**NO_TRANSCRIPT, "transcript": text}
FULL: Shape = {
    **ONLY_TEXT,
    "transcript_with_timestamp": each(made_of(SEGMENT)),
    "questions_to_transcript_mapping": each(made_of(MAPPING)),
}
INTERVIEW: Shape = {
    "interview_flow_id": new_id,
    "interview_id": new_id,
    "team_id": new_id,
    "status": word("incomplete", "completed"),
    "interview_data": or_null(made_of(FULL)),
}


def refused(answer: TestResponse, code: int, *, names: str = "") -> None:
    """An error of the one shape, whose message names what is wrong."""
    assert answer.status_code == code, answer.text
    assert answer.mimetype == "application/json"
    assert set(answer.json) - {"errors"} == {"code", "status", "message"}
    assert answer.json["code"] == code
    assert answer.json["status"]
    assert isinstance(answer.json.get("errors", {}), dict)
    assert names in answer.json["message"]
    assert answer.json["message"] not in {"", answer.json["status"]}


def good(answer: TestResponse) -> Any:
    assert answer.status_code == 200, answer.text
    assert answer.mimetype == "application/json"
    return answer.json


def a_new_flow(someone: Person, **values: Any) -> str:
    return str(good(someone.api("POST", FLOWS, json={**LEAST, **values}))["interview_flow_id"])


def booked(someone: Person, flow_id: str, **values: Any) -> dict[str, Any]:
    found: dict[str, Any] = good(someone.api("POST", INTERVIEWS, json={"interview_flow_id": flow_id, **values}))
    return found


@pytest.fixture
def spoken(recorded: Made) -> Interview:
    """An interview with sound and word times, processed."""
    interview: Interview = recorded()
    processing.process_interview(interview.id)
    return interview


def test_every_object_has_exactly_the_fields_of_the_interface(owner: Person) -> None:
    flow_id = a_new_flow(owner)
    made = booked(owner, flow_id)
    assert exactly(PING, good(owner.api("GET", "/v1/ping")))
    assert exactly({"teams": each(made_of(TEAM))}, good(owner.api("GET", "/v1/teams")))
    assert exactly({"team_members": each(made_of(MEMBER))}, good(owner.api("GET", "/v1/team-members")))
    assert exactly({"interview_flows": each(made_of(FLOW))}, good(owner.api("GET", FLOWS)))
    assert exactly(FLOW, good(owner.api("GET", f"{FLOWS}/{flow_id}")))
    assert exactly({"interview_id": new_id, "interview_link": text, "hint": or_null(text)}, made)
    assert exactly({"interviews": each(made_of(INTERVIEW))}, good(owner.api("GET", INTERVIEWS)))
    assert exactly(INTERVIEW, good(owner.api("GET", f"{INTERVIEWS}/{made['interview_id']}")))
    assert good(owner.api("DELETE", f"{INTERVIEWS}/{made['interview_id']}")) == {"success": True}
    gone = good(owner.api("DELETE", f"{FLOWS}/{flow_id}"))
    assert gone == {"success": True, "interview_flow_id": flow_id, "status": "archived"}


@pytest.mark.parametrize(
    ("choice", "shape"), [("", FULL), ("full", FULL), ("text", ONLY_TEXT), ("none", NO_TRANSCRIPT)]
)
def test_a_spoken_result_has_exactly_the_fields_of_each_choice(
    owner: Person, spoken: Interview, choice: str, shape: Shape
) -> None:
    query = f"?transcript={choice}" if choice else ""
    one = good(owner.api("GET", f"{INTERVIEWS}/{spoken.id}{query}"))
    (listed,) = good(owner.api("GET", INTERVIEWS + query))["interviews"]
    for found in (one, listed):
        assert exactly({**INTERVIEW, "interview_data": made_of(shape)}, found)
        assert found["status"] == "completed"


def test_indices_items_and_times_of_a_spoken_result_agree(owner: Person, spoken: Interview) -> None:
    data = good(owner.api("GET", f"{INTERVIEWS}/{spoken.id}"))["interview_data"]
    segments = data["transcript_with_timestamp"]
    assert any(segment["words"] for segment in segments)
    for segment in segments:
        assert segment["content"] in data["transcript"]
        assert all(0 <= one["start"] <= one["end"] for one in segment["words"])
    for part in data["questions_to_transcript_mapping"]:
        meant = [segments[index] for index in part["transcript_item_indices"]]
        assert part["transcript_items"] == [{"content": one["content"], "role": one["role"]} for one in meant]
        assert part["start_timestamp"] <= part["end_timestamp"]


def test_the_mapping_repeats_the_questions_of_the_flow(owner: Person, completed: Made) -> None:
    interview: Interview = completed()
    questions = good(owner.api("GET", f"{FLOWS}/{interview.flow_id}"))["questions"]
    data = good(owner.api("GET", f"{INTERVIEWS}/{interview.id}"))["interview_data"]
    assert [part["script_question"] for part in data["questions_to_transcript_mapping"]] == questions


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Basic eDp5", "Bearer not-a-key", "Bearer 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"]
)
def test_every_endpoint_answers_alike_without_a_working_key(
    client: Browser, method: str, path: str, header: str | None
) -> None:
    answer = client.open(path, method=method, json={}, headers={"Authorization": header} if header is not None else {})
    refused(answer, 401, names="Authorization: Bearer")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "errors" not in answer.json


@pytest.mark.parametrize("path", sorted({path for _method, path in ENDPOINTS}))
def test_every_other_method_is_a_405_that_names_the_right_ones(owner: Person, path: str) -> None:
    right = {method for method, known in ENDPOINTS if known == path}
    for method in METHODS - right - MORE.get(path, set()):
        answer = owner.api(method, path)
        refused(answer, 405)
        assert {one.strip() for one in answer.headers["Allow"].split(",")} >= right


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_every_answer_carries_the_id_of_its_request(owner: Person, method: str, path: str) -> None:
    for code in ("key", "no key"):
        headers = {"X-Request-Id": "trace-7", **({"Authorization": ""} if code == "no key" else {})}
        assert owner.api(method, path, json={}, headers=headers).headers["X-Request-Id"] == "trace-7"
    assert owner.api(method, path, json={}).headers["X-Request-Id"]


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nope", "/v1/ping/", "/v1/interviews/a/b", "/v1//ping"])
def test_an_address_that_is_none_is_a_404_in_json(owner: Person, path: str) -> None:
    refused(owner.api("GET", path, headers={"Accept": "text/html"}), 404)


@pytest.mark.parametrize(
    ("method", "path", "others"),
    [
        ("GET", FLOWS + "/{flow}", 403),
        ("DELETE", FLOWS + "/{flow}", 403),
        ("GET", INTERVIEWS + "/{interview}", 403),
        ("DELETE", INTERVIEWS + "/{interview}", 403),
        ("GET", FLOWS + "/{unknown}", 422),
        ("DELETE", FLOWS + "/{unknown}", 422),
        ("GET", INTERVIEWS + "/{unknown}", 422),
        ("DELETE", INTERVIEWS + "/{unknown}", 422),
        ("GET", INTERVIEWS + "?team_id={team}", 403),
        ("GET", FLOWS + "?team_id={team}", 403),
        ("GET", "/v1/team-members?team_id={team}", 403),
        ("GET", INTERVIEWS + "?team_id={unknown}", 403),
        ("GET", FLOWS + "?team_id={unknown}", 403),
        ("GET", "/v1/team-members?team_id={unknown}", 403),
        ("GET", INTERVIEWS + "/{flow}", 422),
        ("GET", FLOWS + "/{interview}", 422),
    ],
)
def test_what_belongs_to_others_is_a_403_and_what_is_unknown_a_422(
    owner: Person, outsider: Person, method: str, path: str, others: int
) -> None:
    flow = a_new_flow(outsider, title="Very secret")
    interview = booked(outsider, flow)["interview_id"]
    known = {"flow": flow, "interview": interview, "team": outsider.team.id, "unknown": str(uuid.uuid4())}
    answer = owner.api(method, path.format(**known))
    refused(answer, others)
    assert "secret" not in answer.text
    assert good(outsider.api("GET", f"{FLOWS}/{flow}"))["status"] == "open"


def test_bodies_that_name_what_belongs_to_others_are_403(owner: Person, outsider: Person) -> None:
    refused(owner.api("POST", FLOWS, json={**LEAST, "team_id": outsider.team.id}), 403, names="team_id")
    refused(owner.api("POST", INTERVIEWS, json={"interview_flow_id": a_new_flow(outsider)}), 403)
    refused(owner.api("POST", INTERVIEWS, json={"interview_flow_id": str(uuid.uuid4())}), 422)
    assert good(outsider.api("GET", INTERVIEWS)) == {"interviews": []}


@pytest.mark.parametrize("path", [FLOWS, INTERVIEWS])
@pytest.mark.parametrize(
    ("raw", "kind", "code"),
    [
        (b"", "application/json", 422),
        (b"[]", "application/json", 422),
        (b"7", "application/json", 422),
        (b'"x"', "application/json", 422),
        (b"null", "application/json", 422),
        (b"{}", "application/json", 422),
        (b"{", "application/json", 400),
        (b"{}x", "application/json", 400),
        (b"[" * 99_999, "application/json", 400),
        (b'{"title":' + b"1" * 9_999 + b"}", "application/json", 400),
        (b'{"title":NaN}', "application/json", 400),
        (b"{}", "text/plain", 415),
        (b"a=b", "application/x-www-form-urlencoded", 415),
        (b'{"title":"' + b"x" * 3_000_000 + b'"}', "application/json", 413),
    ],
    ids=str,
)
def test_a_body_that_is_none_is_refused_in_the_one_shape(
    owner: Person, path: str, raw: bytes, kind: str, code: int
) -> None:
    refused(owner.api("POST", path, data=raw, content_type=kind), code)
    assert good(owner.api("GET", path)) in ({"interview_flows": []}, {"interviews": []})


@pytest.mark.parametrize("path", [FLOWS, INTERVIEWS])
def test_lists_are_cut_into_the_same_pages_however_they_are_asked(owner: Person, path: str) -> None:
    flows = [a_new_flow(owner, title=f"Flow {count}") for count in range(7)][::-1]
    interviews = [booked(owner, flow)["interview_id"] for flow in flows][::-1]
    name, key, newest_first = (
        ("interview_flows", "interview_flow_id", flows) if path == FLOWS else ("interviews", "interview_id", interviews)
    )
    for limit, offset in itertools.product((1, 2, 3, 7, 1000), (0, 1, 5, 7, 1_000_000_000)):
        page = good(owner.api("GET", f"{path}?limit={limit}&offset={offset}"))[name]
        assert [one[key] for one in page] == newest_first[offset : offset + limit]


def test_twenty_interviews_are_the_default(owner: Person) -> None:
    flow = a_new_flow(owner)
    made = [booked(owner, flow)["interview_id"] for _ in range(23)][::-1]
    assert [one["interview_id"] for one in good(owner.api("GET", INTERVIEWS))["interviews"]] == made[:20]


def test_null_and_absent_are_the_same_when_booking(owner: Person) -> None:
    flow = a_new_flow(owner)
    names = ("interviewee_email_address", "interviewee_first_name", "interviewee_last_name", "assigned_recruiter_id")
    made = booked(owner, flow, **dict.fromkeys(names))
    assert made["interview_link"] == f"http://localhost/interview/api/{flow}/{made['interview_id']}"


def test_an_interview_belongs_to_the_team_of_its_flow(owner: Person) -> None:
    made = booked(owner, a_new_flow(owner, team_id=owner.team.id))
    found = good(owner.api("GET", f"{INTERVIEWS}/{made['interview_id']}"))
    assert (found["team_id"], found["status"], found["interview_data"]) == (owner.team.id, "incomplete", None)


def test_a_listed_member_can_be_assigned(owner: Person, colleague: Person) -> None:
    for member in good(owner.api("GET", f"/v1/team-members?team_id={owner.team.id}"))["team_members"]:
        made = booked(owner, a_new_flow(owner), assigned_recruiter_id=member["id"])
        assert made["interview_link"].endswith(f"/{made['interview_id']}?assignedRecruiterId={member['id']}")


@pytest.mark.parametrize("length", [1, 300])
def test_names_may_have_three_hundred_characters(owner: Person, length: int) -> None:
    booked(owner, a_new_flow(owner), interviewee_first_name="ß" * length, interviewee_last_name="🙂" * length)


@pytest.mark.parametrize("path", [FLOWS, INTERVIEWS])
def test_a_repeated_post_is_done_once_for_each_organization(owner: Person, outsider: Person, path: str) -> None:
    headers = {"Idempotency-Key": "the-same"}
    answers = []
    for someone in (owner, outsider):
        body = LEAST if path == FLOWS else {"interview_flow_id": a_new_flow(someone)}
        first, second = (someone.api("POST", path, json=body, headers=headers) for _ in range(2))
        assert good(first) == good(second)
        assert second.headers["Idempotent-Replayed"] == "true"
        refused(someone.api("POST", path, json={**body, "x": 1}, headers=headers), 422, names="Idempotency-Key")
        answers.append(first.json)
    assert answers[0] != answers[1]


def test_a_revoked_interview_can_be_revoked_again_and_stays_readable(owner: Person, spoken: Interview) -> None:
    path = f"{INTERVIEWS}/{spoken.id}"
    before = good(owner.api("GET", path))["interview_data"]
    assert before["audio_url"]
    assert [good(owner.api("DELETE", path)) for _ in range(2)] == [{"success": True}] * 2
    after = good(owner.api("GET", path))["interview_data"]
    assert after == {**before, "audio_url": None, "video_url": None}
    assert owner.app.test_client().get(before["audio_url"]).status_code in {403, 404, 410}
