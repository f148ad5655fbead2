"""Erasing an interview: every room empties its rows at once, then the files are destroyed, then the proof is written.

The edge commits ``erase``, calls ``sweep_files`` outside a transaction, then commits ``gone``. The tick finishes what
an edge could not, and checks the files a second time when no late work can write any more.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

import sqlalchemy as sa

from app.accounts import actions as accounts
from app.accounts.models import Organization, TeamMember
from app.candidate_requests import actions as candidate_requests
from app.candidate_requests.actions import NewRequest
from app.candidate_requests.models import RequestKind
from app.conversation.models import Sitting, Turn
from app.core import clock
from app.core.db import db
from app.core.erasure_journal import ERASED, WITHDRAWN
from app.core.errors import Conflict, Rejected
from app.gateways.storage import Storage
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.queries import is_revoked, prefix_of
from app.legal_holds import actions as legal_holds
from app.mail_outbox import actions as mail_outbox
from app.outreach import actions as outreach
from app.outreach.apply_links import actions as apply_links
from app.outreach.cvs import actions as cvs
from app.outreach.messages import actions as messages
from app.privacy.models import Erasure
from app.privacy.own_page import actions as own_page
from app.privacy.queries import SETTLES_AFTER
from app.review.notes import actions as notes
from app.review.notices import actions as notices
from app.review.ratings import actions as ratings
from app.review.share_links import actions as share_links

RESTORE = "restore"


def erase(interview: Interview, *, by: TeamMember | None, through: str | None = None) -> Erasure:
    """Empty every row of the interview and end all access to its files. Idempotent. Audited.

    ``by`` is None if no member asked for it; ``through`` then names what did. Raises Conflict under a legal hold,
    except when the journal of erasures repeats it after a restore.

    Ids, times, states, the consents and the fact that requests were made stay.
    """
    earlier = db.session.get(Erasure, interview.id)
    if earlier is not None:
        return earlier
    _refuse_held(interview, through)
    turns = _erase_talk(interview.id)  # first: completing an interview locks its sitting first, too
    # Waits for transactions that write about this interview. Those that start later find it erased.
    db.session.refresh(interview, with_for_update=True)
    _refuse_held(interview, through)  # placed while we waited
    outreach.erase(interview.id)
    cvs.erase(interview.id)
    removed = {
        **recordings.erase(interview.id),
        "messages": messages.erase(interview.id),
        "turns": turns,
        "wishes": candidate_requests.erase(interview.id),
        "letters": mail_outbox.erase(interview.id),
        "codes": own_page.erase(interview.id),
        "assessments": ratings.erase(interview.id),
        "shares": share_links.erase(interview.id),
        "visits": apply_links.forget(interview.id),
        "notes": notes.erase(interview.id),
        "notices": notices.erase(interview.id),
        **interviews.erase(interview),
    }
    erasure = Erasure(
        interview_id=interview.id,
        organization_id=interview.organization_id,
        erased_at=clock.now(),
        by_id=by.id if by else None,
        removed=removed,
    )
    try:
        with db.session.begin_nested():
            db.session.add(erasure)
    except sa.exc.IntegrityError:  # two administrators at once; both mean the same
        raise Conflict("Someone else is erasing this interview right now.") from None
    organization = db.session.get_one(Organization, interview.organization_id)
    details = {**removed, "through": through} if through else removed
    accounts.write_audit(organization, action="interview.erased", subject=interview.id, by=by, details=details)
    return erasure


def _refuse_held(interview: Interview, through: str | None) -> None:
    if through != RESTORE:
        legal_holds.refuse_held(interview.id, interview.candidate_id)


def repeat(what: str, interview_id: str) -> bool | None:
    """Repeat an act of the journal, one of ``ACTS``. Returns whether anything changed, None if there is no interview.

    The edge commits before it deletes files.
    """
    interview = db.session.get(Interview, interview_id)
    if interview is None:
        return None
    if what == ERASED:
        return db.session.get(Erasure, interview_id) is None and bool(erase(interview, by=None, through=RESTORE))
    if interview.erased_at is not None:
        return False
    return _withdrawn(interview) if what == WITHDRAWN else _revoked(interview)


def _withdrawn(interview: Interview) -> bool:
    if not interviews.withdraw(interview):
        return False
    with suppress(Rejected):  # too many requests are open, so recruiters will look at this candidate anyway
        candidate_requests.ask(interview, NewRequest(RequestKind.WITHDRAWAL, None))
    candidate_requests.note(interview, "own_page.asked", kind=RequestKind.WITHDRAWAL.value, through=RESTORE)
    return True


def _revoked(interview: Interview) -> bool:
    if is_revoked(interview.id):
        return False
    interviews.revoke_recordings(interview, done_again=True)
    organization = db.session.get_one(Organization, interview.organization_id)
    through = {"through": RESTORE}
    accounts.write_audit(organization, action="recordings.revoked", subject=interview.id, by=None, details=through)
    return True


def _erase_talk(interview_id: str) -> int:
    """Delete the turns. The sitting stays, ended and empty, so that its browser can still show what happened."""
    mine = sa.select(Sitting.id).where(Sitting.interview_id == interview_id)
    count = db.changed(sa.delete(Turn).where(Turn.sitting_id.in_(mine)))
    db.session.expire_all()
    for sitting in db.session.scalars(sa.select(Sitting).where(Sitting.interview_id == interview_id)):
        sitting.place = {**sitting.place, "phase": "finished", "asked": [], "said": "", "former": None}
        sitting.ended_at, sitting.fence = sitting.ended_at or clock.now(), sitting.fence + 1
    db.session.flush()
    return count


def prefixes_of(interview_id: str) -> tuple[str, ...]:
    """Every storage prefix under which files of the interview lie."""
    return prefix_of(interview_id), f"documents/{interview_id}"


def sweep_files(interview_id: str, *, storage: Storage) -> int:
    """Delete every file of the interview, then count those that are left. Slow; does not use the database.

    Raises GatewayError if the storage does not respond.
    """
    for prefix in prefixes_of(interview_id):
        storage.delete_prefix(prefix)
    return sum(1 for _key in _left(interview_id, storage))


def _left(interview_id: str, storage: Storage) -> Iterator[str]:
    for prefix in prefixes_of(interview_id):
        yield from storage.list(prefix)


def gone(interview_id: str) -> Erasure:
    """Record that ``sweep_files`` left nothing. The first call writes the receipt; a call much later settles it."""
    erasure = db.session.get_one(Erasure, interview_id, populate_existing=True)
    now = clock.now()
    if erasure.gone_at is None:
        erasure.gone_at = now
        erasure.receipt = receipt_of(erasure, now)
        organization = db.session.get_one(Organization, erasure.organization_id)
        accounts.write_audit(
            organization,
            action="interview.erasure_proved",
            subject=interview_id,
            by=None,
            details={"receipt": erasure.receipt},
        )
    elif erasure.gone_at < now - SETTLES_AFTER:
        interviews.forget_versions(interview_id)  # a process of the release before has erased it and left them
        erasure.settled_at = now
    db.session.flush()
    return erasure


def receipt_of(erasure: Erasure, gone_at: datetime) -> str:
    """SHA-256 in hex over the facts of the proof: id, times and counts, no personal data."""
    facts = {
        "interview": erasure.interview_id,
        "erased_at": clock.rfc3339(erasure.erased_at),
        "gone_at": clock.rfc3339(gone_at),
        "removed": erasure.removed,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
