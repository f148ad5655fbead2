"""Encrypts secrets that are stored and read again, such as webhook secrets: AES-256-GCM, key derived from SECRET_KEY.

A sealed text can be read only in the context it was sealed for (table, row, column), so it cannot be moved to another
row.
"""

import base64
import os
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from flask import current_app

PREFIX = "v1."
_NONCE_BYTES = 12


class SealBroken(Exception):
    """The sealed text was changed, moved to another row, or sealed under another SECRET_KEY."""


def derived_key(purpose: str, *, secret_key: str | None = None) -> bytes:
    """32 bytes derived from SECRET_KEY for one purpose. One such key says nothing about another."""
    return _derived(secret_key or str(current_app.config["SECRET_KEY"]), purpose)


@lru_cache(maxsize=32)
def _derived(secret_key: str, purpose: str) -> bytes:
    info = f"parley:{purpose}".encode()
    return HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=info).derive(secret_key.encode())


@lru_cache(maxsize=4)
def _cipher(key: bytes) -> AESGCM:
    return AESGCM(key)


def seal(text: str, *, context: str) -> str:
    """Encrypt ``text``; the result is printable. ``context`` names table, row and column."""
    nonce = os.urandom(_NONCE_BYTES)
    sealed = _cipher(derived_key("vault")).encrypt(nonce, text.encode(), context.encode())
    return PREFIX + base64.urlsafe_b64encode(nonce + sealed).decode()


def unseal(sealed: str, *, context: str) -> str:
    """Decrypt what ``seal`` returned. Raises SealBroken."""
    try:
        raw = base64.urlsafe_b64decode(sealed.removeprefix(PREFIX))
        opened = _cipher(derived_key("vault")).decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], context.encode())
    except (InvalidTag, ValueError) as error:
        raise SealBroken("an encrypted value cannot be read; check whether SECRET_KEY has changed") from error
    return opened.decode()
