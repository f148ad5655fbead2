"""Notices to members by mail: who gets which, at once or once a day, and what they say."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.models import TeamMember
from app.candidate_requests import actions as candidate_requests
from app.candidate_requests.actions import NewRequest
from app.candidate_requests.models import CandidateRequest, RequestKind, RequestState
from app.core import clock, queue
from app.core.db import db
from app.flows.models import InterviewFlow, Right
from app.gateways.mail import NoMailer
from app.interviews.models import Interview
from app.mail_outbox.html_part import html_of
from app.mail_outbox.models import QueuedMail, QueuedMailState
from app.privacy import actions as privacy
from app.review.flow_access import actions as flow_access
from app.review.notices import SEND_DIGEST, actions, jobs
from app.review.notices.models import Notice, NoticeDelivery, NoticeState, Pace
from tests.factories import Made
from tests.mailing import mails
from tests.people import Person, moved_away, person

from .conftest import deliveries, notices, spread, states, wants

Completed = Callable[..., Interview]
ALL = {"is_own_only": False, "result_ready": Pace.AT_ONCE, "request_waiting": Pace.AT_ONCE}
MORNING = datetime(2026, 3, 2, 6, tzinfo=UTC)

pytestmark = pytest.mark.usefixtures("mailing")


def asks(interview: Interview, kind: RequestKind = RequestKind.REVIEW, **details: Any) -> CandidateRequest:
    made = candidate_requests.ask(interview, NewRequest(kind, "please look at this", details=details))
    db.session.commit()
    return made


def mailed_now() -> list[str]:
    """The addresses of mails about everything that is new."""
    before = len(mails())
    spread()
    return sorted(mail.to for mail in mails()[before:])


def digests() -> int:
    """Send the daily mails that are due, as the worker does; returns for how many members."""
    due = queue.overdue(SEND_DIGEST)
    for (member_id,) in due:
        jobs.digest(member_id)
    return len(due)


@pytest.fixture
def at_six() -> Any:
    with clock.replaced(lambda: MORNING):
        yield


def test_without_a_choice_members_hear_of_their_own_interviews_at_once(
    owner: Person, colleague: Person, completed: Completed
) -> None:
    interview = completed(recruiter_id=colleague.member.id)
    assert mailed_now() == [colleague.member.email]
    [mail] = mails()
    assert mail.subject == "A result is ready: Nurse"
    assert f"See the result:\nhttp://localhost/interviews/{interview.id}" in mail.text
    assert "http://localhost/profile/notices" in mail.text
    assert not [word for word in ("Mary", "Hall", "out of 5") if word in mail.text + mail.subject]
    html = html_of(mail)
    assert f'href="http://localhost/interviews/{interview.id}"' in html
    assert "See the result" in html
    completed()
    assert mailed_now() == []


def test_each_gets_it_once_however_often_the_job_runs(colleague: Person, completed: Completed) -> None:
    completed(recruiter_id=colleague.member.id)
    [notice] = notices()
    for _ in range(3):
        jobs.spread(notice.id)
    assert len(mails()) == 1
    again = {"organization_id": notice.organization_id, "key": notice.key, "interview_id": notice.interview_id}
    actions.announce(notice.kind, **again)
    db.session.commit()
    assert len(notices()) == 1


def test_only_those_who_may_see_an_interview_hear_of_it(
    app: Flask,
    owner: Person,
    colleague: Person,
    viewer: Person,
    outsider: Person,
    make_flow: Made,
    completed: Completed,
) -> None:
    elsewhere = person(app, "elsewhere@first.example", organization=owner.organization, role="recruiter")
    moved_away(elsewhere)
    invited = person(app, "invited@first.example", organization=owner.organization, role="recruiter")
    invited.member.password_hash = None
    left = person(app, "left@first.example", organization=owner.organization, role="recruiter")
    left.member.disabled_at = clock.now()
    for one in (owner, colleague, viewer, outsider, elsewhere, invited, left):
        wants(one, **ALL)
    flow: InterviewFlow = make_flow()
    interview = completed(flow)
    team = sorted(one.member.email for one in (owner, colleague, viewer))
    assert mailed_now() == team
    asks(interview)
    assert mailed_now() == [colleague.member.email, owner.member.email]  # viewers cannot answer
    flow_access.narrow(flow, by=owner.member)
    flow_access.give(flow, elsewhere.member, Right.VIEW, by=owner.member)
    db.session.commit()
    completed(flow)
    assert mailed_now() == [elsewhere.member.email, owner.member.email]


def test_requests_that_wait_are_told_and_those_granted_at_once_are_not(colleague: Person, completed: Completed) -> None:
    wants(colleague, **{**ALL, "result_ready": Pace.OFF, "with_names": True})
    interview = completed()
    spread()
    asks(interview, RequestKind.ACCOMMODATION, choice="more_time")
    assert mailed_now() == []
    request = asks(interview)
    assert mailed_now() == [colleague.member.email]
    mail = mails()[-1]
    due = request.due_at
    assert due is not None
    assert f"Request: Human review\nReply by: {due.day} {due:%b %Y}" in mail.text
    assert "Candidate: Mary Hall" in mail.text
    assert mail.link == f"http://localhost/interviews/{interview.id}#requests"
    assert "please look" not in mail.text
    asks(interview)  # the same again is the same request
    assert mailed_now() == []


def test_requests_about_interviews_of_no_one_go_to_all_who_can_answer(
    owner: Person, colleague: Person, viewer: Person, completed: Completed
) -> None:
    for one in (owner, colleague, viewer):
        wants(one, result_ready=Pace.OFF, request_waiting=Pace.AT_ONCE)
    asks(completed())
    assert mailed_now() == [colleague.member.email, owner.member.email]
    asks(completed(recruiter_id=colleague.member.id))
    assert mailed_now() == [colleague.member.email]


def test_names_and_scores_are_each_ones_own_choice(owner: Person, colleague: Person, completed: Completed) -> None:
    wants(owner, **ALL, with_names=True, with_scores=True)
    wants(colleague, **ALL)
    completed()
    spread()
    texts = {mail.to: mail.text for mail in mails()}
    assert "Candidate: Mary Hall\nOverall score: " in texts[owner.member.email]
    assert not [word for word in ("Mary", "score") if word in texts[colleague.member.email]]
    owner.organization.rates_first = True
    completed()
    spread()
    assert "score" not in mails()[-1].text + mails()[-2].text


def test_a_name_adds_neither_lines_nor_headers(colleague: Person, completed: Completed) -> None:
    wants(colleague, **ALL, with_names=True)
    completed(first_name="Eve\r\n\r\nOpen https://evil.example", last_name="\u202e<b>x</b>")
    spread()
    [mail] = mails()
    assert "Candidate: Eve Open https://evil.example <b>x</b>\n" in mail.text
    assert "<b>x" not in html_of(mail)
    assert 'href="https://evil' not in html_of(mail)


def test_without_a_mail_server_it_waits_for_one_while_it_is_news(
    app: Flask, colleague: Person, completed: Completed
) -> None:
    wants(colleague, **ALL)
    with_mail = app.extensions["parley.gateways"]
    without = replace(with_mail, mail=NoMailer())
    for number in range(2):
        with clock.replaced(lambda number=number: MORNING + timedelta(days=4 * number)):
            app.extensions["parley.gateways"] = without
            completed(email=f"{number}@candidate.example")
            spread()
            assert digests() == 0
            jobs.digest(colleague.member.id)
            assert mails() == []
            app.extensions["parley.gateways"] = with_mail
    with clock.replaced(lambda: MORNING + timedelta(days=4, minutes=5)):
        assert digests() == 1
    [mail] = mails()
    assert mail.subject == "Your daily summary: 1 new result"
    assert sorted(states()) == [NoticeState.DROPPED, NoticeState.SENT]


def test_what_happened_before_the_organization_was_disabled_is_told_to_no_one(
    owner: Person, colleague: Person, completed: Completed
) -> None:
    wants(colleague, **ALL)
    completed()
    owner.organization.disabled_at = clock.now()
    db.session.commit()
    assert mailed_now() == []


def test_the_daily_mail_comes_at_the_local_hour_and_once(
    at_six: None, colleague: Person, make_flow: Made, completed: Completed
) -> None:
    wants(colleague, **{**ALL, "result_ready": Pace.DAILY}, hour=8, time_zone="Europe/Berlin", with_names=True)
    flow = make_flow(title="Night nurse")
    for number, name in enumerate(("Ann", "Bob", "Bob")):
        completed(flow, first_name=name, last_name="Lee", email=f"{number}@candidate.example")
    assert mailed_now() == []
    assert [one.due_at for one in deliveries()] == [MORNING + timedelta(hours=1)] * 3
    assert digests() == 0
    with clock.replaced(lambda: MORNING + timedelta(hours=1, seconds=5)):
        assert [digests(), digests()] == [1, 0]
    [mail] = mails()
    assert mail.subject == "Your daily summary: 3 new results"
    lines = mail.text.split("\n\n")[0].split("\n")
    assert (lines[0], sorted(lines[1:])) == ("3 new results:", ["- Night nurse, Ann Lee", "- Night nurse, Bob Lee (2)"])
    assert (mail.link, mail.button) == ("http://localhost/", "Open Parley")
    assert set(states()) == {NoticeState.SENT}


def test_a_daily_mail_that_would_be_empty_is_not_sent(
    at_six: None, colleague: Person, completed: Completed, make_flow: Made
) -> None:
    wants(colleague, **{**ALL, "request_waiting": Pace.DAILY, "result_ready": Pace.DAILY})
    flow = make_flow()
    interview, hidden = completed(flow), completed(flow)
    request = asks(interview)
    spread()
    interview.withdrawn_at = hidden.quarantined_at = clock.now()
    request.state = RequestState.DONE
    db.session.commit()
    with clock.replaced(lambda: MORNING + timedelta(hours=3)):
        assert digests() == 2  # the request was everyone's who can answer
    assert mails() == []
    assert set(states()) == {NoticeState.DROPPED}


def test_access_that_is_lost_before_the_daily_mail_takes_its_news_along(
    at_six: None, colleague: Person, completed: Completed
) -> None:
    wants(colleague, **{**ALL, "result_ready": Pace.DAILY})
    completed()
    spread()
    moved_away(colleague)
    with clock.replaced(lambda: MORNING + timedelta(hours=3)):
        assert digests() == 1
    assert mails() == []


def test_another_hour_counts_for_what_waits_and_off_drops_it(
    at_six: None, colleague: Person, completed: Completed
) -> None:
    daily = {**ALL, "result_ready": Pace.DAILY}
    wants(colleague, **daily)
    completed()
    spread()
    wants(colleague, **daily, hour=17)
    assert [one.due_at.hour for one in deliveries()] == [17]
    wants(colleague, **{**daily, "result_ready": Pace.OFF})
    assert states() == [NoticeState.DROPPED]


def test_an_erasure_takes_the_notices_along_and_mail_that_has_not_left(
    at_six: None, owner: Person, colleague: Person, completed: Completed
) -> None:
    wants(owner, **ALL, with_names=True)
    wants(colleague, **{**ALL, "result_ready": Pace.DAILY}, with_names=True)
    gone = completed(first_name="Gone", email="gone@candidate.example")
    stays = completed(first_name="Stays", email="stays@candidate.example")
    spread()
    with clock.replaced(lambda: MORNING + timedelta(hours=3)):
        digests()
        assert sum("Gone" in mail.text for mail in mails()) == 2
        erasure = privacy.erase(gone, by=owner.member)
        db.session.commit()
        assert erasure.removed["notices"] == 1
        assert digests() == 1
    waiting = db.session.scalars(sa.select(QueuedMail).where(QueuedMail.state == QueuedMailState.WAITING)).all()
    assert len(waiting) == 2
    assert {notice.interview_id for notice in notices()} == {stays.id}
    texts = [mail.text for mail in mails_waiting()]
    assert sum("Stays" in text for text in texts) == 2
    assert not [text for text in texts if "Gone" in text]


def mails_waiting() -> list[Any]:
    db.session.execute(sa.update(NoticeDelivery).values(letter_id=None))
    db.session.execute(sa.delete(QueuedMail).where(QueuedMail.state != QueuedMailState.WAITING))
    return mails()


def test_rows_are_deleted_after_thirty_days_and_hold_no_names(colleague: Person, completed: Completed) -> None:
    wants(colleague, **ALL, with_names=True)
    completed(first_name="Zoltan")
    spread()
    for table in (Notice.__table__, NoticeDelivery.__table__):
        rows = db.session.execute(sa.select(table)).mappings().all()
        assert rows
        assert "Zoltan" not in str([dict(row) for row in rows])
    later = clock.now() + timedelta(days=31)
    assert jobs.prune() == 0
    with clock.replaced(lambda: later):
        assert jobs.prune() == 1
    assert (notices(), deliveries()) == ([], [])


def test_members_of_the_team_that_reads_a_lot_do_not_read_twice(colleague: Person, completed: Completed) -> None:
    """A notice for the daily mail is not mailed at once, too."""
    wants(colleague, **{**ALL, "result_ready": Pace.DAILY})
    completed()
    assert mailed_now() == []
    wants(colleague, **ALL)
    assert mailed_now() == []
    assert [one.state for one in deliveries()] == [NoticeState.WAITING]
    assert db.session.get_one(TeamMember, colleague.member.id).disabled_at is None
