"""Signed URLs of recordings: a file, a purpose and an expiry, under a MAC that only this installation can make.

URLs of the storage are never given out, because a URL signed by the storage cannot be revoked.
"""

import base64
import enum
import hashlib
import hmac
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

from flask import current_app

from app.core import clock
from app.settings import Settings

LIFE = timedelta(hours=1)
_KEY_PURPOSE = b"parley/recordings/addresses/1"


class Purpose(enum.StrEnum):
    """What the URL is for: playback in a page, or a file download."""

    PLAY = "play"
    DOWNLOAD = "download"


class Forged(Exception):
    """The URL was not signed here, was changed, or belongs to another recording."""


class Expired(Exception):
    """The URL was valid but has expired."""


@dataclass(frozen=True, slots=True)
class Signer:
    """Makes and checks tokens. ``base`` is Parley's public URL."""

    key: bytes
    key_id: str
    base: str

    def url(self, recording_id: str, *, organization_id: str, purpose: Purpose = Purpose.PLAY) -> str:
        """A complete URL that is valid for LIFE."""
        expires = int((clock.now() + LIFE).timestamp())
        mac = self._mac(recording_id, organization_id, purpose, expires=expires)
        return f"{self.base}/recordings/{recording_id}/{self.key_id}.{expires:x}.{purpose}.{mac}"

    def check(self, token: str, *, recording_id: str, organization_id: str) -> Purpose:
        """The token's purpose; raises Forged or Expired."""
        try:
            key_id, expiry, word, mac = token.split(".")
            expires, purpose = int(expiry, 16), Purpose(word)
        except ValueError:
            raise Forged from None
        expected = self._mac(recording_id, organization_id, purpose, expires=expires)
        is_ours = key_id == self.key_id and expiry == f"{expires:x}"  # only one spelling of the expiry is valid
        if not is_ours or not mac.isascii() or not hmac.compare_digest(mac, expected):
            raise Forged
        if clock.now().timestamp() >= expires:
            raise Expired
        return purpose

    def _mac(self, recording_id: str, organization_id: str, purpose: Purpose, *, expires: int) -> str:
        text = f"{self.key_id}|{recording_id}|{organization_id}|{purpose}|{expires}".encode()
        return base64.urlsafe_b64encode(hmac.digest(self.key, text, "sha256")).rstrip(b"=").decode()


@lru_cache(maxsize=8)
def signer_for(secret_key: str, base: str) -> Signer:
    """The signer of one installation; its key is derived from SECRET_KEY for this purpose only."""
    key = hmac.digest(secret_key.encode(), _KEY_PURPOSE, "sha256")
    return Signer(key=key, key_id=hashlib.sha256(key).hexdigest()[:6], base=base)


def signer() -> Signer:
    """The signer of the running application."""
    settings: Settings = current_app.extensions["parley.settings"]
    return signer_for(settings.secret_key, settings.app_url)
