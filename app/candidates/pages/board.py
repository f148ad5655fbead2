"""The pipeline as a board: a column per status, with cards that are dragged, or moved by menu or keyboard."""

from dataclasses import dataclass, replace
from datetime import datetime

from flask import jsonify, render_template
from werkzeug.wrappers import Response

from app.accounts.access import current_member, polled
from app.accounts.models import Role, TeamMember
from app.accounts.queries import members_of
from app.candidates.forms import board_parameters, filter_of_request
from app.candidates.hidden_scores import hidden_scores, is_blocked
from app.candidates.models import Candidate
from app.candidates.pages.blueprint import pages
from app.candidates.queries import (
    UNASSIGNED,
    CandidateFilter,
    Order,
    candidates_seen_by,
    counts_seen_by,
    since,
    statuses_of,
    statuses_without_meaning,
    tags_seen_by,
)
from app.flows.queries import only_viewed, titles_seen_by

CARDS = 50
"""Cards per column; the list shows the rest."""


@dataclass(frozen=True, slots=True)
class Column:
    """One status: the number of candidates in it, the newest of them, and since when each is there."""

    name: str
    count: int
    cards: list[Candidate]
    since: dict[str, datetime]


@pages.get("/candidates/board")
def board() -> str:
    """The candidates that match the filter of the URL, by status."""
    member, filters = current_member(), _filters()
    columns = _columns(member, filters)
    return render_template(
        "candidates/board.html",
        columns=columns,
        scores_hidden=hidden_scores(card for column in columns for card in column.cards),
        is_blocked=is_blocked(),
        filters=filters,
        parameters=board_parameters(),
        flow_choices=[("", "All flows"), *titles_seen_by(member)],
        recruiter_choices=[
            *(("", "All recruiters"), (UNASSIGNED, "Unassigned")),
            *((one.id, one.full_name or one.email) for one in members_of(member.organization, None)),
        ],
        tag_choices=[("", "Any tag"), *tags_seen_by(member)],
        may_move=member.role is not Role.VIEWER,
        is_admin=member.role is Role.ADMIN,
        fixed=only_viewed(member),
        unset=statuses_without_meaning(member.organization),
    )


@pages.get("/candidates/board/counts")
@polled
def board_counts() -> Response:
    """The current number of candidates in each status, for open boards."""
    return jsonify({"counts": counts_seen_by(current_member(), _filters())})


def _filters() -> CandidateFilter:
    """The filter of the list, without the status and the order: a column is a status, the newest first."""
    return replace(filter_of_request(), status="", order=Order.NEWEST)


def _columns(member: TeamMember, filters: CandidateFilter) -> list[Column]:
    counts = counts_seen_by(member, filters)
    names = statuses_of(member.organization)
    names += sorted(set(counts) - set(names))  # a name that is no longer a status may still have candidates
    columns = []
    for name in names:
        lane = replace(filters, status=name)
        cards = candidates_seen_by(member, lane, limit=CARDS, offset=0) if counts.get(name) else []
        columns.append(Column(name, counts.get(name, 0), cards, since(cards)))
    return columns
