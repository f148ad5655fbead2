"""Input of the candidate pages: the form that moves one, the filter of the list, and the selected candidates."""

from collections.abc import Iterable
from typing import Any

from flask import request
from flask_wtf import FlaskForm
from wtforms import SelectField, StringField, TextAreaField

from app.accounts.models import TeamMember
from app.candidates import bulk
from app.candidates.hidden_scores import BY_SCORE, REFUSED, SCORES, is_blocked
from app.candidates.models import LONGEST_NAME
from app.candidates.queries import CandidateFilter, Order, ids_seen_by
from app.core.errors import Rejected
from app.web.fields import day_in, flaw_of
from app.web.templating import capital

LONGEST_SEARCH = 200
COLUMNS = (
    ("email", "Email"),
    ("flow", "Flow"),
    ("recruiter", "Recruiter"),
    ("added", "Added"),
    ("interviewed", "Interviewed"),
    ("score", "Score"),
    ("tags", "Tags"),
    ("status", "Status"),
)
PARAMETERS = (
    "text",
    "flow",
    "status",
    "recruiter",
    "tag",
    "without_status",
    "without_tag",
    "score_from",
    "score_to",
    "from",
    "to",
    "unreviewed",
    "tests",
    "order",
)
"""Query parameters of the list; ``show`` (once per column) comes on top."""


class MoveForm(FlaskForm):  # type: ignore[misc]
    """A status, with a reason and a note."""

    status = SelectField("New status", validate_choice=False)
    reason = StringField("Reason")
    note = TextAreaField(
        "Note", description="The note is saved in the history. Candidates do not see it.", render_kw={"rows": 3}
    )

    def offer(self, statuses: list[str]) -> None:
        self.status.choices = {name: capital(name) for name in statuses}


class DetailsForm(FlaskForm):  # type: ignore[misc]
    """A candidate's name and recruiter."""

    first_name = StringField("First name", render_kw={"maxlength": LONGEST_NAME, "autocomplete": "off"})
    last_name = StringField("Last name", render_kw={"maxlength": LONGEST_NAME, "autocomplete": "off"})
    recruiter = SelectField("Assigned recruiter", validate_choice=False)

    def offer(self, recruiters: Iterable[TeamMember]) -> None:
        """Set the choices of the menu: members of the flow's team."""
        names = {member.id: member.full_name or member.email for member in recruiters}
        self.recruiter.choices = {"": "Unassigned", **names}


def parameter(name: str) -> str:
    """A query parameter; empty if it is missing or is not valid text.

    Where the member rates before seeing scores, a list is in the usual order, and nothing is filtered by score.
    """
    value = request.args.get(name, "").strip()[:LONGEST_SEARCH]
    if flaw_of(value):
        return ""
    if (name in SCORES or value in BY_SCORE) and name in {*SCORES, "order"} and is_blocked():
        return Order.NEWEST if name == "order" else ""
    return value


def filter_of_request() -> CandidateFilter:
    """The filter of the URL; values that cannot be read are ignored."""
    try:
        order = Order(parameter("order") or Order.NEWEST)
    except ValueError:
        order = Order.NEWEST
    return CandidateFilter(
        flow_id=parameter("flow"),
        status=parameter("status"),
        text=parameter("text"),
        recruiter_id=parameter("recruiter"),
        tag=parameter("tag"),
        without_status=parameter("without_status"),
        without_tag=parameter("without_tag"),
        score_from=_score("score_from"),
        score_to=_score("score_to"),
        added_from=day_in(parameter("from")),
        added_to=day_in(parameter("to")),
        unreviewed=parameter("unreviewed") == "yes",
        tests=parameter("tests") == "yes",
        order=order,
    )


def _score(name: str) -> float | None:
    try:
        value = float(parameter(name))
    except ValueError:
        return None
    return value if 0 <= value <= 5 else None


def chosen_columns() -> list[str]:
    """The columns that the URL asks for; empty if it leaves the choice open."""
    return [name for name in request.args.getlist("show") if name in dict(COLUMNS)]


def pairs() -> list[tuple[str, str]]:
    """The non-empty query parameters of the list, as (name, value)."""
    values = [(name, parameter(name)) for name in PARAMETERS]
    shown = [("show", name) for name in chosen_columns()]
    return [(name, value) for name, value in values if value] + shown


def filter_parameters() -> dict[str, Any]:
    """The query parameters of the list, as arguments of ``url_for``."""
    narrowed: dict[str, Any] = {name: parameter(name) for name in PARAMETERS if parameter(name)}
    shown = chosen_columns()
    return {**narrowed, "show": shown} if shown else narrowed


def board_parameters() -> dict[str, Any]:
    """The query parameters of the list that the board has, too, as arguments of ``url_for``."""
    return {name: value for name, value in filter_parameters().items() if name not in {"status", "order", "show"}}


def list_query() -> dict[str, Any]:
    """The query of the list that a candidate's page was opened from, as arguments of ``url_for``.

    The list's links name its order, so a page whose URL names none was opened from elsewhere: empty.
    """
    return filter_parameters() if parameter("order") in set(Order) else {}


def chosen_ids(member: TeamMember) -> list[str]:
    """The candidates selected in the form or named in the URL, each once, or all that match the filter of the URL.

    Raises Rejected for none, for more than ``MOST_ROWS``, and for a filter by scores that the member does not see.
    """
    if request.form.get("all") == "yes":
        if is_blocked():
            raise Rejected(REFUSED)
        return bulk.checked(ids_seen_by(member, filter_of_request(), limit=bulk.MOST_ROWS))
    return bulk.checked(request.form.getlist("id") or request.args.getlist("id"))
