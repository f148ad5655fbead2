"""Reads of one-time codes, of browsers let in, and of consents."""

from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa

from app.conversation.models import Agreement
from app.core import claims, clock
from app.core.db import db, row_security
from app.privacy.own_page.models import OwnCode, OwnPass

MOST_TRIES = 5


def codes_asked(interview_id: str, asker: str, *, within: timedelta) -> tuple[int, int]:
    """Number of codes requested within a time: for this interview, and from this network address."""
    since = OwnCode.created_at > claims.moment(-within)
    counted = sa.select(sa.func.count(OwnCode.id)).where(since)
    of_interview = db.session.scalar(counted.where(OwnCode.interview_id == interview_id))
    with row_security.everyone():  # an asker is counted over the interviews of all organizations
        return of_interview or 0, db.session.scalar(counted.where(OwnCode.asker == asker)) or 0


def live_codes(interview_id: str) -> Sequence[OwnCode]:
    """Codes that are still valid, newest first, including those that were never sent."""
    live = sa.select(OwnCode).where(
        OwnCode.interview_id == interview_id,
        OwnCode.used_at.is_(None),
        OwnCode.tries < MOST_TRIES,
        OwnCode.expires_at > claims.moment(),
    )
    return db.session.scalars(live.order_by(OwnCode.created_at.desc())).all()


def lets_in(interview_id: str, token_hash: str) -> bool:
    """Whether the browser with this cookie has a valid pass for this interview."""
    own_pass = db.session.scalar(sa.select(OwnPass).where(OwnPass.token_hash == token_hash))
    return own_pass is not None and own_pass.interview_id == interview_id and own_pass.expires_at > clock.now()


def agreements_of(interview_id: str) -> Sequence[Agreement]:
    """The candidate's consents, oldest first."""
    agreements = sa.select(Agreement).where(Agreement.interview_id == interview_id).order_by(Agreement.agreed_at)
    return db.session.scalars(agreements).all()
