"""People who can sign in with a password."""

import pytest

from app.accounts import passwords
from app.core.db import db

PASSWORD = "a staple and a horse"


@pytest.fixture(scope="session")
def password_hash():
    return passwords.hashed(PASSWORD)


@pytest.fixture
def known(owner, password_hash):
    """The owner, with a password."""
    owner.member.password_hash = password_hash
    db.session.commit()
    return owner


@pytest.fixture
def sign_in(client):
    """Post the sign-in form."""

    def post(email="owner@first.example", password=PASSWORD, **more):
        fields = more.pop("fields", {})
        return client.post("/sign-in", data={"email": email, "password": password, **fields}, **more)

    return post
