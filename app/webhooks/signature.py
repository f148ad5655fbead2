"""The two signatures of a webhook: the contract's, and that of Standard Webhooks.

The contract's signature covers no time and its status event has no id, so receivers need the second one to detect
replays. (Standard Webhooks 1.0.0, https://www.standardwebhooks.com.)
"""

import base64
import hmac


def sign(secret: str, body: bytes) -> str:
    """``x-service-signature``: 64 lower-case hex characters over the raw body; the key is the secret's UTF-8 bytes."""
    return hmac.digest(secret.encode(), body, "sha256").hex()


def standard(secret: str, body: bytes, *, event_id: str, timestamp: int) -> str:
    """``webhook-signature``: ``v1,`` and base64 over id, Unix seconds and body, under the same key."""
    signed = f"{event_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(secret.encode(), signed, "sha256")).decode()
