"""The page of API keys."""

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions, members, queries
from app.accounts.access import current_member, require_admin
from app.accounts.forms import KeyForm
from app.accounts.pages.blueprint import pages
from app.core import rooms
from app.core.db import db
from app.core.errors import Rejected
from app.web import one_time
from app.web.templating import moment

ENDS = [("24h", "after 24 hours"), ("7d", "after 7 days"), ("now", "now")]
"""When a replaced key can end, the default first."""
_NEW_KEY = "new_key"


@pages.get("/api-keys")
def api_keys() -> str:
    """Active keys, and a new one once."""
    require_admin()
    return _keys_page(KeyForm(), new_key=one_time.pop(_NEW_KEY))


def _keys_page(form: KeyForm, *, new_key: str | None = None) -> str:
    organization = current_member().organization
    keys, teams = queries.keys_of(organization), queries.teams_of(organization)
    form.offer(teams, rooms.flows().labels_of(organization.id))
    limited = {flow_id for key in keys for flow_id in key.flow_ids or ()}
    named = rooms.flows().labels_of(organization.id, ids=limited) if limited else []
    names = {team.id: team.name for team in teams} | {flow.id: flow.title for flow in named}
    shown = {"keys": keys, "names": names, "new_key": new_key, "is_late": members.is_late, "ends": ENDS}
    return render_template("accounts/api_keys.html", form=form, **shown)


@pages.post("/api-keys")
def create_api_key() -> ResponseReturnValue:
    require_admin()
    form = KeyForm()
    if not form.validate_on_submit():
        return _keys_page(form), 422
    try:
        key = _issued(form)
    except Rejected as refusal:
        db.session.rollback()
        form[refusal.field or "name"].errors = [refusal.message]
        return _keys_page(form), 422
    db.session.commit()
    remember_key(key)
    return redirect(url_for("accounts.api_keys"))


def _issued(form: KeyForm) -> str:
    me = current_member()
    scope = members.chosen_scope(
        me.organization,
        is_read_only=form.is_read_only.data,
        hides_secrets=form.hides_secrets.data,
        teams=form.teams.data or (),
        flows=form.flows.data or (),
    )
    _row, key = actions.issue_api_key(
        me.organization,
        name=form.name.data,
        by=me,
        is_test=form.is_test.data,
        scope=scope,
        expires_at=members.end_of(form.expires.data),
    )
    return key


@pages.post("/api-keys/<key_id>/rotate")
def rotate_api_key(key_id: str) -> ResponseReturnValue:
    """Create a key that replaces this one, which keeps working for a while."""
    require_admin()
    me = current_member()
    key = queries.key_for(me.organization, key_id)
    try:
        _row, new = members.rotate_api_key(key, ends=request.form.get("ends", ""), by=me)
    except Rejected as refusal:
        db.session.rollback()
        words = "Choose when the old key expires." if refusal.field == "ends" else refusal.message
        flash(f"Nothing was changed. {words}", "bad")
        return redirect(url_for("accounts.api_keys"))
    db.session.commit()
    remember_key(new)
    until = "no longer works" if key.revoked_at else f"works until {moment(key.expires_at)}"
    flash(f"New key created. The old one, …{key.last4}, {until}.", "good")
    return redirect(url_for("accounts.api_keys"))


@pages.post("/api-keys/<key_id>/revoke")
def revoke_api_key(key_id: str) -> ResponseReturnValue:
    require_admin()
    me = current_member()
    key = queries.key_for(me.organization, key_id)
    actions.revoke_api_key(key, by=me)
    db.session.commit()
    flash(f"The key …{key.last4} no longer works.", "good")
    return redirect(url_for("accounts.api_keys"))


def remember_key(key: str) -> None:
    """Show the key on the next page, once."""
    one_time.keep(_NEW_KEY, key)
