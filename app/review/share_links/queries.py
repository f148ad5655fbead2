"""Reads of share links, and of exactly what each of them shows."""

import enum
import hashlib
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import TeamMember
from app.core import clock
from app.core.db import db, is_id
from app.core.errors import NotFound
from app.flows.models import Right
from app.flows.queries import may
from app.interviews.models import Interview
from app.review.exports.queries import export_of
from app.review.share_links.models import Opening, Share

LISTED = 50
"""Openings listed per link; older ones are only counted."""


class Ending(enum.StrEnum):
    """Why a link no longer works."""

    REVOKED = "revoked"
    EXPIRED = "expired"
    CLOSED = "closed"  # organization disabled, creator without access, consent withdrawn, or interview erased


def digest_of(token: str) -> str:
    """The stored hash of a secret. It holds 256 random bits, so one plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def share_with(token: str) -> Share | None:
    """The link with this secret, whether it still works or not."""
    together = (joinedload(Share.interview), joinedload(Share.made_by))
    return db.session.scalar(sa.select(Share).where(Share.token_hash == digest_of(token)).options(*together))


def ending_of(share: Share) -> Ending | None:
    """Why the link no longer works; None while it does."""
    if share.revoked_at is not None:
        return Ending.REVOKED
    if share.expires_at <= clock.now():
        return Ending.EXPIRED
    interview = share.interview
    ended = (interview.withdrawn_at, interview.erased_at, interview.quarantined_at)
    is_there = interview.data is not None and not any(ended)
    return None if is_there and may_share(share.made_by, interview) else Ending.CLOSED


def may_share(member: TeamMember, interview: Interview) -> bool:
    """Whether the member may share this interview: a link ends when its creator loses access."""
    if member.disabled_at is not None or member.organization.disabled_at is not None:
        return False
    return may(member, interview, Right.EDIT)


def share_of(interview: Interview, share_id: str) -> Share:
    """A link of this interview, or NotFound."""
    share = db.session.get(Share, share_id) if is_id(share_id) else None
    if share is None or share.interview_id != interview.id:
        raise NotFound("There is no such link.")
    return share


def shares_of(interview: Interview) -> Sequence[Share]:
    """All links of an interview, the newest first."""
    query = sa.select(Share).where(Share.interview_id == interview.id).order_by(Share.created_at.desc(), Share.id)
    return db.session.scalars(query.options(joinedload(Share.made_by), joinedload(Share.revoked_by))).all()


def live_shares(interview: Interview) -> int:
    """Number of links that were not ended and have not expired."""
    live = (Share.interview_id == interview.id, Share.revoked_at.is_(None), Share.expires_at > clock.now())
    return db.session.scalar(sa.select(sa.func.count()).select_from(Share).where(*live)) or 0


def openings_of(interview: Interview) -> dict[str, list[Opening]]:
    """The last ``LISTED`` openings of each link, by link, the newest first."""
    place = sa.func.row_number().over(partition_by=Opening.share_id, order_by=Opening.at.desc()).label("place")
    mine = sa.select(Share.id).where(Share.interview_id == interview.id)
    numbered = sa.select(Opening.id, place).where(Opening.share_id.in_(mine)).subquery()
    query = sa.select(Opening).join(numbered, numbered.c.id == Opening.id).where(numbered.c.place <= LISTED)
    by: dict[str, list[Opening]] = {}
    for one in db.session.scalars(query.order_by(Opening.at.desc())):
        by.setdefault(one.share_id, []).append(one)
    return by


def shown_of(share: Share) -> dict[str, Any]:
    """Only the selected parts that the link's creator may see, so that no page can show anything else."""
    export = export_of(share.interview, by=share.made_by)
    hidden = {"scores", *(() if export["summary"] else ("summary",))} if export["scores_hidden"] else set()
    parts = frozenset(share.parts) - hidden
    shown: dict[str, Any] = {
        "flow": {name: export["flow"][name] for name in ("title", "organization", "language")},
        "handed_in": export["interview"]["submitted_at"],
        "parts": parts,
    }
    if "person" in parts:
        names = export["candidate"]["first_name"], export["candidate"]["last_name"]
        shown["person"] = " ".join(name for name in names if name) or export["candidate"]["email_address"]
    if "transcript" in parts:
        told = {"ratings"} if "scorecard" not in parts else set()
        answers = [{name: value for name, value in one.items() if name not in told} for one in export["answers"]]
        shown |= {"transcript": export["transcript"], "answers": answers}
    if "documents" in parts:
        shown["documents"] = [{"id": one.id, "name": one.name, "size": one.size} for one in share.interview.documents]
    shown |= {name: export[name] for name in ("recording", "summary", "scores", "scorecard") if name in parts}
    return shown
