"""What the next page alone may show or know: a new key, a link, recovery codes, who is asked for a code.

It waits in the browser's cookie. That is signed but readable, so everything travels sealed.
"""

import json
from typing import Any

from flask import session

from app.core.encryption import SealBroken, seal, unseal


def keep(name: str, value: Any) -> None:
    """For a later page of this browser."""
    session[name] = seal(json.dumps(value), context=name)


def look(name: str) -> Any:
    """What is kept; None where there is nothing, or nothing that opens."""
    try:
        return json.loads(unseal(session[name], context=name)) if name in session else None
    except SealBroken:
        return None


def pop(name: str) -> Any:
    """The same, this once."""
    value = look(name)
    session.pop(name, None)
    return value
