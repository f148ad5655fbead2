"""Who may open a candidate's own page: the browser that took the interview, or one that entered a one-time code.

The link alone shows nothing but the page that asks for a code.
"""

import hashlib
import secrets

from flask import Response, request

from app.conversation.access import holds, settings
from app.conversation.queries import sitting_of
from app.core.encryption import derived_key
from app.interviews.models import Interview
from app.privacy.own_page.actions import PASS_LIVES
from app.privacy.own_page.queries import lets_in
from app.web.rate_limits import address_of_request


def cookie_name(interview_id: str) -> str:
    """One cookie per interview, as for the sitting."""
    prefix = "__Host-" if settings().is_https else ""
    return f"{prefix}parley-own-{interview_id[:8]}"


def new_token() -> tuple[str, str]:
    """A new secret for the cookie, and its hash for the row."""
    token = secrets.token_urlsafe(32)
    return token, hashlib.sha256(token.encode()).hexdigest()


def set_cookie(response: Response, interview_id: str, token: str) -> Response:
    """Let this browser in for ``PASS_LIVES``."""
    response.set_cookie(
        cookie_name(interview_id),
        token,
        max_age=int(PASS_LIVES.total_seconds()),
        path="/",
        secure=settings().is_https,
        httponly=True,
        samesite="Lax",
    )
    return response


def may_open(interview: Interview) -> bool:
    """Whether this request comes from the candidate."""
    return holds(sitting_of(interview.id), interview.id) or _has_pass(interview.id)


def _has_pass(interview_id: str) -> bool:
    token = request.cookies.get(cookie_name(interview_id), "")
    return bool(token) and lets_in(interview_id, hashlib.sha256(token.encode()).hexdigest())


def is_under_way(interview: Interview) -> bool:
    """Whether the interview is still running, so that there is nothing to show yet."""
    sitting = sitting_of(interview.id)
    return interview.erased_at is None and (sitting is None or sitting.ended_at is None)


def asker_of_request() -> str:
    """The caller's network address as a keyed hash: enough to count by."""
    digest = hashlib.blake2b(address_of_request().encode(), key=derived_key("askers"), digest_size=16)
    return digest.hexdigest()
