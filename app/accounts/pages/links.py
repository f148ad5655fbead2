"""Links to choose a password: created by administrators, or requested by members who forgot theirs."""

from flask import current_app, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from app import gateways
from app.accounts import password_links, passwords, queries
from app.accounts.access import current_member, require_admin
from app.accounts.forms import ChoosePasswordForm, ForgottenForm
from app.accounts.models import EntryKind, EntryLink, TeamMember
from app.accounts.pages.blueprint import pages
from app.accounts.pages.known_browsers import known_browser, remember_browser
from app.accounts.pages.sign_in import signed_in
from app.accounts.password_links import Post
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.settings import Settings
from app.web import one_time
from app.web.pages import home
from app.web.rate_limits import address_of_request

_CHOOSE = "accounts.choose_password"
NEW_LINK = "new_link"


def invite(member: TeamMember, *, by: TeamMember) -> None:
    """Create a link and show it once on the member's page. The caller commits."""
    post = post_to(_CHOOSE)
    address = password_links.issue(member, post, by=by)
    one_time.keep(NEW_LINK, [member.id, address])
    if post.by_mail:
        flash("We have sent the link by email. It is also shown below, only once.", "good")
    else:
        flash(
            "This installation does not send email. Copy the link below and give it to the member. It is shown "
            "only once.",
            "good",
        )


def pop_link(name: str, member: TeamMember) -> str | None:
    """The link that was just created for this member and stored under ``name``, for one page."""
    entry = one_time.pop(name)
    return entry[1] if entry is not None and entry[0] == member.id else None


def post_to(endpoint: str) -> Post:
    """How links to this page are delivered."""
    settings: Settings = current_app.extensions["parley.settings"]
    return Post(lambda token: settings.app_url + url_for(endpoint, token=token), gateways.current().mail.is_configured)


@pages.post("/team/members/<member_id>/link")
def member_link(member_id: str) -> ResponseReturnValue:
    """Create a new invitation, or a link to reset the password."""
    require_admin()
    me = current_member()
    member = queries.member_of(me.organization, member_id)
    if member.disabled_at is not None:
        raise Rejected("This member is disabled. Enable them first.")
    invite(member, by=me)
    db.session.commit()
    return redirect(url_for("accounts.member", member_id=member_id))


@pages.route("/forgotten", methods=["GET", "POST"])
def forgotten() -> ResponseReturnValue:
    """Mail a link to reset the password. The answer does not reveal which accounts exist."""
    form = ForgottenForm()
    by_mail = gateways.current().mail.is_configured
    if not by_mail or not form.validate_on_submit():
        page = render_template("accounts/forgotten.html", form=form, by_mail=by_mail, is_sent=False)
        return page, 422 if form.errors else 200
    name, address = f"link for {form.email.data.strip().lower()}", f"link {address_of_request()}"
    attempt = passwords.note(name, address, browser=known_browser(form.email.data), mildly=True)
    db.session.commit()
    if wait := passwords.wait_for(attempt):
        passwords.withdraw(attempt)
        db.session.commit()
        form.form_errors.append(passwords.too_many(wait))
        page = render_template("accounts/forgotten.html", form=form, by_mail=True, is_sent=False)
        return page, 429, {"Retry-After": str(wait)}
    member = queries.member_by_address(form.email.data)
    if member is not None and member.disabled_at is None and member.organization.disabled_at is None:
        password_links.issue(member, post_to(_CHOOSE), by=None)
    db.session.commit()
    return render_template("accounts/forgotten.html", form=form, by_mail=True, is_sent=True)


@pages.route("/choose-password/<token>", methods=["GET", "POST"])
def choose_password(token: str) -> ResponseReturnValue:
    """Choose a password through a link. The first one also signs in; after a reset the member signs in with it."""
    link = password_links.link_for(token)
    if link is None:
        return _over()
    is_first = link.kind is EntryKind.INVITATION
    form = ChoosePasswordForm(full_name=link.member.full_name)
    if not form.validate_on_submit():
        page = render_template("accounts/choose_password.html", form=form, member=link.member, is_first=is_first)
        return page, 422 if form.errors else 200
    db.session.rollback()  # hashing is slow, so no transaction stays open
    hashed = passwords.hashed(form.password.data)
    return _chosen(password_links.link_for(token), hashed, full_name=form.full_name.data.strip() if is_first else None)


def _chosen(link: EntryLink | None, hashed: str, *, full_name: str | None) -> ResponseReturnValue:
    if link is None:
        return _over()
    is_first = link.kind is EntryKind.INVITATION
    try:
        member = password_links.use(link, hashed, full_name=full_name)
    except Conflict:
        db.session.rollback()
        return _over()
    passwords.forget_failures(member.email)
    if is_first:
        response: ResponseReturnValue = signed_in(member, home())
    else:
        flash("Password changed. You were signed out everywhere. Sign in with the new password.", "good")
        response = redirect(url_for("accounts.sign_in"))
        remember_browser(response, member.email)  # other people's guesses do not make this browser wait
    db.session.commit()
    return response


def _over() -> ResponseReturnValue:
    return render_template("accounts/link_over.html", by_mail=gateways.current().mail.is_configured), 410
