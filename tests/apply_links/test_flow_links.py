"""A flow's own link: off by default, an interview for each who comes, and never another's link."""

import re
import threading
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts import actions as accounts
from app.accounts.models import AuditEntry
from app.core import clock
from app.core.db import db
from app.core.db.row_security import as_chosen
from app.flows.models import FlowStatus, InterviewFlow
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.mail_outbox.models import QueuedMail
from app.outreach.actions import Post
from app.outreach.apply_links import actions
from app.outreach.apply_links.actions import Comer, Over
from app.outreach.apply_links.jobs import sweep
from app.outreach.apply_links.models import FlowLink, FlowVisit
from tests.factories import Made, a_flow
from tests.people import Person

WHO = {"first_name": "Robin", "last_name": "Example", "email_address": "robin@example.com"}


@pytest.fixture
def flow(make_flow: Made) -> InterviewFlow:
    found: InterviewFlow = make_flow()
    return found


@pytest.fixture
def link(flow: InterviewFlow, owner: Person) -> FlowLink:
    made = actions.turn_on(flow, by=owner.member)
    db.session.commit()
    return made


def path(link: FlowLink) -> str:
    return f"/interview/api/open/{link.token}"


def come(app: Flask, link: FlowLink, browser: Any = None, **who: str) -> Any:
    return (browser or app.test_client()).post(path(link), data={**WHO, **who})


def booked() -> list[Interview]:
    return list(db.session.scalars(sa.select(Interview).order_by(Interview.org_seq)))


def test_a_flow_has_none_until_a_recruiter_turns_it_on(app: Flask, owner: Person, flow: InterviewFlow) -> None:
    page = owner.browser.get(f"/flows/{flow.id}").text
    assert "/interview/api/open/" not in page
    assert owner.browser.post(f"/flows/{flow.id}/link/on").status_code == 303
    page = owner.browser.get(f"/flows/{flow.id}").text
    address = re.search(r"http://localhost(/interview/api/open/[\w-]{22})", page)
    assert address
    assert app.test_client().get(address[1]).status_code == 200
    entries = db.session.query(AuditEntry).filter_by(action="flow.link_on").all()
    assert [(one.subject, one.member_id) for one in entries] == [(flow.id, owner.member.id)]


def test_whoever_comes_gets_an_interview_of_their_own(app: Flask, link: FlowLink) -> None:
    answer = come(app, link)
    (interview,) = booked()
    assert (answer.status_code, answer.headers["Location"]) == (303, interview.link("http://localhost"))
    assert interview.interviewee_email_address == "robin@example.com"
    assert interview.candidate is not None
    assert interview.candidate.full_name == "Robin Example"
    assert app.test_client().get(answer.headers["Location"]).status_code == 200
    come(app, link, email_address="kim@example.com")
    assert (len(booked()), link.used, link.came) == (2, 2, 2)


def test_the_page_speaks_the_flows_language(app: Flask, link: FlowLink) -> None:
    link.flow.language = "de-DE"
    db.session.commit()
    assert "Sie bekommen ein eigenes Interview" in app.test_client().get(path(link)).text


@pytest.mark.parametrize(
    ("who", "wrong"),
    [
        ({"first_name": " "}, "Please tell us your name."),
        ({"email_address": "robin"}, "Not a valid email address."),
        ({"email_address": ""}, "Not a valid email address."),
        ({"first_name": "x\x00"}, "Please tell us your name."),
        ({"last_name": "x" * 301}, "Longer than 300 characters."),
    ],
)
def test_what_is_missing_is_asked_for_again(app: Flask, link: FlowLink, who: dict[str, str], wrong: str) -> None:
    answer = come(app, link, **who)
    assert answer.status_code == 422
    assert wrong in answer.text
    assert booked() == []


def test_a_form_sent_twice_leads_to_the_same_interview(app: Flask, link: FlowLink) -> None:
    browser = app.test_client()
    first = come(app, link, browser)
    again = come(app, link, browser, email_address="Robin@Example.com")
    assert first.headers["Location"] == again.headers["Location"]
    assert len(booked()) == 1


