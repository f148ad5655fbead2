"""Passwords and sign-in addresses: what is accepted, how it is stored, and how guessing is slowed down."""

import hashlib
import math
import threading
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from email_validator import EmailNotValidError, validate_email

from app.accounts.common_passwords import is_common
from app.accounts.models import LoginFailure
from app.core import clock
from app.core.db import db
from app.core.errors import Rejected

SHORTEST, LONGEST = 12, 128
WINDOW = timedelta(minutes=15)
FREE_PER_ACCOUNT, FREE_PER_ADDRESS = 5, 20
LONGEST_DELAY = timedelta(minutes=15)
FREE_FROM_EVERYWHERE, MILD_DELAY = 20, timedelta(seconds=30)
"""Tries on one account from all addresses together, and the longest delay that they can cause."""

_hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_two_at_once = threading.BoundedSemaphore(2)
"""Each hash takes 19 MiB and a core for 24 ms: a flood of sign-ins must not take all of the machine."""


def checked_address(email: str) -> str:
    """The sign-in name in lower case. Raises Rejected."""
    try:
        return validate_email(email.strip(), check_deliverability=False, test_environment=True).normalized.lower()
    except EmailNotValidError:
        raise Rejected("is not a valid email address", field="email") from None


def hashed(password: str) -> str:
    """The Argon2id hash. Raises Rejected for a password that is too short, too long or too common."""
    flaw = flaw_of(password)
    if flaw:
        raise Rejected(flaw, field="password")
    with _two_at_once:
        return _hasher.hash(password)


def flaw_of(password: str) -> str | None:
    """Why a password cannot be used, or None. There are no composition rules: only length and commonness count."""
    if not SHORTEST <= len(password) <= LONGEST:
        return f"must have {SHORTEST} to {LONGEST} characters"
    try:
        password.encode()
    except UnicodeEncodeError:
        return "contains a character that cannot be stored"
    if is_common(password) or len(set(password)) < 4:
        return "is too easy to guess; choose another one"
    return None


@lru_cache(maxsize=1)
def _dummy() -> str:
    return _hasher.hash("no one has this password")


def matches(stored: str | None, password: str) -> bool:
    """Whether ``password`` matches the hash ``stored``. Without a hash a dummy is checked, so that the time taken does
    not reveal which accounts exist. Takes 25 ms: never call it inside a transaction."""
    try:
        with _two_at_once:
            good = _hasher.verify(stored or _dummy(), password)
    except (VerificationError, InvalidHashError, UnicodeEncodeError):
        return False
    return bool(good) and stored is not None


def needs_rehash(stored: str) -> bool:
    """Whether the hash was created with weaker parameters than the current ones."""
    return _hasher.check_needs_rehash(stored)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try, recorded before it is checked. ``address`` is empty for a known browser."""

    id: str
    account: str
    address: str
    mildly: bool


def note(name: str, address: str, *, browser: str | None = None, mildly: bool = False) -> Attempt:
    """Record a try of ``name`` from ``address``; commit before ``wait_for``, so that parallel tries count each other.

    ``browser`` is one in which ``name`` has signed in before: its tries are counted separately. ``mildly``: tries from
    other addresses delay this one a little at most.
    """
    account = _account(f"{browser} {name}" if browser else name)
    row = LoginFailure(account=account, address="" if browser else address[:64])
    db.session.add(row)
    db.session.flush()
    return Attempt(row.id, account, row.address, mildly)


def wait_for(attempt: Attempt) -> int:
    """Seconds to wait because of earlier tries, 0 for none. No account is ever locked."""
    mine, here = LoginFailure.account == attempt.account, LoginFailure.address == attempt.address
    if not attempt.address:
        delays = [_delay(attempt, mine, free=FREE_PER_ACCOUNT)]
    elif attempt.mildly:
        delays = [
            _delay(attempt, sa.and_(mine, here), free=FREE_PER_ACCOUNT),
            _delay(attempt, mine, free=FREE_FROM_EVERYWHERE, longest=MILD_DELAY),
            _delay(attempt, here, free=FREE_PER_ADDRESS),
        ]
    else:
        delays = [_delay(attempt, mine, free=FREE_PER_ACCOUNT), _delay(attempt, here, free=FREE_PER_ADDRESS)]
    return math.ceil(max(delays).total_seconds())


def withdraw(attempt: Attempt) -> None:
    """The try was not checked, so it does not count."""
    db.session.execute(sa.delete(LoginFailure).where(LoginFailure.id == attempt.id))


def succeeded(attempt: Attempt) -> None:
    """Reset the count after a successful sign-in. Tries from other addresses stay counted."""
    mine = [LoginFailure.account == attempt.account]
    if attempt.mildly:
        mine.append(LoginFailure.address == attempt.address)
    db.session.execute(sa.delete(LoginFailure).where(*mine))


def forget_failures(email: str) -> None:
    """Reset the account's count after a new password."""
    db.session.execute(sa.delete(LoginFailure).where(LoginFailure.account == _account(email)))


def forget_old() -> int:
    """Delete attempts that no longer count. Returns how many there were."""
    return db.changed(sa.delete(LoginFailure).where(LoginFailure.at <= clock.now() - WINDOW))


def too_many(seconds: int) -> str:
    return f"Too many attempts. Wait {seconds} seconds, then try again."


def _delay(
    attempt: Attempt, which: sa.ColumnElement[bool], *, free: int, longest: timedelta = LONGEST_DELAY
) -> timedelta:
    before = (LoginFailure.at > clock.now() - WINDOW, LoginFailure.id != attempt.id)
    count, last = db.session.execute(
        sa.select(sa.func.count(), sa.func.max(LoginFailure.at)).where(which, *before)
    ).one()
    if count < free or last is None:
        return timedelta()
    delay = min(longest, timedelta(seconds=2 ** min(count - free + 2, 12)))
    return max(timedelta(), last + delay - clock.now())


def _account(email: str) -> str:
    """A hash, so that the table of failures holds no addresses, which may be anyone's."""
    return hashlib.sha256(email.strip().lower().encode(errors="replace")).hexdigest()
