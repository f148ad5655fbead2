"""Notes: whoever may see the interview reads them, authors change them, and those who are named are told."""

import html
import json
import re
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry, Role, Team
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict
from app.interviews.models import Interview
from app.mail_outbox.models import QueuedMail
from app.review.notes import actions
from app.review.notes.models import LONGEST_NOTE, Mention, Note
from app.review.notes.words import Nameable, handles, named, pieces
from tests.factories import Made
from tests.interviews.conftest import book, completed, scripted, submitted  # noqa: F401 - fixtures
from tests.mailing import Postbox, send_due
from tests.people import Person, person

PEOPLE = [
    Nameable("1", "Ann Lee", "ann@first.example"),
    Nameable("2", "Ann Lee", "ann.lee@first.example"),
    Nameable("3", "Ben", "ben@first.example"),
    Nameable("4", "Ben Hall", "hall@first.example"),
    Nameable("5", None, "none@first.example"),
]


@pytest.fixture
def interview(completed: Made) -> Interview:  # noqa: F811
    found: Interview = completed()
    return found


def words_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def write(who: Person, interview: Interview, text: str) -> Any:
    return who.browser.post(f"/interviews/{interview.id}/notes", data={"text": text})


def unread(who: Person) -> int:
    found = re.search(r"(\d+)\s+unread mentions?", who.browser.get("/dashboard").text)
    return int(found[1]) if found else 0


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("ask @Ben Hall.", {"4": "Ben Hall"}),
        ("ask @ben, now", {"3": "ben"}),
        ("(@BEN  hall)", {"4": "BEN  hall"}),
        ("ask @Benjamin", {}),
        ("mail ben@first.example", {}),
        ("@hall@first.example!", {"4": "hall@first.example"}),
        ("@Ann Lee", {}),
        ("@ann.lee@first.example and @Ben", {"2": "ann.lee@first.example", "3": "Ben"}),
        ("@none@first.example.", {"5": "none@first.example"}),
        ("@@Ben @ Ben", {}),
        ("no one", {}),
        ("@hall@first.example.org", {}),
        ("@Ben-Hur", {}),
    ],
)
def test_a_name_counts_where_it_stands_whole_and_is_one_persons(text: str, who: dict[str, str]) -> None:
    assert named(text, PEOPLE) == who
    assert "".join(piece for piece, _ in pieces(text, who.values())) == text
    assert sorted(piece[1:] for piece, is_name in pieces(text, who.values()) if is_name) == sorted(who.values())


def test_the_picker_offers_what_names_exactly_one() -> None:
    assert handles(PEOPLE) == {
        "1": "ann@first.example",
        "2": "ann.lee@first.example",
        "3": "Ben",
        "4": "Ben Hall",
        "5": "none@first.example",
    }


def test_a_note_is_read_by_the_team_and_escaped(owner: Person, viewer: Person, interview: Interview) -> None:
    answer = write(owner, interview, "Strong in <b>SQL</b>.\r\nAsk @Viewer")
    assert answer.status_code == 303
    assert "#note-" in answer.location
    page = viewer.browser.get(f"/interviews/{interview.id}").text
    assert "Strong in &lt;b&gt;SQL&lt;/b&gt;." in page
    assert '<strong class="named">@Viewer</strong>' in page
    assert "Add note" not in page
    assert write(viewer, interview, "mine").status_code == 403


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("  \n", "Enter a note"),
        ("a\x00", "the NUL character"),
        ("x" * (LONGEST_NOTE + 1), f"Notes can have up to {LONGEST_NOTE} characters"),
    ],
)
def test_what_cannot_be_kept_is_shown_again(owner: Person, interview: Interview, text: str, said: str) -> None:
    answer = write(owner, interview, text)
    assert answer.status_code == 422
    assert said in words_of(answer)
    assert db.session.query(Note).count() == 0


def test_who_is_named_finds_it_unread_and_gets_a_mail_that_tells_nothing(
    owner: Person, colleague: Person, interview: Interview, postbox: Postbox
) -> None:
    write(owner, interview, "Look, @Colleague and @Owner: a secret thought")
    send_due()
    (mail,) = postbox.mails
    assert (mail.to, mail.reply_to) == ("colleague@first.example", "owner@first.example")
    assert f"http://localhost/interviews/{interview.id}#note-" in mail.text
    for private in ("secret", "Mary", "Hall", "mary@"):
        assert private not in mail.subject + mail.text + mail.html
    assert (unread(colleague), unread(owner)) == (1, 0), "nobody is told what they wrote themselves"
    assert "a secret thought" in colleague.browser.get("/mentions").text
    mention = db.session.query(Mention).one()
    answer = colleague.browser.post(f"/mentions/{mention.id}")
    assert answer.location.endswith(f"#note-{mention.note_id}")
    assert unread(colleague) == 0
    write(owner, interview, "@Colleague again")
    write(owner, interview, "@Colleague and again")
    assert unread(colleague) == 2
    assert colleague.browser.post("/mentions").status_code == 303
    assert unread(colleague) == 0


def test_without_a_mail_server_nothing_waits_to_be_sent(owner: Person, colleague: Person, interview: Interview) -> None:
    write(owner, interview, "@Colleague")
    assert db.session.query(QueuedMail).count() == 0
    assert unread(colleague) == 1