def test_another_browser_never_sees_the_link_of_an_address(app: Flask, link: FlowLink) -> None:
    interview_id = come(app, link).headers["Location"].rsplit("/", 1)[-1]
    answer = come(app, link, email_address="ROBIN@example.com")
    assert answer.status_code == 409
    assert "There is already an interview for this email address" in answer.text
    assert interview_id not in answer.text + str(answer.headers)
    assert (len(booked()), link.used) == (1, 1)


def test_with_mail_the_link_goes_to_the_address_alone_and_not_again_and_again(
    flow: InterviewFlow, link: FlowLink, owner: Person
) -> None:
    known = interviews.book(owner.organization, flow.id, email="robin@example.com")
    db.session.commit()
    post = Post("http://localhost", 14, can_send=True)
    for _ in range(2):
        comer = Comer("robin@example.com", "Robin", None, network="n", browser="b")
        assert actions.come(link, comer, post) is Over.KNOWN
    (letter,) = db.session.query(QueuedMail).all()
    assert letter.interview_id == known.id
    assert [one.id for one in booked()] == [known.id]


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"expires_at": timedelta(seconds=-1)}, 410, "This link has expired"),
        ({"most": 1, "used": 1}, 410, "This link has no interviews left"),
        ({"status": FlowStatus.CLOSED}, 410, "This interview is closed"),
        ({"status": FlowStatus.ARCHIVED}, 410, "This interview is closed"),
        ({"off_at": timedelta()}, 404, "We do not know this link"),
    ],
)
def test_a_link_that_is_over_says_why(
    app: Flask, link: FlowLink, change: dict[str, Any], status: int, words: str
) -> None:
    for name, value in change.items():
        given = clock.now() + value if isinstance(value, timedelta) else value
        setattr(link.flow if name == "status" else link, name, given)
    db.session.commit()
    for answer in (app.test_client().get(path(link)), come(app, link)):
        assert answer.status_code == status
        assert words in answer.text
    assert booked() == []


def test_too_many_from_one_network_wait_an_hour(app: Flask, link: FlowLink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "PER_NETWORK", 2)
    statuses = [come(app, link, email_address=f"{n}@example.com").status_code for n in range(3)]
    assert statuses == [303, 303, 429]
    assert app.test_client().get(path(link)).status_code == 200
    later = clock.now() + timedelta(minutes=61)
    with clock.replaced(lambda: later):
        assert come(app, link, email_address="2@example.com").status_code == 303
    assert {visit.network for visit in db.session.query(FlowVisit)}.isdisjoint({"127.0.0.1"})
    with clock.replaced(lambda: later + timedelta(hours=23)):
        assert sweep() == 2
    assert db.session.query(FlowVisit).count() == 1


def test_one_connection_of_ipv6_is_one_network(app: Flask, link: FlowLink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "PER_NETWORK", 2)

    def comes(address: str, number: int) -> int:
        browser = app.test_client()
        browser.environ_base["REMOTE_ADDR"] = address
        return int(come(app, link, browser, email_address=f"{number}@example.com").status_code)

    same = ("2001:db8:1:2::1", "2001:db8:1:2:aaaa::2", "2001:db8:1:2:ffff:ffff:ffff:ffff")
    assert [comes(address, number) for number, address in enumerate(same)] == [303, 303, 429]
    assert comes("2001:db8:1:3::1", 3) == 303
    assert [comes(f"192.0.2.{number}", number) for number in (4, 5, 6)] == [303, 303, 303]


@pytest.mark.parametrize("values", [{"off_at": clock.now()}, {"token": "another"}], ids=["off", "renewed"])
def test_whoever_waits_while_the_link_ends_gets_nothing(link: FlowLink, values: dict[str, Any]) -> None:
    comer = Comer("robin@example.com", "Robin", None, network="n", browser="b")
    assert link.off_at is None, "read before the change"
    changed = sa.update(FlowLink).where(FlowLink.id == link.id).values(values)
    db.session.execute(changed.execution_options(synchronize_session=False))
    assert actions.come(link, comer, Post("", 14, can_send=False)) is Over.CLOSED
    assert booked() == []


