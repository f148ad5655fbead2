"""One member's page for administrators: role and teams, a new password, disabling and enabling."""

from flask import flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from app.accounts import address_changes, members, password_links, passwords, queries
from app.accounts.access import current_member, require_admin
from app.accounts.forms import AddressOfMemberForm, ChangeForm, ResetForm
from app.accounts.models import Role, TeamMember
from app.accounts.pages import address, links
from app.accounts.pages.blueprint import pages
from app.core import clock
from app.core.db import db
from app.core.errors import Rejected


@pages.get("/team/members/<member_id>")
def member(member_id: str) -> str:
    require_admin()
    person = queries.member_of(current_member().organization, member_id)
    return _page(person, _form_for(person), ResetForm(formdata=None))


@pages.post("/team/members/<member_id>")
def change_member(member_id: str) -> ResponseReturnValue:
    require_admin()
    me = current_member()
    person = queries.member_of(me.organization, member_id)
    form = ChangeForm()
    teams = {team.id: team for team in queries.teams_of(me.organization)}
    form.offer(teams.values())
    if not form.validate_on_submit():
        return _page(person, form, ResetForm(formdata=None)), 422
    chosen = [teams[team_id] for team_id in form.teams.data or []]
    try:
        members.change(person, role=Role(form.role.data), teams=chosen, by=me)
    except Rejected as refusal:
        db.session.rollback()
        form.role.errors = [f"This member {refusal.message}."]
        return _page(queries.member_of(current_member().organization, member_id), form, ResetForm(formdata=None)), 422
    db.session.commit()
    flash("Saved.", "good")
    return redirect(url_for("accounts.member", member_id=member_id))


@pages.post("/team/members/<member_id>/password")
def reset_password(member_id: str) -> ResponseReturnValue:
    require_admin()
    form = ResetForm()
    person = queries.member_of(current_member().organization, member_id)
    if not form.validate_on_submit():
        return _page(person, _form_for(person), form), 422
    db.session.rollback()  # hashing is slow, so no transaction stays open
    hashed = passwords.hashed(form.password.data)
    me = current_member()
    person = queries.member_of(me.organization, member_id)
    members.reset_password(person, hashed, by=me)
    passwords.forget_failures(person.email)
    db.session.commit()
    flash("Password set. The member was signed out everywhere. Give them the password in person.", "good")
    return redirect(url_for("accounts.member", member_id=member_id))


@pages.post("/team/members/<member_id>/disable")
def disable_member(member_id: str) -> ResponseReturnValue:
    require_admin()
    me = current_member()
    try:
        members.disable(queries.member_of(me.organization, member_id), by=me)
    except Rejected as refusal:
        db.session.rollback()
        flash(refusal.message, "bad")
    else:
        db.session.commit()
        flash("Member disabled and signed out everywhere.", "good")
    return redirect(url_for("accounts.member", member_id=member_id))


@pages.post("/team/members/<member_id>/enable")
def enable_member(member_id: str) -> ResponseReturnValue:
    require_admin()
    me = current_member()
    members.enable(queries.member_of(me.organization, member_id), by=me)
    db.session.commit()
    flash("Member enabled.", "good")
    return redirect(url_for("accounts.member", member_id=member_id))


@pages.post("/team/members/<member_id>/second-factor-off")
def drop_second_factor(member_id: str) -> ResponseReturnValue:
    """For a member who lost both the app and the recovery codes."""
    require_admin()
    me = current_member()
    person = queries.member_of(me.organization, member_id)
    if person.id == me.id:
        raise Rejected("Turn off your own two-step sign-in in your profile, with a code.")
    members.drop_second_factor(person, by=me)
    db.session.commit()
    flash("Two-step sign-in is off for this member, who was signed out everywhere.", "good")
    return redirect(url_for("accounts.member", member_id=member_id))


def _form_for(member: TeamMember) -> ChangeForm:
    form = ChangeForm(formdata=None, role=member.role.value, teams=[team.id for team in member.teams])
    form.offer(queries.teams_of(member.organization))
    return form


def _page(member: TeamMember, form: ChangeForm, reset: ResetForm) -> str:
    is_self = member.id == current_member().id
    return render_template(
        "accounts/member.html",
        member=member,
        form=form,
        reset=reset,
        is_self=is_self,
        new_link=links.pop_link(links.NEW_LINK, member),
        link=password_links.latest(member),
        now=clock.now(),
        address_form=AddressOfMemberForm(formdata=None),
        address_link=links.pop_link(address.NEW_LINK, member),
        pending=address_changes.pending(member),
    )
