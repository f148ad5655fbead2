"""Codes of errors: every one that the code names is documented, and every one that is documented is sent."""

import ast
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.accounts import actions, idempotency
from app.accounts.key_scope import KeyScope
from app.accounts.models import IdempotentCall
from app.accounts.usage import actions as usage
from app.core import clock
from app.core.db import db, new_id
from app.flows import actions as flow_actions
from app.interviews import actions as interviews
from app.legal_holds import actions as legal_holds
from app.legal_holds.models import Held
from app.web import error_codes
from app.web.error_codes import BY_STATUS, CODES
from tests.factories import a_flow
from tests.people import person

APP = Path(__file__).parents[2] / "app"
RAISED = {"NotFound", "Forbidden", "Rejected", "Conflict", "Gone", "GatewayError", "Failure"}
"""What takes ``code`` or ``error``; so do the functions below."""
CALLED = RAISED | {"abort", "invalid", "_conflict"}


def named_in(source: Path) -> Iterator[str]:
    """Codes that calls in a module name, directly or by one of its constants."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        for keyword in call.keywords if name in CALLED else ():
            if keyword.arg not in {"code", "error"}:
                continue
            value = keyword.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value
            elif isinstance(value, ast.Name) and isinstance(constants.get(value.id), str):
                yield constants[value.id]


NAMED = {code for source in APP.rglob("*.py") for code in named_in(source)}


def test_every_code_that_is_sent_is_documented():
    assert NAMED | set(BY_STATUS.values()) <= set(CODES)
    assert {"flow_closed", "idempotency_in_progress", "key_scope", "legal_hold"} <= NAMED
    assert all(CODES[name].status == status for status, name in BY_STATUS.items())


def test_the_document_and_the_guide_list_every_code(client):
    document = client.get("/v1/openapi.json").json["components"]
    assert document["schemas"]["ErrorCode"]["enum"] == list(CODES)
    assert document["headers"]["X-Parley-Error"]["schema"] == {"$ref": "#/components/schemas/ErrorCode"}
    guide = (APP.parent / "docs" / "api.md").read_text(encoding="utf-8")
    assert error_codes.table() in guide, f"docs/api.md needs this table:\n{error_codes.table()}"


def test_a_call_shows_every_code():
    assert set(CODES) == set(CALLS) | set(APART)


# --- calls that get each of them -----------------------------------------------------------------------------------


def limited(owner, **limits):
    _row, key = actions.issue_api_key(owner.organization, name="Limited", by=None, scope=KeyScope(**limits))
    db.session.commit()
    return lambda method, path, **more: owner.app.test_client().open(
        path, method=method, headers={"Authorization": f"Bearer {key}"}, **more
    )


def book(owner, flow, **headers):
    return owner.api("POST", "/v1/interviews", json={"interview_flow_id": flow.id}, headers=headers)


def closed(owner, _outsider):
    flow = a_flow(owner)
    flow_actions.archive(flow)
    db.session.commit()
    return book(owner, flow)


def used_up(owner, _outsider):
    flow = a_flow(owner)
    usage.set_quota(owner.organization, interviews=1, minutes=None, stops=True, by=owner.member)
    db.session.commit()
    usage.count(owner.organization.id, flow_id=flow.id, subject=new_id(), at=clock.now(), seconds=60.0)
    db.session.commit()
    return book(owner, flow)


def held(owner, _outsider):
    interview_id = book(owner, a_flow(owner)).json["interview_id"]
    legal_holds.place(Held.INTERVIEW, interview_id, reason="Dispute", ends_at=None, by=owner.member)
    db.session.commit()
    return owner.api("DELETE", f"/v1/interviews/{interview_id}")


def reused(owner, _outsider):
    book(owner, a_flow(owner), **{"Idempotency-Key": "same"})
    return book(owner, a_flow(owner), **{"Idempotency-Key": "same"})


def running(owner, _outsider, *, committed=False):
    flow, now = a_flow(owner), clock.now()
    body = json.dumps({"interview_flow_id": flow.id}, separators=(",", ":")).encode()
    row = {"organization_id": owner.organization.id, "route": "POST /v1/interviews", "key": "same"}
    started = now - idempotency.RUNNING * 2 if committed else now
    hashed = idempotency._hash(body)
    db.session.add(IdempotentCall(id=new_id(), **row, body_hash=hashed, started_at=started, committed=committed))
    db.session.commit()
    return book(owner, flow, **{"Idempotency-Key": "same"})


def ping(owner, _outsider, method="GET", path="/v1/ping", **more):
    return owner.api(method, path, **more)


def undecided(owner, _outsider):
    made = interviews.book(owner.organization, a_flow(owner).id, email="robin@example.com")
    db.session.commit()
    path = f"/v1/candidates/{made.candidate_id}/move"
    return owner.api("POST", path, json={"status": "rejected"})


def too_much(owner, _outsider):
    interview_id = book(owner, a_flow(owner)).json["interview_id"]
    pairs = {f"key_{n}": "x" * 400 for n in range(20)}
    return owner.api("PUT", f"/v1/interviews/{interview_id}/metadata", json={"metadata": pairs})


def outdated(owner, _outsider):
    following = owner.api("GET", "/v1/changes").json["next"]
    with clock.replaced(lambda: datetime.now(UTC) + timedelta(days=91)):
        return owner.api("GET", f"/v1/changes?after={following}")


NEW = {"path": "/v1/interviews", "method": "POST"}
CALLS = {
    "invalid_json": lambda *who: ping(*who, **NEW, data="{", headers={"Content-Type": "application/json"}),
    "unauthorized": lambda *who: ping(*who, headers={"Authorization": "Bearer none"}),
    "other_organization": lambda owner, outsider: ping(
        owner, outsider, path=f"/v1/interview-flows/{a_flow(outsider).id}"
    ),
    "key_read_only": lambda owner, _: limited(owner, is_read_only=True)("POST", "/v1/interviews", json={}),
    "key_scope": lambda owner, _: limited(owner, team_ids=())("GET", f"/v1/interview-flows/{a_flow(owner).id}"),
    "no_such_url": lambda *who: ping(*who, path="/v1/nothing"),
    "method_not_allowed": lambda *who: ping(*who, method="PATCH"),
    "conflict": lambda *who: running(*who, committed=True),
    "idempotency_in_progress": running,
    "legal_hold": held,
    "body_too_large": lambda *who: ping(*who, **NEW, data=b"x" * 3_000_000),
    "unsupported_media_type": lambda *who: ping(*who, **NEW, data="x", headers={"Content-Type": "text/plain"}),
    "invalid_input": lambda *who: ping(*who, path="/v1/interviews?limit=0"),
    "not_found": lambda *who: ping(*who, path=f"/v1/interviews/{new_id()}"),
    "idempotency_key_reused": reused,
    "flow_closed": closed,
    "quota_used_up": used_up,
    "decision_incomplete": undecided,
    "metadata_too_large": too_much,
    "cursor_invalid": lambda *who: ping(*who, path="/v1/changes?after=x"),
    "cursor_of_other_organization": lambda owner, outsider: ping(
        owner, outsider, path=f"/v1/changes?after={outsider.api('GET', '/v1/changes').json['next']}"
    ),
    "cursor_expired": outdated,
}


@pytest.mark.parametrize("code", sorted(CALLS))
def test_a_call_gets_the_code(owner, outsider, code):
    response = CALLS[code](owner, outsider)
    assert (response.headers["X-Parley-Error"], response.status_code) == (code, CODES[code].status)
    assert response.json["code"] == CODES[code].status
    assert set(response.json) <= {"code", "status", "message", "errors"}


APART = {
    "bad_request": ("/v1/probe/BadRequest", {}),
    "forbidden": ("/v1/probe/Forbidden", {}),
    "internal_error": ("/v1/probe/ValueError", {}),
    "unavailable": ("/v1/probe/GatewayError", {}),
    "unknown_host": ("/v1/ping", {"allowed_hosts": ("interviews.example.org",)}),
    "rate_limited": ("/v1/ping", {"rate_limit_per_minute": 1}),
}
"""What only an application of its own answers: a path, and its settings."""


@pytest.mark.parametrize("code", sorted(APART))
def test_an_application_of_its_own_answers_the_code(probing, code):
    path, settings = APART[code]
    app = probing(**settings)
    with app.app_context():
        key = person(app, "owner@first.example", organization="First Ltd", role="admin").key
    for _ in range(2):
        host = "evil.example" if settings.get("allowed_hosts") else "localhost"
        response = app.test_client().get(path, headers={"Authorization": f"Bearer {key}", "Host": host})
    assert (response.headers["X-Parley-Error"], response.status_code) == (code, CODES[code].status)


def test_a_success_has_no_code(owner):
    assert "X-Parley-Error" not in owner.api("GET", "/v1/ping").headers
