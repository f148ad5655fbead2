"""What the list shows above its rows: presets, saved views, the active filters, and headers that sort."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from flask import url_for

from app.candidates.forms import filter_parameters, pairs
from app.candidates.models import SavedView
from app.candidates.queries import UNASSIGNED, CandidateFilter, Order
from app.web.templating import capital

ORDERS = [
    (Order.NEWEST, "Newest first"),
    (Order.OLDEST, "Oldest first"),
    (Order.NAME, "Name, A to Z"),
    (Order.NAME_DESC, "Name, Z to A"),
    (Order.SCORE, "Highest score first"),
    (Order.SCORE_ASC, "Lowest score first"),
]
_BY_COLUMN = {
    "name": (Order.NAME, Order.NAME_DESC),
    "added": (Order.NEWEST, Order.OLDEST),
    "score": (Order.SCORE, Order.SCORE_ASC),
}
"""The order that a header gives at first, and after another press."""
_ASCENDING = {Order.NAME, Order.OLDEST, Order.SCORE_ASC}
_NOT_A_FILTER = {"order", "show"}

Choices = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Names:
    """The choices of the filters, as (value, words)."""

    flows: Choices
    statuses: Choices
    recruiters: Choices


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the list. ``id`` is that of a saved view, or the query parameter that a chip removes."""

    text: str
    href: str
    id: str = ""
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """A header that sorts; ``sorted`` is the value of ``aria-sort``, empty if the list is sorted by another column."""

    href: str
    sorted: str


def presets(today: date) -> list[Link]:
    """Filters that everyone has; a week begins on Monday, in UTC."""
    known = [
        ("All", {}),
        ("To review", {"unreviewed": "yes"}),
        ("This week", {"from": (today - timedelta(days=today.weekday())).isoformat()}),
    ]
    now = {name: value for name, value in filter_parameters().items() if name not in _NOT_A_FILTER}
    kept = {name: value for name, value in filter_parameters().items() if name in _NOT_A_FILTER}
    return [Link(text, _list(**kept, **more), is_current=now == more) for text, more in known]


def views(saved: Iterable[SavedView]) -> list[Link]:
    """The member's own filters, with their order and columns."""
    here = urlencode(pairs())
    return [Link(one.name, f"{_list()}?{one.query}", one.id, one.query == here) for one in saved]


def chips(filters: CandidateFilter, names: Names) -> list[Link]:
    """The active filters in words, each with the URL of the list without it."""
    recruiters = {**dict(names.recruiters), UNASSIGNED: "Unassigned"}
    said = {
        "text": filters.text and f"“{filters.text}”",
        "flow": filters.flow_id and f"Flow: {dict(names.flows).get(filters.flow_id, 'unknown')}",
        "status": filters.status and f"Status: {capital(filters.status)}",
        "recruiter": filters.recruiter_id and f"Recruiter: {recruiters.get(filters.recruiter_id, 'unknown')}",
        "tag": filters.tag and f"Tag: {filters.tag}",
        "without_status": filters.without_status and f"Status is not: {capital(filters.without_status)}",
        "without_tag": filters.without_tag and f"Without tag: {filters.without_tag}",
        "score_from": filters.score_from is not None and f"Minimum score: {filters.score_from:g}",
        "score_to": filters.score_to is not None and f"Maximum score: {filters.score_to:g}",
        "from": filters.added_from and f"Added on or after {filters.added_from}",
        "to": filters.added_to and f"Added on or before {filters.added_to}",
        "unreviewed": filters.unreviewed and "To review",
        "tests": filters.tests and "Test interviews included",
    }
    return [Link(words, _list(without=name), name) for name, words in said.items() if words]


def heads(order: Order) -> dict[str, Head]:
    """Headers that sort, by column; the one by which the list is sorted turns it around."""
    return {column: _head(first, again, order) for column, (first, again) in _BY_COLUMN.items()}


def _head(first: Order, again: Order, order: Order) -> Head:
    following = again if order is first else first
    parameters = {**filter_parameters(), "order": following.value}
    if following is Order.NEWEST:
        del parameters["order"]
    now = "ascending" if order in _ASCENDING else "descending"
    return Head(_list(**parameters), now if order in {first, again} else "")


def _list(*, without: str = "", **parameters: Any) -> str:
    if without:
        parameters = {name: value for name, value in filter_parameters().items() if name != without}
    return url_for("candidates.index", **parameters)
