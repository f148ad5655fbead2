"""Messages: each recipient gets their own words once, and a rejection waits, so that an undo takes it back."""

import html
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry
from app.candidates import actions as candidates
from app.candidates.models import Candidate
from app.core import clock
from app.core.db import db
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.mail_outbox import actions as mail_outbox
from app.mail_outbox.jobs import send
from app.mail_outbox.models import QueuedMailState
from app.outreach.messages.models import MessageTemplate, PersonalMessage
from tests.factories import Made
from tests.mailing import Postbox, mails, send_due
from tests.people import Person

Invite = Callable[..., str]


@pytest.fixture
def invite(owner: Person, make_flow: Made) -> Invite:
    """``invite(email, flow=…)``: the id of a candidate with an interview."""
    flows: list[Any] = []

    def make(email: str, first_name: str | None = "Ada", *, flow: Any = None, **more: Any) -> str:
        if flow is None:
            flow = flows[0] if flows else make_flow()
            flows.append(flow)
        booked = interviews.book(owner.organization, flow.id, email=email, first_name=first_name, **more)
        db.session.commit()
        return str(booked.candidate_id)

    return make


def words_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def write(person: Person, ids: list[str], *, browser: Any = None, **form: Any) -> Any:
    given = {"id": ids, "batch": str(uuid4()), "subject": "About {title}", "text": "Hello {name}, {sender}", **form}
    return (browser or person.browser).post("/candidates/message/send", data=given)


def messages() -> list[PersonalMessage]:
    db.session.expire_all()
    return list(db.session.scalars(sa.select(PersonalMessage).order_by(PersonalMessage.created_at)))


def later(**delta: float) -> Any:
    then = clock.now() + timedelta(**delta)
    return clock.replaced(lambda: then)


def reject(candidate_id: str, by: Person) -> Candidate:
    candidate = db.session.get_one(Candidate, candidate_id)
    candidates.move(candidate, "rejected", by=by.member)
    db.session.commit()
    return candidate


def test_each_gets_their_own_words_and_answers_go_to_the_member(
    owner: Person, invite: Invite, postbox: Postbox
) -> None:
    ids = [invite("ada@c.example"), invite("bob@c.example", None)]
    browser = owner.browser
    answer = write(owner, ids, browser=browser)
    assert answer.status_code == 303
    assert "2 messages are being sent." in words_of(browser.get(answer.location))
    send_due()
    assert [(one.to, one.subject, one.text) for one in postbox.mails] == [
        ("ada@c.example", "About Nurse", "Hello Ada, Owner"),
        ("bob@c.example", "About Nurse", "Hello, Owner"),
    ]
    assert {(one.sender, one.reply_to, "<html" in one.html) for one in postbox.mails} == {
        ("First Ltd", owner.member.email, True)
    }
    assert "2 of 2 finished" in words_of(browser.get(answer.location))
    entry = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "candidates.messaged")).one()
    assert entry.details == {"rejection": False, "n": 2}


def test_a_form_that_is_sent_twice_sends_once(owner: Person, invite: Invite, postbox: Postbox) -> None:
    ada, batch = invite("ada@c.example"), str(uuid4())
    for _ in range(2):
        assert write(owner, [ada], batch=batch).status_code == 303
    send_due()
    assert len(postbox.mails) == len(messages()) == 1


def test_who_gets_no_message_is_named_with_the_reason(
    owner: Person, viewer: Person, invite: Invite, make_flow: Made, postbox: Postbox
) -> None:
    ada, again = invite("ada@c.example"), invite("ADA@c.example", "Adah", flow=make_flow(title="Nurse two"))
    gone = invite("gone@c.example", "Gone")
    interview = db.session.scalars(sa.select(Interview).where(Interview.candidate_id == gone)).one()
    interview.withdrawn_at = clock.now()
    db.session.commit()
    page = words_of(owner.browser.post("/candidates/message", data={"id": [ada, again, gone, str(uuid4())]}))
    assert "Message to 1 candidate" in page
    assert "Adah : Same email address as Ada, who gets the message." in page
    assert "Gone : The candidate has withdrawn their consent." in page
    assert "1 candidate: This candidate no longer exists, or you do not have access to them." in page
    browser = owner.browser
    answer = write(owner, [ada, again, gone], browser=browser)
    said = words_of(browser.get(answer.location))
    assert "Left out: Adah: Same email address as Ada, who gets the message." in said
    alone = write(owner, [gone])
    assert alone.status_code == 422
    assert "This candidate cannot get this message. The reason is below." in words_of(alone)
    assert "This candidate gets no message" in words_of(alone)
    assert "0 candidates" not in words_of(alone)
    assert write(viewer, [ada]).status_code == 403
    assert len(messages()) == 1


