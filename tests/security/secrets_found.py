"""Finds planted secrets in captured bytes, however they were written down."""

import base64
import json
from urllib.parse import quote, quote_plus


def spellings(secret: str) -> dict[str, bytes]:
    """The secret raw, in hex, base64 at all three offsets, base64url, percent-encoded, JSON-escaped, and backwards."""
    raw = secret.encode()
    found = {
        "raw": raw,
        "hex": raw.hex().encode(),
        "HEX": raw.hex().upper().encode(),
        "percent": quote(secret, safe="").encode(),
        "form": quote_plus(secret).encode(),
        "JSON": json.dumps(secret)[1:-1].encode(),
        "backwards": raw[::-1],
        "all percent": "".join(f"%{byte:02X}" for byte in raw).encode(),
        "all JSON": "".join(f"\\u{ord(sign):04x}" for sign in secret).encode(),
        "repr": repr(raw)[2:-1].encode(),
        "UTF-16": secret.encode("utf-16-le"),
    }
    for offset in range(3):
        # The outer characters depend on what stands beside the secret.
        for name, encode in (("base64", base64.b64encode), ("base64url", base64.urlsafe_b64encode)):
            coded = encode(b"\0" * offset + raw)
            found[f"{name} {offset}"] = coded[-(-offset * 8 // 6) + (1 if offset else 0) : -4]
    return found


def found_in(content: bytes, secrets: dict[str, str]) -> set[tuple[str, str]]:
    """Which secrets stand in ``content``, and in which spelling; letter case of hex and percent does not matter."""
    return {
        (name, spelling)
        for name, secret in secrets.items()
        for spelling, written in spellings(secret).items()
        if written in content
    }
