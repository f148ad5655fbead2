"""Pages of accounts: sign in and out, the one-time set-up, team, API keys, organization, signed-in browsers."""

import hmac
from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, abort, current_app, flash, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from werkzeug.local import LocalProxy
from wtforms.fields import SelectChoice

from app.accounts import actions, passwords, queries
from app.accounts.access import (
    cookie_name,
    current_login,
    current_member,
    member_or_none,
    require_admin,
    require_member,
    safe_next,
    setup_token,
)  # fmt: skip
from app.accounts.forms import KeyForm, MemberForm, OrganizationForm, SetUpForm, SignInForm, TeamForm
from app.accounts.models import Role, Team, TeamMember
from app.db import db
from app.errors import Conflict, NotFound, Rejected
from app.settings import Settings
from app.vault import SealBroken, seal, unseal
from app.web.limits import address_of_request
from app.web.pages import home
from app.web.security import keep_private

pages = Blueprint("accounts", __name__)

OPEN_TO_STRANGERS = frozenset({"accounts.sign_in", "accounts.set_up"})
WRONG = "Address or password is wrong."
_NEW_KEY = "new_key"


@pages.before_request
def guard() -> ResponseReturnValue | None:
    """Everything here needs a signed-in member, but for the ways in."""
    if request.endpoint in OPEN_TO_STRANGERS:
        keep_private()
        return None
    return require_member()


@pages.app_context_processor
def who() -> dict[str, Any]:
    """Templates show who is signed in. Looked up when a template asks, so that an error page needs no database."""
    return {"current_user": LocalProxy(member_or_none)}


@pages.route("/sign-in", methods=["GET", "POST"])
def sign_in() -> ResponseReturnValue:
    """The way in for members."""
    form = SignInForm()
    target = safe_next(form.next.data or request.args.get("next")) or home()
    if current_login() is not None and request.method == "GET":
        return redirect(target)
    if not form.validate_on_submit():
        form.next.data = safe_next(form.next.data or request.args.get("next")) or ""
        return _sign_in_page(form)
    wait = passwords.wait_before(form.email.data, address_of_request())
    if wait:
        db.session.rollback()
        seconds = int(wait.total_seconds()) + 1
        form.form_errors.append(f"Too many attempts. Please wait {seconds} seconds and try again.")
        return _sign_in_page(form), 429, {"Retry-After": str(seconds)}
    member = _member_with(form.email.data, form.password.data)
    if member is None:
        passwords.note_failure(form.email.data, address_of_request())
        db.session.commit()
        form.form_errors.append(WRONG)
        return _sign_in_page(form), 422
    passwords.forget_failures(form.email.data)
    response = _signed_in(member, target)
    db.session.commit()
    return response


def _sign_in_page(form: SignInForm) -> str:
    return render_template("accounts/sign_in.html", form=form)


def _member_with(email: str, password: str) -> TeamMember | None:
    """The member whose password it is. Hashing takes its time, so no transaction is open meanwhile."""
    found = queries.member_by_address(email)
    usable = found is not None and found.disabled_at is None and found.organization.disabled_at is None
    kept = found.password_hash if found is not None and usable else None
    member_id = found.id if found is not None else ""
    db.session.rollback()
    if not passwords.matches(kept, password):
        return None
    again = passwords.hashed(password) if kept and passwords.needs_rehash(kept) else None
    member = db.session.get(TeamMember, member_id)
    if member is not None and again is not None:
        member.password_hash = again
    return member


def _signed_in(member: TeamMember, target: str) -> Response:
    settings: Settings = current_app.extensions["parley.settings"]
    session.clear()  # a token known before signing in is worth nothing afterwards
    before = current_login()
    if before is not None:
        actions.sign_out(before)
    _login, token = actions.sign_in(member, address=address_of_request(), browser=request.user_agent.string)
    response = redirect(target)
    response.set_cookie(
        cookie_name(settings), token, max_age=settings.session_hours * 3600, secure=settings.is_https, httponly=True,
        samesite="Lax", path="/",
    )  # fmt: skip
    return response  # type: ignore[return-value]


@pages.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    """End this browser's session, for every copy of its cookie."""
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
    """The first administrator names organization and team; the address dies with the first organization."""
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
        founded = actions.found_organization(
            form.organization.data, team_name=form.team.data, admin_email=form.email.data, admin_hash=hashed,
            admin_name=form.full_name.data, is_first=True,
        )  # fmt: skip
    except Conflict:
        db.session.rollback()
        return render_template("accounts/set_up_done.html"), 410
    response = _signed_in(founded.admin, url_for("accounts.api_keys"))
    db.session.commit()
    _remember_key(founded.key)
    return response


@pages.get("/team")
def team() -> str:
    """Who works here, and in which team."""
    return _team_page(MemberForm(), TeamForm())


