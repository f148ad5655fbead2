"""Statuses of an organization's own: added, renamed, put in order, taken away; nobody is lost on the way."""

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry
from app.candidates import actions, statuses
from app.candidates.models import Candidate
from app.candidates.queries import columns_of, status_for, statuses_of
from app.core import clock
from app.core.db import db
from app.core.errors import NotFound, Rejected
from app.webhooks.models import Delivery
from tests.factories import Made
from tests.people import Person


def test_the_defaults_become_the_organizations_own_with_the_first_change(owner: Person) -> None:
    statuses.add(owner.organization, " Second   talk ", by=owner.member)
    db.session.commit()
    names = statuses_of(owner.organization)
    assert names[:2] == ["invited", "interviewed"]
    assert names[-1] == "Second talk"
    assert len(names) == 7


def test_a_renamed_status_takes_its_candidates_along_and_tells_nobody(
    owner: Person, make_flow: Made, make_candidate: Made
) -> None:
    candidate = make_candidate(flow=make_flow(webhook_url="https://customer.example/hook"))
    statuses.rename(owner.organization, "invited", "New", by=owner.member)
    db.session.commit()
    assert db.session.get_one(Candidate, candidate.id).status == "New"
    assert db.session.scalar(sa.select(sa.func.count(Delivery.id))) == 0
    assert status_for(owner.organization, "invited") == "New"
    assert make_candidate("later@e.com").status == "New"


def test_another_organization_keeps_its_words(owner: Person, outsider: Person, make_candidate: Made) -> None:
    make_candidate()
    statuses.rename(outsider.organization, "invited", "New", by=outsider.member)
    db.session.commit()
    assert statuses_of(owner.organization)[0] == "invited"
    assert db.session.scalar(sa.select(Candidate.status)) == "invited"


def test_the_order_is_theirs(owner: Person) -> None:
    statuses.shift(owner.organization, "interviewed", -1, by=owner.member)
    statuses.shift(owner.organization, "interviewed", -1, by=owner.member)
    db.session.commit()
    assert statuses_of(owner.organization)[:2] == ["interviewed", "invited"]


def test_a_status_that_is_taken_away_moves_its_candidates(owner: Person, make_flow: Made, make_candidate: Made) -> None:
    candidate = make_candidate(flow=make_flow(webhook_url="https://customer.example/hook"))
    actions.move(candidate, "shortlisted", by=None)
    with pytest.raises(Rejected, match="Choose the status"):
        statuses.remove(owner.organization, "shortlisted", into="", by=owner.member)
    assert statuses.remove(owner.organization, "shortlisted", into="accepted", by=owner.member) == 1
    db.session.commit()
    assert db.session.get_one(Candidate, candidate.id).status == "accepted"
    assert db.session.scalar(sa.select(sa.func.count(Delivery.id))) == 2
    assert "shortlisted" not in statuses_of(owner.organization)


def test_taking_a_status_away_judges_nobody(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    actions.note_result(candidate, {"motivation": 3.0, "skills": 3.0}, at=clock.now())
    actions.move(candidate, "shortlisted", by=None)
    statuses.remove(owner.organization, "shortlisted", into="accepted", by=owner.member)
    assert (candidate.status, candidate.reviewed_at) == ("accepted", None)


def test_their_words_are_shown_as_they_are_written(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    statuses.rename(owner.organization, "invited", "HR screening", by=owner.member)
    statuses.rename(owner.organization, "accepted", "iOS team", by=owner.member)
    db.session.commit()
    browser = owner.browser
    for address in ("/candidates", "/candidates/board", f"/candidates/{candidate.id}"):
        text = browser.get(address).text
        assert "HR screening" in text
        assert "IOS team" in text, "with a capital, and the rest as it is"
        assert "Hr screening" not in text
    assert "Invited" not in browser.get(f"/candidates/{candidate.id}").text


@pytest.mark.parametrize("name", ["invited", "interviewed"])
def test_what_interviews_need_cannot_be_taken_away(owner: Person, name: str) -> None:
    with pytest.raises(Rejected, match="Rename it instead"):
        statuses.remove(owner.organization, name, into="accepted", by=owner.member)


@pytest.mark.parametrize(("name", "words"), [("  ", "a name"), ("x" * 101, "100"), ("ACCEPTED", "already")])
def test_bad_names_are_refused(owner: Person, name: str, words: str) -> None:
    with pytest.raises(Rejected, match=words):
        statuses.add(owner.organization, name, by=owner.member)


def test_there_are_at_most_twenty(owner: Person) -> None:
    for number in range(14):
        statuses.add(owner.organization, f"Stage {number}", by=owner.member)
    with pytest.raises(Rejected, match="20"):
        statuses.add(owner.organization, "One more", by=owner.member)


def test_somebody_elses_status_is_unknown(owner: Person, outsider: Person) -> None:
    theirs = statuses.add(outsider.organization, "Theirs", by=outsider.member)
    db.session.commit()
    with pytest.raises(NotFound):
        statuses.rename(owner.organization, theirs.id, "Mine", by=owner.member)


def test_the_page_does_all_of_it(owner: Person, make_candidate: Made) -> None:
    make_candidate()
    browser = owner.browser
    assert browser.post("/candidates/statuses", data={"name": "Trial day"}).status_code == 303
    column = next(one for one in columns_of(owner.organization) if one.name == "Trial day")
    column_id = column.id
    db.session.commit()
    assert browser.post(f"/candidates/statuses/{column_id}/shift", data={"to": "left"}).status_code == 303
    assert browser.post(f"/candidates/statuses/{column_id}/rename", data={"name": "Trial"}).status_code == 303
    text = browser.get("/candidates/statuses").text
    assert 'value="Trial"' in text
    assert "candidates start here" in text
    assert browser.post(f"/candidates/statuses/{column_id}/remove").status_code == 303
    assert "Trial" not in statuses_of(owner.organization)
    kinds = db.session.scalars(sa.select(AuditEntry.action).where(AuditEntry.action == "pipeline.changed")).all()
    assert len(kinds) == 4


def test_bad_input_keeps_what_was_typed(owner: Person) -> None:
    answer = owner.browser.post("/candidates/statuses", data={"name": "rejected"})
    assert answer.status_code == 422
    assert "already" in answer.text
    assert owner.browser.post("/candidates/statuses", data={"name": "a\0b"}).status_code == 422


def test_only_administrators_change_the_pipeline(colleague: Person) -> None:
    assert colleague.browser.get("/candidates/statuses").status_code == 403
    assert colleague.browser.post("/candidates/statuses", data={"name": "Mine"}).status_code == 403
