"""Signing in, signing out, and the one-time set-up."""

import hmac

from flask import Response, abort, current_app, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from app import gateways
from app.accounts import actions, passwords, queries
from app.accounts.access import cookie_name, current_login, safe_next, setup_token
from app.accounts.forms import SetUpForm, SignInForm
from app.accounts.models import TeamMember
from app.accounts.pages.blueprint import pages
from app.accounts.pages.known_browsers import known_browser, remember_browser
from app.accounts.pages.second_step import ask_for_code
from app.core.db import db
from app.core.errors import Conflict
from app.settings import Settings
from app.web.pages import home
from app.web.rate_limits import address_of_request

WRONG = "The email address or password is wrong."
MEANWHILE = "Or choose a new password now with “Forgot your password?” below."


@pages.route("/sign-in", methods=["GET", "POST"])
def sign_in() -> ResponseReturnValue:
    form = SignInForm()
    target = safe_next(form.next.data or request.args.get("next")) or home()
    if current_login() is not None and request.method == "GET":
        return redirect(target)
    if not form.validate_on_submit():
        form.next.data = safe_next(form.next.data or request.args.get("next")) or ""
        return _sign_in_page(form)
    email = form.email.data
    attempt = passwords.note(email, address_of_request(), browser=known_browser(email), mildly=True)
    db.session.commit()
    if wait := passwords.wait_for(attempt):
        passwords.withdraw(attempt)
        db.session.commit()
        meanwhile = f" {MEANWHILE}" if gateways.current().mail.is_configured else ""
        form.form_errors.append(passwords.too_many(wait) + meanwhile)
        return _sign_in_page(form), 429, {"Retry-After": str(wait)}
    member = _member_with(email, form.password.data)
    if member is None:
        form.form_errors.append(WRONG)
        return _sign_in_page(form), 422
    passwords.succeeded(attempt)
    response = ask_for_code(member, target) if member.totp_since is not None else signed_in(member, target)
    db.session.commit()
    return response


def _sign_in_page(form: SignInForm) -> str:
    return render_template("accounts/sign_in.html", form=form, is_new=not queries.has_organization())


def _member_with(email: str, password: str) -> TeamMember | None:
    """The member whose password it is. Hashing is slow, so no transaction stays open."""
    row = queries.member_by_address(email)
    usable = row is not None and row.disabled_at is None and row.organization.disabled_at is None
    stored = row.password_hash if row is not None and usable else None
    member_id = row.id if row is not None else ""
    db.session.rollback()
    if not passwords.matches(stored, password):
        return None
    rehashed = passwords.hashed(password) if stored and passwords.needs_rehash(stored) else None
    # nosemgrep: row-by-id-in-edge - the member who is signing in, once their password was checked
    member = db.session.get(TeamMember, member_id)
    if member is not None and rehashed is not None:
        member.password_hash = rehashed
    return member


def signed_in(member: TeamMember, target: str) -> Response:
    """Start a session, set its cookie, and redirect to ``target``."""
    settings: Settings = current_app.extensions["parley.settings"]
    session.clear()  # a token from before signing in must not work afterwards
    before = current_login()
    if before is not None:
        actions.sign_out(before)
    _login, token = actions.sign_in(member, address=address_of_request(), browser=request.user_agent.string)
    response = redirect(target)
    response.set_cookie(
        cookie_name(settings),
        token,
        max_age=settings.session_hours * 3600,
        secure=settings.is_https,
        httponly=True,
        samesite="Lax",
        path="/",
    )
    remember_browser(response, member.email)
    return response  # type: ignore[return-value]


@pages.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    """End this browser's session; copies of its cookie stop working too."""
    login = current_login()
    if login is not None:
        actions.sign_out(login)
    db.session.commit()
    session.clear()
    settings: Settings = current_app.extensions["parley.settings"]
    response = redirect(url_for("accounts.sign_in"))
    response.delete_cookie(cookie_name(settings), path="/", secure=settings.is_https, httponly=True, samesite="Lax")
    return response


@pages.route("/setup/<token>", methods=["GET", "POST"])
def set_up(token: str) -> ResponseReturnValue:
    """The first administrator sets up the organization; the address stops working then."""
    settings: Settings = current_app.extensions["parley.settings"]
    if not hmac.compare_digest(token.encode(), setup_token(settings.secret_key).encode()):
        abort(404)
    if queries.has_organization():
        return render_template("accounts/set_up_done.html"), 410
    form = SetUpForm()
    if not form.validate_on_submit():
        return render_template("accounts/set_up.html", form=form), 422 if form.errors else 200
    db.session.rollback()
    hashed = passwords.hashed(form.password.data)
    try:
        created = actions.create_organization(
            form.organization.data,
            team_name=form.team.data,
            admin_email=form.email.data,
            admin_hash=hashed,
            admin_name=form.full_name.data,
            is_first=True,
        )
    except Conflict:
        db.session.rollback()
        return render_template("accounts/set_up_done.html"), 410
    response = signed_in(created.admin, home())
    db.session.commit()
    return response
