"""The blueprint of candidates' pages, and how they read what an address asks for."""

from flask import Blueprint, request

from app.accounts.access import require_member
from app.web.fields import flaw_of

LONGEST_SEARCH = 200

pages = Blueprint("candidates", __name__)
pages.before_request(require_member)


def asked(name: str) -> str:
    """A parameter of the address; empty when it is missing or cannot be text."""
    given = request.args.get(name, "").strip()[:LONGEST_SEARCH]
    return "" if flaw_of(given) else given
