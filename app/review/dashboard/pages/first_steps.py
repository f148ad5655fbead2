"""The first steps of a new organization, at the top of the dashboard until they are done or hidden."""

from typing import Any

from flask import flash, redirect
from werkzeug.wrappers import Response

from app.accounts.access import current_member, require_admin, require_recruiter
from app.accounts.actions import hide_first_steps as hide
from app.accounts.actions import set_rates_first
from app.accounts.queries import teams_seen_by
from app.core.db import db
from app.flows.role_templates import all_templates
from app.review.dashboard.first_steps import first_steps_of
from app.review.dashboard.pages.tasks import pages
from app.web.pages import home


@pages.app_context_processor
def _first_steps() -> dict[str, Any]:
    """For the dashboard; queries only when called."""
    return {
        "first_steps_of_mine": lambda: first_steps_of(current_member()),
        "role_choices": lambda: [(template.id, template.label) for template in all_templates()],
        "team_choices_of_mine": lambda: [(team.id, team.name) for team in teams_seen_by(current_member())],
    }


@pages.post("/first-steps/hide")
def hide_first_steps() -> Response:
    """Hide the list for everyone in the organization."""
    require_recruiter()
    hide(current_member().organization)
    db.session.commit()
    flash("The first steps are hidden.", "good")
    return redirect(home(), 303)


@pages.post("/first-steps/rate-first")
def turn_on_rate_first() -> Response:
    """Let members rate results before they see the scores, in the whole organization."""
    require_admin()
    member = current_member()
    set_rates_first(member.organization, wanted=True, by=member)
    db.session.commit()
    flash("Rate first is on. You can change it in the organization settings, and for each flow.", "good")
    return redirect(home(), 303)
