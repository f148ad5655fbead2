"""The blueprint of webhooks' pages, and what several of them do."""

from collections.abc import Callable

from flask import Blueprint, flash, redirect
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_member
from app.accounts.models import Role
from app.core.db import db
from app.core.errors import Conflict, Rejected

pages = Blueprint("webhooks", __name__)
pages.before_request(require_member)


def done(work: Callable[[], str | None], message: str, back: str) -> AnyResponse:
    """Do ``work``, commit, say ``message`` or what ``work`` returned, and go ``back``; a refusal is said instead."""
    try:
        said = work()
    except (Conflict, Rejected) as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
    else:
        db.session.commit()
        flash(said or message, "good")
    return redirect(back, 303)


def may_change() -> bool:
    """Whether the member may replay events and manage endpoints."""
    return current_member().role is Role.ADMIN
