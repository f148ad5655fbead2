"""Sealed values open only where they were sealed."""

import pytest
from flask import Flask

from app.core.encryption import SealBroken, derived_key, seal, unseal


@pytest.fixture(autouse=True)
def app_context():
    app = Flask("x")
    app.config["SECRET_KEY"] = "a secret key for tests, long enough"
    with app.app_context():
        yield app


def test_a_sealed_text_opens_in_its_own_context():
    sealed = seal("whsec schlüssel", context="interview_flow/1/webhook_secret_key")
    assert "schl" not in sealed
    assert unseal(sealed, context="interview_flow/1/webhook_secret_key") == "whsec schlüssel"


def test_the_same_text_never_looks_the_same():
    assert seal("x", context="c") != seal("x", context="c")


def test_another_row_cannot_open_it():
    with pytest.raises(SealBroken):
        unseal(seal("x", context="row/1"), context="row/2")


@pytest.mark.parametrize("damage", [lambda s: s[:-4] + "AAAA", lambda s: s[:10], lambda s: "v1.!!!", lambda s: ""])
def test_a_changed_text_does_not_open(damage):
    with pytest.raises(SealBroken):
        unseal(damage(seal("some text", context="c")), context="c")


def test_another_secret_key_cannot_open_it(app_context):
    sealed = seal("x", context="c")
    app_context.config["SECRET_KEY"] = "another secret key, as long as that"
    with pytest.raises(SealBroken):
        unseal(sealed, context="c")


def test_each_purpose_has_a_key_of_its_own():
    assert derived_key("a") != derived_key("b")
    assert len(derived_key("a")) == 32
