"""The insights page, and its figures as CSV; the views are registered on the blueprint of ``pages``."""

from datetime import date, timedelta
from typing import Any

from flask import Response, render_template, request

from app.accounts.access import current_member
from app.core import clock
from app.core.errors import NotFound
from app.flows.models import InterviewFlow
from app.flows.queries import flow_seen_by, titles_seen_by
from app.interviews import insights
from app.interviews.insights import Span
from app.interviews.pages.interviews import pages
from app.review.figures import KEYS, Figures, Sheet, ticks
from app.web.csv import sheet
from app.web.fields import day_in

USUAL = timedelta(days=insights.USUAL_DAYS - 1)
LONGEST = timedelta(days=3 * 366)


@pages.app_context_processor
def _for_cards() -> dict[str, Any]:
    """For the flow's page: its counts, and the funnel and average rating of its interviews of the last 90 days."""

    def figures_of(flow: InterviewFlow) -> dict[str, Any]:
        member, span = current_member(), insights.last_days(flow_id=flow.id)
        steps = insights.funnel(insights.tallies(member, span))
        return {"steps": steps, "rating": insights.ratings(insights.rated(member, span))[0], "span": span}

    return {"figures_of": figures_of, "counts_of": insights.counts_of}


@pages.get("/insights")
def numbers() -> str:
    """Charts of interviews, scores, reviews and feedback, each with its table, and usage."""
    member, (span, flow, errors) = current_member(), _span()
    span = insights.narrowed(member, span)
    charts = Figures(member, span, flow)
    return render_template(
        "review/insights.html",
        span=span,
        flow=flow,
        errors=errors,
        charts=charts,
        ticks=ticks,
        sample=insights.SAMPLE,
        left=insights.left(charts.tallies),
        flow_choices=[("", "All"), *titles_seen_by(member)],
        typed=request.args,
    )


@pages.get("/insights/<chart>.csv")
def chart(chart: str) -> Response:
    """The rows of one chart as CSV (RFC 4180, UTF-8 with a byte order mark)."""
    if chart not in KEYS:
        raise NotFound("There is no chart with this name.")
    span, flow, _ = _span()
    rows: Sheet = getattr(Figures(current_member(), span, flow), chart)
    return sheet(f"{chart}-{span.since}-{span.until}.csv", rows.lines())


@pages.get("/insights/usage.csv")
def usage() -> Response:
    """Usage by month and flow as CSV (RFC 4180, UTF-8 with a byte order mark)."""
    span, _, _ = _span()
    rows = [
        (one.month, one.flow_id, one.title, one.interviews, one.minutes)
        for one in insights.usage(current_member(), span)
    ]
    return sheet(f"usage-{span.since}-{span.until}.csv", [("month", "flow", "title", "interviews", "minutes"), *rows])


def _span() -> tuple[Span, InterviewFlow | None, dict[str, str]]:
    """The requested span, flow and errors by field; invalid days are replaced by the last 90 days."""
    errors: dict[str, str] = {}
    until = _day("until", clock.now().date(), errors)
    since = _day("since", until - USUAL, errors)
    if since > until or until - since > LONGEST:
        errors["since"] = "This day must not be after the last day, or more than three years before it."
        since = until - USUAL
    wanted = request.args.get("flow", "")
    flow = flow_seen_by(current_member(), wanted) if wanted else None
    return Span(since, until, flow.id if flow else ""), flow, errors


def _day(name: str, usual: date, errors: dict[str, str]) -> date:
    text = request.args.get(name, "").strip()
    day = day_in(text) if text else usual
    if day is not None:
        return day
    errors[name] = "Enter a date such as 2026-01-31."
    return usual