def _team_page(member_form: MemberForm, team_form: TeamForm) -> str:
    organization = current_member().organization
    teams = queries.teams_of(organization)
    member_form.team.choices = _team_choices(teams)
    members = queries.members_of(organization, None)
    return render_template(
        "accounts/team.html", members=members, teams=teams, form=member_form, team_form=team_form,
        may_change=current_member().role == Role.ADMIN,
    )  # fmt: skip


def _team_choices(teams: Sequence[Team]) -> list[SelectChoice]:
    return [SelectChoice(team.id, team.name) for team in teams]


@pages.post("/team/members")
def add_member() -> ResponseReturnValue:
    """A further member with a first password."""
    require_admin()
    form = MemberForm()
    form.team.choices = _team_choices(queries.teams_of(current_member().organization))
    db.session.rollback()
    if not form.validate_on_submit():
        return _team_page(form, TeamForm(formdata=None)), 422
    hashed = passwords.hashed(form.password.data)
    me = current_member()
    try:
        member = actions.add_member(
            me.organization, form.email.data, full_name=form.full_name.data, role=Role(form.role.data),
            teams=[queries.team_of(me.organization, form.team.data)], password_hash=hashed, by=me,
        )  # fmt: skip
    except Rejected as error:
        db.session.rollback()
        getattr(form, error.field or "email").errors = [f"This {error.message}."]
        return _team_page(form, TeamForm(formdata=None)), 422
    db.session.commit()
    flash(f"{member.email} can sign in now. Hand over the first password in person.", "success")
    return redirect(url_for("accounts.team"))


@pages.post("/team/teams")
def add_team() -> ResponseReturnValue:
    """A further team."""
    require_admin()
    form = TeamForm()
    if not form.validate_on_submit():
        return _team_page(MemberForm(formdata=None), form), 422
    me = current_member()
    actions.add_team(me.organization, form.name.data, by=me)
    db.session.commit()
    flash("The team was added.", "success")
    return redirect(url_for("accounts.team"))


@pages.get("/api-keys")
def api_keys() -> str:
    """Keys that work, and the new one, this once."""
    require_admin()
    return _keys_page(KeyForm(), new_key=_pop_key())


def _keys_page(form: KeyForm, *, new_key: str | None = None) -> str:
    keys = queries.keys_of(current_member().organization)
    return render_template("accounts/api_keys.html", keys=keys, form=form, new_key=new_key)


@pages.post("/api-keys")
def create_api_key() -> ResponseReturnValue:
    """A further key."""
    require_admin()
    form = KeyForm()
    if not form.validate_on_submit():
        return _keys_page(form), 422
    me = current_member()
    _row, key = actions.issue_api_key(me.organization, name=form.name.data, by=me)
    db.session.commit()
    _remember_key(key)
    return redirect(url_for("accounts.api_keys"))


@pages.post("/api-keys/<key_id>/revoke")
def revoke_api_key(key_id: str) -> ResponseReturnValue:
    """The key ends now."""
    require_admin()
    me = current_member()
    key = queries.key_for(me.organization, key_id)
    actions.revoke_api_key(key, by=me)
    db.session.commit()
    flash(f"The key …{key.last4} no longer works.", "success")
    return redirect(url_for("accounts.api_keys"))


def _remember_key(key: str) -> None:
    """For the next page only. The cookie is signed but readable, so the key travels sealed."""
    session[_NEW_KEY] = seal(key, context=_NEW_KEY)


def _pop_key() -> str | None:
    try:
        return unseal(session.pop(_NEW_KEY), context=_NEW_KEY) if _NEW_KEY in session else None
    except SealBroken:
        return None


@pages.route("/settings", methods=["GET", "POST"])
def organization() -> ResponseReturnValue:
    """Settings of the organization."""
    require_admin()
    me = current_member()
    form = OrganizationForm(request.form if request.method == "POST" else None, obj=me.organization)
    if form.validate_on_submit():
        actions.set_assess_language(me.organization, wanted=form.assess_language.data, by=me)
        db.session.commit()
        flash("Saved.", "success")
        return redirect(url_for("accounts.organization"))
    return render_template("accounts/organization.html", form=form, organization=me.organization)


@pages.get("/sessions")
def sessions() -> str:
    """Browsers in which the member is signed in."""
    return render_template("accounts/sessions.html", logins=queries.logins_of(current_member()), this=current_login())


@pages.post("/sessions/<login_id>/end")
def end_session(login_id: str) -> ResponseReturnValue:
    """End one of the member's own sessions."""
    login = queries.login_of(current_member(), login_id)
    if login is None:
        raise NotFound("There is no such session of yours.")
    actions.sign_out(login)
    db.session.commit()
    flash("That browser is signed out.", "success")
    return redirect(url_for("accounts.sessions"))
