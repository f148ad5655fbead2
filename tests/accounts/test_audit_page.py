"""The page of the audit log: what it shows, how it is narrowed and exported, and what leaves an entry there."""

import csv
import io
import json
import re
import uuid
from datetime import timedelta
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa

from app.accounts import actions
from app.accounts.models import AuditEntry
from app.accounts.pages import audit
from app.core import clock
from app.core.db import db
from app.interviews import actions as interviews
from tests.factories import Made


def written(action):
    db.session.expire_all()
    return db.session.query(AuditEntry).filter_by(action=action).order_by(AuditEntry.number).all()


@pytest.fixture
def filled(owner):
    """Some entries: two of the owner, one of a program."""
    team = actions.add_team(owner.organization, "Sales", by=owner.member)
    actions.set_assess_language(owner.organization, wanted=False, by=owner.member)
    subject = str(uuid.uuid4())
    actions.write_audit(owner.organization, action="recordings.revoked", subject=subject, by=None, details={"n": 7})
    db.session.commit()
    return {"team": team.id, "revoked": subject}


def shown(owner, **query):
    page = owner.browser.get("/audit?" + urlencode(query))
    assert page.status_code == 200
    return page.text


def test_it_shows_who_did_what_and_to_what(owner, filled):
    text = shown(owner)
    for words in (
        "Added a team",
        "Changed whether language is assessed",
        "Owner",
        "Turned on: no",
        "Number: 7",
        ">Sales</a>",
    ):
        assert words in text
    assert f"/interviews/{filled['revoked']}" in text


def test_details_are_words_and_names_and_never_python_or_bare_ids(owner, interview):
    details = {
        "overall": {"from": None, "to": 4.0, "comment_changed": True},
        "skills": {"from": 2.5, "to": None},
        "flow": interview.flow_id,
        "gone": str(uuid.uuid4()),
        "fields": ["webhook_url", "title"],
        "through": "/v1",
        "until": "2026-03-01T09:30:00+00:00",
        "own": True,
        "members": [owner.member.id],
        "none": [],
    }
    actions.write_audit(owner.organization, action="interview.assessed", subject=interview.id, by=None, details=details)
    db.session.commit()
    row = shown(owner, subject=interview.id)
    told = re.findall(r'<span class="fact">(.*?)</span>', row)
    assert told == [
        "Overall: from none to 4, comment changed",
        "Skills: from 2.5 to none",
        "Flow: Nurse",
        "Fields: webhook URL, title",
        "Through: the API",
        "Works until: 1 Mar 2026, 09:30 UTC",
        "Custom text: yes",
        "Members: Owner",
        "None: none",
    ]
    assert f'<a href="/interviews/{interview.id}">zoe@example.com</a>' in row
    body = re.sub(r"<[^>]+>", " ", row[row.index("<tbody>") : row.index("</tbody>")])
    assert not re.search(r"[0-9a-f]{8}|None,|True|False|[{}]", body)


def test_what_an_entry_is_about_has_its_name_of_today(owner, interview, colleague):
    _row, _key = actions.issue_api_key(owner.organization, name="Applicant system", by=owner.member)
    actions.write_audit(
        owner.organization, action="member.changed", subject=colleague.member.id, by=owner.member, details={}
    )
    candidate = interview.candidate
    actions.write_audit(owner.organization, action="hold.placed", subject=candidate.id, by=owner.member, details={})
    db.session.commit()
    text = shown(owner)
    for name in ("Applicant system", "Colleague", "zoe@example.com"):
        assert re.search(rf"<a href=[^>]+>{re.escape(name)}</a>", text), name


def rows(owner, **query):
    text = shown(owner, **query)
    return [
        words for words in ("Added a team", "Changed whether language", "Revoked the recordings") if f">{words}" in text
    ]


def test_it_is_narrowed_by_kind_person_day_and_id(owner, filled):
    assert rows(owner, group="member") == ["Added a team"]
    assert rows(owner, group="interview") == ["Revoked the recordings"]
    assert rows(owner, member=owner.member.id) == ["Added a team", "Changed whether language"]
    assert rows(owner, member="none") == ["Revoked the recordings"]
    assert rows(owner, subject=filled["team"]) == ["Added a team"]
    today = clock.now().date()
    assert len(rows(owner, **{"from": str(today), "to": str(today)})) == 3
    assert "No entries match this filter" in shown(owner, to=str(today - timedelta(days=1)))
    assert "No entries match this filter" in shown(owner, **{"from": str(today + timedelta(days=1))})


@pytest.mark.parametrize(
    "query",
    [
        {"group": "nope"},
        {"from": "yesterday"},
        {"to": "2026-99-99"},
        {"member": "\x00"},
        {"subject": "\x00"},
        {"offset": "-3"},
        {"group": "_"},
        {"from": "0001-01-01", "to": "9999-12-31"},
    ],
)
def test_a_filter_that_cannot_be_read_is_no_error(owner, filled, query):
    shown(owner, **query)


