"""The append-only log."""

import threading
from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import attributes

from app.accounts import actions
from app.accounts.audit import check
from app.accounts.jobs import check_audit_logs
from app.accounts.models import AuditCheck, AuditEntry
from app.core import clock
from app.core.db import db
from app.core.db.row_security import as_chosen
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

    threads = [threading.Thread(target=as_chosen(write)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    with own_app.app_context():
        entries = _entries(db.session.get(actions.Organization, organization_id))
        assert len(entries) >= 21
        assert _chain_holds(entries)


def _write(organization, count=3):
    for number in range(count):
        actions.write_audit(organization, action="team.added", subject=f"s{number}", by=None, details={"n": number})
    db.session.commit()


def _check(organization):
    found = check.followed(organization)
    kept = check.keep_check(organization, found)
    db.session.commit()
    return kept


def _run(statement, **values):
    db.session.execute(sa.text(statement), values)
    db.session.commit()
    db.session.expire_all()


def test_a_whole_log_is_found_whole_in_pieces_too(owner, monkeypatch):
    monkeypatch.setattr(check, "PIECE", 2)
    _write(owner.organization, 5)
    kept = _check(owner.organization)
    assert (kept.flaw, kept.number) == (None, owner.organization.audit_seq)
    assert kept.hash == _entries(owner.organization)[-1].hash


DAMAGE = {
    "changed": ("UPDATE audit_entry SET subject = 'x' WHERE organization_id = :o AND number = 2", 2, "changed after"),
    "details changed": (
        """UPDATE audit_entry SET details = '{"n": 9}' WHERE organization_id = :o AND number = 3""",
        3,
        "changed after",
    ),
    "taken out": ("DELETE FROM audit_entry WHERE organization_id = :o AND number = 2", 2, "Entry 2 is missing"),
    "cut off": ("DELETE FROM audit_entry WHERE organization_id = :o AND number > 2", 3, "are missing"),
    "all gone": ("DELETE FROM audit_entry WHERE organization_id = :o", 1, "are missing"),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_whatever_is_done_past_the_code_shows(owner, how):
    statement, number, words = DAMAGE[how]
    _write(owner.organization)
    assert _check(owner.organization).flaw is None
    _run(statement, o=owner.organization.id)
    kept = _check(owner.organization)
    assert kept.flaw_number == number
    assert words in kept.flaw
    assert db.session.query(AuditEntry).filter_by(action="audit.broken").count() == 1
    _check(owner.organization)
    assert db.session.query(AuditEntry).filter_by(action="audit.broken").count() == 1, "told once"


def test_a_chain_that_was_computed_anew_shows_after_a_check(owner):
    _write(owner.organization)
    _check(owner.organization)
    entries, before = _entries(owner.organization), ""
    for entry in entries:
        entry.subject = "forged"
        entry.hash = before = actions.audit_hash(entry, before)
    db.session.commit()
    kept = _check(owner.organization)
    assert "rewritten" in kept.flaw
    assert kept.number == entries[-1].number


@pytest.mark.parametrize("forged", ["number = 1, hash = 'x'", "number = 0, hash = '', seal = ''"])
def test_what_the_last_check_kept_cannot_be_forged_either(owner, forged):
    _write(owner.organization)
    _check(owner.organization)
    _run(f"UPDATE audit_check SET {forged} WHERE organization_id = :o", o=owner.organization.id)
    assert "stored result of the last check was changed" in _check(owner.organization).flaw


def test_a_first_check_that_finds_a_flaw_leaves_a_mark_that_holds(owner):
    _write(owner.organization)
    right = _entries(owner.organization)[1].subject
    change = "UPDATE audit_entry SET subject = :s WHERE organization_id = :o AND number = 2"
    _run(change, o=owner.organization.id, s="x")
    assert "Entry 2" in _check(owner.organization).flaw
    _run(change, o=owner.organization.id, s=right)
    assert _check(owner.organization).flaw is None


def test_of_two_checks_at_once_the_one_that_came_further_counts(owner):
    _write(owner.organization)
    slow = check.followed(owner.organization)
    _write(owner.organization)
    assert _check(owner.organization).number == slow.number + 3
    kept = check.keep_check(owner.organization, slow)
    assert (kept.number, kept.flaw) == (slow.number + 3, None)
    assert _check(owner.organization).flaw is None


def test_a_count_that_is_older_than_the_mark_accuses_nobody(owner):
    _write(owner.organization)
    organization = owner.organization
    count = organization.audit_seq
    _write(organization)
    _check(organization)
    attributes.set_committed_value(organization, "audit_seq", count)
    assert check.followed(organization).flaw is None


def test_a_log_that_was_put_back_is_whole_again(owner):
    _write(owner.organization)
    right = _entries(owner.organization)[1].subject
    change = "UPDATE audit_entry SET subject = :s WHERE organization_id = :o AND number = 2"
    _run(change, o=owner.organization.id, s="x")
    assert _check(owner.organization).flaw
    _run(change, o=owner.organization.id, s=right)
    assert _check(owner.organization).flaw is None


def test_every_log_is_checked_once_a_day(owner, outsider):
    assert check_audit_logs() >= 2
    assert check_audit_logs() == 0
    then = clock.now() + timedelta(hours=25)
    with clock.replaced(lambda: then):
        assert check_audit_logs() >= 2
    assert db.session.query(AuditCheck).count() >= 2


def test_the_nightly_check_tells_the_operators_log(owner, caplog):
    _write(owner.organization)
    _run("DELETE FROM audit_entry WHERE organization_id = :o AND number = 1", o=owner.organization.id)
    assert check_audit_logs() == 0
    assert "audit log of organization" in caplog.text
    assert "Entry 1 is missing" in caplog.text


def test_another_secret_key_is_told_apart_from_a_changed_database(app, owner, monkeypatch, caplog):
    _write(owner.organization)
    _check(owner.organization)
    monkeypatch.setitem(app.config, "SECRET_KEY", "another secret key of forty characters!!")
    later = clock.now() + timedelta(days=2)
    with clock.replaced(lambda: later):
        assert check_audit_logs() == 1
    assert "was last checked under another SECRET_KEY" in caplog.text
    assert "is broken" not in caplog.text
    assert db.session.query(AuditEntry).filter_by(action="audit.broken").count() == 0
    assert db.session.query(AuditEntry).filter_by(action="audit.other_key").count() == 1
    assert _check(owner.organization).flaw is None
    _run("UPDATE audit_entry SET subject = 'x' WHERE organization_id = :o AND number = 2", o=owner.organization.id)
    assert "Entry 2" in _check(owner.organization).flaw


def test_a_seal_from_before_keys_were_named_still_holds(owner):
    _write(owner.organization)
    known = _check(owner.organization)
    known.seal = check._mac(known)
    db.session.commit()
    assert _check(owner.organization).flaw is None
    known.seal = "0" * 64
    db.session.commit()
    assert "stored result of the last check was changed" in _check(owner.organization).flaw
