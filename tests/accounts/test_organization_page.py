"""Settings of the organization."""

from app.accounts.models import AuditEntry
from app.core.db import db


def test_an_administrator_turns_the_language_scores_off_and_on(owner):
    browser = owner.browser
    assert b"checked" in browser.get("/settings").data
    assert browser.post("/settings", data={}).status_code == 302
    db.session.refresh(owner.organization)
    assert owner.organization.assess_language is False
    browser.post("/settings", data={"assess_language": "y"})
    db.session.refresh(owner.organization)
    assert owner.organization.assess_language is True
    changes = db.session.query(AuditEntry).filter_by(action="organization.assess_language").order_by(AuditEntry.number)
    assert [entry.details for entry in changes] == [{"wanted": False}, {"wanted": True}]


def test_an_administrator_lets_candidates_see_their_status(owner):
    assert owner.organization.shows_status is False
    owner.browser.post("/settings", data={"assess_language": "y", "shows_status": "y"})
    db.session.refresh(owner.organization)
    assert owner.organization.shows_status is True
    entry = db.session.query(AuditEntry).filter_by(action="organization.shows_status").one()
    assert entry.details == {"wanted": True}


def test_only_administrators_change_settings(colleague):
    assert colleague.browser.get("/settings").status_code == 403
    assert colleague.browser.post("/settings", data={}).status_code == 403
