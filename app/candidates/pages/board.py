"""The pipeline as a board: a column per status, with cards that are dragged, or moved by menu or keyboard."""

from dataclasses import dataclass
from datetime import datetime

from flask import jsonify, render_template
from werkzeug.wrappers import Response

from app.accounts.access import current_member, polled
from app.accounts.models import Role, TeamMember
from app.candidates.forms import parameter
from app.candidates.models import Candidate
from app.candidates.pages.blueprint import pages
from app.candidates.queries import (
    CandidateFilter,
    candidates_seen_by,
    counts_seen_by,
    since,
    statuses_of,
    statuses_without_meaning,
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
    """All candidates of one flow, or of all, by status."""
    member, flow_id = current_member(), parameter("flow")
    return render_template(
        "candidates/board.html",
        columns=_columns(member, flow_id),
        flow_id=flow_id,
        flow_choices=[("", "All flows"), *titles_seen_by(member)],
        may_move=member.role is not Role.VIEWER,
        is_admin=member.role is Role.ADMIN,
        fixed=only_viewed(member),
        unset=statuses_without_meaning(member.organization),
    )


@pages.get("/candidates/board/counts")
@polled
def board_counts() -> Response:
    """The current number of candidates in each status, for open boards."""
    return jsonify({"counts": counts_seen_by(current_member(), parameter("flow"))})


def _columns(member: TeamMember, flow_id: str) -> list[Column]:
    counts = counts_seen_by(member, flow_id)
    names = statuses_of(member.organization)
    names += sorted(set(counts) - set(names))  # a name that is no longer a status may still have candidates
    columns = []
    for name in names:
        filters = CandidateFilter(flow_id=flow_id, status=name)
        cards = candidates_seen_by(member, filters, limit=CARDS, offset=0) if counts.get(name) else []
        columns.append(Column(name, counts.get(name, 0), cards, since(cards)))
    return columns
