"""Mail to candidates: invited in a list, reminded by the plan, never twice, and never after the start."""

import csv
import html
import io
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa
from babel.dates import format_date
from flask import Flask

from app.accounts.models import AuditEntry
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict
from app.flows.models import FlowStatus
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.mail_outbox.html_part import html_of
from app.outreach import actions, queries
from app.outreach.actions import Post
from app.outreach.jobs import sweep
from app.outreach.models import MailWords, Message, Step
from app.outreach.words import Words
from tests.factories import Made
from tests.mailing import send_due
from tests.own_page.conftest import (  # noqa: F401 - fixtures
    Postbox,
    asks,
    book,
    candidates,
    hears,
    postbox,
    scripted,
    speaks,
)
from tests.people import Person

POST = Post("https://parley.example", 30, can_send=True)


def steps_of(interview: Interview) -> list[str]:
    db.session.expire_all()
    return [one.step.value for one in queries.messages_of(interview.id)]


def later(**delta: float) -> Any:
    then = clock.now() + timedelta(**delta)
    return clock.replaced(lambda: then)


@pytest.fixture
def ada(owner: Person, book: Made, postbox: Postbox) -> Interview:  # noqa: F811
    interview: Interview = book()
    interview.interviewee_email_address, interview.interviewee_first_name = "ada@candidate.example", "Ada"
    db.session.commit()
    actions.write(interview, Step.INVITATION, POST, by=owner.member)
    db.session.commit()
    send_due()
    return interview


def test_an_invitation_says_who_asks_and_where_to_go(ada: Interview, postbox: Postbox) -> None:  # noqa: F811
    (mail,) = postbox.mails
    assert mail.to == "ada@candidate.example"
    assert mail.subject == f"Your interview with {ada.flow.org_name}: {ada.flow.title}"
    assert mail.text.startswith("Hello Ada,")
    assert f"Your link: https://parley.example/interview/api/{ada.flow_id}/{ada.id}\n" in mail.text
    until = ada.created_at + timedelta(days=30)
    assert f"{until:%B} {until.day}, {until.year}" in mail.text


def test_an_invitation_comes_from_the_organization_and_is_answered_to_the_member(
    ada: Interview,
    owner: Person,
    postbox: Postbox,  # noqa: F811
) -> None:
    (mail,) = postbox.mails
    link = f"https://parley.example/interview/api/{ada.flow_id}/{ada.id}"
    assert (mail.sender, mail.reply_to, mail.link) == (ada.flow.org_name, owner.member.email, link)
    assert re.search(rf'<a class="button" href="{link}"[^>]*>Start the interview</a>', mail.html)
    assert "<img" not in mail.html
    with later(days=4):
        assert sweep() == 1
        send_due()
    assert postbox.mails[1].reply_to == "", "no member sent the reminder"


@pytest.mark.parametrize(("app_url", "shown"), [("https://parley.example", True), ("http://parley.example", False)])
def test_the_only_picture_is_the_flows_logo_over_https(
    owner: Person,
    book: Made,  # noqa: F811
    app_url: str,
    shown: bool,
) -> None:
    interview = book()
    interview.flow.logo_key = "flows/logo.png"
    words = actions.words_for(owner.organization.id, Step.INVITATION, "en-US")
    mail = actions.compose(interview, words, replace(POST, app_url=app_url), language="en-US", by=None)
    assert re.findall(r'<img[^>]* src="([^"]*)"', html_of(mail)) == (
        [f"https://parley.example/flows/{interview.flow_id}/logo"] if shown else []
    )
    db.session.rollback()


def test_an_invitation_goes_out_once(ada: Interview, owner: Person, postbox: Postbox) -> None:  # noqa: F811
    answer = owner.browser.post(f"/interviews/{ada.id}/mail", data={"step": "invitation"}, follow_redirects=True)
    assert "Nothing was sent. The invitation was sent on" in answer.text
    send_due()
    assert len(postbox.mails) == 1
    assert steps_of(ada) == ["invitation"]


