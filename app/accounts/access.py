"""The guards that every blueprint registers: an API key for ``/v1``, a signed-in browser for pages, a role for some.

The caller is stored on the request, not in a global, so two requests never see each other's caller.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import sqlalchemy as sa
from flask import (
    Flask,
    Request,
    Response,
    after_this_request,
    current_app,
    g,
    redirect,
    render_template,
    request,
    url_for,
)
from flask_login import LoginManager, current_user

from app.accounts import actions, idempotency, key_guard, mcp_calls
from app.accounts.audit import entries
from app.accounts.key_scope import EVERYTHING, KeyScope, scope_of_key
from app.accounts.models import ApiKey, Login, Organization, Owner, Role, TeamMember
from app.core import clock
from app.core.db import db, row_security, set_reading
from app.core.db.prepared import Prepared
from app.core.encryption import derived_key
from app.core.errors import Forbidden
from app.settings import Settings
from app.web.errors import Failure, is_api_path, respond, typed_input
from app.web.rate_limits import KEY_ID, address_of_request, bearer_of_request
from app.web.security import keep_private

READING = frozenset({"GET", "HEAD", "OPTIONS"})

MARK_EVERY = timedelta(minutes=1)
"""``last used`` and ``last seen`` are written at most this often."""

UNAUTHORIZED = "Send a valid API key: Authorization: Bearer <API key>."

_KEY = "parley.key"
_CALLER = "parley.caller"
_IS_TEST = "parley.caller.is_test"
_LOGIN = "parley.login"


class Caller(NamedTuple):
    """Whose key it is, as plain values: most endpoints need no more, and a row costs more than all the rest of a call.

    ``id`` is the organization's; the two numbers are those of ``Organization`` when the key was looked up. ``scope`` is
    what the key may do.
    """

    id: str
    interview_seq: int
    interview_test_seq: int
    scope: KeyScope = EVERYTHING


class _Key(NamedTuple):
    """What the guard needs of a key, by one prepared statement."""

    id: str
    is_test: bool
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    is_read_only: bool
    hides_secrets: bool
    team_ids: list[str] | None
    flow_ids: list[str] | None
    disabled_at: datetime | None
    organization_id: str
    interview_seq: int
    interview_test_seq: int

    @property
    def owner(self) -> Caller:
        return Caller(self.organization_id, self.interview_seq, self.interview_test_seq, scope_of_key(self))


def require_api_key() -> Response | None:
    """Guard of every ``/v1`` blueprint: the same 401 for missing, malformed, unknown, expired and revoked keys.

    Refuses what is outside the key's scope, and answers a repeated ``Idempotency-Key``, before the endpoint runs.
    """
    environ = request.environ
    key: _Key | None = environ.get(_KEY)
    if key is None:
        return _unauthorized()
    owner = key.owner
    environ[_CALLER], environ[_IS_TEST] = owner, key.is_test
    if said := mcp_calls.said(key.id):
        _write_now(owner, mcp_calls.ACTION, key.id, by=None, details=said)
    key_guard.hold(owner, writes=request.method not in READING)
    return idempotency.before(key.organization_id, is_test=key.is_test, scope=owner.scope)


def _unauthorized() -> Response:
    return respond(Failure(401, UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"}))


def caller() -> Caller:
    """The organization whose key was sent."""
    owner: Caller = request.environ[_CALLER]
    return owner


def is_test_call() -> bool:
    return bool(request.environ[_IS_TEST])


def _recognise() -> None:
    """Look up the key before rate limits apply: calls with a valid key have their own limits."""
    environ = request.environ
    for name in (_KEY, KEY_ID):
        environ.pop(name, None)  # of the same request, if it runs again
    if is_api_path(request.path) and (bearer := bearer_of_request()) and (key := _working_key(bearer)):
        environ[_KEY], environ[KEY_ID] = key, key.id


def _working_key(bearer: str) -> _Key | None:
    digest = actions.key_digest(bearer)
    with _as_reader():
        with row_security.finding():
            rows = _key_by_digest().rows(digest=digest)
        key = _Key._make(rows[0]) if rows else None
        works = key is not None and _works(key)
        stale = works and key is not None and _is_stale(key.last_used_at)
        if key is not None:
            row_security.settle(key.organization_id)
        if request.method not in READING:
            db.end_reading()  # a caller without a key never waits for the database's one writer
    if key is None or not works:
        if key is not None:
            note_access(key.owner, "api_key.refused", key.id, by=None)
        return None
    if stale:
        _mark(
            sa.update(ApiKey).where(ApiKey.id == key.id),
            last_used_at=clock.now(),
            last_address=address_of_request()[:64],
        )
    return key


@cache
def _key_by_digest() -> Prepared:
    key, owner = ApiKey.__table__.c, Organization.__table__.c
    of_key = (key.id, key.is_test, key.expires_at, key.revoked_at, key.last_used_at)
    of_scope = (key.is_read_only, key.hides_secrets, key.team_ids, key.flow_ids)
    of_owner = (owner.disabled_at, owner.id, owner.interview_seq, owner.interview_test_seq)
    joined = sa.select(*of_key, *of_scope, *of_owner).join_from(
        ApiKey.__table__, Organization.__table__, owner.id == key.organization_id
    )
    return Prepared(joined.where(key.key_hash == sa.bindparam("digest")))


def _works(key: _Key) -> bool:
    now = clock.now()
    return key.revoked_at is None and (key.expires_at is None or key.expires_at > now) and key.disabled_at is None


def _is_stale(moment: datetime | None) -> bool:
    return moment is None or clock.now() - moment >= MARK_EVERY


@contextmanager
def _as_reader() -> Iterator[None]:
    set_reading(True)
    try:
        yield
    finally:
        set_reading(request.method in READING)


def _mark(statement: sa.Update, **values: object) -> None:
    """Write ``last used`` in a short separate transaction, even while the request only reads."""
    if request.method in READING:
        db.session.rollback()  # SQLite refuses a reader that starts to write after another connection has written
    set_reading(False)
    try:
        db.changed(statement.values(**values))
        db.session.commit()
    finally:
        set_reading(request.method in READING)


def note_access(organization: Owner, action: str, subject: str, *, by: TeamMember | None, **details: object) -> None:
    """Record that something was viewed, at most once an hour for the same subject, in a separate transaction.

    Call it at the beginning of a GET: rows that were read before are read again.
    """
    if entries.was_noted(organization.id, action, subject, member_id=by.id if by else None):
        return
    _write_now(organization, action, subject, by=by, details=details)


def _write_now(
    organization: Owner, action: str, subject: str, *, by: TeamMember | None, details: dict[str, object]
) -> None:
    """Write an audit entry in a short separate transaction, even while the request only reads."""
    if request.method in READING:
        db.session.rollback()
    set_reading(False)
    try:
        actions.write_audit(organization, action=action, subject=subject, by=by, details=details)
        db.session.commit()
    finally:
        set_reading(request.method in READING)


def cookie_name(settings: Settings) -> str:
    """``__Host-sid`` over TLS; plain http cannot carry the prefix."""
    return "__Host-sid" if settings.is_https else "sid"


def current_login() -> Login | None:
    """The signed-in browser of this request, if its login is neither ended, nor idle too long, nor too old."""
    if _LOGIN not in request.environ:
        request.environ[_LOGIN] = _find_login()
    login: Login | None = request.environ[_LOGIN]
    return login


def _find_login() -> Login | None:
    settings: Settings = current_app.extensions["parley.settings"]
    token = request.cookies.get(cookie_name(settings), "")
    if not token:
        return None
    with row_security.finding():
        login = db.session.scalar(sa.select(Login).where(Login.token_hash == actions.login_digest(token)))
        if login is None or not _lives(login, settings):
            return None
        organization_id = login.member.organization_id
    row_security.settle(organization_id)
    if _is_stale(login.seen_at) and not _is_polled():
        _mark(sa.update(Login).where(Login.id == login.id), seen_at=clock.now())
    return login


View = TypeVar("View", bound=Callable[..., Any])
_POLLED: set[object] = set()
_UPLOADS: dict[object, int] = {}


def polled(view: View) -> View:
    """Mark a view that open tabs ask by themselves: it does not prolong the session, because the member may be away."""
    _POLLED.add(view)
    return view


def accepts_upload(most: int) -> Callable[[View], View]:
    """Mark a view that takes a form of up to ``most`` bytes, from signed-in browsers alone."""

    def mark(view: View) -> View:
        _UPLOADS[view] = most
        return view

    return mark


def accept_uploads(app: Flask) -> None:
    """Let signed-in browsers send large forms. Comes before the check of the form's token, which reads the form, and
    after the request's rows and mode are chosen, because it looks for the login.
    """
    app.before_request(_make_room)


def _make_room() -> None:
    """The files of the form end with the request."""
    most = request.method == "POST" and _UPLOADS.get(current_app.view_functions.get(request.endpoint or ""), 0)
    if most and current_login() is not None:
        request.max_content_length = most
        after_this_request(_close_files)


def _close_files(response: Response) -> Response:
    request.close()
    return response


def _is_polled() -> bool:
    return current_app.view_functions.get(request.endpoint or "") in _POLLED


def _lives(login: Login, settings: Settings) -> bool:
    now = clock.now()
    return (
        login.ended_at is None
        and now - login.seen_at < timedelta(minutes=settings.session_idle_minutes)
        and now - login.created_at < timedelta(hours=settings.session_hours)
        and login.member.disabled_at is None
        and login.member.organization.disabled_at is None
    )


def require_member() -> Response | tuple[str, int] | None:
    """Guard of page blueprints: without a session → the sign-in page, and back here afterwards.

    What was typed into a form is shown again after signing in, so nothing is lost.
    """
    keep_private()
    login = current_login()
    if login is not None and (request.endpoint in TO_SET_UP or not needs_second_factor(login.member)):
        return None
    if login is not None and request.method not in {"GET", "HEAD"}:
        raise Forbidden("Administrators need two-step sign-in. Set it up in your profile first.")
    if request.method in {"GET", "HEAD"}:
        way = "accounts.sign_in" if login is None else "accounts.second_factor"
        return redirect(url_for(way, next=request.full_path.rstrip("?")))  # type: ignore[return-value]
    return render_template("errors/signed_out.html", typed=typed_input()), 401


TO_SET_UP = frozenset(
    f"accounts.{name}" for name in ("second_factor", "begin_second_factor", "confirm_second_factor", "sign_out")
)


def needs_second_factor(member: TeamMember) -> bool:
    """Whether the member must set up two-step sign-in before anything else."""
    settings: Settings = current_app.extensions["parley.settings"]
    return settings.admins_need_totp and member.role == Role.ADMIN and member.totp_since is None


def current_member() -> TeamMember:
    """The signed-in member; only behind ``require_member``."""
    if not current_user:
        raise Forbidden("You are not signed in.")
    member: TeamMember = current_user._get_current_object()  # noqa: SLF001 - how a LocalProxy hands out its object
    return member


login_manager = LoginManager()
login_manager.anonymous_user = lambda: None


@login_manager.request_loader
def _member_of(_request: Request) -> TeamMember | None:
    login = current_login()
    return login.member if login else None


def register(app: Flask) -> None:
    """Give the application Flask-Login's ``current_user``, read from the ``login`` rows.

    Not ``init_app``: its hook after each request reads the session cookie, and ``/v1`` reads no cookies.
    """
    app.login_manager = login_manager  # type: ignore[attr-defined]
    app.before_request(_forget_who)
    app.before_request(_recognise)


def _forget_who() -> None:
    # Flask-Login remembers on ``g``, and an application context may span several requests.
    g.pop("_login_user", None)


def require_admin() -> None:
    """Raises Forbidden for other roles; only behind ``require_member``."""
    if current_member().role != Role.ADMIN:
        raise Forbidden("Only administrators can do this.")


def require_recruiter() -> None:
    """Raises Forbidden for viewers; only behind ``require_member``."""
    if current_member().role == Role.VIEWER:
        raise Forbidden("Viewers cannot change anything.")


def safe_next(address: str | None) -> str | None:
    """``address`` if it is a path of this site, else None, so that signing in never redirects to another site."""
    if not address or not address.startswith("/") or address.startswith(("//", "/\\")) or "\\" in address:
        return None
    if any(ord(letter) < 32 for letter in address):
        return None
    parts = urlsplit(address)
    return address if not parts.scheme and not parts.netloc else None


def setup_token(secret_key: str) -> str:
    """The secret part of the set-up address; anyone who can read SECRET_KEY or the log of the first start has it."""
    return hmac.new(derived_key("set-up", secret_key=secret_key), b"first organization", hashlib.sha256).hexdigest()[
        :40
    ]


def setup_address(settings: Settings) -> str:
    """Where the first administrator sets the installation up; it stops working once an organization exists."""
    return f"{settings.app_url}/setup/{setup_token(settings.secret_key)}"
