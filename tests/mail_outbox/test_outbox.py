"""The mail outbox: each letter goes out once, is tried again where that may help, and forgets its words."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.core import claims, clock
from app.core.db import db
from app.core.errors import GatewayError
from app.core.queue import SilentWaker
from app.gateways.mail import Mail, Unanswered
from app.mail_outbox import SEND_MAIL, actions
from app.mail_outbox.jobs import send
from app.mail_outbox.models import QueuedMail, QueuedMailState
from tests.factories import Made
from tests.mailing import send_due
from tests.own_page.conftest import (  # noqa: F401 - fixtures
    Postbox,
    asks,
    book,
    hears,
    postbox,
    scripted,
    speaks,
)

MAIL = Mail("ada@candidate.example", "Your code", "12345678")


@pytest.fixture
def letter(book: Made) -> str:  # noqa: F811
    posted = actions.post(book().id, MAIL, lasts=timedelta(minutes=10))
    db.session.commit()
    return posted.id


def row(letter_id: str) -> QueuedMail:
    db.session.expire_all()
    return db.session.get_one(QueuedMail, letter_id)


def later(**delta: int) -> Any:
    then = clock.now() + timedelta(**delta)
    return clock.replaced(lambda: then)


def test_a_letter_is_sealed_sent_once_and_forgotten(letter: str, postbox: Postbox, waker: SilentWaker) -> None:  # noqa: F811
    assert (SEND_MAIL, (letter,)) in waker.enqueued
    assert "12345678" not in str(row(letter).sealed)
    for _ in range(3):
        send(letter)
    assert [replace(one, html="") for one in postbox.mails] == [MAIL]
    kept = row(letter)
    assert (kept.state, kept.sealed, kept.attempts) == (QueuedMailState.SENT, None, 1)
    assert send_due() == 0


def test_nothing_is_posted_by_a_transaction_that_fails(book: Made, waker: SilentWaker) -> None:  # noqa: F811
    waker.enqueued.clear()
    actions.post(book().id, MAIL, lasts=timedelta(minutes=10))
    db.session.rollback()
    assert [job for job, _ids in waker.enqueued if job is SEND_MAIL] == []
    assert db.session.query(QueuedMail).count() == 0


def test_what_may_pass_is_tried_again_and_then_given_up(letter: str, postbox: Postbox) -> None:  # noqa: F811
    postbox.fails = GatewayError("the mail server refused (451)", retryable=True)
    send(letter)
    kept = row(letter)
    assert (kept.state, kept.failure) == (QueuedMailState.WAITING, "the mail server refused (451)")
    assert send_due() == 0, "not before its pause is over"
    with later(seconds=6):
        postbox.fails = None
        assert send_due() == 1
    assert [replace(one, html="") for one in postbox.mails] == [MAIL]


def test_what_is_refused_for_good_is_not_tried_again(letter: str, postbox: Postbox) -> None:  # noqa: F811
    postbox.fails = GatewayError("the mail server refused the recipient (550)", retryable=False)
    send(letter)
    assert (row(letter).state, row(letter).sealed) == (QueuedMailState.REFUSED, None)
    with later(minutes=5):
        assert send_due() == 0


def test_a_letter_that_came_too_late_is_never_sent(letter: str, postbox: Postbox) -> None:  # noqa: F811
    with later(minutes=11):
        send(letter)
    assert (row(letter).state, row(letter).sealed) == (QueuedMailState.EXPIRED, None)
    assert postbox.mails == []


def test_a_letter_whose_sender_died_is_not_sent_a_second_time(letter: str, postbox: Postbox) -> None:  # noqa: F811
    assert actions.take(letter) is not None
    db.session.commit()
    assert send_due() == 0
    with later(minutes=5):
        assert send_due() == 0, "the mail server may still be thinking"
    with later(minutes=7):
        assert send_due() == 1
    assert (row(letter).state, postbox.mails) == (QueuedMailState.LOST, [])


def test_a_letter_that_got_no_answer_is_not_sent_a_second_time(letter: str, postbox: Postbox) -> None:  # noqa: F811
    postbox.fails = Unanswered()
    send(letter)
    assert (row(letter).state, row(letter).sealed) == (QueuedMailState.LOST, None)
    postbox.fails = None
    with later(minutes=5):
        assert send_due() == 0
    assert postbox.mails == []


def test_a_letter_that_cannot_be_opened_any_more_holds_nobody_up(letter: str, book: Made, postbox: Postbox) -> None:  # noqa: F811
    row(letter).sealed = "v1.AAAA"
    other = actions.post(book().id, MAIL, lasts=timedelta(minutes=10)).id
    db.session.commit()
    assert send_due() == 2
    assert (row(letter).state, row(letter).failure) == (
        QueuedMailState.REFUSED,
        "an encrypted value cannot be read; check whether SECRET_KEY has changed",
    )
    assert (row(other).state, len(postbox.mails)) == (QueuedMailState.SENT, 1)


def test_a_stolen_claim_settles_nothing(letter: str, postbox: Postbox) -> None:  # noqa: F811
    taken = actions.take(letter)
    assert taken is not None
    db.session.commit()
    assert not actions.settle(letter, taken[0] + 1, QueuedMailState.SENT)
    assert actions.settle(letter, taken[0], QueuedMailState.SENT)


def test_after_eight_attempts_a_letter_is_given_up(letter: str, postbox: Postbox, app: Flask) -> None:  # noqa: F811
    postbox.fails = GatewayError("away", retryable=True)
    kept = row(letter)
    kept.expires_at = clock.now() + timedelta(days=9)
    db.session.commit()
    for _ in range(actions.MOST_ATTEMPTS):
        send(letter)
    assert (row(letter).state, row(letter).attempts) == (QueuedMailState.REFUSED, 8)
    assert not claims.renew(QueuedMail, letter, 1, lease=timedelta(1))


def test_a_mail_of_a_newer_release_waits_for_a_worker_of_that_release(
    letter: str,
    postbox: Postbox,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Older(Mail):
        def __init__(self, to: str, subject: str, text: str) -> None:
            super().__init__(to, subject, text)

    with monkeypatch.context() as patch:
        patch.setattr(actions, "Mail", Older)
        with pytest.raises(TypeError):
            send(letter)
        db.session.rollback()  # as the end of the job does
    assert row(letter).state is QueuedMailState.WAITING
    send_due()
    assert [one.to for one in postbox.mails] == [MAIL.to]