def test_the_flows_language_is_the_mails(owner: Person, book: Made, postbox: Postbox) -> None:  # noqa: F811
    interview = book(language="de-DE")
    interview.interviewee_email_address = "ada@candidate.example"
    actions.write(interview, Step.INVITATION, POST, by=owner.member)
    db.session.commit()
    send_due()
    assert format_date(POST.ends(interview).date(), "long", locale="de_DE") in postbox.mails[0].text
    assert ">Interview beginnen</a>" in postbox.mails[0].html
    assert '<html lang="de-DE" dir="ltr">' in postbox.mails[0].html
    assert interview.link(POST.app_url) in postbox.mails[0].text


def test_the_plan_reminds_once_and_tells_of_the_end_once(ada: Interview, postbox: Postbox) -> None:  # noqa: F811
    with later(days=2):
        assert sweep() == 0
    with later(days=3, minutes=1):
        assert [sweep(), sweep()] == [1, 0]
        send_due()
    with later(days=20):
        assert sweep() == 0
    with later(days=28, minutes=1):
        assert [sweep(), sweep()] == [1, 0]
        send_due()
    with later(days=31):
        assert sweep() == 0
    assert steps_of(ada) == ["invitation", "reminder", "expiry"]
    assert [mail.subject.split()[0] for mail in postbox.mails] == ["Your", "Reminder:", "The"]
    assert all(ada.id in mail.text for mail in postbox.mails)


def test_nobody_gets_two_mails_within_a_day(ada: Interview, owner: Person, postbox: Postbox) -> None:  # noqa: F811
    with later(days=2, hours=23):
        actions.write(ada, Step.REMINDER, POST, by=owner.member)
        db.session.commit()
        send_due()
    with later(days=3, minutes=1):
        assert sweep() == 0
        with pytest.raises(Conflict, match="within the last 24 hours"):
            actions.write(ada, Step.REMINDER, POST, by=owner.member)


@pytest.mark.parametrize(
    "reason", ["begun", "declined", "withdrawn", "closed", "shut out", "no plan", "no mail server"]
)
def test_nobody_is_reminded_who_need_not_be(
    ada: Interview,
    owner: Person,
    scripted: Flask,  # noqa: F811
    postbox: Postbox,  # noqa: F811
    reason: str,
) -> None:
    if reason == "begun":
        interviews.begin(ada)
    elif reason == "declined":
        interviews.decline(ada, at=clock.now())
    elif reason == "withdrawn":
        ada.withdrawn_at = clock.now()
    elif reason == "closed":
        ada.flow.status = FlowStatus.CLOSED
        with pytest.raises(Conflict, match="Candidates get no invitations or reminders until"):
            actions.write(ada, Step.REMINDER, POST, by=None)
    elif reason == "shut out":
        owner.organization.disabled_at = clock.now()
        with pytest.raises(Conflict, match="disabled"):
            actions.write(ada, Step.REMINDER, POST, by=None)
    elif reason == "no plan":
        actions.set_plan(owner.organization, queries.Plan(None, None), by=owner.member)
    else:
        postbox.is_configured = False
    db.session.commit()
    with later(days=4):
        assert sweep() == 0
    with later(days=29):
        assert sweep() == 0
    assert steps_of(ada) == ["invitation"]


def test_a_reminder_that_waited_too_long_is_not_sent_after_the_start(ada: Interview, postbox: Postbox) -> None:  # noqa: F811
    with later(days=4):
        assert sweep() == 1
        interviews.begin(ada)
        db.session.commit()
        send_due()
    assert len(postbox.mails) == 1
    assert queries.messages_of(ada.id)[-1].letter.failure == "not needed any more"


def test_an_invitation_that_was_refused_can_be_sent_again(
    owner: Person,
    book: Made,  # noqa: F811
    postbox: Postbox,  # noqa: F811
) -> None:
    from app.core.errors import GatewayError

    interview = book()
    interview.interviewee_email_address = "ada@candidate.example"
    db.session.commit()
    postbox.fails = GatewayError("the mail server refused the recipient (550)", retryable=False)
    for expected in (0, 1):
        assert owner.browser.post(f"/interviews/{interview.id}/mail", data={"step": "invitation"}).status_code == 303
        send_due()
        assert len(postbox.mails) == expected
        postbox.fails = None
    seen = owner.browser.get(f"/interviews/{interview.id}").text
    assert "the mail server refused the recipient (550)" in seen
    assert "Not delivered" in seen


