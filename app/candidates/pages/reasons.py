"""Where administrators edit the reasons for decisions, and decide whether one is required."""

from collections.abc import Callable
from functools import partial

from flask import Flask, Response, current_app, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_admin
from app.accounts.actions import write_audit
from app.candidates import reasons as rules
from app.candidates.export import decisions_as_csv
from app.candidates.models import DECIDING
from app.candidates.pages.blueprint import pages, typed
from app.candidates.queries import record_ids
from app.core import clock
from app.core.db import db
from app.core.errors import Rejected
from app.web.streaming_slots import Lasting, places

Answer = AnyResponse | tuple[str, int]


@pages.get("/candidates/reasons")
def reasons() -> str:
    require_admin()
    return _page()


@pages.post("/candidates/reasons")
def add_reason() -> Answer:
    require_admin()
    member = current_member()
    meaning, label = typed("meaning"), typed("label")
    add = partial(rules.add, member.organization, meaning, label, by=member)
    return _done(add, "Reason added.", new={meaning: label})


@pages.post("/candidates/reasons/require")
def require_reasons() -> Answer:
    require_admin()
    member, wanted = current_member(), request.form.get("required") == "yes"
    words = "Every decision now needs a reason." if wanted else "Reasons are now optional."
    return _done(lambda: rules.require(member.organization, wanted=wanted, by=member), words)


@pages.post("/candidates/reasons/<code>/rename")
def rename_reason(code: str) -> Answer:
    require_admin()
    member = current_member()
    label = typed("label")
    rename = partial(rules.rename, member.organization, code, label, by=member)
    return _done(rename, "Reason renamed.", renamed={code: label})


@pages.post("/candidates/reasons/<code>/shift")
def shift_reason(code: str) -> Answer:
    require_admin()
    member, up = current_member(), request.form.get("to") == "up"
    return _done(lambda: rules.shift(member.organization, code, up=up, by=member), "Order changed.")


@pages.post("/candidates/reasons/<code>/remove")
def remove_reason(code: str) -> Answer:
    require_admin()
    member = current_member()
    return _done(
        lambda: rules.remove(member.organization, code, by=member), "Reason removed. Earlier decision records keep it."
    )


@pages.post("/candidates/decisions/export")
def export_decisions() -> AnyResponse:
    """Every decision record of the organization as CSV, those of erased candidates too. Recorded in the audit log."""
    require_admin()
    member = current_member()
    place = places("candidates", share=4).take()
    if place is None:
        flash("Several exports are running. Try again in a minute.", "warn")
        return redirect(url_for("privacy.retention_rule", _anchor="decisions"), 303)
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - for after the request
    ids = record_ids(member.organization_id)
    body = decisions_as_csv(app, ids, organization_id=member.organization_id)
    organization = member.organization
    write_audit(organization, action="decision.exported", subject=member.id, by=member, details={"rows": len(ids)})
    db.session.commit()
    name = f"decisions-{clock.now():%Y-%m-%d}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(Lasting(body, place), mimetype="text/csv", headers=headers)


def _done(change: Callable[[], object], words: str, **typed_labels: dict[str, str]) -> Answer:
    """``typed_labels``: what the page shows again if it is refused."""
    try:
        change()
    except Rejected as refusal:
        db.session.rollback()
        return _page(refusal.message, **typed_labels), 422
    db.session.commit()
    flash(words, "good")
    return redirect(url_for("candidates.reasons"), 303)


def _page(error: str = "", *, new: dict[str, str] | None = None, renamed: dict[str, str] | None = None) -> str:
    organization = current_member().organization
    return render_template(
        "candidates/reasons.html",
        lists=[(meaning.value, rules.reasons_for(organization, meaning)) for meaning in DECIDING],
        required=rules.requires_reason(organization),
        most=rules.MOST_REASONS,
        error=error,
        new=new or {},
        renamed=renamed or {},
    )
