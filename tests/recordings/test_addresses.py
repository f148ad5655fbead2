"""Addresses hold for one recording, one organization, one purpose and one hour."""

from datetime import UTC, datetime, timedelta

import pytest

from app.core import clock
from app.interviews.recordings.addresses import Expired, Forged, Purpose, signer_for

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def signer():
    return signer_for("s" * 40, "https://parley.example")


def token_of(url):
    return url.rsplit("/", 1)[1]


@pytest.fixture
def token(signer):
    with clock.replaced(lambda: NOW):
        return token_of(signer.url("rec", organization_id="org", purpose=Purpose.DOWNLOAD))


def check(signer, token, *, at=NOW, recording="rec", organization="org"):
    with clock.replaced(lambda: at):
        return signer.check(token, recording_id=recording, organization_id=organization)


def test_an_address_holds_for_an_hour(signer, token):
    assert check(signer, token) is Purpose.DOWNLOAD
    assert check(signer, token, at=NOW + timedelta(minutes=59, seconds=59)) is Purpose.DOWNLOAD
    with pytest.raises(Expired):
        check(signer, token, at=NOW + timedelta(hours=1))


def test_it_holds_for_nothing_else(signer, token):
    for other in ({"recording": "other"}, {"organization": "other"}):
        with pytest.raises(Forged):
            check(signer, token, **other)
    with pytest.raises(Forged):
        check(signer_for("t" * 40, "https://parley.example"), token)


def test_no_part_of_it_can_be_changed(signer, token):
    key_id, expiry, purpose, mac = token.split(".")
    later = f"{int(expiry, 16) + 3600:x}"
    changed = [
        f"{key_id}.{later}.{purpose}.{mac}",
        f"{key_id}.{expiry}.play.{mac}",
        f"000000.{expiry}.{purpose}.{mac}",
        f"{key_id}.{expiry}.{purpose}.{mac[:-1]}",
        f"{key_id}.{expiry}.{purpose}.",
        "",
        "x",
        "a.b.c.d",
        f"{token}.x",
        f"{key_id}.{expiry}.{purpose}.ü{mac[1:]}",
        f"{key_id}.-1.{purpose}.{mac}",
        f"{key_id}.0x{expiry}.{purpose}.{mac}",
        f"{key_id}.0{expiry}.{purpose}.{mac}",
        f"{key_id}.+{expiry}.{purpose}.{mac}",
        f"{key_id}. {expiry}.{purpose}.{mac}",
        f"{key_id}.{expiry[:2]}_{expiry[2:]}.{purpose}.{mac}",
    ]
    for wrong in changed:
        with pytest.raises(Forged):
            check(signer, wrong)