def test_without_a_mail_server_the_page_says_so(owner: Person, book: Made) -> None:  # noqa: F811
    interview = book()
    seen = owner.browser.get(f"/interviews/{interview.id}").text
    assert "This installation cannot send email (SMTP_HOST is not set)" in seen
    assert "This installation cannot send email" in owner.browser.get("/candidates/invite").text
    answer = owner.browser.post(f"/interviews/{interview.id}/mail", data={"step": "invitation"}, follow_redirects=True)
    assert "Nothing was sent" in answer.text
    assert steps_of(interview) == []


def the_list(owner: Person, flow_id: str, rows: str, **more: str) -> Any:
    return owner.browser.post("/candidates/invite", data={"flow": flow_id, "rows": rows, "recruiter": "", **more})


def form_of(text: str) -> dict[str, str]:
    """The fields that the checked list is sent with."""
    fields = dict(re.findall(r'<input type="hidden" name="(batch|flow|recruiter|by_mail)" value="([^"]*)"', text))
    found = re.search(r'<textarea name="rows" hidden>(.*?)</textarea>', text, re.DOTALL)
    assert found
    return {**fields, "rows": found[1]}


def test_a_list_is_checked_first_and_sent_once(owner: Person, make_flow: Made, postbox: Postbox) -> None:  # noqa: F811
    flow = make_flow()
    rows = "email,first name\nada@e.com,Ada\nADA@e.com,Again\nnonsense,X\nbo@e.com,\n"
    seen = the_list(owner, flow.id, rows, by_mail="y")
    assert seen.status_code == 200
    assert "2 candidates will be invited" in seen.text
    assert "Same email address as in line 2." in seen.text
    assert "Email address: " in seen.text
    assert db.session.query(Interview).count() == 0
    fields = form_of(seen.text)
    for _ in range(2):
        done = owner.browser.post("/candidates/invite/send", data=fields)
        assert done.status_code == 200
        assert "2 of 2 invited" in done.text
        send_due()
    assert sorted(mail.to for mail in postbox.mails) == ["ada@e.com", "bo@e.com"]
    assert db.session.query(Interview).count() == 2
    again = the_list(owner, flow.id, rows, by_mail="y")
    assert "0 candidates will be invited" in again.text
    assert "Already invited on" in again.text
    assert db.session.query(AuditEntry).filter_by(action="candidates.invited").count() == 2
    other = owner.browser.post("/candidates/invite/send", data={**fields, "flow": make_flow().id})
    assert flow.id not in other.text, "a list tells nothing about another flow"


