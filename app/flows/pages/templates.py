"""Starting a flow from a template: one of the organization's own, or the script of a common role."""

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.accounts.access import current_member, require_recruiter
from app.accounts.models import Team
from app.accounts.queries import teams_seen_by
from app.core.db import db
from app.core.errors import Forbidden
from app.flows import actions
from app.flows.forms import language_name
from app.flows.library.queries import templates_seen_by
from app.flows.media import StoredMedia
from app.flows.pages.flows import Answer, pages
from app.flows.pages.starting import values_with
from app.flows.role_templates import all_templates

NO_TEAM = "You are not in a team yet. Every flow belongs to a team: ask an administrator to add you to one."


@pages.get("/flows/templates")
def templates() -> str:
    """Every template with its questions, to create a flow from at once or to change first."""
    require_recruiter()
    teams = teams_seen_by(current_member())
    choices = [(team.id, team.name) for team in teams]
    return render_template(
        "flows/templates.html",
        own=templates_seen_by(current_member()),
        templates=all_templates(),
        teams=teams,
        team_choices=choices,
        no_team=NO_TEAM,
        language_name=language_name,
    )


@pages.post("/flows/templates")
def create_from_template() -> Answer:
    """Create a flow from the template as it is, in the named team or the member's first, and open its page."""
    require_recruiter()
    values = values_with(request.form.get("template", ""))
    team = _team(request.form.get("team_id", ""))
    if team is None:
        flash(NO_TEAM, "bad")
        return _back()
    flow = actions.create(team, values, files=StoredMedia(), by=current_member())
    db.session.commit()
    flash(f"The flow “{flow.title}” was created from a template. You can change its questions at any time.", "good")
    return redirect(url_for("flows.show", flow_id=flow.id), 303)


def _back() -> Response:
    return redirect(url_for("flows.templates"), 303)


def _team(team_id: str) -> Team | None:
    teams = teams_seen_by(current_member())
    if not team_id:
        return teams[0] if teams else None
    for team in teams:
        if team.id == team_id:
            return team
    raise Forbidden("You are not in this team.")
