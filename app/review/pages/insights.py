"""The insights page, and usage as CSV; the views are registered on the blueprint of ``pages``."""

from datetime import date, timedelta
from typing import Any

from flask import Response, render_template, request

from app.accounts.access import current_member
from app.core import clock
from app.flows.models import InterviewFlow
from app.flows.queries import flow_seen_by, titles_seen_by
from app.interviews import distributions, insights
from app.interviews.insights import Span
from app.interviews.pages.interviews import pages
from app.web.csv import sheet
from app.web.fields import day_in

USUAL = timedelta(days=89)
LONGEST = timedelta(days=3 * 366)


@pages.app_context_processor
def _for_cards() -> dict[str, Any]:
    """For the flow's page: its counts, and the funnel and average rating of its interviews of the last 90 days."""

    def figures_of(flow: InterviewFlow) -> dict[str, Any]:
        today, member = clock.now().date(), current_member()
        span = Span(today - USUAL, today, flow.id)
        return {"steps": insights.funnel(member, span), "rating": insights.ratings(member, span)[0], "span": span}

    return {"figures_of": figures_of, "counts_of": lambda flows: insights.counts_of([flow.id for flow in flows])}


@pages.get("/insights")
def numbers() -> str:
    """Funnel, drop-off, durations, distributions of scores, feedback and usage."""
    member, (span, flow, errors) = current_member(), _span()
    lasting, lengths = insights.times(member, span)
    mean, rated = insights.ratings(member, span)
    scores, means = distributions.scores(member, span)
    reply, waits = distributions.replies(member, span)
    return render_template(
        "review/insights.html",
        span=span,
        flow=flow,
        errors=errors,
        funnel=insights.funnel(member, span),
        left=insights.left(member, span),
        spreads=lasting,
        lengths=lengths,
        mean=mean,
        rated=rated,
        questions=insights.by_question(member, span, flow) if flow else [],
        usage=insights.usage(member, span),
        scores=scores,
        means=means,
        reply=reply,
        waits=waits,
        stays=distributions.stays(member, span),
        flow_choices=[("", "All"), *titles_seen_by(member)],
        typed=request.args,
    )


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
        errors["since"] = "Enter a day before the end date, at most three years earlier."
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
