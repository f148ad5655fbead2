"""Between password and code: who has given the right password, sealed in the browser's cookie for ten minutes.

It opens nothing by itself, and dies with the password it was given for.
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
    session.clear()  # a token known before is worth nothing afterwards
    told = {"member": member.id, "next": target, "at": clock.now().timestamp(), "for": _mark(member)}
    one_time.keep(_WAITING, told)
    return redirect(url_for("accounts.sign_in_code"))  # type: ignore[return-value]


def waiting() -> tuple[TeamMember, str] | None:
    """Who is asked for a code, and where it leads; None for nobody, too late, disabled, or another password since."""
    told = one_time.look(_WAITING)
    if told is None or clock.now().timestamp() - told["at"] > LASTS_SECONDS:
        return None
    # nosemgrep: row-by-id-in-edge - the member whom our own sealed cookie names
    member = db.session.get(TeamMember, told["member"])
    if member is None or member.disabled_at is not None or member.organization.disabled_at is not None:
        return None
    return (member, told["next"]) if member.totp_since is not None and _mark(member) == told["for"] else None


def _mark(member: TeamMember) -> str:
    """Changes with the password, and tells nothing about it."""
    return hashlib.sha256((member.password_hash or "").encode()).hexdigest()[:16]
