"""An installation with a mail server, and what waits in its outbox."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
import sqlalchemy as sa
from flask import Flask

from app import vault
from app.db import db
from app.letters.models import Letter
from app.mail import Mail


class FakeMailer:
    """There is a mail server; nothing is sent here."""

    is_configured = True

    def send(self, mail: Mail) -> None:
        raise AssertionError("neither requests nor actions send a mail themselves")


@pytest.fixture
def mailing(app: Flask) -> Iterator[None]:
    """An installation with a mail server."""
    kept = app.extensions["parley.gateways"]
    app.extensions["parley.gateways"] = replace(kept, mail=FakeMailer())
    yield
    app.extensions["parley.gateways"] = kept


def mails() -> list[Mail]:
    """What waits in the outbox, the oldest first."""
    letters = db.session.scalars(sa.select(Letter).order_by(Letter.created_at)).all()
    return [Mail(**json.loads(vault.unseal(one.sealed or "", context=f"letter:{one.id}:sealed"))) for one in letters]
