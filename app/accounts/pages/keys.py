"""The page of API keys."""

from flask import flash, redirect, render_template, session, url_for
from flask.typing import ResponseReturnValue

from app.accounts import actions, queries
from app.accounts.access import current_member, require_admin
from app.accounts.forms import KeyForm
from app.accounts.pages.blueprint import pages
from app.db import db
from app.vault import SealBroken, seal, unseal

_NEW_KEY = "new_key"


@pages.get("/api-keys")
def api_keys() -> str:
    """Keys that work, and the new one, this once."""
    require_admin()
    return _keys_page(KeyForm(), new_key=_pop_key())


def _keys_page(form: KeyForm, *, new_key: str | None = None) -> str:
    keys = queries.keys_of(current_member().organization)
    return render_template("accounts/api_keys.html", keys=keys, form=form, new_key=new_key)


@pages.post("/api-keys")
def create_api_key() -> ResponseReturnValue:
    """A further key."""
    require_admin()
    form = KeyForm()
    if not form.validate_on_submit():
        return _keys_page(form), 422
    me = current_member()
    _row, key = actions.issue_api_key(me.organization, name=form.name.data, by=me)
    db.session.commit()
    remember_key(key)
    return redirect(url_for("accounts.api_keys"))


@pages.post("/api-keys/<key_id>/revoke")
def revoke_api_key(key_id: str) -> ResponseReturnValue:
    """The key ends now."""
    require_admin()
    me = current_member()
    key = queries.key_for(me.organization, key_id)
    actions.revoke_api_key(key, by=me)
    db.session.commit()
    flash(f"The key …{key.last4} no longer works.", "success")
    return redirect(url_for("accounts.api_keys"))


def remember_key(key: str) -> None:
    """For the next page only. The cookie is signed but readable, so the key travels sealed."""
    session[_NEW_KEY] = seal(key, context=_NEW_KEY)


def _pop_key() -> str | None:
    try:
        return unseal(session.pop(_NEW_KEY), context=_NEW_KEY) if _NEW_KEY in session else None
    except SealBroken:
        return None
