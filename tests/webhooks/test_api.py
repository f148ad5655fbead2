"""``/v1`` about webhooks: endpoints of the organization, secrets and deliveries."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry, IdempotentCall
from app.core import clock
from app.core.db import db, new_id
from app.webhooks import actions, queries
from app.webhooks.models import Attempt, Delivery, DeliveryState, DisabledBy, Endpoint, ErrorClass, Hold

from .conftest import status_updated

URL = "https://receiver.example.com/hook"
ALL = "https://receiver.example.com/all"
ENDPOINTS, DELIVERIES = "/v1/webhook-endpoints", "/v1/webhook-deliveries"


@pytest.fixture
def flow(make_flow):
    return make_flow(webhook_url=URL, title="Night nurse")


@pytest.fixture
def announced(flow):
    def announce(subject=None, sequence=1):
        payload = status_updated(flow)
        kind = payload["event_type"]
        row = actions.announce(flow, event_type=kind, payload=payload, subject=subject or new_id(), sequence=sequence)
        db.session.commit()
        return row

    return announce


def code_of(response):
    return response.status_code, response.headers.get("X-Parley-Error")


def created(owner, **body):
    response = owner.api("POST", ENDPOINTS, json={"url": ALL, **body})
    assert response.status_code == 200, response.json
    return response.json


def ended(row, state=DeliveryState.DELIVERED, **values):
    values = {"state": state, "hold": None, "finished_at": queries.present(), **values}
    db.session.execute(sa.update(Delivery).where(Delivery.id == row.id).values(**values))
    db.session.commit()
    db.session.expire_all()


def test_an_endpoint_of_the_organization_is_created_read_listed_and_removed(owner):
    new = created(owner)
    secret = new.pop("secret")
    assert len(secret) >= 43
    assert new == {
        "webhook_endpoint_id": new["webhook_endpoint_id"],
        "url": ALL,
        "scope": "organization",
        "interview_flow_ids": [],
        "enabled": True,
        "disabled_by": None,
        "failing_since": None,
        "last_success_at": None,
        "created_at": new["created_at"],
    }
    one = f"{ENDPOINTS}/{new['webhook_endpoint_id']}"
    assert owner.api("GET", one).json == new
    assert owner.api("GET", ENDPOINTS).json == {"webhook_endpoints": [new]}
    assert owner.api("DELETE", one).json == {"success": True}
    assert owner.api("GET", ENDPOINTS).json == {"webhook_endpoints": []}
    assert code_of(owner.api("GET", one)) == (422, "not_found")
    assert code_of(owner.api("DELETE", one)) == (422, "not_found")


def test_a_given_secret_is_kept_and_never_shown_again(owner):
    new = created(owner, secret="a secret of the customer's own choice")
    assert new["secret"] == "a secret of the customer's own choice"
    assert "secret" not in owner.api("GET", f"{ENDPOINTS}/{new['webhook_endpoint_id']}").text
    row = db.session.get_one(Endpoint, new["webhook_endpoint_id"])
    assert "choice" not in row.secret_sealed


def test_a_repeated_call_gets_the_same_secret_which_is_stored_encrypted(owner):
    headers = {"Idempotency-Key": "once"}
    first = owner.api("POST", ENDPOINTS, json={"url": ALL}, headers=headers)
    again = owner.api("POST", ENDPOINTS, json={"url": ALL}, headers=headers)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json == first.json
    (call,) = db.session.scalars(sa.select(IdempotentCall))
    assert first.json["secret"].encode() not in call.body
    assert b"secret" not in call.body
    assert len(owner.api("GET", ENDPOINTS).json["webhook_endpoints"]) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": None}, "url"),
        ({"url": "ftp://receiver.example.com"}, "url"),
        ({"url": "https://user:word@receiver.example.com"}, "url"),
        ({"url": "https://" + "x" * 3000}, "url"),
        ({"url": ALL, "secret": ""}, "secret"),
        ({"url": ALL, "secret": "x" * 1001}, "secret"),
        ({"url": ALL, "secret": 7}, "secret"),
        ({"url": ALL, "secret": "\u0000"}, "secret"),
        ({"url": ALL, "scope": "flow"}, "scope"),
    ],
)
def test_bad_bodies_of_a_new_endpoint_are_refused_by_name(owner, body, field):
    response = owner.api("POST", ENDPOINTS, json=body)
    assert code_of(response) == (422, "invalid_input")
    assert field in response.json["errors"]["json"]


def test_a_url_is_taken_once_and_ten_are_the_most(owner):
    created(owner)
    response = owner.api("POST", ENDPOINTS, json={"url": ALL})
    assert code_of(response) == (409, "conflict")
    for number in range(9):
        created(owner, url=f"{ALL}/{number}")
    response = owner.api("POST", ENDPOINTS, json={"url": f"{ALL}/more"})
    assert code_of(response) == (409, "conflict")
    assert "10 webhook endpoints" in response.json["message"]


def test_a_flows_endpoint_appears_with_its_first_event_and_names_its_flows(owner, flow, announced):
    assert owner.api("GET", ENDPOINTS).json == {"webhook_endpoints": []}
    announced()
    (one,) = owner.api("GET", ENDPOINTS).json["webhook_endpoints"]
    assert (one["url"], one["scope"], one["interview_flow_ids"]) == (URL, "flow", [flow.id])
    path = f"{ENDPOINTS}/{one['webhook_endpoint_id']}"
    response = owner.api("DELETE", path)
    assert code_of(response) == (409, "conflict")
    assert "Change the flows" in response.json["message"]
    for verb, body in (("rotate", {"json": {}}), ("switch", {})):
        response = owner.api("POST", f"{path}/secret/{verb}", **body)
        assert code_of(response) == (409, "conflict")
        assert "Use the flow's routes" in response.json["message"]


def test_a_disabled_endpoint_says_why_and_is_enabled(owner, flow, announced):
    endpoint = announced().endpoint
    path = f"{ENDPOINTS}/{endpoint.id}"
    actions.disable(endpoint, because=DisabledBy.GONE)
    db.session.commit()
    one = owner.api("GET", path).json
    assert (one["enabled"], one["disabled_by"]) == (False, "gone")
    enabled = owner.api("POST", f"{path}/enable").json
    assert (enabled["enabled"], enabled["disabled_by"]) == (True, None)
    assert code_of(owner.api("POST", f"{path}/enable")) == (409, "conflict")


@pytest.mark.parametrize("name", ["flow", "organization"])
def test_a_secret_is_rotated_and_switched(owner, flow, name):
    if name == "flow":
        path, key = f"/v1/interview-flows/{flow.id}/webhook-secret", "webhook_secret_key"
        owner.api("POST", f"{path}/rotate", json={})
    else:
        path, key = f"{ENDPOINTS}/{created(owner)['webhook_endpoint_id']}/secret", "secret"
    before = clock.now()
    rotated = owner.api("POST", f"{path}/rotate", json={key: "n" * 40, "overlap_hours": 2})
    assert rotated.status_code == 200
    assert rotated.json[key] == "n" * 40
    assert rotated.json["old_secret_until"] >= clock.rfc3339(before + timedelta(hours=2))
    assert code_of(owner.api("POST", f"{path}/rotate", json={})) == (409, "conflict")
    assert owner.api("POST", f"{path}/switch").json == {"success": True}
    assert code_of(owner.api("POST", f"{path}/switch")) == (409, "conflict")
    made = owner.api("POST", f"{path}/rotate", json={}).json
    assert len(made[key]) >= 43
    if name == "flow":
        assert owner.api("GET", f"/v1/interview-flows/{flow.id}").json["webhook_secret_key"] == made[key]


def test_the_first_secret_of_a_flow_has_no_old_one(owner, flow):
    path = f"/v1/interview-flows/{flow.id}/webhook-secret/rotate"
    assert owner.api("POST", path, json={"overlap_hours": 5}).json["old_secret_until"] is None


def test_a_repeated_rotation_gets_the_same_secret(owner, flow):
    path, headers = f"/v1/interview-flows/{flow.id}/webhook-secret/rotate", {"Idempotency-Key": "once"}
    first = owner.api("POST", path, json={}, headers=headers)
    again = owner.api("POST", path, json={}, headers=headers)
    assert again.json == first.json
    assert again.headers["Idempotent-Replayed"] == "true"
    (call,) = db.session.scalars(sa.select(IdempotentCall))
    assert first.json["webhook_secret_key"].encode() not in call.body


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"overlap_hours": 0}, "overlap_hours"),
        ({"overlap_hours": 169}, "overlap_hours"),
        ({"overlap_hours": 1.5}, "overlap_hours"),
        ({"overlap_hours": "24"}, "overlap_hours"),
        ({"overlap_hours": True}, "overlap_hours"),
        ({"overlap_hours": None}, "overlap_hours"),
        ({"webhook_secret_key": " "}, "webhook_secret_key"),
        ({"secret": "x" * 32}, "secret"),
    ],
)
def test_bad_rotations_are_refused_by_name(owner, flow, body, field):
    response = owner.api("POST", f"/v1/interview-flows/{flow.id}/webhook-secret/rotate", json=body)
    assert code_of(response) == (422, "invalid_input")
    assert field in response.json["errors"]["json"]


def test_deliveries_are_listed_newest_first_and_read(owner, flow, announced):
    created(owner)
    announced()
    listed = owner.api("GET", DELIVERIES).json
    assert listed["next"] is None
    rows = listed["webhook_deliveries"]
    assert len(rows) == 2
    assert len({row["webhook_id"] for row in rows}) == 1
    assert {row["webhook_endpoint_id"] for row in rows} == {
        one["webhook_endpoint_id"] for one in owner.api("GET", ENDPOINTS).json["webhook_endpoints"]
    }
    one = owner.api("GET", f"{DELIVERIES}/{rows[0]['webhook_delivery_id']}").json
    assert one.pop("payload") == status_updated(flow)
    assert one.pop("attempts_made") == []
    assert one == rows[0]
    assert (one["state"], one["hold"], one["ending"], one["attempts"]) == ("pending", None, None, 0)
    assert one["due_at"] is not None


def test_attempts_are_shown_with_their_outcome(owner, announced):
    row = announced()
    at = queries.present()
    for number, (status, error) in enumerate([(None, ErrorClass.TIMEOUT), (204, None)]):
        db.session.add(
            Attempt(
                delivery_id=row.id,
                number=number + 1,
                at=at + timedelta(seconds=number),
                seconds=0.25,
                url=URL,
                status=status,
                error=error,
                answer=b"personal",
            )
        )
    ended(row, delivered_at=at, body=None)
    response = owner.api("GET", f"{DELIVERIES}/{row.id}")
    assert response.json["payload"] is None
    assert [(one["seconds"], one["status"], one["error"]) for one in response.json["attempts_made"]] == [
        (0.25, None, "timeout"),
        (0.25, 204, None),
    ]
    assert (response.json["due_at"], response.json["delivered_at"]) == (None, clock.rfc3339(at))
    assert "personal" not in response.text


def test_pages_cover_every_delivery_once(owner, announced):
    wanted = {announced().id for _ in range(7)}
    found, after = [], None
    for _ in range(10):
        page = owner.api("GET", f"{DELIVERIES}?limit=3" + (f"&after={after}" if after else "")).json
        found += [row["webhook_delivery_id"] for row in page["webhook_deliveries"]]
        announced()
        after = page["next"]
        if after is None:
            break
    assert len(found) == 7
    assert set(found) == wanted


def test_the_list_is_narrowed(owner, flow, announced, make_flow):
    first = announced()
    held = announced(first.subject, 2)
    ended(first)

    def ids(query):
        response = owner.api("GET", f"{DELIVERIES}?{query}")
        assert response.status_code == 200, response.json
        return {row["webhook_delivery_id"] for row in response.json["webhook_deliveries"]}

    assert ids("state=held") == {held.id}
    assert ids(f"interview_flow_id={flow.id.upper()}") == {first.id, held.id}
    assert ids(f"interview_flow_id={make_flow().id}") == set()
    assert ids(f"webhook_endpoint_id={first.endpoint_id}&state=delivered") == {first.id}
    assert ids("event_type=video_processed") == set()
    assert ids("since=2020-01-01T00:00:00%2B02:00&until=2020-01-02T00:00:00Z") == set()
    assert ids("since=2020-01-01T00:00:00Z") == {first.id, held.id}
    row = owner.api("GET", f"{DELIVERIES}/{held.id}").json
    assert (row["hold"], row["due_at"]) == (Hold.ORDER.value, None)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=lost", "state"),
        ("event_type=x", "event_type"),
        ("since=yesterday", "since"),
        ("since=2026-01-01", "since"),
        ("since=2026-01-01T00:00:00", "since"),
        ("since=2026-13-01T00:00:00Z", "since"),
        ("since=0001-01-01T00:00:00%2B14:00", "since"),
        ("since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z", "until"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=x", "limit"),
        ("state=held&state=pending", "state"),
    ],
)
def test_bad_queries_are_refused_by_name(owner, query, field):
    response = owner.api("GET", f"{DELIVERIES}?{query}")
    assert code_of(response) == (422, "invalid_input")
    assert field in response.json["errors"]["query"]


@pytest.mark.parametrize(
    "cursor", ["x", "e30", "W10", "WyJ4IiwgIngiXQ", "%F0%9F%98%80", "n" * 499, "WzEsIDJd", "bnVsbA"]
)
def test_a_cursor_that_cannot_be_read_is_refused(owner, cursor):
    response = owner.api("GET", f"{DELIVERIES}?after={cursor}")
    assert code_of(response) == (422, "cursor_invalid")
    assert "without `after`" in response.json["message"]


def test_a_delivery_is_sent_again(owner, announced):
    row = announced()
    body, event_id = row.body, row.event_id
    ended(row, DeliveryState.EXHAUSTED, attempts=10)
    again = owner.api("POST", f"{DELIVERIES}/{row.id}/resend")
    assert again.status_code == 200
    assert (again.json["state"], again.json["attempts"], again.json["webhook_id"]) == ("pending", 0, event_id)
    assert row.body == body
    entry = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "webhook.resent")).one()
    assert entry.details == {"event_id": event_id, "through": "/v1"}
    assert owner.api("POST", f"{DELIVERIES}/{row.id}/resend").status_code == 200  # pending: due now


def test_what_cannot_be_sent_again_is_a_conflict(owner, announced):
    row = announced()
    cases = {
        "waiting for an earlier one": {"state": DeliveryState.HELD, "hold": Hold.ORDER, "finished_at": None},
        "cannot be sent": {"state": DeliveryState.CANCELLED},
        "being sent right now": {"state": DeliveryState.SENDING, "finished_at": None},
        "for 30 days": {"finished_at": queries.present() - timedelta(days=31)},
    }
    for words, values in cases.items():
        ended(row, **values)
        response = owner.api("POST", f"{DELIVERIES}/{row.id}/resend")
        assert code_of(response) == (409, "conflict"), words
        assert words in response.json["message"]
    ended(row)
    actions.disable(row.endpoint, because=DisabledBy.MEMBER, by=None)
    db.session.commit()
    response = owner.api("POST", f"{DELIVERIES}/{row.id}/resend")
    assert "disabled" in response.json["message"]
    assert response.status_code == 409


def around(**more):
    now = clock.now()
    return {
        "since": clock.rfc3339(now - timedelta(hours=1)),
        "until": clock.rfc3339(now + timedelta(hours=1)),
        **more,
    }


def test_a_range_is_sent_again(owner, flow, announced, make_flow):
    created(owner)
    rows = [announced() for _ in range(3)]
    every = db.session.scalars(sa.select(Delivery)).all()
    for row in every:
        ended(row)
    ended(rows[0], DeliveryState.EXHAUSTED)
    path = f"{DELIVERIES}/resend"
    assert owner.api("POST", path, json=around(interview_flow_id=make_flow().id)).json == {"resent": 0}
    assert owner.api("POST", path, json=around(state="exhausted")).json == {"resent": 1}
    assert owner.api("POST", path, json=around(webhook_endpoint_id=rows[0].endpoint_id)).json == {"resent": 2}
    assert owner.api("POST", path, json=around(interview_flow_id=flow.id)).json == {"resent": 3}
    assert owner.api("POST", path, json=around()).json == {"resent": 0}
    entries = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "webhook.range_resent")).all()
    assert [entry.details["events"] for entry in entries] == [1, 2, 3]


def test_a_range_leaves_out_what_ended_long_ago_and_disabled_endpoints(owner, announced):
    old, kept, there = announced(), announced(), announced()
    ended(old, finished_at=queries.present() - timedelta(days=31))
    ended(kept, body=None)
    ended(there)
    path = f"{DELIVERIES}/resend"
    actions.disable(there.endpoint, because=DisabledBy.MEMBER, by=None)
    db.session.commit()
    assert owner.api("POST", path, json=around()).json == {"resent": 0}
    response = owner.api("POST", path, json=around(webhook_endpoint_id=there.endpoint_id))
    assert code_of(response) == (409, "conflict")
    actions.enable(there.endpoint, by=None)
    db.session.commit()
    assert owner.api("POST", path, json=around()).json == {"resent": 1}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "since"),
        ({"since": "2026-01-01T00:00:00Z"}, "until"),
        ({"since": 1, "until": "2026-01-01T00:00:00Z"}, "since"),
        ({"since": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:01Z"}, "until"),
        ({"since": "2026-01-01T00:00:00Z", "until": "2025-01-01T00:00:00Z"}, "until"),
        ({"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z", "state": "pending"}, "state"),
        (
            {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z", "interview_flow_id": "x"},
            "interview_flow_id",
        ),
        ({"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z", "events": []}, "events"),
    ],
)
def test_bad_ranges_are_refused_by_name(owner, body, field):
    response = owner.api("POST", f"{DELIVERIES}/resend", json=body)
    assert code_of(response) == (422, "invalid_input")
    assert field in response.json["errors"]["json"]


def test_more_than_ten_thousand_are_too_many(owner, announced, monkeypatch):
    for row in [announced(), announced()]:
        ended(row)
    monkeypatch.setattr("app.webhooks.actions.replay.MOST_AT_ONCE", 1)
    response = owner.api("POST", f"{DELIVERIES}/resend", json=around())
    assert response.status_code == 422
    assert "Choose a shorter one" in response.json["message"]


def test_unknown_and_foreign_ids_are_told_apart(owner, outsider, announced, flow):
    row = announced()
    endpoint_id = created(owner)["webhook_endpoint_id"]
    routes = [
        ("GET", f"{ENDPOINTS}/{{}}", endpoint_id, None),
        ("DELETE", f"{ENDPOINTS}/{{}}", endpoint_id, None),
        ("POST", f"{ENDPOINTS}/{{}}/enable", endpoint_id, None),
        ("POST", f"{ENDPOINTS}/{{}}/secret/rotate", endpoint_id, {}),
        ("POST", f"{ENDPOINTS}/{{}}/secret/switch", endpoint_id, None),
        ("GET", f"{DELIVERIES}/{{}}", row.id, None),
        ("POST", f"{DELIVERIES}/{{}}/resend", row.id, None),
    ]
    for method, path, own_id, body in routes:
        more = {} if body is None else {"json": body}
        for wrong in (str(uuid4()), "x", "x" * 40):
            assert code_of(owner.api(method, path.format(wrong), **more)) == (422, "not_found"), (path, wrong)
        assert code_of(outsider.api(method, path.format(own_id), **more)) == (403, "other_organization"), path
    for verb, body in (("rotate", {"json": {}}), ("switch", {})):
        path = f"/v1/interview-flows/{flow.id}/webhook-secret/{verb}"
        assert outsider.api("POST", path, **body).status_code == 403
    assert json.loads(owner.api("GET", f"{ENDPOINTS}/{endpoint_id}").text)["enabled"] is True


def test_what_programs_do_is_audited(owner, flow):
    endpoint_id = created(owner)["webhook_endpoint_id"]
    owner.api("POST", f"{ENDPOINTS}/{endpoint_id}/secret/rotate", json={})
    owner.api("POST", f"{ENDPOINTS}/{endpoint_id}/secret/switch")
    owner.api("DELETE", f"{ENDPOINTS}/{endpoint_id}")
    wanted = ["endpoint_added", "secret_rotated", "secret_switched", "endpoint_removed"]
    entries = db.session.scalars(
        sa.select(AuditEntry).where(AuditEntry.action.startswith("webhook.")).order_by(AuditEntry.number)
    ).all()
    assert [entry.action for entry in entries] == [f"webhook.{one}" for one in wanted]
    assert {entry.details["through"] for entry in entries} == {"/v1"}
    assert {entry.subject for entry in entries} == {endpoint_id}
