"""The blueprint of the account pages, its guard, and its template context."""

from typing import Any

from flask import Blueprint, request
from flask.typing import ResponseReturnValue
from flask_login import current_user

from app.accounts.access import require_member
from app.accounts.pages.navigation import links_of
from app.core.db import row_security
from app.web.browsers import browser_name
from app.web.security import keep_private

pages = Blueprint("accounts", __name__)

OPEN_TO_STRANGERS = frozenset(
    f"accounts.{name}"
    for name in ("sign_in", "sign_in_code", "set_up", "forgotten", "choose_password", "confirm_address")
)


@pages.before_request
def guard() -> ResponseReturnValue | None:
    """Require a signed-in member, except on the pages for signing in."""
    if request.endpoint in OPEN_TO_STRANGERS:
        keep_private()
        row_security.choose(row_security.EVERYONE)  # accounts are looked up in all organizations
        return None
    return require_member()


pages.add_app_template_filter(browser_name)


@pages.app_context_processor
def who() -> dict[str, Any]:
    """The signed-in member, looked up when a template uses it, so that error pages need no database."""
    return {"current_user": current_user, "navigation": lambda: links_of(current_user or None)}
