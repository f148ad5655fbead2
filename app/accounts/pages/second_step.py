"""Between password and code: who entered the right password, encrypted in the browser's cookie for ten minutes.

The cookie gives no access, and it stops working when the password changes.
"""

import hashlib

from flask import Response, redirect, session, url_for

from app.accounts.models import TeamMember
from app.core import clock
from app.core.db import db
from app.web import one_time

_WAITING = "second_step"
LASTS_SECONDS = 600


def ask_for_code(member: TeamMember, target: str) -> Response:
    """Remember whose password was right, and ask for the code."""
    session.clear()  # a token from before signing in must not work afterwards
    step = {"member": member.id, "next": target, "at": clock.now().timestamp(), "for": _mark(member)}
    one_time.keep(_WAITING, step)
    return redirect(url_for("accounts.sign_in_code"))  # type: ignore[return-value]


def waiting() -> tuple[TeamMember, str] | None:
    """The member who must enter a code, and the page after it; None without one, after ten minutes, for a disabled
    member, and after a password change."""
    step = one_time.look(_WAITING)
    if step is None or clock.now().timestamp() - step["at"] > LASTS_SECONDS:
        return None
    # nosemgrep: row-by-id-in-edge - the member in our encrypted cookie
    member = db.session.get(TeamMember, step["member"])
    if member is None or member.disabled_at is not None or member.organization.disabled_at is not None:
        return None
    return (member, step["next"]) if member.totp_since is not None and _mark(member) == step["for"] else None


def _mark(member: TeamMember) -> str:
    """Changes with the password without revealing it."""
    return hashlib.sha256((member.password_hash or "").encode()).hexdigest()[:16]
