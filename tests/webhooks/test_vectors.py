"""The vectors that the clients' tests read (``clients/README.md``) have the signatures that we send."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.webhooks.signature import sign, standard

CLIENTS = Path(__file__).parents[2] / "clients"
VECTORS: list[dict[str, Any]] = json.loads((CLIENTS / "vectors.json").read_text(encoding="utf-8"))
FIELDS = {"description", "secrets", "signature", "now", "headers", "body", "padding", "reason", "event_type", "signed"}


def body_of(vector: dict[str, Any]) -> bytes:
    padding = vector["padding"] or {"text": "", "times": 0}
    return str(vector["body"] + padding["text"] * padding["times"]).encode()


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["description"] for vector in VECTORS])
def test_what_the_vectors_call_signed_is_what_we_sign(vector):
    assert set(vector) == FIELDS
    for made in vector["signed"]:
        assert made["x-service-signature"] == sign(made["secret"], body_of(vector))
        assert made["webhook-signature"] == standard(
            made["secret"], body_of(vector), event_id=made["webhook-id"], timestamp=made["webhook-timestamp"]
        )


def test_a_genuine_event_has_one_of_our_signatures_with_a_secret_the_receiver_knows():
    genuine = [vector for vector in VECTORS if vector["reason"] is None]
    assert len(genuine) > 20
    for vector in genuine:
        headers = {name.lower(): value for name, value in vector["headers"].items()}
        ours = {made[vector["signature"]] for made in vector["signed"] if made["secret"] in vector["secrets"]}
        assert ours & set(headers[vector["signature"]].split()), vector["description"]


def test_the_vectors_have_every_reason_and_every_length():
    told = {vector["reason"] for vector in VECTORS}
    assert told == {None, "missing", "malformed", "too_old", "too_new", "mismatch", "not_an_event"}
    assert {len(body_of(vector)) > 2**20 for vector in VECTORS} == {False, True}
    assert b"" in {body_of(vector) for vector in VECTORS}
    assert any(b"\r\n" in body_of(vector) for vector in VECTORS)
    readme = (CLIENTS / "README.md").read_text(encoding="utf-8")
    assert [name for name in FIELDS | told - {None} if f"`{name}`" not in readme] == []