def test_the_links_of_a_list_are_copied_at_once_or_downloaded(
    owner: Person, viewer: Person, outsider: Person, make_flow: Made
) -> None:
    flow = make_flow()
    rows = "Ada Lovelace\tada@e.com\n=cmd()\tbo@e.com\nNo one\tnonsense"
    page = owner.browser.post("/candidates/invite/send", data=form_of(the_list(owner, flow.id, rows).text)).text
    box = re.search(r'<textarea class="input" id="all-links"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    assert box
    links = dict(line.split("\t") for line in html.unescape(box[1]).split("\n"))
    assert list(links) == ["ada@e.com", "bo@e.com"]
    assert all(owner.app.test_client().get(urlsplit(link).path).status_code == 200 for link in links.values())
    address = re.search(r'href="(/candidates/invite/[^"]+\.csv)"', page)
    assert address
    file = owner.browser.get(address[1])
    assert file.mimetype == "text/csv"
    head, ada, bo = csv.reader(io.StringIO(file.get_data().decode("utf-8-sig")))
    assert head == ["email", "first name", "last name", "link"]
    assert (ada[0], ada[1], ada[3]) == ("ada@e.com", "Ada Lovelace", links["ada@e.com"])
    assert bo[3] == links["bo@e.com"]
    assert not bo[1].startswith("="), "a spreadsheet would calculate it"
    assert viewer.browser.get(address[1]).status_code == 403
    assert outsider.browser.get(address[1]).status_code in {403, 404}
    other = address[1].replace(flow.id, make_flow().id)
    assert owner.browser.get(other).status_code == 404
    assert "no longer exists" in owner.browser.get(other).text


def test_one_link_is_copied_from_its_row(owner: Person, make_flow: Made) -> None:
    seen = the_list(owner, make_flow().id, "ada@e.com")
    page = owner.browser.post("/candidates/invite/send", data=form_of(seen.text)).text
    assert 'id="link-1"' in page
    assert "all-links" not in page


def test_with_a_mail_server_people_are_mailed_unless_one_says_otherwise(
    owner: Person,
    make_flow: Made,
    postbox: Postbox,  # noqa: F811
) -> None:
    flow, rows = make_flow(), "ada@e.com\nbo@e.com"
    box = re.search(r'<input[^>]+name="by_mail"[^>]*>', owner.browser.get("/candidates/invite").text)
    assert box
    assert "checked" in box[0]
    seen = the_list(owner, flow.id, rows, by_mail="y").text
    assert "2 candidates will be invited by email" in seen
    assert re.search(r"<button[^>]*>Invite and email 2 candidates</button>", seen)
    assert "2 of 2 invited" in owner.browser.post("/candidates/invite/send", data=form_of(seen)).text
    seen = the_list(owner, flow.id, "cy@e.com").text
    assert "1 link will be created" in seen
    assert re.search(r"<button[^>]*>Create 1 link</button>", seen)
    done = owner.browser.post("/candidates/invite/send", data=form_of(seen)).text
    assert "1 of 1 link created" in done
    assert "No email was sent: send each candidate their link." in done
    send_due()
    assert sorted(mail.to for mail in postbox.mails) == ["ada@e.com", "bo@e.com"]


def test_an_address_of_other_letters_is_invited_once_too(owner: Person, make_flow: Made) -> None:
    flow, rows = make_flow(), "Übel@e.com\nbo@e.com"
    owner.browser.post("/candidates/invite/send", data=form_of(the_list(owner, flow.id, rows).text))
    again = the_list(owner, flow.id, rows).text
    assert "0 links will be created" in again
    assert again.count("Already invited on") == 2


def test_of_two_who_save_their_first_words_at_once_one_does(owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"organization_id": owner.organization.id, "step": Step.REMINDER, "language": "en-US"}
    db.session.execute(sa.insert(MailWords).values(**row, subject="Theirs", text="{link}", changed_at=clock.now()))
    monkeypatch.setattr(actions, "own_words", lambda *_: None)  # as it was a moment ago
    with pytest.raises(Conflict, match="just changed"):
        actions.keep_words(
            owner.organization, Step.REMINDER, Words("Mine", "{link}"), language="en-US", by=owner.member
        )
    assert db.session.scalar(sa.select(MailWords.subject)) == "Theirs"
    db.session.rollback()


def test_a_flow_that_closes_before_the_list_is_sent_loses_nothing(owner: Person, make_flow: Made) -> None:
    flow, _open = make_flow(), make_flow()
    fields = form_of(the_list(owner, flow.id, "ada@e.com,Ada").text)
    flow.status = FlowStatus.CLOSED
    db.session.commit()
    answer = owner.browser.post("/candidates/invite/send", data=fields)
    assert (answer.status_code, db.session.query(Interview).count()) == (422, 0)
    assert "This flow is closed" in answer.text
    assert "ada@e.com" in answer.text, "the list stands in the form"


def test_a_list_that_was_broken_off_goes_on(
    owner: Person,
    make_flow: Made,
    monkeypatch: pytest.MonkeyPatch,
    postbox: Postbox,  # noqa: F811
) -> None:
    flow = make_flow()
    fields = form_of(the_list(owner, flow.id, "\n".join(f"p{n}@e.com" for n in range(5))).text)
    booked, calls = interviews.book, 0

    def dies(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        return booked(*args, **kwargs)

    monkeypatch.setattr(interviews, "book", dies)
    with pytest.raises(KeyboardInterrupt):
        owner.browser.post("/candidates/invite/send", data=fields)
    db.session.rollback()
    assert db.session.query(Interview).count() == 3
    assert "5 of 5 links created" in owner.browser.post("/candidates/invite/send", data=fields).text
    found = [row.interviewee_email_address for row in db.session.query(Interview)]
    assert sorted(found, key=str) == [f"p{n}@e.com" for n in range(5)]
    assert postbox.mails == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": ""}, "The list is empty"),
        ({"flow": ""}, "Choose a flow"),
        ({"flow": "\x00"}, "Choose a flow"),
        ({"recruiter": "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"}, "not in the flow&#39;s team"),
        ({"rows": "a@e.com\x00"}, "NUL"),
        ({"batch": "x"}, "Check the list again"),
    ],
)
def test_a_list_that_cannot_be_sent(owner: Person, make_flow: Made, change: dict[str, str], words: str) -> None:
    fields = {"flow": make_flow().id, "rows": "a@e.com", "recruiter": "", "batch": "", **change}
    path = "/candidates/invite/send" if "batch" in change else "/candidates/invite"
    answer = owner.browser.post(path, data=fields)
    assert answer.status_code == 422
    assert words in answer.text
    assert db.session.query(Interview).count() == 0


