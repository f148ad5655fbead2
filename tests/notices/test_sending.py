"""Notices to Slack and Teams: what they get, what they answer, and what Parley does about it."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.audit.entries import WORDS
from app.accounts.models import AuditEntry
from app.candidate_requests import actions as candidate_requests
from app.candidate_requests.actions import NewRequest
from app.candidate_requests.models import RequestKind
from app.core import claims, clock
from app.core.db import db
from app.core.db.row_security import as_chosen
from app.gateways.outbound import Outbound
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.review.notices import actions, jobs
from app.review.notices.models import (
    NoticeChannel,
    NoticeDelivery,
    NoticeKind,
    NoticeState,
    Service,
    SwitchedOff,
)
from app.review.notices.schedule import DELAYS
from tests.factories import Made, a_flow
from tests.mailing import mails
from tests.outbound.receiver import Receiver, Script, hangs, says
from tests.people import Person, person

from .conftest import deliveries, notices, spread, states
from .services import FLAWS, SEEN, SERVICES

Completed = Callable[..., Interview]
HOSTILE = "<!channel> *Eve* _&_ @here <https://evil.example|click> [x](https://evil.example) ~a~ `b` <at>all</at>"
FAILED_FOR_GOOD = len(DELAYS) + 1


def later(pause: timedelta) -> Any:
    then = clock.now() + pause
    return clock.replaced(lambda: then)


def reloaded(channel: NoticeChannel) -> NoticeChannel:
    db.session.rollback()
    return db.session.get_one(NoticeChannel, channel.id, populate_existing=True)


@pytest.mark.parametrize("service", SERVICES)
def test_a_result_is_posted_once_without_name_and_score(
    service: str, completed: Completed, make_flow: Made, channel: Made, receiver: Receiver
) -> None:
    channel(service)
    interview = completed(make_flow(title="Night nurse"))
    assert spread() == 1
    assert [jobs.send(), jobs.send()] == [1, 0]
    [body] = receiver.bodies
    assert FLAWS[service](body) == []
    seen = SEEN[service](body)
    assert "A result is ready" in seen
    assert "Flow: Night nurse" in seen
    assert f"http://localhost/interviews/{interview.id}" in body.decode()
    for secret in ("Mary", "Hall", "mary@candidate.example", "out of 5", "Overall"):
        assert secret not in body.decode()
    assert states() == [NoticeState.SENT]


@pytest.mark.parametrize("service", SERVICES)
def test_names_and_scores_are_there_once_switched_on(
    service: str, completed: Completed, channel: Made, receiver: Receiver
) -> None:
    channel(service, with_names=True, with_scores=True)
    completed()
    spread()
    assert jobs.send() == 1
    seen = SEEN[service](receiver.bodies[0])
    assert "Candidate: Mary Hall" in seen
    assert "Overall score: " in seen


def test_scores_of_a_flow_whose_members_rate_first_are_left_out(
    owner: Person, completed: Completed, channel: Made, receiver: Receiver
) -> None:
    owner.organization.rates_first = True
    channel(with_scores=True)
    completed()
    spread()
    jobs.send()
    assert "core" not in receiver.bodies[0].decode()


@pytest.mark.parametrize("service", SERVICES)
def test_what_others_typed_is_shown_as_it_is_and_does_nothing(
    service: str, completed: Completed, make_flow: Made, channel: Made, receiver: Receiver
) -> None:
    channel(service, with_names=True)
    completed(make_flow(title=f"Nurse {HOSTILE}"), first_name=HOSTILE, last_name="\u202eevil\x07\nBcc: x")
    spread()
    assert jobs.send() == 1
    [body] = receiver.bodies
    assert FLAWS[service](body) == []  # the receiver finds any markup outside of texts that are shown as they are
    seen = SEEN[service](body)
    assert f"Flow: Nurse {HOSTILE}" in seen
    assert f"Candidate: {HOSTILE} evil Bcc: x" in seen
    assert states() == [NoticeState.SENT]


@pytest.mark.parametrize("service", SERVICES)
def test_the_longest_values_fit(
    service: str, completed: Completed, make_flow: Made, channel: Made, receiver: Receiver
) -> None:
    channel(service, with_names=True, with_scores=True)
    completed(make_flow(title="\U0001f600" * 300), first_name="&" * 300, last_name="<" * 300)
    spread()
    jobs.send()
    assert FLAWS[service](receiver.bodies[0]) == []
    assert states() == [NoticeState.SENT]


@pytest.mark.parametrize("status", [404, 410])
def test_a_url_that_is_gone_is_switched_off_and_its_owner_gets_a_mail(
    status: int, completed: Completed, channel: Made, receiver: Receiver, mailing: None, owner: Person
) -> None:
    gone = channel()
    receiver.script = says(status, b"no_service")
    for _ in range(2):
        completed()
    spread()
    before = len(mails())
    assert jobs.send() == 1  # what waited behind it is not tried
    assert sorted(states()) == [NoticeState.DROPPED, NoticeState.FAILED]
    found = reloaded(gone)
    assert (found.is_on, found.switched_off_by) == (False, SwitchedOff.GONE)
    [mail] = mails()[before:]
    assert mail.to == owner.member.email
    assert f"Slack responded with {status} (no_service)." in mail.text
    assert mail.link == f"http://localhost/notices/{gone.id}"
    entry = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.subject == gone.id)).all()[-1]
    assert (entry.action, entry.member_id) == ("notices.channel_off", None)
    assert entry.action in WORDS
    completed()
    spread()
    assert jobs.send() == 0
    assert "Channels in Slack and Microsoft Teams that get no notices" in owner.browser.get("/dashboard").text
    assert "Off: the URL no longer exists" in owner.browser.get("/notices").text
    page = owner.browser.get(f"/notices/{gone.id}").text
    assert "Parley has switched this channel off" in page
    assert "responded with" in page
    entered = {"service": "slack", "name": "#hiring", "kinds": ["result_ready"], "secret_url": f"{receiver.url}/new"}
    owner.browser.post(f"/notices/{gone.id}", data=entered)
    receiver.script = SERVICES["slack"]
    completed()
    spread()
    assert jobs.send() == 1
    assert receiver.requests[-1].path == "/hook/new"
    assert "Channels in Slack and Microsoft Teams" not in owner.browser.get("/dashboard").text.partition("<main")[2]


def test_administrators_get_it_where_the_owner_is_gone(
    app: Flask, completed: Completed, channel: Made, receiver: Receiver, mailing: None, owner: Person
) -> None:
    former = person(app, "former@first.example", organization=owner.organization, role="admin")
    channel(by=former)
    former.member.disabled_at = clock.now()
    db.session.commit()
    receiver.script = says(410)
    completed()
    spread()
    before = len(mails())
    jobs.send()
    assert [mail.to for mail in mails()[before:]] == [owner.member.email]


@pytest.mark.parametrize(
    ("answer", "says_what"),
    [
        (says(500, b"rollup_error"), "Slack responded with 500 (rollup_error)."),
        (says(403, b"<b>Mary Hall</b>"), "Slack responded with 403."),
        (says(302, Location="http://127.0.0.1:1/other"), "a redirect, which Parley does not follow"),
        (hangs, "could not be reached: no complete response"),
    ],
    ids=["500", "403", "redirect", "silence"],
)
def test_a_failure_is_shown_and_tried_again(
    answer: Script, says_what: str, completed: Completed, channel: Made, receiver: Receiver, quick: None, owner: Person
) -> None:
    made = channel()
    receiver.script = answer
    completed()
    completed()
    spread()
    assert jobs.send() == 1  # the second notice waits for the channel to recover, so that order is kept
    first, second = deliveries()
    assert (first.state, first.attempts, second.attempts) == (NoticeState.WAITING, 1, 0)
    assert says_what in (first.failure or "")
    found = reloaded(made)
    assert found.is_on
    assert says_what in (found.failure or "")
    page = owner.browser.get(f"/notices/{made.id}").text
    assert "Failing since" in page
    assert "Mary" not in page
    receiver.script = SERVICES["slack"]
    with later(timedelta(seconds=31)):
        assert jobs.send() == 2
        assert states() == [NoticeState.SENT, NoticeState.SENT]
    assert reloaded(made).failing_since is None


def test_a_service_that_is_busy_is_given_the_time_it_asks_for(
    completed: Completed, channel: Made, receiver: Receiver
) -> None:
    channel()
    receiver.script = says(429, b"rate_limited", Retry_After="300")
    completed()
    spread()
    jobs.send()
    with later(timedelta(seconds=290)):
        assert jobs.send() == 0
    receiver.script = SERVICES["slack"]
    with later(timedelta(seconds=310)):
        assert jobs.send() == 1
    assert states() == [NoticeState.SENT]


def test_a_service_that_always_fails_ends_with_a_failure_that_is_shown(
    completed: Completed, channel: Made, receiver: Receiver, owner: Person
) -> None:
    made = channel()
    receiver.script = says(500)
    completed()
    spread()
    attempts, start = 0, clock.now()
    for hours in range(40):
        with clock.replaced(lambda hours=hours: start + timedelta(hours=hours)):
            attempts += jobs.send()
    assert attempts == len(receiver.requests) == FAILED_FOR_GOOD
    assert states() == [NoticeState.FAILED]
    assert jobs.overdue() == []
    page = owner.browser.get(f"/notices/{made.id}").text
    assert "Not sent" in page
    assert "Slack responded with 500." in page


def test_what_waits_too_long_is_old_news(completed: Completed, channel: Made, receiver: Receiver) -> None:
    channel()
    completed()
    spread()
    with later(timedelta(hours=25)):
        assert jobs.send() == 0
        assert states() == [NoticeState.FAILED]
    assert receiver.requests == []


@pytest.mark.parametrize("private", ["10.0.0.1", "169.254.169.254", "::ffff:192.168.1.1"])
def test_a_private_address_is_never_called(
    app: Flask, completed: Completed, channel: Made, receiver: Receiver, private: str
) -> None:
    """A name can be made to lead anywhere after the channel was added."""
    channel(address=f"https://hooks.slack.com:{receiver.port}/services/T0/B0/secret")
    completed()
    spread()
    settings, kept = app.extensions["parley.settings"], app.extensions["parley.gateways"]
    app.extensions["parley.gateways"] = replace(kept, http=Outbound(settings, names=lambda _name: [private]))
    try:
        assert jobs.send() == 1
    finally:
        app.extensions["parley.gateways"] = kept
    [delivery] = deliveries()
    assert delivery.state is NoticeState.WAITING
    assert (delivery.failure or "").startswith("Slack could not be reached: ")
    assert "secret" not in (delivery.failure or "")
    assert receiver.connections == 0


def test_a_worker_that_died_while_sending_may_have_sent_it(
    completed: Completed, channel: Made, receiver: Receiver
) -> None:
    channel()
    completed()
    spread()
    [ready] = actions.take(jobs.post())
    db.session.commit()  # and here it dies
    assert jobs.send() == 0
    with later(timedelta(minutes=3)):
        assert jobs.send() == 0
        assert states() == [NoticeState.LOST]
    assert not claims.finish(NoticeDelivery, ready.delivery_id, ready.token, state=NoticeState.SENT)
    assert receiver.requests == []


def test_what_is_withheld_meanwhile_is_not_sent(completed: Completed, channel: Made, receiver: Receiver) -> None:
    channel(with_names=True)
    interview = completed()
    spread()
    interview.withdrawn_at = clock.now()
    db.session.commit()
    assert jobs.send() == 0
    assert states() == [NoticeState.DROPPED]


def test_test_interviews_are_no_news(completed: Completed, channel: Made, receiver: Receiver) -> None:
    channel()
    interview = completed(is_test=True)
    candidate_requests.ask(interview, NewRequest(RequestKind.REVIEW, "please look"))
    db.session.commit()
    assert interview.completed_at is not None
    assert (notices(), spread(), jobs.send(), receiver.requests) == ([], 0, 0, [])


def test_two_workers_at_once_send_once(own_app: Flask, receiver: Receiver) -> None:
    """With real commits: the claims of two workers exclude each other."""
    receiver.script = SERVICES["slack"]
    with own_app.app_context():
        owner = person(own_app, "owner@first.example", organization="First Ltd", role="admin")
        flow = a_flow(owner)
        choices = actions.Choices("#hiring", Service.SLACK, receiver.url, (NoticeKind.REQUEST_WAITING,))
        actions.add(None, choices, check=lambda url: None, by=owner.member)
        _requests(owner, flow, count=6)
        db.session.commit()
        barrier, problems = threading.Barrier(2), []

    def work() -> None:
        try:
            with own_app.app_context():
                barrier.wait()
                spread()
                jobs.send()
                db.session.remove()
        except Exception as error:  # noqa: BLE001 - shown by the assertion below
            problems.append(error)

    workers = [threading.Thread(target=as_chosen(work)) for _ in range(2)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    with own_app.app_context():
        jobs.send()
        assert problems == []
        assert [one.state for one in deliveries() if one.channel_id] == [NoticeState.SENT] * 6
    links = {json.loads(body)["blocks"][1]["elements"][0]["elements"][-1]["url"] for body in receiver.bodies}
    assert len(receiver.bodies) == len(links) == 6


def _requests(owner: Person, flow: Any, *, count: int) -> None:
    for number in range(count):
        interview = interviews.book(owner.organization, flow.id, email=f"{number}@candidate.example")
        candidate_requests.ask(interview, NewRequest(RequestKind.REVIEW, "please look"))
