"""A new key for an old one: both work for a while, and what still uses the old one is told in time."""

import re
import threading
from datetime import timedelta

import pytest

from app.accounts import actions, members, queries
from app.accounts.jobs import watch_old_keys
from app.accounts.models import ApiKey, AuditEntry
from app.core import clock
from app.core.db import db, reading
from app.core.db.row_security import as_chosen
from app.core.errors import Rejected


def ping(owner, key):
    return owner.app.test_client().get("/v1/ping", headers={"Authorization": f"Bearer {key}"}).status_code


def at(**after):
    then = clock.now() + timedelta(**after)
    return clock.replaced(lambda: then)


@pytest.fixture
def issued(owner):
    row, key = actions.issue_api_key(owner.organization, name="Import", by=owner.member)
    db.session.commit()
    return row.id, key


def rotated(owner, issued, ends="24h"):
    browser = owner.browser
    assert browser.post(f"/api-keys/{issued[0]}/rotate", data={"ends": ends}).status_code == 302
    page = browser.get("/api-keys").get_data(as_text=True)
    return re.search(r'value="([0-9a-f-]{36})"', page).group(1), page


@pytest.mark.parametrize(("ends", "hours"), [("24h", 24), ("7d", 7 * 24)])
def test_both_keys_work_until_the_old_one_ends(owner, issued, ends, hours):
    new, page = rotated(owner, issued, ends)
    assert "Replaced" in page
    assert (ping(owner, issued[1]), ping(owner, new)) == (200, 200)
    with at(hours=hours, minutes=-1):
        assert ping(owner, issued[1]) == 200
    with at(hours=hours, minutes=1):
        assert (ping(owner, issued[1]), ping(owner, new)) == (401, 200)
        assert issued[0] not in {key.id for key in queries.keys_of(owner.organization)}


def test_now_ends_the_old_key_at_once(owner, issued):
    new, page = rotated(owner, issued, "now")
    assert (ping(owner, issued[1]), ping(owner, new)) == (401, 200)
    assert "no longer works" in page


def test_the_new_key_has_the_name_of_the_old_one_and_it_is_written_down(owner, issued):
    new, _page = rotated(owner, issued)
    row = db.session.query(ApiKey).filter_by(last4=new[-4:], name="Import").one()
    entry = db.session.query(AuditEntry).filter_by(action="api_key.rotated").one()
    assert (entry.subject, entry.member_id) == (issued[0], owner.member.id)
    assert entry.details == {"new_key": row.id, "old_ends": "24h"}


def test_a_key_is_replaced_once_and_only_while_it_works(owner, issued):
    key = db.session.get_one(ApiKey, issued[0])
    members.rotate_api_key(key, ends="7d", by=owner.member)
    with pytest.raises(Rejected, match="already replaced"):
        members.rotate_api_key(key, ends="7d", by=owner.member)
    key.rotated_at, key.revoked_at = None, clock.now()
    with pytest.raises(Rejected, match="no longer works"):
        members.rotate_api_key(key, ends="7d", by=owner.member)


def test_of_two_who_replace_a_key_at_once_one_does(own_app, password_hash):
    with own_app.app_context():
        founded = actions.create_organization("A", team_name="T", admin_email="a@b.example", admin_hash=password_hash)
        key_id = actions.issue_api_key(founded.organization, name="main", by=None)[0].id
        db.session.commit()
    ready, results = threading.Barrier(2), []

    def replace():
        with own_app.app_context():
            with reading():
                key = db.session.get_one(ApiKey, key_id)
                assert key.rotated_at is None
                db.session.rollback()
            ready.wait(10)
            try:
                members.rotate_api_key(key, ends="24h", by=None)
                db.session.commit()
                results.append("new")
            except Rejected as refusal:
                db.session.rollback()
                results.append(refusal.message[:31])

    threads = [threading.Thread(target=as_chosen(replace)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(results) == ["This key was already replaced. ", "new"]
    with own_app.app_context():
        assert db.session.query(ApiKey).count() == 2


def test_an_end_that_was_set_before_is_never_put_off(owner, issued):
    key = db.session.get_one(ApiKey, issued[0])
    key.expires_at = soon = clock.now() + timedelta(hours=1)
    members.rotate_api_key(key, ends="7d", by=owner.member)
    assert key.expires_at == soon


@pytest.mark.parametrize("ends", ["", "never", "8d"])
def test_another_end_changes_nothing_and_says_so(owner, issued, ends):
    browser = owner.browser
    browser.post(f"/api-keys/{issued[0]}/rotate", data={"ends": ends})
    assert "Choose when the old key expires" in browser.get("/api-keys").text
    assert db.session.query(ApiKey).filter_by(name="Import").count() == 1


def test_others_may_not_replace_keys(owner, issued, colleague, outsider):
    for person, status in ((colleague, 403), (outsider, 403)):
        assert person.browser.post(f"/api-keys/{issued[0]}/rotate", data={"ends": "now"}).status_code == status
    assert ping(owner, issued[1]) == 200


def test_an_old_key_that_is_still_used_near_its_end_is_told_once(owner, issued):
    rotated(owner, issued)
    assert ping(owner, issued[1]) == 200
    with at(hours=19):
        assert watch_old_keys() == 0
    with at(hours=20):
        assert watch_old_keys() == 0, "it was used at the beginning alone"
        assert ping(owner, issued[1]) == 200
        late = members.late_keys()
        assert (watch_old_keys(), watch_old_keys()) == (1, 0)
        assert [members.note_late(key_id) for key_id in late] == [False], "another worker had found it as well"
        assert "is still in use" in owner.browser.get("/api-keys").text
    assert db.session.query(AuditEntry).filter_by(action="api_key.still_used").count() == 1
    with at(hours=25):
        assert "is still in use" not in owner.browser.get("/api-keys").text
