"""An installation with a mail server, and what waits in its outbox."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import encryption, queue
from app.core.db import db
from app.gateways.mail import Mail
from app.mail_outbox import SEND_MAIL
from app.mail_outbox.jobs import send
from app.mail_outbox.models import QueuedMail


class FakeMailer:
    """There is a mail server; nothing is sent here."""

    is_configured = True

    def send(self, mail: Mail) -> None:
        raise AssertionError("neither requests nor actions send a mail themselves")


class Postbox:
    """A mail server that keeps what it is given, or fails."""

    is_configured = True

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self.fails: Exception | None = None

    def send(self, mail: Mail) -> None:
        if self.fails is not None:
            raise self.fails
        self.mails.append(mail)


@pytest.fixture
def postbox(app: Flask) -> Iterator[Postbox]:
    """The application with a mail server that keeps what it is given."""
    box, kept = Postbox(), app.extensions["parley.gateways"]
    app.extensions["parley.gateways"] = replace(kept, mail=box)
    yield box
    app.extensions["parley.gateways"] = kept


@pytest.fixture
def mailing(app: Flask) -> Iterator[None]:
    """An installation with a mail server."""
    kept = app.extensions["parley.gateways"]
    app.extensions["parley.gateways"] = replace(kept, mail=FakeMailer())
    yield
    app.extensions["parley.gateways"] = kept


def mails() -> list[Mail]:
    """What waits in the outbox, the oldest first."""
    letters = db.session.scalars(sa.select(QueuedMail).order_by(QueuedMail.created_at)).all()
    return [
        Mail(**json.loads(encryption.unseal(one.sealed or "", context=f"letter:{one.id}:sealed"))) for one in letters
    ]


def send_due() -> int:
    """Send every letter that is due, as the worker does; returns how many there were."""
    waiting = queue.overdue(SEND_MAIL)
    for (letter_id,) in waiting:
        send(letter_id)
    return len(waiting)
