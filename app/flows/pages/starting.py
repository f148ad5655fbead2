"""What a new flow starts with: a template of Parley's, or one of the organization's own."""

from typing import Any

from app.accounts.access import current_member
from app.core.db import is_id
from app.flows import criteria_form
from app.flows.forms import BLANK, form_of
from app.flows.library.actions import values_of
from app.flows.library.queries import template_seen_by
from app.flows.models import InterviewFlow
from app.flows.role_templates import template_with


def values_with(template_id: str) -> dict[str, Any]:
    """The values of a flow that is created from the template as it is. Raises NotFound, Unseen."""
    member = current_member()
    if is_id(template_id):
        return values_of(template_seen_by(member, template_id))
    return template_with(template_id).values(member.organization.name)


def form_with(template_id: str) -> dict[str, Any]:
    """Initial data of the form of a new flow: an empty one without a template. Raises as ``values_with``."""
    org_name = current_member().organization.name
    if not template_id:
        return {**BLANK, "org_name": org_name}
    if not is_id(template_id):
        return template_with(template_id).form(org_name)
    template = template_seen_by(current_member(), template_id)
    values = values_of(template)
    criteria = criteria_form.form_of(values.pop("criteria"))
    return {**form_of(InterviewFlow(**values, team_id=template.team_id)), "criteria": criteria}