def test_a_template_is_put_into_the_form_and_read_as_each_recipient_gets_it(
    owner: Person, invite: Invite, postbox: Postbox
) -> None:
    ids = [invite("ada@c.example"), invite("bob@c.example", "Bob")]
    fresh = owner.browser.post("/candidates/message", data={"id": ids})
    assert "Choose a template, or write" in fresh.text
    used = owner.browser.post(
        "/candidates/message", data={"id": ids, "subject": "", "text": "", "template": "thank-you", "use": "yes"}
    )
    assert "Thank you for your interview: {title}" in used.text
    assert "Hello Ada," in html.unescape(used.text)
    assert "1 of 2" in words_of(used)
    form = {"id": ids, "subject": "Hi", "text": "Dear {name}", "used": "thank-you", "at": "0", "to": "1"}
    second = owner.browser.post("/candidates/message", data=form)
    assert "Dear Bob" in html.unescape(second.text)
    assert "2 of 2" in words_of(second)
    assert not messages()


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"text": "Hello {nme}"}, "{nme} is not a placeholder. You can use {name}, {last_name}"),
        ({"text": " "}, "The body is empty."),
        ({"subject": "x" * 201}, "The subject has 201 characters. The limit is 200."),
        ({"text": "a\x00"}, "Must not contain the NUL character."),
    ],
)
def test_a_bad_text_is_named_and_nothing_is_sent(
    owner: Person, invite: Invite, postbox: Postbox, form: dict[str, str], words: str
) -> None:
    answer = write(owner, [invite("ada@c.example")], **form)
    assert answer.status_code == 422
    assert words in words_of(answer)
    assert not messages()


def test_more_than_the_most_are_refused(owner: Person, postbox: Postbox) -> None:
    ids = [str(uuid4()) for _ in range(501)]
    answer = owner.browser.post("/candidates/message", data={"id": ids}, follow_redirects=True)
    assert "You selected 501 candidates. A message can go to at most 500. Narrow the list." in words_of(answer)


def test_a_rejection_is_offered_and_waits_five_minutes(owner: Person, invite: Invite, postbox: Postbox) -> None:
    ada = invite("ada@c.example")
    assert "Rejection message" not in owner.browser.get(f"/candidates/{ada}").text
    reject(ada, owner)
    page = owner.browser.get(f"/candidates/{ada}").text
    assert f'href="/candidates/message?id={ada}&amp;rejection=yes"' in page
    assert not messages(), "a rejection is never written by itself"
    form = owner.browser.get(f"/candidates/message?id={ada}&rejection=yes").text
    assert "Your application: {title}" in form
    assert 'name="rejection" type="hidden" value="yes"' in form
    write(owner, [ada], rejection="yes", used="rejection")
    (one,) = messages()
    send(one.letter_id)
    with later(minutes=4, seconds=55):
        assert send_due() == 0
        send(one.letter_id)
    assert not postbox.mails
    assert "The rejection message will be sent after" in words_of(owner.browser.get(f"/candidates/{ada}"))
    with later(minutes=5, seconds=20):
        assert send_due() == 1  # as a worker does that starts only now: the row is all there is
        send_due()
    assert [mail.text for mail in postbox.mails] == ["Hello Ada, Owner"]


def test_triage_and_bulk_offer_the_message_to_those_they_rejected(
    owner: Person, invite: Invite, postbox: Postbox
) -> None:
    ada, bob = invite("ada@c.example"), invite("bob@c.example", "Bob")
    browser = owner.browser
    form = {"decision": "rejected", "from": "invited"}
    moved = browser.post(f"/candidates/triage/{ada}", data=form, follow_redirects=True)
    assert f'href="/candidates/message?id={ada}&amp;rejection=yes"' in moved.text
    bulk = {"id": [ada, bob], "kind": "move", "status": "rejected", "sure": "yes"}
    page = browser.post("/candidates/bulk", data=bulk).text
    offer = page[page.index('action="/candidates/message"') :]
    assert re.findall('name="id" value="([^"]+)"', offer) == [bob], "the other one had been rejected already"
    assert (
        "action=" + '"/candidates/message"'
        not in browser.post("/candidates/bulk", data={**bulk, "status": "accepted"}).text
    )
    assert not messages()


@pytest.mark.parametrize("how", ["undo", "other status", "bulk undo", "cancel", "cancel all"])
def test_what_takes_the_rejection_back_withdraws_the_message(
    owner: Person, invite: Invite, postbox: Postbox, how: str
) -> None:
    ada = invite("ada@c.example")
    reject(ada, owner)
    write(owner, [ada], rejection="yes")
    (one,) = messages()
    browser = owner.browser
    {
        "undo": lambda: browser.post(f"/candidates/{ada}/take-back", data={"status": "rejected"}),
        "other status": lambda: browser.post(f"/candidates/{ada}/move", data={"status": "shortlisted"}),
        "bulk undo": lambda: browser.post(
            "/candidates/bulk", data={"id": ada, "kind": "back", "status": "rejected", "undo": "yes", "sure": "yes"}
        ),
        "cancel": lambda: browser.post(f"/candidates/message/{one.id}/cancel"),
        "cancel all": lambda: browser.post(f"/candidates/messages/{one.batch}/cancel"),
    }[how]()
    (one,) = messages()
    assert (one.letter.state, one.letter.failure, one.letter.sealed) == (QueuedMailState.EXPIRED, "cancelled", None)
    with later(minutes=10):
        assert send_due() == 0
        send(one.letter_id)
    assert not postbox.mails
    assert "Cancelled" in words_of(browser.get(f"/candidates/{ada}"))
    assert browser.get("/jobs").text.count("cancelled") == 0, "what a person cancelled did not fail"


