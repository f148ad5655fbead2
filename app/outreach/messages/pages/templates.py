"""The organization's message templates, which administrators keep."""

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_admin
from app.candidates.models import Candidate
from app.core.db import db
from app.core.errors import Rejected
from app.flows.models import InterviewFlow
from app.gateways.mail import Mail
from app.interviews.models import Interview
from app.outreach.messages import actions, queries
from app.outreach.messages.actions import Draft
from app.outreach.messages.forms import PURPOSES, TemplateForm
from app.outreach.messages.models import Purpose
from app.outreach.messages.pages.blueprint import pages, post
from app.outreach.messages.queries import Recipient
from app.outreach.messages.words import PLACES
from app.web.languages import DEFAULT, ENGLISH_NAMES


@pages.get("/settings/messages")
def templates() -> str:
    """All templates by name."""
    require_admin()
    organization = current_member().organization
    return render_template(
        "outreach/messages/templates.html",
        templates=queries.templates_of(organization),
        purposes=PURPOSES,
        language_names=ENGLISH_NAMES,
        most=actions.MOST_TEMPLATES,
    )


@pages.route("/settings/messages/new", methods=["GET", "POST"])
def add_template() -> str | AnyResponse | tuple[str, int]:
    """An empty form; ``look`` shows a preview of what was typed."""
    require_admin()
    form = TemplateForm()
    if not form.is_submitted():
        form.language.data, form.purpose.data = DEFAULT, Purpose.GENERAL.value
        return _page(form, "")
    return _saved(form, "")


@pages.route("/settings/messages/<template_id>", methods=["GET", "POST"])
def template(template_id: str) -> str | AnyResponse | tuple[str, int]:
    """Change a template; ``look`` shows a preview of what was typed."""
    require_admin()
    found, form = queries.template_of(current_member().organization, template_id), TemplateForm()
    if not form.is_submitted():
        for name in ("name", "purpose", "language", "subject", "text"):
            form[name].data = getattr(found, name)
        return _page(form, template_id)
    return _saved(form, template_id)


@pages.post("/settings/messages/<template_id>/delete")
def delete_template(template_id: str) -> AnyResponse:
    """Delete a template. Messages that were sent stay."""
    require_admin()
    member = current_member()
    try:
        actions.delete_template(member.organization, template_id, by=member)
    except Rejected as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
        return redirect(url_for("messages.templates"), 303)
    db.session.commit()
    flash("The template was deleted.", "good")
    return redirect(url_for("messages.templates"), 303)


def _saved(form: TemplateForm, template_id: str) -> str | AnyResponse | tuple[str, int]:
    member = current_member()
    try:
        entry = form.entry()
        if "look" in request.form:
            actions.checked(entry.subject, entry.text)
            return _page(form, template_id)
        if template_id:
            actions.change_template(member.organization, template_id, entry, by=member)
        else:
            actions.add_template(member.organization, entry, by=member)
    except Rejected as refusal:
        db.session.rollback()
        form.blame(refusal.field, refusal.message)
        return _page(form, template_id), 422
    db.session.commit()
    flash("The template was saved.", "good")
    return redirect(url_for("messages.templates"), 303)


def _page(form: TemplateForm, template_id: str) -> str:
    return render_template(
        "outreach/messages/template.html", form=form, template_id=template_id, places=PLACES, sample=_sample(form)
    )


def _sample(form: TemplateForm) -> Mail | None:
    """The typed text as a made-up candidate would get it; None if it is not complete."""
    me = current_member()
    try:
        entry = form.entry()
        words = actions.checked(entry.subject, entry.text)
    except Rejected:
        return None
    flow = InterviewFlow(
        organization=me.organization, org_name=me.organization.name, title="Nurse", language=entry.language
    )
    candidate = Candidate(email="candidate@example.com", first_name="Maria", last_name="Silva")
    interview = Interview(id="…", flow_id="…", flow=flow, organization_id=me.organization_id)
    draft = Draft(words, language=entry.language)
    return actions.mail_to(Recipient(candidate, interview), draft, post(), by=me)