def test_many_are_reminded_at_once_with_a_result_for_each(
    owner: Person,
    ada: Interview,
    make_flow: Made,
    postbox: Postbox,  # noqa: F811
) -> None:
    flow = make_flow()
    fields = form_of(the_list(owner, flow.id, "ada@e.com\nbo@e.com", by_mail="y").text)
    owner.browser.post("/candidates/invite/send", data=fields)
    send_due()
    ids = [row.candidate_id for row in db.session.query(Interview).filter_by(flow_id=flow.id)]
    with later(days=2):
        interviews.begin(db.session.query(Interview).filter_by(interviewee_email_address="bo@e.com").one())
        db.session.commit()
        answer = owner.browser.post("/candidates/remind", data={"id": [*ids, "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"]})
        assert "1 of 2 reminded" in answer.text
        assert "The table shows why 1 candidate got no reminder." in answer.text
        assert "There is no interview to start." in answer.text
        send_due()
    assert [mail.to for mail in postbox.mails][-1] == "ada@e.com"
    assert owner.browser.post("/candidates/remind", data={}).status_code == 303


def test_own_words_are_used_and_given_back(owner: Person, book: Made, postbox: Postbox) -> None:  # noqa: F811
    path = "/candidates/mails/invitation/en-US"
    good = {"subject": "Come, {name}", "text": "Here: {link}"}
    assert "Here: https://" not in owner.browser.get(path).text
    assert "Come, Maria" in owner.browser.post(path, data={**good, "look": "yes"}).text
    bad = owner.browser.post(path, data={**good, "text": "no link"})
    assert (bad.status_code, "Add {link}" in bad.text) == (422, True)
    assert owner.browser.post(path, data=good).status_code == 303
    interview = book()
    interview.interviewee_email_address = "ada@candidate.example"
    actions.write(interview, Step.INVITATION, POST, by=owner.member)
    db.session.commit()
    send_due()
    assert (postbox.mails[0].subject, postbox.mails[0].text) == ("Come,", f"Here: {interview.link(POST.app_url)}")
    owner.browser.post(path, data={**good, "reset": "yes"})
    assert queries.all_own_words(owner.organization.id) == set()
    assert owner.browser.get("/candidates/mails/invitation/xx-XX").status_code == 404
    assert owner.browser.get("/candidates/mails/party/en-US").status_code == 404


@pytest.mark.parametrize(("field", "value"), [("remind_after", "0"), ("remind_after", "soon"), ("notice_before", "99")])
def test_a_plan_that_makes_no_sense_is_refused(owner: Person, field: str, value: str) -> None:
    given = {"remind_after": "3", "notice_before": "2", field: value}
    assert owner.browser.post("/candidates/mails/plan", data=given).status_code == 422
    assert queries.plan_of(owner.organization.id) == queries.Plan()


def test_a_plan_is_kept(owner: Person) -> None:
    given = {"remind_after": "5", "notice_before": ""}
    assert owner.browser.post("/candidates/mails/plan", data=given).status_code == 303
    db.session.expire_all()
    assert queries.plan_of(owner.organization.id) == queries.Plan(5, None)
    assert 'value="5"' in owner.browser.get("/candidates/mails/plan").text


def test_the_log_shows_what_was_sent(ada: Interview, owner: Person) -> None:
    seen = owner.browser.get("/candidates/mails").text
    assert "Invitation" in seen
    assert "Sent" in seen
    assert f"/interviews/{ada.id}" in seen


def test_two_at_once_send_one(ada: Interview, owner: Person) -> None:
    sent = queries.messages_of(ada.id)
    with later(days=2):
        actions.write(ada, Step.REMINDER, POST, by=owner.member, sent=sent)
        with pytest.raises(Conflict, match="Another email"):
            actions.write(ada, Step.REMINDER, POST, by=owner.member, sent=sent)
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Message)) == 2


