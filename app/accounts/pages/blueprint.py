"""The blueprint of the account pages, its guard, and what its templates know."""

from typing import Any

from flask import Blueprint, request
from flask.typing import ResponseReturnValue
from flask_login import current_user

from app.accounts.access import require_member
from app.web.security import keep_private

pages = Blueprint("accounts", __name__)

OPEN_TO_STRANGERS = frozenset(
    f"accounts.{name}" for name in ("sign_in", "sign_in_code", "set_up", "forgotten", "choose_password")
)


@pages.before_request
def guard() -> ResponseReturnValue | None:
    """Everything here needs a signed-in member, but for the ways in."""
    if request.endpoint in OPEN_TO_STRANGERS:
        keep_private()
        return None
    return require_member()


_BROWSERS = (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("Chrom", "Chrome"),
    ("CriOS/", "Chrome"), ("Safari/", "Safari"))  # fmt: skip
_SYSTEMS = (("Windows", "Windows"), ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Mac OS", "macOS"),
    ("CrOS", "ChromeOS"), ("Linux", "Linux"))  # fmt: skip


@pages.app_template_filter("browser_name")
def browser_name(user_agent: str | None) -> str:
    """``Firefox on Linux`` for a User-Agent header: enough to know one's own browsers by; its beginning, if unknown."""
    given = user_agent or ""
    browser = next((name for mark, name in _BROWSERS if mark in given), "")
    system = next((name for mark, name in _SYSTEMS if mark in given), "")
    return f"{browser} on {system}" if browser and system else browser or given[:40] or "Unknown browser"


@pages.app_context_processor
def who() -> dict[str, Any]:
    """Templates show who is signed in. Looked up when a template asks, so that an error page needs no database."""
    return {"current_user": current_user}
