"""Cursors of lists that are newest first: the place of the last row, as an opaque text."""

import base64
import binascii
import json
from datetime import UTC, datetime

from app.core.db import is_id
from app.core.errors import Rejected

UNREADABLE = "This cursor cannot be read. Send `next` of the page before unchanged, or begin again without `after`."


def cursor(at: datetime, row_id: str) -> str:
    """The place after a row."""
    return base64.urlsafe_b64encode(json.dumps([at.isoformat(), row_id]).encode()).decode().rstrip("=")


def place_in(text: str) -> tuple[datetime, str]:
    """Time and id of the last row before the place. Raises Rejected."""
    try:
        at, row_id = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
        place = (datetime.fromisoformat(at).astimezone(UTC), str(row_id)) if is_id(row_id) else None
    except (ValueError, TypeError, OverflowError, binascii.Error, RecursionError):
        place = None
    if place is None:
        raise Rejected(UNREADABLE, field="after", code="cursor_invalid")
    return place