def test_others_may_neither_see_nor_export_it(colleague, viewer, filled):
    for person in (colleague, viewer):
        browser = person.browser
        assert browser.get("/audit").status_code == 403
        assert browser.post("/audit/export").status_code == 403
        assert browser.post("/audit/check").status_code == 403
        assert "Audit log" not in browser.get("/team").text


def test_one_organization_never_sees_the_log_of_another(owner, outsider, filled):
    text = shown(outsider)
    assert filled["team"][:8] not in text
    assert "owner@first.example" not in text


def test_the_export_holds_the_filtered_rows_in_pieces_and_is_written_down(owner, filled, monkeypatch):
    monkeypatch.setattr(audit, "PIECE", 1)
    answer = owner.browser.post(f"/audit/export?member={owner.member.id}")
    assert answer.headers["Content-Disposition"].endswith('.csv"')
    table = list(csv.DictReader(io.StringIO(answer.get_data(as_text=True).lstrip("\ufeff"))))
    numbers = [int(row["number"]) for row in table]
    assert numbers == sorted(numbers, reverse=True)
    assert {row["member"] for row in table} == {"owner@first.example"}
    assert "Added a team" in {row["words"] for row in table}
    assert {len(row["hash"]) for row in table} == {64}
    assert [json.loads(row["details"]) for row in table if row["action"] == "organization.assess_language"] == [
        {"wanted": False}
    ]
    entry = written("audit.exported")[0]
    assert entry.details == {"filter": ["member"], "rows": len(table) - 1}, "the export itself comes on top"


def test_cells_never_run_in_a_spreadsheet(owner):
    actions.write_audit(owner.organization, action="team.added", subject="=1+1", by=None, details={})
    db.session.commit()
    assert "'=1+1" in owner.browser.post("/audit/export").get_data(as_text=True)


def test_the_page_says_that_the_log_is_whole_or_what_is_wrong(owner, filled):
    browser = owner.browser
    assert "has not been checked yet" in browser.get("/audit").text
    assert "The audit log is intact" in browser.post("/audit/check", follow_redirects=True).text
    assert "are unchanged" in browser.get("/audit").text
    db.session.execute(sa.text("UPDATE audit_entry SET subject = 'x' WHERE number = 2"))
    db.session.commit()
    told = browser.post("/audit/check", follow_redirects=True).text
    assert "The audit log is not intact" in told
    assert "Entry 2 was changed after it was written" in told
    assert "Entry 1 is intact." in told


def test_no_entry_is_called_intact_that_may_have_been_rewritten(owner, filled):
    browser = owner.browser
    browser.post("/audit/check")
    db.session.execute(sa.text("UPDATE audit_check SET hash = 'x'"))
    db.session.commit()
    told = browser.post("/audit/check", follow_redirects=True).text
    assert "The stored result of the last check was changed." in told
    assert "intact." not in told.replace("The audit log is not intact.", "")


@pytest.fixture
def interview(owner, make_flow: Made):
    booked = interviews.book(owner.organization, make_flow().id, email="zoe@example.com")
    db.session.commit()
    return booked


def test_looking_at_an_interview_is_written_once_an_hour_for_each_member(owner, colleague, interview):
    for person in (owner, owner, colleague):
        assert person.browser.get(f"/interviews/{interview.id}").status_code == 200
    seen = written("interview.seen")
    assert [(one.subject, one.member_id) for one in seen] == [
        (interview.id, owner.member.id),
        (interview.id, colleague.member.id),
    ]
    then = clock.now() + timedelta(minutes=61)
    with clock.replaced(lambda: then):
        assert owner.browser.get(f"/interviews/{interview.id}").status_code == 200
    assert len(written("interview.seen")) == 3


def test_a_foreign_interview_leaves_no_entry(outsider, interview):
    assert outsider.browser.get(f"/interviews/{interview.id}").status_code == 403
    assert written("interview.seen") == []


def test_the_use_of_a_dead_key_is_written_once_an_hour(owner):
    row, key = actions.issue_api_key(owner.organization, name="old", by=owner.member)
    actions.revoke_api_key(row, by=owner.member)
    db.session.commit()
    client = owner.app.test_client()
    for method in ("GET", "POST", "GET"):
        answer = client.open("/v1/ping", method=method, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code in {401, 405}
    assert [one.subject for one in written("api_key.refused")] == [row.id]
    assert client.get("/v1/ping", headers={"Authorization": f"Bearer {uuid.uuid4()}"}).status_code == 401
    assert len(written("api_key.refused")) == 1, "a key that never was belongs to nobody"


def test_what_changes_a_flow_is_written_with_the_names_of_what_changed(owner, make_flow: Made):
    flow = make_flow()
    browser = owner.browser
    browser.post(f"/flows/{flow.id}/close")
    browser.post(f"/flows/{flow.id}/reopen")
    owner.api("DELETE", f"/v1/interview-flows/{flow.id}")
    assert [one.member_id for one in written("flow.closed")] == [owner.member.id]
    assert len(written("flow.reopened")) == 1
    assert written("flow.archived")[0].details == {"through": "/v1"}
