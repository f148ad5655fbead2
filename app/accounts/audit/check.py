"""Whether the audit log is whole: entry by entry, and against what the last check had seen.

Each entry carries the hash of the one before it, and the organization counts them, so that one that was changed, taken
out, or cut off at the end shows. Somebody who can write to the database could compute the whole chain anew; therefore
a check seals the number and hash that it came to with a key that is not in the database, and the next one looks there.
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
"""So many entries are read at a time."""


@dataclass
class Chain:
    """A log as far as it was followed. ``flaw`` says what is wrong first, and where; nothing after it counts."""

    number: int = 0
    hash: str = ""
    flaw: str | None = None
    flaw_number: int | None = None
    has_other_key: bool = False
    """Whether the last check was sealed under another SECRET_KEY than this process has, so its seal says nothing."""

    def follow(self, entry: Any) -> bool:
        """One entry more, as a row of ``AuditEntry``; False when it does not fit."""
        if entry.number != self.number + 1:
            return self.broken(self.number + 1, f"Entry {self.number + 1} is missing.")
        if entry.hash != audit_hash(entry, self.hash):
            return self.broken(entry.number, f"Entry {entry.number} is not what was written.")
        self.number, self.hash = entry.number, entry.hash
        return True

    def broken(self, number: int, flaw: str) -> bool:
        """Note what does not fit."""
        self.flaw, self.flaw_number = flaw, number
        return False


def followed(organization: Organization) -> Chain:
    """Read the organization's whole log, in pieces, up to what it has counted. Only reads."""
    chain, known = Chain(), check_of(organization)
    # Counted after the mark was read: a check that ends meanwhile may have come further than an older count.
    counted = sa.select(Organization.audit_seq).where(Organization.id == organization.id)
    upto = db.session.execute(counted).scalar_one()
    chain.has_other_key = known is not None and is_of_other_key(known.seal)
    if known is not None and not chain.has_other_key and not _is_sealed(known):
        chain.broken(known.number, "What the last check had kept was changed.")
        return chain
    while chain.flaw is None and chain.number < upto:
        piece = _piece(organization.id, after=chain.number, upto=upto)
        if not piece:
            chain.broken(chain.number + 1, f"Entries {chain.number + 1} to {upto} are missing.")
        for entry in piece:
            if not chain.follow(entry) or not _fits(chain, known):
                break
    if chain.flaw is None and known is not None and known.number > chain.number:
        chain.broken(chain.number + 1, f"Entries {chain.number + 1} to {known.number} are missing.")
    return chain


def _piece(organization_id: str, *, after: int, upto: int) -> list[Any]:
    names = ("number", "at", "member_id", "action", "subject", "details", "hash")
    found = sa.select(*(getattr(AuditEntry, name) for name in names)).where(
        AuditEntry.organization_id == organization_id, AuditEntry.number > after, AuditEntry.number <= upto
    )
    return list(db.session.execute(found.order_by(AuditEntry.number).limit(PIECE)))


def _fits(chain: Chain, known: AuditCheck | None) -> bool:
    if known is None or known.number != chain.number or known.hash == chain.hash:
        return True
    return chain.broken(chain.number, f"Entry {chain.number} or an earlier one was written anew since the last check.")


def keep_check(organization: Organization, chain: Chain) -> AuditCheck:
    """Keep what a check has found; the first time that something is wrong is written into the log, too."""
    known = check_of(organization) or _first(organization)
    if chain.has_other_key:
        write_audit(organization, action="audit.other_key", subject=organization.id, by=None, details={})
    is_news = chain.flaw is not None and known.flaw is None
    known.checked_at, known.flaw, known.flaw_number = clock.now(), chain.flaw, chain.flaw_number
    if chain.flaw is None and chain.number >= known.number:  # another check may have come further meanwhile
        known.number, known.hash = chain.number, chain.hash
        known.seal = _seal(known)
    db.session.flush()
    if is_news:
        details = {"number": chain.flaw_number}
        write_audit(organization, action="audit.broken", subject=organization.id, by=None, details=details)
    return known


def _first(organization: Organization) -> AuditCheck:
    made = AuditCheck(organization_id=organization.id, checked_at=clock.now(), number=0, hash="")
    made.seal = _seal(made)
    try:
        with db.session.begin_nested():
            db.session.add(made)
    except sa.exc.IntegrityError:  # two first checks at once: the other one's row will do
        return db.session.get_one(AuditCheck, organization.id, populate_existing=True)
    return made


def _seal(known: AuditCheck) -> str:
    """The key's own check value and a MAC, so that another SECRET_KEY can be told from a change of the database."""
    return _key_check() + _mac(known)[: -len(_key_check())]


def _mac(known: AuditCheck) -> str:
    told = f"{known.organization_id}|{known.number}|{known.hash}"
    return hmac.new(derived_key("audit log"), told.encode(), hashlib.sha256).hexdigest()


def _is_sealed(known: AuditCheck) -> bool:
    if known.seal.startswith(_NAMED):
        return hmac.compare_digest(known.seal, _seal(known))
    return hmac.compare_digest(known.seal.encode(), _mac(known).encode())


def is_of_other_key(seal: str) -> bool:
    """Whether the seal names another key. Of a seal from before keys were named nothing is known."""
    return seal.startswith(_NAMED) and not seal.startswith(_key_check())


_NAMED = "k."
"""How a seal begins that names its key; no hexadecimal number does."""


def _key_check() -> str:
    return _NAMED + derived_key("key check").hex()[:14]
