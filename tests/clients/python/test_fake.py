"""The Parley in memory refuses what Parley refuses: its rules are those of the OpenAPI document, and both are asked."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import parley
import pytest
from parley import Parley
from parley._fake import ROUTES
from parley._fake_rules import RULES
from parley.testing import FakeParley

from .conftest import Served
from .test_drift import DOCUMENTED, NOT_YET_DOCUMENTED, shape

NOT_IN_MEMORY = (
    "WebhookEndpoint",
    "WebhookEndpoints",
    "WebhookSecret",
    "EndpointSecret",
    "WebhookDeliver",
    "ScoreVers",
)
"""Parts of the names of operations that the README says are left out."""
LEFT_OUT = ("default", "description", "example", "examples", "x-parley-extension")


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A field of the document without references and texts, in the form of ``RULES``."""
    for choices in ("allOf", "anyOf"):
        if choices in schema:
            words = [word for one in schema[choices] for word in shape(one).get("enum", [None])]
            return {"enum": words}
    whole = {name: value for name, value in shape(schema).items() if name not in LEFT_OUT}
    if "items" in whole:
        whole["items"] = plain(whole["items"])
    return whole


def documented(operation: str) -> dict[str, dict[str, Any]]:
    """What an operation takes, by place, in the form of ``RULES``."""
    _method, _path, told = DOCUMENTED[operation]
    found: dict[str, dict[str, Any]] = {}
    for one in told["parameters"]:
        if one["in"] != "path":
            needed = {"required": True} if one.get("required") else {}
            place = {"header": "headers", "query": "query"}[one["in"]]
            found.setdefault(place, {})[one["name"]] = {**plain(one["schema"]), **needed}
    if "requestBody" in told:
        body = shape(told["requestBody"]["content"]["application/json"]["schema"])
        assert body["additionalProperties"] is False
        required = body.get("required", [])
        found["json"] = {
            name: {**plain(one), **({"required": True} if name in required else {})}
            for name, one in body["properties"].items()
        }
    return found


@pytest.mark.parametrize("operation", sorted(set(ROUTES) & set(DOCUMENTED)))
def test_the_rules_are_those_of_the_document(operation):
    assert RULES.get(operation, {}) == documented(operation)


def test_every_other_operation_is_in_memory():
    assert set(RULES) <= set(ROUTES) <= set(DOCUMENTED) | NOT_YET_DOCUMENTED
    missing = set(DOCUMENTED) - set(ROUTES)
    assert {one for one in missing if not any(part in one for part in NOT_IN_MEMORY)} == set()


def test_what_is_not_in_memory_is_said(fake: FakeParley) -> None:
    client = fake.client()
    calls: list[Callable[[], object]] = [
        client.webhook_endpoints.list,
        lambda: list(client.webhook_deliveries.list()),
        lambda: client.flows.rotate_webhook_secret("x"),
        lambda: client.interviews.score_versions("x"),
    ]
    for call in calls:
        with pytest.raises(parley.NotFoundError, match="FakeParley does not have"):
            call()


class Cast:
    """A flow, an interview and a candidate to do something wrong with."""

    def __init__(self, client: Parley) -> None:
        self.client = client
        flow = {"org_name": "F", "title": "T", "questions": ["Why?"], "interview_type": "recruitment"}
        self.flow_id = client.flows.create(**flow).interview_flow_id  # type: ignore[arg-type]
        made = client.interviews.create(self.flow_id, interviewee_email_address="robin@example.com")
        self.interview_id = made.interview_id
        (candidate,) = client.candidates.list()
        self.candidate_id = candidate.candidate_id
        self.member_id = client.team_members.list()[0].id

    def flow(self, **wrong: Any) -> object:
        given: Any = {"org_name": "F", "title": "T", "questions": ["Why?"], **wrong}
        return self.client.request("POST", "/v1/interview-flows", body=given)

    def change(self, **wrong: Any) -> object:
        return self.client.request("PATCH", f"/v1/interview-flows/{self.flow_id}", body=wrong)

    def interview(self, **wrong: Any) -> object:
        return self.client.interviews.create(**{"interview_flow_id": self.flow_id, **wrong})

    def interviews(self, **wrong: Any) -> object:
        return list(self.client.interviews.list(**wrong))

    def candidates(self, **wrong: Any) -> object:
        return list(self.client.candidates.list(**wrong))

    def metadata(self, wrong: Any) -> object:
        return self.client.interviews.set_metadata(self.interview_id, wrong)

    def extend(self, wrong: Any) -> object:
        return self.client.interviews.extend(self.interview_id, expires_at=wrong)

    def move(self, status: str, **wrong: Any) -> object:
        return self.client.candidates.move(self.candidate_id, status, **wrong)


def in_days(days: int) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


