"""Administrators' forms of retention and legal holds."""

from datetime import UTC, datetime, time, timedelta

from flask import request
from werkzeug.datastructures import MultiDict

from app.core.errors import Rejected
from app.web.fields import count_in, day_in, flaw_of


def months_and_days(values: MultiDict[str, str]) -> tuple[int | None, int | None]:
    """The rule in a form or query string; None for an empty field. Raises Rejected with the field."""
    months, days = (count_in(values.get(name, ""), field=name) for name in ("months", "media_days"))
    return months, days


def hold_of_form() -> tuple[str, datetime | None]:
    """Reason of a legal hold, and the end of its last day in UTC if there is one. Raises Rejected with the field."""
    reason, ends = request.form.get("reason", ""), request.form.get("ends", "").strip()
    flaw = flaw_of(reason)
    if flaw:
        raise Rejected(flaw, field="reason")
    day = day_in(ends) if ends else None
    if ends and day is None:
        raise Rejected("Enter a last day such as 2026-01-31, or leave this empty.", field="ends")
    return reason, datetime.combine(day, time(), UTC) + timedelta(days=1) if day else None