def test_renewing_and_turning_off_end_the_old_address(app: Flask, owner: Person, link: FlowLink) -> None:
    come(app, link)
    old, browser, base = path(link), owner.browser, f"/flows/{link.flow_id}/link"
    browser.post(f"{base}/renew")
    assert app.test_client().get(old).status_code == 404
    assert app.test_client().get(path(link)).status_code == 200
    assert (link.used, link.came) == (0, 1)
    new = path(link)
    browser.post(f"{base}/off")
    browser.post(f"{base}/renew")
    assert app.test_client().get(path(link)).status_code == 404
    browser.post(f"{base}/on")
    assert path(link) not in {old, new}
    assert app.test_client().get(path(link)).status_code == 200
    kinds = db.session.scalars(sa.select(AuditEntry.action).where(AuditEntry.subject == link.flow_id)).all()
    assert [kind for kind in kinds if "link" in kind] == [
        "flow.link_on",
        "flow.link_renewed",
        "flow.link_off",
        "flow.link_on",
    ]


def test_limits_are_set_on_the_page(app: Flask, owner: Person, link: FlowLink) -> None:
    browser, base = owner.browser, f"/flows/{link.flow_id}/link"
    last = clock.now().date()
    browser.post(f"{base}/limit", data={"until": last.isoformat(), "most": "1"})
    assert (link.most, link.expires_at.date() if link.expires_at else None) == (1, last + timedelta(days=1))
    come(app, link)
    page = browser.get(f"/flows/{link.flow_id}").text
    assert "1 of 1" in page
    assert "The link has reached its limit" in page
    for wrong in ({"most": "0"}, {"most": "many"}, {"until": "tomorrow"}):
        browser.post(f"{base}/limit", data=wrong)
        assert "Nothing was changed" in browser.get(f"/flows/{link.flow_id}").text
    browser.post(f"{base}/limit", data={"until": "", "most": ""})
    assert (link.most, link.expires_at) == (None, None)


def test_of_many_at_once_no_more_come_than_may(own_app: Flask) -> None:
    with own_app.app_context():
        founded = accounts.create_organization(
            "A", team_name="T", admin_email="a@b.example", admin_hash="one that no password fits"
        )
        _row, key = accounts.issue_api_key(founded.organization, name="test", by=founded.admin)
        person = Person(own_app, founded.admin, founded.organization, founded.team, key)
        link = actions.turn_on(a_flow(person), by=founded.admin)
        link.most = 2
        db.session.commit()
        link_id = link.id
    ready, got = threading.Barrier(4), list[Any]()

    def comes(number: int) -> None:
        with own_app.app_context():
            link = db.session.get_one(FlowLink, link_id)
            db.session.rollback()
            ready.wait(10)
            comer = Comer(f"{number // 2}@example.com", "A", None, network=str(number), browser=str(number))
            found = actions.come(link, comer, Post("", 14, can_send=False))
            got.append(found if isinstance(found, Over) else "interview")
            db.session.commit()

    threads = [threading.Thread(target=as_chosen(comes), args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(map(str, got)).count("interview") == 2
    with own_app.app_context():
        assert db.session.get_one(FlowLink, link_id).used == 2
        assert {one.interviewee_email_address for one in booked()} == {"0@example.com", "1@example.com"}


def test_strangers_change_nothing(link: FlowLink, outsider: Person) -> None:
    for verb in ("on", "off", "renew", "limit"):
        assert outsider.browser.post(f"/flows/{link.flow_id}/link/{verb}").status_code == 403
    assert link.off_at is None


def test_the_page_has_the_accent_color_of_the_flow(app: Flask, link: FlowLink, flow: InterviewFlow) -> None:
    flow.accent = "#7a1f5c"
    db.session.commit()
    assert '<link rel="stylesheet" href="/accent/7a1f5c.css">' in app.test_client().get(path(link)).text