UNKNOWN = "00000000-0000-4000-8000-000000000000"
WRONG: dict[str, Callable[[Cast], object]] = {
    "metadata: a key": lambda cast: cast.metadata({"Office": "Oslo"}),
    "metadata: a long value": lambda cast: cast.metadata({"office": "x" * 501}),
    "metadata: a number": lambda cast: cast.metadata({"office": 7}),
    "metadata: a blank external_id": lambda cast: cast.metadata({"external_id": " "}),
    "metadata: too much": lambda cast: cast.metadata({f"key_{number}": "ü" * 400 for number in range(6)}),
    "a long title": lambda cast: cast.flow(title="x" * 301),
    "no title": lambda cast: cast.flow(title=None),
    "a field that does not exist": lambda cast: cast.flow(titel="T"),
    "an interview_type": lambda cast: cast.flow(interview_type="phone"),
    "a blank question": lambda cast: cast.flow(questions=["Why?", " "]),
    "questions as a text": lambda cast: cast.flow(questions="Why?"),
    "too many questions": lambda cast: cast.flow(questions=["Why?"] * 21),
    "a language": lambda cast: cast.flow(language="tlh"),
    "a webhook_url": lambda cast: cast.flow(webhook_url="nope"),
    "a redirect_url": lambda cast: cast.flow(redirect_url="ftp://example.com"),
    "a flag as a text": lambda cast: cast.flow(is_video_enabled="yes"),
    "a list as a body": lambda cast: cast.client.request("POST", "/v1/interview-flows", body=["no", "object"]),
    "a changed title": lambda cast: cast.change(title=""),
    "another team": lambda cast: cast.change(team_id=None),
    "an email address": lambda cast: cast.interview(interviewee_email_address="nope"),
    "a recruiter's id": lambda cast: cast.interview(assigned_recruiter_id="nope"),
    "an unknown recruiter": lambda cast: cast.interview(assigned_recruiter_id=UNKNOWN),
    "an unknown flow": lambda cast: cast.interview(interview_flow_id=UNKNOWN),
    "a scenario": lambda cast: cast.interview(scenario="lunch"),
    "a key with a space": lambda cast: cast.interview(idempotency_key="a b"),
    "a status of interviews": lambda cast: cast.interviews(status="done"),
    "a mode": lambda cast: cast.interviews(mode="dry"),
    "an offset": lambda cast: cast.interviews(offset=-1),
    "a transcript": lambda cast: cast.client.request("GET", "/v1/interviews", query={"transcript": "all"}),
    "a time that is over": lambda cast: cast.extend(in_days(-1)),
    "a time too far away": lambda cast: cast.extend(in_days(91)),
    "a time that is earlier than before": lambda cast: cast.extend(in_days(1)),
    "a time without a zone": lambda cast: cast.extend("2027-01-01T00:00:00"),
    "an unknown status": lambda cast: cast.move("hired"),
    "a blank status": lambda cast: cast.move(" "),
    "a decision without a reason": lambda cast: cast.move("rejected", decided_by=cast.member_id),
    "an unknown member": lambda cast: cast.move("rejected", decided_by=UNKNOWN, reason_code="other"),
    "a reason without a decision": lambda cast: cast.move("interviewed", reason_code="other"),
    "another status than before": lambda cast: cast.move("interviewed", previous_status="withdrawn"),
    "candidates of an unknown flow": lambda cast: cast.candidates(interview_flow_id=UNKNOWN),
    "candidates after no cursor": lambda cast: cast.candidates(after="?"),
    "candidates without an address": lambda cast: cast.candidates(email="nope"),
    "changes after nothing": lambda cast: list(cast.client.changes(after="", follow=False)),
    "changes in large pages": lambda cast: list(cast.client.changes(limit=1001, follow=False)),
    "a lookup without an id": lambda cast: cast.client.interviews.lookup(""),
}


def refusal(wrong: Callable[[Cast], object], cast: Cast) -> tuple[int, str | None, list[tuple[str, str]]]:
    with pytest.raises(parley.APIStatusError) as refused:
        wrong(cast)
    error = refused.value
    places = [(place, name) for place, names in error.errors.items() for name in names]
    return error.code, error.error, places


def test_both_refuse_the_same_for_the_same_reason(served: Served, fake: FakeParley) -> None:
    real, memory = Cast(served.client()), Cast(fake.client())
    expected = {name: refusal(wrong, real) for name, wrong in WRONG.items()}
    assert {name: refusal(wrong, memory) for name, wrong in WRONG.items()} == expected
    assert {error for _code, error, _places in expected.values()} >= {"invalid_input", "not_found", "conflict"}


def test_both_accept_what_is_at_the_limit(client: Parley) -> None:
    cast = Cast(client)
    flow = {"title": "x" * 300, "questions": [], "intro": "x" * 5000, "language": None, "webhook_url": None}
    assert cast.flow(**flow)
    assert cast.interview(interviewee_email_address="a.b+c@mail.example.com", interviewee_first_name="")
    assert cast.metadata({"office": "x" * 500, "external_id": "a b"})
    assert cast.extend(in_days(89))
    assert cast.move("interviewed", previous_status="invited", note="")


def test_the_schemas_of_the_document_have_no_rule_that_is_not_read():
    """A keyword that the document begins to use would otherwise be copied into ``RULES`` and do nothing."""
    read = {"type", "enum", "required", "minLength", "maxLength", "minimum", "maximum", "maxItems", "items"}
    read |= {"pattern", "format", "additionalProperties"}
    used = {word for places in RULES.values() for fields in places.values() for one in fields.values() for word in one}
    assert used <= read
