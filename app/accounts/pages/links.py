"""Links by which members choose a password: made by administrators, or asked for by who has forgotten theirs."""

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
    """A link for the member, told on the member's page this once. The caller commits."""
    post = post_to(_CHOOSE)
    address = password_links.issue(member, post, by=by)
    one_time.keep(NEW_LINK, [member.id, address])
    if post.by_mail:
        flash("A mail with the link is on its way; the link is also shown below, this once.", "success")
    else:
        flash("No mail is sent from here: copy the link below and hand it over. It is shown this once.", "success")


def pop_link(name: str, member: TeamMember) -> str | None:
    """The link that was just made for this member and kept under ``name``, for one page."""
    made = one_time.pop(name)
    return made[1] if made is not None and made[0] == member.id else None


def post_to(endpoint: str) -> Post:
    """How links to this page leave."""
    settings: Settings = current_app.extensions["parley.settings"]
    return Post(lambda token: settings.app_url + url_for(endpoint, token=token), gateways.current().mail.is_configured)


@pages.post("/team/members/<member_id>/link")
def member_link(member_id: str) -> ResponseReturnValue:
    """A new invitation, or a link for a new password."""
    require_admin()
    me = current_member()
    member = queries.member_of(me.organization, member_id)
    if member.disabled_at is not None:
        raise Rejected("This member is disabled; enable them first.")
    invite(member, by=me)
    db.session.commit()
    return redirect(url_for("accounts.member", member_id=member_id))


@pages.route("/forgotten", methods=["GET", "POST"])
def forgotten() -> ResponseReturnValue:
    """A link by mail for whoever has forgotten the password. The answer tells nothing about who exists."""
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
    """A password by a link: the first one, which also opens the way in, or a new one, which is then asked for."""
    link = password_links.found(token)
    if link is None:
        return _over()
    is_first = link.kind is EntryKind.INVITATION
    form = ChoosePasswordForm(full_name=link.member.full_name)
    if not form.validate_on_submit():
        page = render_template("accounts/choose_password.html", form=form, member=link.member, is_first=is_first)
        return page, 422 if form.errors else 200
    db.session.rollback()  # hashing takes its time, so no transaction is open meanwhile
    hashed = passwords.hashed(form.password.data)
    return _chosen(password_links.found(token), hashed, full_name=form.full_name.data.strip() if is_first else None)


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
        flash("Your password is changed, and you are signed out everywhere. Sign in with the new one.", "success")
        response = redirect(url_for("accounts.sign_in"))
        remember_browser(response, member.email)  # strangers' guesses do not keep this browser waiting
    db.session.commit()
    return response


def _over() -> ResponseReturnValue:
    return render_template("accounts/link_over.html", by_mail=gateways.current().mail.is_configured), 410
