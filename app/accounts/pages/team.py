"""The team page: members and teams."""

from collections import Counter
from collections.abc import Sequence

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms.fields import SelectChoice

from app.accounts import actions, passwords, queries
from app.accounts import members as member_actions
from app.accounts.access import current_member, require_admin
from app.accounts.forms import MemberForm, TeamForm
from app.accounts.models import Role, Team
from app.accounts.pages.blueprint import pages
from app.accounts.pages.links import invite
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.web.fields import flaw_of


@pages.get("/team")
def team() -> str:
    return _team_page(MemberForm(), TeamForm())


def _team_page(member_form: MemberForm, team_form: TeamForm) -> str:
    organization = current_member().organization
    teams = queries.teams_of(organization)
    member_form.team.choices = _team_choices(teams)
    members = queries.everyone_of(organization)
    sizes = Counter(team.id for member in members for team in member.teams)
    return render_template(
        "accounts/team.html",
        sizes=sizes,
        members=members,
        teams=teams,
        form=member_form,
        team_form=team_form,
        may_change=current_member().role == Role.ADMIN,
    )


def _team_choices(teams: Sequence[Team]) -> list[SelectChoice]:
    return [SelectChoice(team.id, team.name) for team in teams]


@pages.post("/team/members")
def add_member() -> ResponseReturnValue:
    """Add a member: invited by a link, or with a first password."""
    require_admin()
    form = MemberForm()
    form.team.choices = _team_choices(queries.teams_of(current_member().organization))
    db.session.rollback()
    if not form.validate_on_submit():
        return _team_page(form, TeamForm(formdata=None)), 422
    hashed = passwords.hashed(form.password.data) if form.password.data else None
    me = current_member()
    try:
        member = actions.add_member(
            me.organization,
            form.email.data,
            full_name=form.full_name.data,
            role=Role(form.role.data),
            teams=[queries.team_of(me.organization, form.team.data)],
            password_hash=hashed,
            by=me,
        )
    except Rejected as error:
        db.session.rollback()
        getattr(form, error.field or "email").errors = [f"This {error.message}."]
        return _team_page(form, TeamForm(formdata=None)), 422
    if hashed is None:
        invite(member, by=me)
    else:
        flash(f"{member.email} can sign in now. Give them the initial password in person.", "good")
    target = url_for("accounts.member", member_id=member.id) if hashed is None else url_for("accounts.team")
    db.session.commit()
    return redirect(target)


@pages.post("/team/teams")
def add_team() -> ResponseReturnValue:
    require_admin()
    form = TeamForm()
    if not form.validate_on_submit():
        return _team_page(MemberForm(formdata=None), form), 422
    me = current_member()
    actions.add_team(me.organization, form.name.data, by=me)
    db.session.commit()
    flash("Team added.", "good")
    return redirect(url_for("accounts.team"))


@pages.post("/team/teams/<team_id>/rename")
def rename_team(team_id: str) -> ResponseReturnValue:
    require_admin()
    me = current_member()
    team = queries.team_of(me.organization, team_id)
    name = request.form.get("name", "")
    try:
        member_actions.rename_team(team, name if flaw_of(name) is None else "\0", by=me)
    except Rejected as refusal:
        db.session.rollback()
        flash(f"The team was not renamed. Its name {refusal.message}.", "bad")
    else:
        db.session.commit()
        flash("Team renamed.", "good")
    return redirect(url_for("accounts.team", _anchor="teams"), 303)


@pages.post("/team/teams/<team_id>/delete")
def delete_team(team_id: str) -> ResponseReturnValue:
    """Delete a team that has never had a flow."""
    require_admin()
    me = current_member()
    team = queries.team_of(me.organization, team_id)
    try:
        member_actions.delete_team(team, by=me)
    except Conflict as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
    else:
        db.session.commit()
        flash("Team deleted.", "good")
    return redirect(url_for("accounts.team", _anchor="teams"), 303)
