"""The append-only log."""

import threading

from app.accounts import actions
from app.accounts.models import AuditEntry
from app.db import db
from tests.people import person


def _chain_holds(entries):
    before = ""
    for number, entry in enumerate(entries, start=1):
        if entry.number != number or entry.hash != actions.audit_hash(entry, before):
            return False
        before = entry.hash
    return True


def _entries(organization):
    found = db.session.query(AuditEntry).filter_by(organization_id=organization.id).order_by(AuditEntry.number).all()
    db.session.expire_all()
    return found


def test_entries_are_numbered_and_chained(owner):
    actions.add_team(owner.organization, "Sales", by=owner.member)
    db.session.commit()
    entries = _entries(owner.organization)
    assert len(entries) >= 2
    assert _chain_holds(entries)


def test_a_changed_or_missing_entry_shows(owner):
    actions.add_team(owner.organization, "Sales", by=owner.member)
    actions.add_team(owner.organization, "Night", by=owner.member)
    entries = _entries(owner.organization)
    assert not _chain_holds(entries[1:])
    entries[1].subject = "someone-else"
    assert not _chain_holds(entries)
    db.session.rollback()


def test_entries_hold_no_names_and_no_addresses(owner):
    actions.add_team(owner.organization, "A name that is private", by=owner.member)
    told = [str((entry.action, entry.subject, entry.details)) for entry in _entries(owner.organization)]
    assert not any("private" in words or "@" in words for words in told)


def test_entries_written_at_once_take_different_numbers(own_app):
    with own_app.app_context():
        organization_id = person(own_app, "o@first.example", organization="First", role="admin").organization.id
    gate = threading.Barrier(4)

    def write():
        with own_app.app_context():
            gate.wait(10)
            for _ in range(5):
                organization = db.session.get(actions.Organization, organization_id)
                actions.write_audit(organization, action="test", subject="x", by=None, details={})
                db.session.commit()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    with own_app.app_context():
        entries = _entries(db.session.get(actions.Organization, organization_id))
        assert len(entries) >= 21
        assert _chain_holds(entries)
