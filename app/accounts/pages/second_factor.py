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
WRONG = "This code does not work. App codes last 30 seconds, and each code works once."


@pages.route("/sign-in/code", methods=["GET", "POST"])
def sign_in_code() -> ResponseReturnValue:
    step = waiting()
    if step is None:
        flash("The time for the code has run out. Sign in again.", "info")
        return redirect(url_for("accounts.sign_in"))
    member, target = step
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
    form.code.data = ""  # a code is never valid later
    return render_template("accounts/code.html", form=form), 429 if wait else 422, headers


def _judge(member: TeamMember, form: CodeForm) -> int:
    """Check the form's code and add errors to the form. Returns the seconds to wait after too many wrong codes."""
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
    """Two-step sign-in as it is: off, waiting for its first code, or on."""
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
    target = safe_next(request.form.get("next"))
    try:
        second_factor.begin(current_member())
    except Rejected as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
    else:
        db.session.commit()
    return redirect(url_for("accounts.second_factor", next=target), 303)


@pages.post("/second-factor/confirm")
def confirm_second_factor() -> ResponseReturnValue:
    """Turn it on with the first code; the recovery codes are shown once."""
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
    flash("Two-step sign-in is on. You were signed out in other browsers.", "good")
    return redirect(url_for("accounts.second_factor", next=safe_next(form.next.data)), 303)


@pages.post("/second-factor/codes")
def renew_recovery_codes() -> ResponseReturnValue:
    form, member = CodeForm(), current_member()
    refused = _refused(form, member)
    if refused is not None:
        return refused
    codes = second_factor.renew_codes(member)
    db.session.commit()
    one_time.keep(_CODES, codes)
    flash("These are your new recovery codes. The old ones no longer work.", "good")
    return redirect(url_for("accounts.second_factor"), 303)


@pages.post("/second-factor/off")
def turn_off_second_factor() -> ResponseReturnValue:
    form, member = CodeForm(), current_member()
    refused = _refused(form, member)
    if refused is not None:
        return refused
    second_factor.turn_off(member, by=member)
    db.session.commit()
    flash("Two-step sign-in is off.", "good")
    return redirect(url_for("accounts.second_factor"), 303)


def _refused(form: CodeForm, member: TeamMember) -> ResponseReturnValue | None:
    """The page with the errors; None if the code was right, which uses it up. The caller commits."""
    if not form.validate_on_submit():
        return _page(form), 422
    wait = _judge(member, form)
    if not form.errors:
        return None
    db.session.commit()  # the failure counts
    return _page(form), 429 if wait else 422
