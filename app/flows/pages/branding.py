"""The organization's logo and accent color, for flows without their own."""

from flask import flash, redirect, render_template, request, url_for

from app import gateways
from app.accounts.access import current_member, require_admin
from app.core.db import db
from app.core.errors import GatewayError, NotFound, Rejected
from app.flows import accent, actions, media
from app.flows.branding_form import BrandingForm
from app.flows.pages.files import stored_file
from app.flows.pages.flows import Answer, pages
from app.web.security import keep_private


@pages.get("/organization/branding")
def branding() -> str:
    """The form."""
    require_admin()
    return _page(BrandingForm(data={"accent": current_member().organization.accent or ""}))


@pages.get("/organization/logo")
def organization_logo() -> Answer:
    """The organization's logo, for the form."""
    key = current_member().organization.logo_key
    if key is None:
        raise NotFound("Your organization has no logo.")
    keep_private()
    return stored_file(key)


@pages.post("/organization/branding")
def keep_branding() -> Answer:
    """Save the color and the logo. Pages that are already open keep what they show."""
    require_admin()
    form, organization, member = BrandingForm(), current_member().organization, current_member()
    if request.form.get("accent_instead"):
        form.accent.data = request.form["accent_instead"]
    outside = gateways.current()
    try:
        color = accent.checked(form.accent.data or "")
        wanted = form.wanted_media()
        db.session.commit()  # ends the read: storing is slow
        with media.stored(wanted, http=outside.http, storage=outside.storage) as files:
            try:
                replaced = actions.set_branding(
                    organization, accent=color, files=files, without=form.without(), by=member
                )
                db.session.commit()
            except BaseException:
                db.session.rollback()  # before the files are deleted again
                raise
    except Rejected as refusal:
        form.blame(refusal)
        return _page(form), 422
    except GatewayError as error:
        form.blame(Rejected(f"{error.message} Nothing was saved. Try again."))
        return _page(form), 503
    media.discard(replaced, storage=outside.storage)
    flash("The branding was saved. Candidates see it in every flow that does not have its own.", "good")
    return redirect(url_for("flows.branding"), 303)


def _page(form: BrandingForm) -> str:
    organization = current_member().organization
    return render_template(
        "flows/branding.html",
        form=form,
        organization=organization,
        nearest_accent=accent.nearest(form.accent.data or ""),
    )