def test_a_message_that_is_being_sent_cannot_be_cancelled(owner: Person, invite: Invite, postbox: Postbox) -> None:
    ada = invite("ada@c.example")
    reject(ada, owner)
    write(owner, [ada], rejection="yes")
    (one,) = messages()
    with later(minutes=6):
        assert mail_outbox.take(one.letter_id) is not None
        db.session.commit()
        answer = owner.browser.post(f"/candidates/message/{one.id}/cancel", follow_redirects=True)
    assert "Too late" in answer.text
    assert messages()[0].letter.state is QueuedMailState.SENDING


def test_only_rejected_candidates_get_a_rejection_and_only_one(owner: Person, invite: Invite, postbox: Postbox) -> None:
    ada, bob = invite("ada@c.example"), invite("bob@c.example", "Bob")
    reject(ada, owner)
    write(owner, [ada, bob], rejection="yes")
    assert [one.interview.candidate_id for one in messages()] == [ada]
    answer = write(owner, [ada, bob], rejection="yes")
    assert answer.status_code == 422
    assert "Bob : The status is invited. Only rejected candidates get a rejection message." in words_of(answer)
    assert "Ada : A rejection message was already sent, or is about to be sent." in words_of(answer)
    assert len(messages()) == 1


def test_a_message_stays_when_the_interview_starts(owner: Person, invite: Invite, postbox: Postbox) -> None:
    ada = invite("ada@c.example")
    write(owner, [ada])
    mail_outbox.drop(messages()[0].interview_id)
    db.session.commit()
    send_due()
    assert len(postbox.mails) == 1


def test_messages_are_in_the_log_and_in_the_history(
    owner: Person, colleague: Person, outsider: Person, invite: Invite, postbox: Postbox
) -> None:
    ada = invite("ada@c.example")
    write(owner, [ada], subject="Only once", used="thank-you")
    send_due()
    assert "Thank you" in words_of(owner.browser.get("/candidates/mails"))
    page = owner.browser.get(f"/candidates/{ada}").text
    history = page[page.index('id="history"') :]
    assert "Only once" in history
    assert "Hello Ada, Owner" in history
    batch = messages()[0].batch
    assert colleague.browser.get(f"/candidates/messages/{batch}").status_code == 404, "only who sent them, and admins"
    assert outsider.browser.get(f"/candidates/messages/{batch}").status_code == 404


def test_templates_begin_as_starters_and_become_the_organizations_own(owner: Person, outsider: Person) -> None:
    browser = owner.browser
    assert "Follow-up" in browser.get("/settings/messages").text
    form = {"name": "Bye", "purpose": "rejection", "language": "de-DE", "subject": "Absage", "text": "Guten Tag"}
    assert browser.post("/settings/messages/rejection", data=form).status_code == 303
    own = list(db.session.scalars(sa.select(MessageTemplate)))
    assert sorted(one.name for one in own) == ["Bye", "Follow-up", "Next steps", "Thank you"]
    changed = next(one for one in own if one.name == "Bye")
    assert "Absage" in browser.get(f"/settings/messages/{changed.id}").text
    assert "Guten Tag" in html.unescape(browser.post("/settings/messages/new", data={**form, "look": "yes"}).text)
    again = browser.post("/settings/messages/new", data=form)
    assert again.status_code == 422
    assert "There is already a template called “Bye”." in again.text
    assert browser.post("/settings/messages/new", data={**form, "name": "Other"}).status_code == 303
    for one in own:
        browser.post(f"/settings/messages/{one.id}/delete")
    (left,) = db.session.scalars(sa.select(MessageTemplate))
    browser.post(f"/settings/messages/{left.id}/delete")
    assert db.session.scalar(sa.select(sa.func.count()).select_from(MessageTemplate)) == 1
    assert outsider.browser.get(f"/settings/messages/{left.id}").status_code == 404
    actions = [one.action for one in db.session.scalars(sa.select(AuditEntry))]
    assert actions.count("outreach.template") == 6


def test_without_a_mail_server_nothing_is_queued(owner: Person, invite: Invite) -> None:
    ada = invite("ada@c.example")
    assert "cannot send email" in owner.browser.get(f"/candidates/message?id={ada}").text
    answer = write(owner, [ada])
    assert answer.status_code == 422
    assert not mails()
