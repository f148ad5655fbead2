"""Scores in lists of candidates, where members rate first: what the list hides, and what it may sort and filter by.

A list sorts and filters by score only after the member has shown scores in lists, once for each time they sign in.
"""

from collections.abc import Iterable

from flask import request

from app.accounts.access import current_login, current_member
from app.accounts.actions import write_audit
from app.candidates.models import Candidate
from app.core import clock
from app.core.rooms import rate_first
from app.web.fields import flaw_of

BY_SCORE = frozenset({"score", "score_asc"})
"""Orders of the list that show who has a higher score."""
SCORES = ("score_from", "score_to")
"""Query parameters that filter by score."""
REFUSED = (
    "This selection depends on the scores of results that you have not rated yet. Show scores in lists first, then "
    "select again."
)
_BLOCKED = "parley.scores.blocked"


def is_blocked() -> bool:
    """Whether the query sorts or filters by scores that the member does not see yet. The list then does neither."""
    if _BLOCKED not in request.environ:
        by_score = _given("order") in BY_SCORE or any(_given(name) for name in SCORES)
        hides = by_score and not shows_scores() and rate_first().asks_in_lists(current_member(), _given("flow"))
        request.environ[_BLOCKED] = hides
    blocked: bool = request.environ[_BLOCKED]
    return blocked


def _given(name: str) -> str:
    value = request.args.get(name, "").strip()
    return "" if flaw_of(value) else value


def hidden_scores(candidates: Iterable[Candidate]) -> frozenset[str]:
    """Ids of the candidates whose score this member's lists do not show."""
    return frozenset() if shows_scores() else rate_first().hidden_candidates(current_member(), candidates)


def show_scores() -> None:
    """Show scores in the member's lists until they sign out. Audited, once."""
    login, member = current_login(), current_member()
    if login is None or login.scores_shown_at is not None:
        return
    login.scores_shown_at = clock.now()
    write_audit(member.organization, action="scores.shown_in_lists", subject=member.id, by=member, details={})


def shows_scores() -> bool:
    """Whether the member has shown scores in lists since they signed in."""
    login = current_login()
    return login is not None and login.scores_shown_at is not None
