"""Erasing an interview: every room forgets its rows at once, files are swept, and the proof comes when nothing is left.

The edge commits ``erase`` first, then calls ``sweep_files`` outside of a transaction, then commits ``gone``. The tick
does the same for what could not be finished, and looks a second time when no late work can write any more.
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
from app.candidate_requests.actions import Asked
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
from app.privacy.models import Erasure
from app.privacy.own_page import actions as own_page
from app.privacy.queries import SETTLES_AFTER
from app.review.notes import actions as notes
from app.review.ratings import actions as ratings
from app.review.share_links import actions as share_links

RESTORE = "restore"


def erase(interview: Interview, *, by: TeamMember | None, through: str | None = None) -> Erasure:
    """Empty every row of the interview and end all access to its files. May be repeated: then nothing new happens.

    ``by`` is None where no person asks for it; ``through`` then says what does. Conflict under a legal hold, except
    where a journal of erasures has it done again after a restore.

    What stays: ids, times, states, the consent that was given, and that requests were made. Audited.
    """
    earlier = db.session.get(Erasure, interview.id)
    if earlier is not None:
        return earlier
    if through != RESTORE:
        legal_holds.refuse_held(interview.id, interview.candidate_id)
    turns = _erase_talk(interview.id)  # first, as whoever hands an interview in holds its sitting first
    # Whoever writes about the interview at this moment ends before we read on; whoever comes later finds it erased.
    db.session.refresh(interview, with_for_update=True)
    if through != RESTORE:
        legal_holds.refuse_held(interview.id, interview.candidate_id)  # placed while we waited
    outreach.erase(interview.id)
    removed = {
        **recordings.erase(interview.id),
        "turns": turns,
        "wishes": candidate_requests.erase(interview.id),
        "letters": mail_outbox.erase(interview.id),
        "codes": own_page.erase(interview.id),
        "assessments": ratings.erase(interview.id),
        "shares": share_links.erase(interview.id),
        "visits": apply_links.forget(interview.id),
        "notes": notes.erase(interview.id),
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
        raise Conflict("Someone else is erasing this interview at this very moment.") from None
    organization = db.session.get_one(Organization, interview.organization_id)
    details = {**removed, "through": through} if through else removed
    accounts.write_audit(organization, action="interview.erased", subject=interview.id, by=by, details=details)
    return erasure


def repeat(what: str, interview_id: str) -> bool | None:
    """Do again what a journal tells, one of ``ACTS``; whether there was anything to do, None without such an interview.

    The edge commits before it sees to the files.
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
    with suppress(Rejected):  # too many requests are open: people look at it anyway
        candidate_requests.ask(interview, Asked(RequestKind.WITHDRAWAL, None))
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
    """The turns go; the sitting stays, ended and without a word, so that its browser can still read what happened."""
    mine = sa.select(Sitting.id).where(Sitting.interview_id == interview_id)
    count = db.changed(sa.delete(Turn).where(Turn.sitting_id.in_(mine)))
    db.session.expire_all()
    for sitting in db.session.scalars(sa.select(Sitting).where(Sitting.interview_id == interview_id)):
        sitting.place = {**sitting.place, "phase": "finished", "asked": [], "said": "", "former": None}
        sitting.ended_at, sitting.fence = sitting.ended_at or clock.now(), sitting.fence + 1
    db.session.flush()
    return count


def prefixes_of(interview_id: str) -> tuple[str, ...]:
    """Every folder of the storage that holds files of an interview."""
    return prefix_of(interview_id), f"documents/{interview_id}"


def sweep_files(interview_id: str, *, storage: Storage) -> int:
    """Destroy every file of the interview and look whether any is left; returns how many. Slow, no database.

    Raises GatewayError when the storage does not answer.
    """
    for prefix in prefixes_of(interview_id):
        storage.delete_prefix(prefix)
    return sum(1 for _key in _left(interview_id, storage))


def _left(interview_id: str, storage: Storage) -> Iterator[str]:
    for prefix in prefixes_of(interview_id):
        yield from storage.list(prefix)


def gone(interview_id: str) -> Erasure:
    """Note that ``sweep_files`` found nothing left: the first time this makes the receipt, much later it settles it."""
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
        erasure.settled_at = now
    db.session.flush()
    return erasure


def receipt_of(erasure: Erasure, gone_at: datetime) -> str:
    """SHA-256 over what the proof says: ids, times and counts, nothing about a person."""
    facts = {
        "interview": erasure.interview_id,
        "erased_at": clock.rfc3339(erasure.erased_at),
        "gone_at": clock.rfc3339(gone_at),
        "removed": erasure.removed,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
