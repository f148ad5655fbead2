"""Forms of apply links: the applicant's, and the limits."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta

from flask import request
from flask_babel import gettext

from app.candidates.models import LONGEST_NAME
from app.core.errors import Rejected
from app.web.fields import address_flaw, count_in, day_in, flaw_of

LONGEST_ADDRESS = 320


@dataclass(frozen=True, slots=True)
class ComeForm:
    """Name and email address of an applicant. ``errors`` by field, in the page's language."""

    first_name: str = ""
    last_name: str = ""
    email_address: str = ""
    errors: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_request(cls) -> "ComeForm":
        """The submitted values, without those that cannot be stored."""
        first, last, address = [request.form.get(n, "").strip() for n in ("first_name", "last_name", "email_address")]
        errors = {}
        if not first or len(first) > LONGEST_NAME or flaw_of(first):
            errors["first_name"] = gettext("Please tell us your name.")
        if len(last) > LONGEST_NAME or flaw_of(last):
            errors["last_name"] = gettext("Longer than %(max)d characters.", max=LONGEST_NAME)
        if not address or len(address) > LONGEST_ADDRESS or address_flaw(address):
            errors["email_address"] = gettext("Not a valid email address.")
        shown = ["" if flaw_of(one) else one[:LONGEST_ADDRESS] for one in (first, last, address)]
        return cls(first_name=shown[0], last_name=shown[1], email_address=shown[2], errors=errors)


def limits_of_request() -> tuple[datetime | None, int | None]:
    """The entered last day as its end in UTC, and the number of interviews. Raises Rejected with the field."""
    day = request.form.get("until", "").strip()
    last = day_in(day) if day else None
    if day and last is None:
        raise Rejected("Enter a date such as 2026-01-31, or leave this empty.", field="until")
    end = datetime.combine(last, time(), UTC) + timedelta(days=1) if last else None
    return end, count_in(request.form.get("most", ""), field="most")
