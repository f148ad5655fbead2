"""Two-step sign-in: codes of an authenticator app (RFC 6238), and recovery codes if it is lost. Each works once.

The secret is encrypted at rest for its row; recovery codes are stored as hashes.
"""

import hashlib
import hmac
import secrets

import sqlalchemy as sa

from app.accounts.actions import end_sessions, write_audit
from app.accounts.models import RecoveryCode, TeamMember
from app.core import clock, encryption
from app.core.db import db
from app.core.errors import Rejected

ISSUER = "Parley"
STEP_SECONDS = 30
DIGITS = 6
CODES = 10
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without letters that look alike."""
_HALF = 5


def throttle_name(member: TeamMember) -> str:
    """The name under which wrong codes are counted, apart from wrong passwords, which anyone can send."""
    return f"second factor of {member.id}"


def begin(member: TeamMember) -> None:
    """Create a secret that takes effect with ``confirm``. Raises Rejected if two-step sign-in is on."""
    import pyotp  # loaded with the first code

    if member.totp_since is not None:
        raise Rejected("Two-step sign-in is already on. Turn it off first.")
    member.totp_secret = encryption.seal(pyotp.random_base32(), context=_context(member))
    member.totp_step = None
    db.session.flush()


def pending_secret(member: TeamMember) -> str | None:
    """The secret that is waiting for its first code; None if two-step sign-in is on, or set-up was not started."""
    if member.totp_since is not None or member.totp_secret is None:
        return None
    return _opened(member)


def address_of(member: TeamMember, secret: str) -> str:
    """The ``otpauth://`` URI for the QR code."""
    import pyotp

    return pyotp.TOTP(secret, interval=STEP_SECONDS).provisioning_uri(name=member.email, issuer_name=ISSUER)


def confirm(member: TeamMember, code: str, *, but: str | None) -> list[str] | None:
    """Turn it on with the first code. Returns the recovery codes, which cannot be read again; None for a wrong code.

    Every session of the member ends ``but`` the one with this id.
    """
    secret = pending_secret(member)
    step = _step_of(secret, code) if secret is not None else None
    if step is None:
        return None
    turned_on = sa.update(TeamMember).values(totp_since=clock.now(), totp_step=step)
    if not _wins(turned_on.where(TeamMember.id == member.id, TeamMember.totp_since.is_(None)), TeamMember):
        return None
    end_sessions(member, but=but)
    write_audit(member.organization, action="member.second_factor_on", subject=member.id, by=member, details={})
    return _new_codes(member)


def accepts(member: TeamMember, text: str) -> bool:
    """Whether this is the app's current code or a recovery code; calling this uses it up."""
    code = "".join(letter for letter in text.lower() if letter.isalnum())
    if member.totp_since is None:
        return False
    return _accepts_code(member, code) if len(code) == DIGITS else _accepts_recovery(member, code)


def renew_codes(member: TeamMember) -> list[str]:
    """New recovery codes; the previous ones stop working."""
    write_audit(member.organization, action="member.recovery_codes", subject=member.id, by=member, details={})
    return _new_codes(member)


def turn_off(member: TeamMember, *, by: TeamMember | None) -> None:
    """``by`` is None for the command line."""
    if member.totp_since is not None:
        write_audit(member.organization, action="member.second_factor_off", subject=member.id, by=by, details={})
    member.totp_secret = member.totp_since = member.totp_step = None
    _forget_codes(member)


def codes_left(member: TeamMember) -> int:
    """The number of recovery codes that still work."""
    query = sa.select(sa.func.count()).where(RecoveryCode.member_id == member.id, RecoveryCode.used_at.is_(None))
    return db.session.execute(query).scalar_one()


def _opened(member: TeamMember) -> str | None:
    """The secret; None if SECRET_KEY has changed, so that only an administrator can help."""
    try:
        return encryption.unseal(member.totp_secret or "", context=_context(member))
    except encryption.SealBroken:
        return None


def _context(member: TeamMember) -> str:
    return f"team_member:{member.id}:totp_secret"


def _step_of(secret: str, code: str) -> int | None:
    """The half minute that the code belongs to: the current one or one to either side, for clocks slightly off."""
    import pyotp

    totp, now = pyotp.TOTP(secret), int(clock.now().timestamp()) // STEP_SECONDS
    digits = "".join(code.split()).encode()
    steps = [step for step in (now - 1, now, now + 1) if hmac.compare_digest(totp.generate_otp(step).encode(), digits)]
    return steps[0] if steps else None


def _accepts_code(member: TeamMember, code: str) -> bool:
    secret = _opened(member)
    step = _step_of(secret, code) if secret is not None else None
    if step is None:
        return False
    unused = sa.or_(TeamMember.totp_step.is_(None), TeamMember.totp_step < step)
    used = sa.update(TeamMember).where(TeamMember.id == member.id, unused).values(totp_step=step)
    return _wins(used, TeamMember)


def _accepts_recovery(member: TeamMember, code: str) -> bool:
    # nosemgrep: secret-compared-with-equals - the database compares hashes, by its index
    mine = (RecoveryCode.member_id == member.id, RecoveryCode.code_hash == _digest(member, code))
    unused = sa.update(RecoveryCode).where(*mine, RecoveryCode.used_at.is_(None))
    if not _wins(unused.values(used_at=clock.now()), RecoveryCode):
        return False
    write_audit(member.organization, action="member.recovery_code_used", subject=member.id, by=member, details={})
    return True


def _wins(change: sa.Update, row: type[TeamMember] | type[RecoveryCode]) -> bool:
    """Whether the conditional update changed a row."""
    return db.session.execute(change.returning(row.id)).first() is not None


def _new_codes(member: TeamMember) -> list[str]:
    _forget_codes(member)
    codes = ["".join(secrets.choice(_LETTERS) for _ in range(2 * _HALF)) for _ in range(CODES)]
    db.session.add_all(RecoveryCode(member_id=member.id, code_hash=_digest(member, code)) for code in codes)
    db.session.flush()
    return [f"{code[:_HALF]}-{code[_HALF:]}" for code in codes]


def _forget_codes(member: TeamMember) -> None:
    db.session.execute(sa.delete(RecoveryCode).where(RecoveryCode.member_id == member.id))
    db.session.flush()


def _digest(member: TeamMember, code: str) -> str:
    message = f"{member.id}:{code}".encode()
    return hmac.new(encryption.derived_key("recovery codes"), message, hashlib.sha256).hexdigest()
