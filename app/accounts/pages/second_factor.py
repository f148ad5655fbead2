"""Two-step sign-in: the code after the password, and the member's own page to set it up, renew codes, turn it off."""

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts import passwords, second_factor
from app.accounts.access import current_login, current_member, needs_second_factor, safe_next
from app.accounts.forms import CodeForm
from app.accounts.models import TeamMember
from app.accounts.pages.blueprint import pages
from app.accounts.pages.second_step import waiting
from app.accounts.pages.sign_in import signed_in
from app.core.db import db
from app.core.errors import Rejected
from app.web import one_time
from app.web.rate_limits import address_of_request
from app.web.templating import qr_code

_CODES = "recovery_codes"
WRONG = "This code does not work. Codes of the app last half a minute, and every code works once."


@pages.route("/sign-in/code", methods=["GET", "POST"])
def sign_in_code() -> ResponseReturnValue:
    """The second step of signing in."""
    found = waiting()
    if found is None:
        flash("Please sign in again: the time for the code is over.", "info")
        return redirect(url_for("accounts.sign_in"))
    member, target = found
    form = CodeForm()
    if not form.validate_on_submit():
        return render_template("accounts/code.html", form=form), 422 if form.errors else 200
    wait = _judge(member, form)
    if not form.errors:
        response = signed_in(member, target)
        db.session.commit()
        return response
    db.session.commit()  # the failure counts
    headers = {"Retry-After": str(wait)} if wait else {}
    form.code.data = ""  # a code is never right later
    return render_template("accounts/code.html", form=form), 429 if wait else 422, headers


def _judge(member: TeamMember, form: CodeForm) -> int:
    """Write into the form what is wrong with its code; seconds to wait, if there were too many wrong ones."""
    name, address = second_factor.throttle_name(member), address_of_request()
    attempt = passwords.note(name, address)
    db.session.commit()
    if wait := passwords.wait_for(attempt):
        passwords.withdraw(attempt)
        form.code.errors = [passwords.too_many(wait)]
        return wait
    if second_factor.accepts(member, form.code.data):
        passwords.succeeded(attempt)
    else:
        form.code.errors = [WRONG]
    return 0


@pages.get("/second-factor", endpoint="second_factor")
def second_factor_page() -> str:
    """What there is: nothing yet, a secret that waits for its first code, or two-step sign-in with its codes."""
    return _page(CodeForm(formdata=None, next=safe_next(request.args.get("next")) or ""))


def _page(form: CodeForm) -> str:
    member, form.code.data = current_member(), ""
    secret = second_factor.pending_secret(member)
    return render_template(
        "accounts/second_factor.html",
        member=member,
        form=form,
        secret=secret,
        new_codes=one_time.pop(_CODES),
        go_on=safe_next(form.next.data),
        picture=qr_code(second_factor.address_of(member, secret)) if secret else None,
        left=second_factor.codes_left(member) if member.totp_since else 0,
        is_needed=needs_second_factor(member),
    )


@pages.post("/second-factor/begin")
def begin_second_factor() -> ResponseReturnValue:
    """A secret for the authenticator app."""
    target = safe_next(request.form.get("next"))
    try:
        second_factor.begin(current_member())
    except Rejected as refusal:
        db.session.rollback()
        flash(refusal.message, "error")
    else:
        db.session.commit()
    return redirect(url_for("accounts.second_factor", next=target), 303)


@pages.post("/second-factor/confirm")
def confirm_second_factor() -> ResponseReturnValue:
    """The first code turns it on; the recovery codes are shown once."""
    form, member = CodeForm(), current_member()
    if not form.validate_on_submit():
        return _page(form), 422
    name, address = second_factor.throttle_name(member), address_of_request()
    attempt = passwords.note(name, address)
    db.session.commit()
    wait = passwords.wait_for(attempt)
    codes = None if wait else second_factor.confirm(member, form.code.data, but=getattr(current_login(), "id", None))
    if codes is None:
        if wait:
            passwords.withdraw(attempt)
            db.session.commit()
        form.code.errors = [passwords.too_many(wait) if wait else WRONG]
        return _page(form), 429 if wait else 422
    passwords.succeeded(attempt)
    db.session.commit()
    one_time.keep(_CODES, codes)
    flash("Two-step sign-in is on, and other browsers are signed out.", "success")
    return redirect(url_for("accounts.second_factor", next=safe_next(form.next.data)), 303)


@pages.post("/second-factor/codes")
def renew_recovery_codes() -> ResponseReturnValue:
    """New recovery codes, for a code."""
    form, member = CodeForm(), current_member()
    refused = _refused(form, member)
    if refused is not None:
        return refused
    codes = second_factor.renew_codes(member)
    db.session.commit()
    one_time.keep(_CODES, codes)
    flash("These are new recovery codes; the ones of before no longer work.", "success")
    return redirect(url_for("accounts.second_factor"), 303)


@pages.post("/second-factor/off")
def turn_off_second_factor() -> ResponseReturnValue:
    """Off again, for a code."""
    form, member = CodeForm(), current_member()
    refused = _refused(form, member)
    if refused is not None:
        return refused
    second_factor.turn_off(member, by=member)
    db.session.commit()
    flash("Two-step sign-in is off.", "success")
    return redirect(url_for("accounts.second_factor"), 303)


def _refused(form: CodeForm, member: TeamMember) -> ResponseReturnValue | None:
    """The page with what is wrong, unless the code is right; then it is used up, and the caller commits."""
    if not form.validate_on_submit():
        return _page(form), 422
    wait = _judge(member, form)
    if not form.errors:
        return None
    db.session.commit()  # the failure counts
    return _page(form), 429 if wait else 422