def test_only_who_may_see_the_interview_can_be_named(
    owner: Person, outsider: Person, colleague: Person, interview: Interview
) -> None:
    other = Team(organization_id=owner.organization.id, name="Other")
    db.session.add(other)
    stranger = person(owner.app, "stranger@first.example", organization=owner.organization, role="recruiter")
    gone = person(owner.app, "gone@first.example", organization=owner.organization, role="admin")
    stranger.member.teams, gone.member.disabled_at = [other], clock.now()
    db.session.commit()
    write(owner, interview, "@Stranger @Gone @Outsider @outsider@second.example @stranger@first.example")
    assert db.session.query(Mention).count() == 0
    page = owner.browser.get(f"/interviews/{interview.id}").text
    assert "@Colleague" in page
    assert "@Stranger</li>" not in page
    write(owner, interview, "@Colleague")
    colleague.member.teams = [other]
    db.session.commit()
    assert unread(colleague) == 0, "who may no longer see it no longer finds it"
    assert "@Colleague" not in colleague.browser.get("/mentions").text
    assert colleague.browser.post(f"/mentions/{db.session.query(Mention).one().id}").status_code == 404


def test_authors_change_their_own_and_only_new_names_are_told(
    owner: Person, colleague: Person, viewer: Person, interview: Interview, postbox: Postbox
) -> None:
    write(colleague, interview, "@Owner, see")
    note = db.session.query(Note).one()
    path = f"/interviews/{interview.id}/notes/{note.id}"
    assert owner.browser.get(path).status_code == 403
    assert owner.browser.post(path, data={"text": "other words"}).status_code == 403
    assert "@Owner, see" in colleague.browser.get(path).text
    assert colleague.browser.post(path, data={"text": "@Owner and @Viewer, see"}).status_code == 303
    assert colleague.browser.post(path, data={"text": "@Viewer, see"}).status_code == 303
    send_due()
    assert [mail.to for mail in postbox.mails] == ["owner@first.example", "viewer@first.example"]
    db.session.expire_all()
    assert [one.said for one in db.session.get_one(Note, note.id).mentions] == ["Viewer"]
    assert (unread(owner), unread(viewer)) == (0, 1)
    assert "edited" in words_of(owner.browser.get(f"/interviews/{interview.id}"))
    assert colleague.browser.post(path, data={"text": ""}).status_code == 422
    told = [entry.action for entry in db.session.scalars(sa.select(AuditEntry).order_by(AuditEntry.number))]
    assert told.count("interview.note_changed") == 2
    assert "see" not in str([entry.details for entry in db.session.scalars(sa.select(AuditEntry))])


def test_authors_delete_their_own_and_administrators_every_one(
    owner: Person, colleague: Person, interview: Interview
) -> None:
    write(owner, interview, "of the owner, for @Colleague")
    write(colleague, interview, "of the colleague")
    first, second = db.session.scalars(sa.select(Note.id).order_by(Note.created_at)).all()
    path = f"/interviews/{interview.id}/notes"
    assert colleague.browser.post(f"{path}/{first}/delete").status_code == 403
    assert owner.browser.post(f"{path}/{second}/delete").status_code == 303
    assert owner.browser.post(f"{path}/{first}/delete").status_code == 303
    assert db.session.query(Note).count() == db.session.query(Mention).count() == 0
    assert owner.browser.post(f"{path}/{first}/delete").status_code == 404


def test_a_legal_hold_keeps_the_words_of_a_note(owner: Person, interview: Interview) -> None:
    write(owner, interview, "first words")
    note = db.session.query(Note).one()
    owner.browser.post(f"/interviews/{interview.id}/hold", data={"reason": "Case 12"})
    path = f"/interviews/{interview.id}/notes/{note.id}"
    for refused in (path, f"{path}/delete"):
        answer = owner.browser.post(refused, data={"text": "other words"}, follow_redirects=True)
        assert "A legal hold placed on" in answer.text
    db.session.expire_all()
    assert db.session.query(Note).one().text == "first words"
    write(owner, interview, "more words")
    assert db.session.query(Note).count() == 2, "a hold keeps, it does not silence"


def test_withdrawn_consent_withholds_notes_everywhere(owner: Person, colleague: Person, interview: Interview) -> None:
    write(owner, interview, "a judgement, @Colleague")
    exported = owner.browser.post(f"/interviews/{interview.id}/export", data={"format": "json"})
    assert [one["text"] for one in json.loads(exported.data)["notes"]] == ["a judgement, @Colleague"]
    db.session.get_one(Interview, interview.id).withdrawn_at = clock.now()
    db.session.commit()
    exported = owner.browser.post(f"/interviews/{interview.id}/export", data={"format": "json"})
    assert json.loads(exported.data)["notes"] == []
    assert "a judgement" not in owner.browser.get(f"/interviews/{interview.id}").text
    assert unread(colleague) == 0
    assert "a judgement" not in colleague.browser.get("/mentions").text
    assert write(owner, interview, "more").status_code == 303
    assert db.session.query(Note).count() == 1


def test_there_is_an_end_to_notes(owner: Person, interview: Interview, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "MOST_NOTES", 1)
    actions.write(interview, "one", by=owner.member, mail_for=None)
    with pytest.raises(Conflict):
        actions.write(interview, "two", by=owner.member, mail_for=None)


def test_a_viewer_who_once_wrote_only_reads(owner: Person, colleague: Person, interview: Interview) -> None:
    write(colleague, interview, "before")
    note = db.session.query(Note).one()
    colleague.member.role = Role.VIEWER
    db.session.commit()
    assert colleague.browser.post(f"/interviews/{interview.id}/notes/{note.id}/delete").status_code == 403
    assert "before" in colleague.browser.get(f"/interviews/{interview.id}").text
