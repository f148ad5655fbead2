"""The organization's settings, and the member's own profile, sessions and password."""

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions, passwords, queries
from app.accounts.access import current_login, current_member, require_admin
from app.accounts.forms import OrganizationForm, PasswordForm, ProfileForm
from app.accounts.models import TeamMember
from app.accounts.pages.blueprint import pages
from app.core.db import db
from app.core.errors import NotFound


@pages.route("/settings", methods=["GET", "POST"])
def organization() -> ResponseReturnValue:
    require_admin()
    me = current_member()
    form = OrganizationForm(request.form if request.method == "POST" else None, obj=me.organization)
    if form.validate_on_submit():
        actions.set_assess_language(me.organization, wanted=form.assess_language.data, by=me)
        actions.set_shows_status(me.organization, wanted=form.shows_status.data, by=me)
        actions.set_rates_first(me.organization, wanted=form.rates_first.data, by=me)
        db.session.commit()
        flash("Saved.", "good")
        return redirect(url_for("accounts.organization"))
    return render_template("accounts/organization.html", form=form, organization=me.organization)


@pages.route("/profile", methods=["GET", "POST"])
def profile() -> ResponseReturnValue:
    """The member's name, role and teams, with links to address, password and sessions."""
    me = current_member()
    form = ProfileForm(request.form if request.method == "POST" else None, obj=me)
    if form.validate_on_submit():
        actions.rename(me, form.full_name.data or "")
        db.session.commit()
        flash("Saved.", "good")
        return redirect(url_for("accounts.profile"))
    page = render_template(
        "accounts/profile.html",
        form=form,
        member=me,
        browsers=len(queries.logins_of(me)),
        teams=queries.teams_seen_by(me),
    )
    return page, 422 if form.errors else 200


@pages.get("/sessions")
def sessions() -> str:
    return render_template("accounts/sessions.html", logins=queries.logins_of(current_member()), this=current_login())


@pages.post("/sessions/<login_id>/end")
def end_session(login_id: str) -> ResponseReturnValue:
    login = queries.login_of(current_member(), login_id)
    if login is None:
        raise NotFound("You have no such session.")
    actions.sign_out(login)
    db.session.commit()
    flash("That browser was signed out.", "good")
    return redirect(url_for("accounts.sessions"))


@pages.route("/password", methods=["GET", "POST"])
def password() -> ResponseReturnValue:
    """Change the member's own password; other sessions end."""
    form = PasswordForm()
    if not form.validate_on_submit():
        return render_template("accounts/password.html", form=form), 422 if form.errors else 200
    member_id, password_hash = current_member().id, current_member().password_hash
    login_id = getattr(current_login(), "id", None)
    db.session.rollback()  # hashing is slow, so no transaction stays open
    if not passwords.matches(password_hash, form.current.data):
        form.current.errors = ["This is not your current password."]
        return render_template("accounts/password.html", form=form), 422
    hashed = passwords.hashed(form.password.data)
    # nosemgrep: row-by-id-in-edge - the member who is signed in, once their password was checked
    member = db.session.get_one(TeamMember, member_id)
    actions.change_password(member, hashed, but=login_id)
    db.session.commit()
    flash("Password changed. You were signed out in other browsers.", "good")
    return redirect(url_for("accounts.sessions"))