def frame_of(page: str) -> tuple[str, str]:
    """The frame's tag without its document, and the document."""
    found = re.search(r'<iframe ([^>]*)srcdoc="([^"]*)"', page)
    assert found
    return found[1], html.unescape(found[2])


def test_a_list_shows_the_mail_as_it_arrives_and_sends_a_test_to_the_member(
    owner: Person,
    make_flow: Made,
    postbox: Postbox,  # noqa: F811
) -> None:
    flow = make_flow(org_name="<b>First</b> & Co")
    rows = "ada@e.com,Ada\nnonsense,X"
    page = the_list(owner, flow.id, rows, by_mail="y").text
    tag, document = frame_of(page)
    assert 'sandbox="allow-same-origin"' in tag
    assert "Hello Ada," in document
    assert "&lt;b&gt;First&lt;/b&gt; &amp; Co invites you" in document
    assert 'href="/static/css/mail.css?v=' in document
    assert " style=" not in document
    whole = re.findall(r'<textarea name="rows" hidden>(.*?)</textarea>', page, re.DOTALL)[1]
    again = the_list(owner, flow.id, html.unescape(whole), by_mail="y", test="yes").text
    assert f"A test email is on its way to {owner.member.email}." in again
    assert "1 candidate will be invited by email" in again
    assert "Not a valid email address" in again
    send_due()
    (mail,) = postbox.mails
    assert mail.to == mail.reply_to == owner.member.email
    assert mail.subject.startswith("Test: Your interview with")
    assert mail.link == f"http://localhost/flows/{flow.id}/preview"
    assert mail.link in mail.text
    assert mail.link in mail.html
    assert db.session.query(Interview).count() == 0
    the_list(owner, flow.id, rows, test="yes")
    send_due()
    assert len(postbox.mails) == 1, "no test of a list that is not mailed"


def test_a_text_that_is_only_typed_is_shown_and_tested_and_not_kept(
    owner: Person,
    postbox: Postbox,  # noqa: F811
) -> None:
    path = "/candidates/mails/reminder/ar-AE"
    assert '<html lang="ar-AE" dir="rtl">' in frame_of(owner.browser.get(path).text)[1]
    draft = {"subject": "Come, {name}\r\nBcc: all@e.com", "text": "Now <script>: {link}"}
    page = owner.browser.post(path, data={**draft, "test": "yes"}).text
    assert "Now &lt;script&gt;:" in frame_of(page)[1]
    send_due()
    (mail,) = postbox.mails
    assert (mail.to, mail.subject) == (owner.member.email, "Test: Come, Maria Bcc: all@e.com")
    assert mail.text == "Now <script>: http://localhost/candidates/mails/plan"
    assert queries.all_own_words(owner.organization.id) == set()
    assert owner.browser.post(path, data={**draft, "text": "no link", "test": "yes"}).status_code == 422
    postbox.is_configured = False
    assert "Send me a test" not in owner.browser.get(path).text
    send_due()
    assert len(postbox.mails) == 1


def test_the_next_mail_of_an_interview_is_shown_and_tested_before_it_is_sent(
    ada: Interview,
    owner: Person,
    viewer: Person,
    postbox: Postbox,  # noqa: F811
) -> None:
    path = f"/interviews/{ada.id}/mail"
    assert "received an email within the last 24 hours" in owner.browser.get(path).text
    with later(days=2):
        assert f'href="{path}"' in owner.browser.get(f"/interviews/{ada.id}").text
        assert "You have not yet started your interview" in frame_of(owner.browser.get(path).text)[1]
        assert "on its way" in owner.browser.post(path, data={"test": "yes"}, follow_redirects=True).text
        send_due()
        assert (postbox.mails[-1].to, steps_of(ada)) == (owner.member.email, ["invitation"])
        assert postbox.mails[-1].link == f"http://localhost/interviews/{ada.id}"
        assert f"/interview/api/{ada.flow_id}" not in postbox.mails[-1].text + postbox.mails[-1].html
        owner.browser.post(path, data={"step": "reminder"})
        assert steps_of(ada) == ["invitation", "reminder"]
    assert viewer.browser.get(path).status_code == 403
