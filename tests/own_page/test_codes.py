"""Getting onto the own page with a one-time code: who gets one, how often, and what it opens."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import AuditEntry
from app.core import clock
from app.core.db import db
from app.interviews import actions as interviews
from app.mail_outbox.jobs import send
from app.mail_outbox.models import QueuedMail
from app.privacy.own_page.models import OwnCode, OwnPass
from tests.factories import a_flow
from tests.mailing import Postbox
from tests.people import person

from .conftest import ANSWERS, Taken, Takes

ADDRESS = "Candidate@Example.com"


def ask(taken: Taken, browser: Any, address: str = ADDRESS) -> Any:
    return taken.post("/code", {"address": address}, browser)


def code_of(postbox: Postbox) -> str:
    db.session.rollback()
    for (letter_id,) in db.session.query(QueuedMail.id).all():
        db.session.rollback()
        send(letter_id)
    return re.findall(r"\b\d{8}\b", postbox.mails[-1].text)[0]


def later(**delta: int) -> Any:
    then = clock.now() + timedelta(**delta)
    return clock.replaced(lambda: then)


def test_a_code_by_mail_opens_the_page_in_another_browser(taken: Taken, postbox: Postbox, app: Flask) -> None:
    other = app.test_client()
    door = taken.page(browser=other)
    assert door.status_code == 403
    assert 'type="email"' in door.text
    asked = ask(taken, other)
    assert asked.status_code == 200
    code = code_of(postbox)
    assert postbox.mails[0].to == "candidate@example.com"
    assert code not in asked.text
    entered = taken.post("/enter", {"code": f" {code} "}, other)
    assert entered.status_code == 303
    cookie = entered.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert all(answer in taken.page(browser=other).text for answer in ANSWERS)
    assert taken.post("/requests", {"kind": "review"}, other).status_code == 303
    assert db.session.query(AuditEntry).filter_by(action="own_page.entered").count() == 1
    third = app.test_client()
    assert taken.post("/enter", {"code": code}, third).status_code == 422, "a code works once"
    assert taken.page(browser=third).status_code == 403
    with later(hours=25):
        assert taken.page(browser=other).status_code == 403


def test_the_answer_is_the_same_for_an_address_that_is_not_known(taken: Taken, postbox: Postbox, app: Flask) -> None:
    known, unknown = ask(taken, app.test_client()), ask(taken, app.test_client(), "other@example.com")
    strip = re.compile(r'value="[^"]{30,}"|content="[^"]{30,}"')
    assert (known.status_code, strip.sub("", known.text)) == (unknown.status_code, strip.sub("", unknown.text))
    assert db.session.query(QueuedMail).count() == 1
    assert db.session.query(OwnCode).count() == 2
    assert [kept.code_hash is None for kept in db.session.query(OwnCode).order_by(OwnCode.created_at)] == [False, True]


def test_five_wrong_tries_use_a_code_up(taken: Taken, postbox: Postbox, app: Flask) -> None:
    other = app.test_client()
    ask(taken, other)
    code = code_of(postbox)
    wrong = f"{(int(code) + 1) % 10**8:08}"
    for _ in range(5):
        assert taken.post("/enter", {"code": wrong}, other).status_code == 422
    assert taken.post("/enter", {"code": code}, other).status_code == 422
    assert db.session.query(OwnPass).count() == 0


def test_a_code_lives_ten_minutes(taken: Taken, postbox: Postbox, app: Flask) -> None:
    other = app.test_client()
    ask(taken, other)
    code = code_of(postbox)
    with later(minutes=11):
        assert taken.post("/enter", {"code": code}, other).status_code == 422


def test_only_so_many_codes_are_sent_for_an_interview(taken: Taken, postbox: Postbox, app: Flask) -> None:
    answers = [ask(taken, app.test_client(), address) for address in (ADDRESS, "x@y.example", ADDRESS, ADDRESS)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert "in 15 minutes" in answers[-1].text
    with later(minutes=16):
        assert ask(taken, app.test_client()).status_code == 200


def test_only_so_many_codes_are_asked_for_from_one_place(takes: Takes, postbox: Postbox, app: Flask) -> None:
    interviews = [takes(process=False) for _ in range(4)]
    statuses = [ask(one, app.test_client()).status_code for one in interviews for _ in range(3)]
    assert statuses == [200] * 10 + [429] * 2


def test_the_code_of_one_interview_opens_no_other(takes: Takes, postbox: Postbox, app: Flask) -> None:
    first, second = takes(), takes()
    other = app.test_client()
    ask(first, other)
    code = code_of(postbox)
    assert second.post("/enter", {"code": code}, other).status_code == 422
    assert first.post("/enter", {"code": code}, other).status_code == 303
    assert second.page(browser=other).status_code == 403


@pytest.mark.parametrize("address", ["", "nobody", "a@b@c", "x" * 400 + "@example.com", "a\x00@example.com"])
def test_an_address_that_is_none_is_named(taken: Taken, postbox: Postbox, app: Flask, address: str) -> None:
    answer = ask(taken, app.test_client(), address)
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.text
    assert db.session.query(OwnCode).count() == 0


def test_without_a_mail_server_the_page_names_the_other_way(taken: Taken, app: Flask) -> None:
    answer = ask(taken, app.test_client())
    assert answer.status_code == 403
    assert "does not send email" in answer.text
    assert "First Ltd" in answer.text
    assert db.session.query(OwnCode).count() == 0


def test_guesses_at_one_moment_get_five_tries_together(own_app: Flask) -> None:
    with own_app.app_context():
        owner = person(own_app, "owner@first.example", organization="First Ltd", role="admin")
        flow = a_flow(owner)
        interview = interviews.book(owner.organization, flow.id, email=ADDRESS)
        ends = clock.now() + timedelta(minutes=9)
        db.session.add(OwnCode(interview_id=interview.id, asker="x", code_hash="0" * 64, expires_at=ends))
        db.session.commit()
        address = f"/interview/api/{flow.id}/{interview.id}/own/enter"

    def guess(number: int) -> int:
        return own_app.test_client().post(address, data={"code": f"{number:08}"}).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(guess, range(40))) == {422}
    with own_app.app_context():
        assert db.session.query(OwnCode).one().tries == 5
        assert db.session.query(OwnPass).count() == 0
