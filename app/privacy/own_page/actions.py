"""Candidates' actions on their own page: get in with a code, and make requests. All are audited."""

import hashlib
import hmac
import secrets
from dataclasses import replace
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from app.candidate_requests import actions as candidate_requests
from app.candidate_requests.actions import ERASED, NewRequest, note
from app.candidate_requests.models import CandidateRequest, RequestKind
from app.core import clock
from app.core.db import db
from app.core.encryption import derived_key
from app.core.errors import Conflict, Rejected
from app.gateways.mail import Mail
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.mail_outbox import actions as mail_outbox
from app.privacy.own_page.models import OwnCode, OwnPass
from app.privacy.own_page.queries import MOST_TRIES, codes_asked, live_codes

CODE_LIVES = timedelta(minutes=10)
PASS_LIVES = timedelta(days=1)
CODES_KEPT = timedelta(days=1)
WINDOW = timedelta(minutes=15)
MOST_PER_INTERVIEW, MOST_PER_ASKER = 3, 10
DIGITS = 8
LONGEST_SUGGESTION = 300


def new_code() -> str:
    """Eight digits: too many to guess within five tries."""
    return f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"


def ask_code(interview: Interview, code: str, mail: Mail, *, asker: str) -> None:
    """Send ``mail`` with ``code`` if its address is the interview's. The caller cannot tell whether it is.

    ``asker`` is a hash of the network address. Raises Conflict if too many codes were requested lately, whatever the
    email address.
    """
    of_interview, by_asker = codes_asked(interview.id, asker, within=WINDOW)
    if of_interview >= MOST_PER_INTERVIEW or by_asker >= MOST_PER_ASKER:
        raise Conflict("Too many codes were requested.")
    address, digest = interview.interviewee_email_address, _digest(interview.id, code)
    fits = address is not None and address.casefold() == mail.to.casefold() and interview.erased_at is None
    now = clock.now()
    db.changed(sa.delete(OwnCode).where(OwnCode.created_at < now - CODES_KEPT))
    db.session.add(
        OwnCode(
            interview_id=interview.id,
            asker=asker,
            code_hash=digest if fits else None,
            created_at=now,
            expires_at=now + CODE_LIVES,
        )
    )
    if fits and address is not None:
        mail_outbox.post(interview.id, replace(mail, to=address), lasts=CODE_LIVES)
    db.session.flush()


def use_code(interview: Interview, code: str, *, token_hash: str) -> bool:
    """Let the browser with this cookie in if the code is right. Each code has five tries and works once."""
    digest = _digest(interview.id, code.strip())
    right = None
    for row in live_codes(interview.id):
        counted = sa.update(OwnCode).where(OwnCode.id == row.id, OwnCode.tries < MOST_TRIES, OwnCode.used_at.is_(None))
        is_tried = db.changed(counted.values(tries=OwnCode.tries + 1))
        if is_tried and hmac.compare_digest(row.code_hash or "", digest):
            right = row.id
    if right is None:
        return False
    used = sa.update(OwnCode).where(OwnCode.id == right, OwnCode.used_at.is_(None)).values(used_at=clock.now())
    if not db.changed(used):
        return False
    db.session.add(OwnPass(interview_id=interview.id, token_hash=token_hash, expires_at=clock.now() + PASS_LIVES))
    note(interview, "own_page.entered")
    return True


def _digest(interview_id: str, code: str) -> str:
    return hmac.new(derived_key("own page codes"), f"{interview_id}:{code}".encode(), hashlib.sha256).hexdigest()


def flag(
    interview: Interview, *, segment: int, words: tuple[int, ...], suggestion: str, text: str | None
) -> CandidateRequest:
    """Request a correction of words in the transcript. Raises Rejected with the field if there are no such words."""
    if interview.erased_at is not None:
        raise Conflict(ERASED)
    result = interviews.result_of(interview)
    segments: list[dict[str, Any]] = result["transcript_with_timestamp"] if result else []
    if not 0 <= segment < len(segments) or segments[segment]["role"] != "user":
        raise Rejected("There is no such answer.", field="segment")
    texts = segments[segment]["texts"]
    if not words or not all(0 <= word < len(texts) for word in words):
        raise Rejected("Choose the words that are wrong.", field="words")
    first, last = min(words), max(words)
    details = {
        "segment": segment,
        "first": first,
        "last": last,
        "heard": " ".join(texts[first : last + 1]),
        "suggestion": suggestion,
    }
    candidate_request = candidate_requests.ask(interview, NewRequest(RequestKind.CORRECTION, text, details=details))
    note(interview, "own_page.asked", kind=RequestKind.CORRECTION.value, request=candidate_request.id)
    return candidate_request


def erase(interview_id: str) -> int:
    """Erase who requested codes. Browsers that were let in can still read that everything is erased."""
    return db.changed(sa.delete(OwnCode).where(OwnCode.interview_id == interview_id))
