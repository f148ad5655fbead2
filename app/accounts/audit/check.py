"""Whether the audit log is intact: entry by entry, and compared with the last check.

Each entry carries the hash of the previous one, and the organization counts them, so entries that were changed, removed
or cut off at the end are detected. Someone who can write to the database could recompute the whole chain; so each check
signs the number and hash of the last entry with a key that is not in the database, and the next check compares them.
"""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from app.accounts.actions import audit_hash, write_audit
from app.accounts.audit.entries import check_of
from app.accounts.models import AuditCheck, AuditEntry, Organization
from app.core import clock
from app.core.db import db
from app.core.encryption import derived_key

PIECE = 1_000
"""Entries read at a time."""
SEAL_CHANGED = "The stored result of the last check was changed."
_REWRITTEN = "or an earlier one has been rewritten since the last check."


@dataclass
class Chain:
    """A log as far as it was checked. ``flaw`` is the first thing that is wrong; nothing after it was checked."""

    number: int = 0
    hash: str = ""
    flaw: str | None = None
    flaw_number: int | None = None
    has_other_key: bool = False
    """Whether the last check was signed with another SECRET_KEY than this process has, so it proves nothing."""

    def follow(self, entry: Any) -> bool:
        """Check the next entry, a row of ``AuditEntry``; False if it does not fit."""
        if entry.number != self.number + 1:
            return self.broken(self.number + 1, f"Entry {self.number + 1} is missing.")
        if entry.hash != audit_hash(entry, self.hash):
            return self.broken(entry.number, f"Entry {entry.number} was changed after it was written.")
        self.number, self.hash = entry.number, entry.hash
        return True

    def broken(self, number: int, flaw: str) -> bool:
        """Record what is wrong; always False."""
        self.flaw, self.flaw_number = flaw, number
        return False


def followed(organization: Organization) -> Chain:
    """Read and check the organization's whole log, up to the number of entries it has counted."""
    chain, last = Chain(), check_of(organization)
    # Counted after the last check was read: a check that ends meanwhile may be ahead of an older count.
    counted = sa.select(Organization.audit_seq).where(Organization.id == organization.id)
    upto = db.session.execute(counted).scalar_one()
    chain.has_other_key = last is not None and is_of_other_key(last.seal)
    if last is not None and not chain.has_other_key and not _is_sealed(last):
        chain.broken(last.number, SEAL_CHANGED)
        return chain
    while chain.flaw is None and chain.number < upto:
        piece = _piece(organization.id, after=chain.number, upto=upto)
        if not piece:
            chain.broken(chain.number + 1, _missing(chain.number + 1, upto))
        for entry in piece:
            if not chain.follow(entry) or not _fits(chain, last):
                break
    if chain.flaw is None and last is not None and last.number > chain.number:
        chain.broken(chain.number + 1, _missing(chain.number + 1, last.number))
    return chain


def _missing(first: int, last: int) -> str:
    return f"Entry {first} is missing." if first == last else f"Entries {first} to {last} are missing."


def _piece(organization_id: str, *, after: int, upto: int) -> list[Any]:
    names = ("number", "at", "member_id", "action", "subject", "details", "hash")
    query = sa.select(*(getattr(AuditEntry, name) for name in names)).where(
        AuditEntry.organization_id == organization_id, AuditEntry.number > after, AuditEntry.number <= upto
    )
    return list(db.session.execute(query.order_by(AuditEntry.number).limit(PIECE)))


def _fits(chain: Chain, last: AuditCheck | None) -> bool:
    if last is None or last.number != chain.number or last.hash == chain.hash:
        return True
    return chain.broken(chain.number, f"Entry {chain.number} {_REWRITTEN}")


def intact_upto(last: AuditCheck) -> int:
    """The number of the last entry before the flaw of a failed check; 0 if the flaw may concern any of them."""
    if last.flaw is None or last.flaw == SEAL_CHANGED or last.flaw.endswith(_REWRITTEN):
        return 0
    return (last.flaw_number or 1) - 1


def keep_check(organization: Organization, chain: Chain) -> AuditCheck:
    """Store the result of a check; a new flaw is also written to the log."""
    last = check_of(organization) or _first(organization)
    if chain.has_other_key:
        write_audit(organization, action="audit.other_key", subject=organization.id, by=None, details={})
    is_news = chain.flaw is not None and last.flaw is None
    last.checked_at, last.flaw, last.flaw_number = clock.now(), chain.flaw, chain.flaw_number
    if chain.flaw is None and chain.number >= last.number:  # another check may be ahead by now
        last.number, last.hash = chain.number, chain.hash
        last.seal = _seal(last)
    db.session.flush()
    if is_news:
        details = {"number": chain.flaw_number}
        write_audit(organization, action="audit.broken", subject=organization.id, by=None, details=details)
    return last


def _first(organization: Organization) -> AuditCheck:
    row = AuditCheck(organization_id=organization.id, checked_at=clock.now(), number=0, hash="")
    row.seal = _seal(row)
    try:
        with db.session.begin_nested():
            db.session.add(row)
    except sa.exc.IntegrityError:  # two first checks at once: use the other one's row
        return db.session.get_one(AuditCheck, organization.id, populate_existing=True)
    return row


def _seal(last: AuditCheck) -> str:
    """The key's check value and a MAC, to tell another SECRET_KEY from a changed database."""
    return _key_check() + _mac(last)[: -len(_key_check())]


def _mac(last: AuditCheck) -> str:
    message = f"{last.organization_id}|{last.number}|{last.hash}"
    return hmac.new(derived_key("audit log"), message.encode(), hashlib.sha256).hexdigest()


def _is_sealed(last: AuditCheck) -> bool:
    if last.seal.startswith(_NAMED):
        return hmac.compare_digest(last.seal, _seal(last))
    return hmac.compare_digest(last.seal.encode(), _mac(last).encode())


def is_of_other_key(seal: str) -> bool:
    """Whether the seal names another key. Old seals name none, so for them this is False."""
    return seal.startswith(_NAMED) and not seal.startswith(_key_check())


_NAMED = "k."
"""Prefix of seals that name their key; no hexadecimal number begins like this."""


def _key_check() -> str:
    return _NAMED + derived_key("key check").hex()[:14]
