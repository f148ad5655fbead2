"""Change of a sign-in address, by the member or by an administrator, and the page that confirms it."""

from flask import flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from app import gateways
from app.accounts import actions, address_changes, passwords, queries
from app.accounts.access import current_login, current_member, require_admin
from app.accounts.forms import AddressForm, AddressOfMemberForm
from app.accounts.models import TeamMember
from app.accounts.pages.blueprint import pages
from app.accounts.pages.links import post_to
from app.accounts.password_links import Post
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.web import one_time
from app.web.rate_limits import address_of_request

_CONFIRM = "accounts.confirm_address"
NEW_LINK = "new_address_link"
SENT = (
    "If the new address can be used, we have sent a link to it. Open the link and confirm the change. Until then, sign "
    "in with the old address."
)


@pages.route("/profile/address", methods=["GET", "POST"])
def address() -> ResponseReturnValue:
    """Change of the member's own address, after the password."""
    form = AddressForm()
    if not form.validate_on_submit():
        return _page(form, status=422 if form.errors else 200)
    me = current_member()
    member_id, password_hash, mine, here = me.id, me.password_hash, f"address of {me.id}", address_of_request()
    attempt = passwords.note(mine, here)
    db.session.commit()
    if wait := passwords.wait_for(attempt):
        passwords.withdraw(attempt)
        db.session.commit()
        form.form_errors.append(passwords.too_many(wait))
        return _page(form, status=429)
    db.session.rollback()  # hashing is slow, so no transaction stays open
    if not passwords.matches(password_hash, form.password.data):
        form.password.errors = ["This is not your password."]
        return _page(form, status=422)
    passwords.withdraw(attempt)
    # nosemgrep: row-by-id-in-edge - the member who is signed in, once their password was checked
    return _changed(form, db.session.get_one(TeamMember, member_id))


def _changed(form: AddressForm, me: TeamMember) -> ResponseReturnValue:
    post = post_to(_CONFIRM)
    try:
        if post.by_mail:
            _asked(me, form.email.data, post)
            flash(SENT, "good")
        else:
            address_changes.change_at_once(me, form.email.data, but=getattr(current_login(), "id", None))
            flash("Email address changed. You were signed out in other browsers.", "good")
    except Rejected as refusal:
        db.session.rollback()
        form.email.errors = [f"This address {refusal.message}."]
        return _page(form, status=422)
    db.session.commit()
    return redirect(url_for("accounts.profile"))


def _asked(me: TeamMember, email: str, post: Post) -> None:
    """With mail, an address in use gets the same answer as any other, so no one learns who has an account."""
    try:
        address_changes.ask(me, email, post, by=me)
    except Rejected as refusal:
        if refusal.message != actions.IN_USE:
            raise
        address_changes.ask_in_vain(me, email, by=me)


def _page(form: AddressForm, *, status: int) -> ResponseReturnValue:
    me, by_mail = current_member(), gateways.current().mail.is_configured
    return render_template("accounts/address.html", form=form, member=me, by_mail=by_mail), status


@pages.post("/team/members/<member_id>/address")
def address_of_member(member_id: str) -> ResponseReturnValue:
    """Create a link that confirms a new address, for an administrator."""
    require_admin()
    me, form, post = current_member(), AddressOfMemberForm(), post_to(_CONFIRM)
    member = queries.member_of(me.organization, member_id)
    back = redirect(url_for("accounts.member", member_id=member_id))
    try:
        link = address_changes.ask(_who_signs_in(member), form.email.data or "", post, by=me)
    except Rejected as refusal:
        db.session.rollback()
        flash(f"Nothing was changed. The address {refusal.message}.", "bad")
        return back
    db.session.commit()
    one_time.keep(NEW_LINK, [member.id, link])
    sent = "We have sent the link to the new address. It is also shown below, only once."
    flash(sent if post.by_mail else "Copy the link below and give it to the member. It is shown only once.", "good")
    return back


def _who_signs_in(member: TeamMember) -> TeamMember:
    if member.disabled_at is not None or member.password_hash is None:
        raise Rejected("cannot be changed because this member cannot sign in")
    return member


@pages.route("/confirm-address/<token>", methods=["GET", "POST"])
def confirm_address(token: str) -> ResponseReturnValue:
    """The page of the link; opening it changes nothing, because mail scanners open links too."""
    form, change = AddressOfMemberForm(), address_changes.change_for(token)
    if change is None:
        return _over()
    if not form.is_submitted():
        return render_template("accounts/confirm_address.html", form=form, change=change)
    login = current_login()
    mine = login.id if login is not None and login.member_id == change.member_id else None
    try:
        member = address_changes.confirm(change, by_mail=gateways.current().mail.is_configured, but=mine)
    except (Conflict, Rejected):
        db.session.rollback()
        return _over()
    passwords.forget_failures(member.email)
    db.session.commit()
    flash("Email address changed. You were signed out in other browsers.", "good")
    return redirect(url_for("accounts.profile" if mine else "accounts.sign_in"))


def _over() -> ResponseReturnValue:
    return render_template("accounts/address_over.html"), 410
