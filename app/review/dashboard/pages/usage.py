"""The organization's usage and quota; the views are registered on the blueprint of ``pages``."""

from datetime import date
from typing import Any

from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, require_admin
from app.accounts.usage import actions, queries
from app.core import clock
from app.core.db import db
from app.core.errors import Rejected
from app.flows.queries import titles_seen_by
from app.review.dashboard.pages.tasks import pages
from app.web.csv import sheet
from app.web.fields import count_in

SPANS = (3, 6, 12, 24, 36)
USUAL = 12
MOST_ROWS = 300
"""Rows by month and flow on the page; the CSV file has all of them."""


@pages.get("/usage")
def usage() -> str:
    """Interviews and minutes by month and flow, and the current month's usage of the quota."""
    require_admin()
    return _page({}, {})


@pages.post("/usage/quota")
def set_quota() -> AnyResponse | tuple[str, int]:
    """Change the monthly quota."""
    require_admin()
    member, typed = current_member(), {name: request.form.get(name, "").strip() for name in ("interviews", "minutes")}
    try:
        limits = {name: count_in(text, field=name) for name, text in typed.items()}
        actions.set_quota(
            member.organization,
            interviews=limits["interviews"],
            minutes=limits["minutes"],
            stops=request.form.get("stops") == "yes",
            by=member,
        )
    except Rejected as refusal:
        db.session.rollback()
        return _page({**typed, "stops": request.form.get("stops", "")}, {refusal.field or "": refusal.message}), 422
    db.session.commit()
    flash("Quota saved.", "good")
    return redirect(url_for("dashboard.usage"), 303)


@pages.get("/usage.csv")
def usage_sheet() -> Response:
    """Usage by month and flow as CSV (RFC 4180, UTF-8 with a byte order mark)."""
    require_admin()
    member, since = current_member(), _since(_months())
    titles = dict(titles_seen_by(member))
    used = queries.by_flow(member.organization_id, since=since)
    names = ("month", "flow", "title", "interviews", "minutes", "model_calls", "model_tokens")
    rows = [
        (
            one.month,
            one.flow_id,
            titles.get(one.flow_id),
            one.interviews,
            one.minutes,
            one.model_calls,
            one.model_tokens,
        )
        for one in used
    ]
    return sheet(f"usage-from-{since}.csv", [names, *rows])


def _page(typed: dict[str, str], errors: dict[str, str]) -> str:
    member, months = current_member(), _months()
    since = _since(months)
    by_month = {one.month: one for one in queries.by_month(member.organization_id, since=since)}
    listed = [by_month.get(month, queries.Used(month, 0, 0.0)) for month in _each(since)]
    quota = queries.quota_of(member.organization_id)
    saved: dict[str, Any] = {
        "interviews": quota.interviews if quota else None,
        "minutes": quota.minutes if quota else None,
        "stops": "yes" if quota and quota.stops else "",
    }
    return render_template(
        "review/dashboard/usage.html",
        months=months,
        spans=SPANS,
        by_month=listed,
        uses_model=any(one.model_calls for one in listed),
        standing=queries.standing_of(member.organization_id),
        by_flow=queries.by_flow(member.organization_id, since=since),
        titles=dict(titles_seen_by(member)),
        most_interviews=max(one.interviews for one in listed),
        most_minutes=max(one.minutes for one in listed),
        typed=typed or saved,
        errors=errors,
        most_rows=MOST_ROWS,
    )


def _months() -> int:
    text = request.args.get("months", "")
    return next((months for months in SPANS if str(months) == text), USUAL)


def _since(months: int) -> str:
    """The first of ``months`` months, the current one included."""
    now = clock.now()
    place = now.year * 12 + now.month - months
    return queries.month_of(date(place // 12, place % 12 + 1, 1))


def _each(since: str) -> list[str]:
    """Every month from ``since`` to the current one, the newest first."""
    now, year, month = clock.now(), int(since[:4]), int(since[5:])
    places = range(year * 12 + month - 1, now.year * 12 + now.month)
    return [queries.month_of(date(place // 12, place % 12 + 1, 1)) for place in reversed(places)]
