"""The one endpoint of the command palette: what it finds for a member, and in which order."""

import enum
from dataclasses import asdict, dataclass, replace

from flask import Blueprint, Response, jsonify, request, url_for

from app.accounts.access import current_member, require_member
from app.accounts.models import Role, TeamMember
from app.accounts.pages.navigation import links_of
from app.candidates.queries import CandidateFilter, candidates_seen_by
from app.flows.queries import FlowFilter, flows_seen_by
from app.web.fields import flaw_of

LONGEST = 100
"""Characters of a query."""
MOST = 8
"""Candidates, and flows, in one response."""
MOST_UNASKED = 4
"""The same while nothing is typed."""

pages = Blueprint("palette", __name__)
pages.before_request(require_member)


class Kind(enum.StrEnum):
    """What an entry is; entries with the same rank are in this order."""

    CANDIDATE = "Candidate"
    FLOW = "Flow"
    ACTION = "Action"
    PAGE = "Page"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the palette. ``keys``: what to press instead, empty for nothing. ``rank``: 0 for the best match."""

    kind: Kind
    text: str
    href: str
    detail: str = ""
    keys: str = ""
    rank: int = 0


@pages.get("/find")
def find() -> Response | tuple[Response, int]:
    """``{"entries": [{kind, text, href, detail, keys, rank}]}``: only what the member may open. No cache keeps it.

    A query that is too long, or no text, gets 422 and ``{"message"}``.
    """
    query = request.args.get("q", "").strip()
    flaw = f"Enter at most {LONGEST} characters." if len(query) > LONGEST else flaw_of(query)
    if flaw:
        return jsonify({"message": flaw}), 422
    return jsonify({"entries": [asdict(entry) for entry in _entries_for(current_member(), query)]})


def _entries_for(member: TeamMember, query: str) -> list[Entry]:
    """Matches, best first; with an empty query the newest candidates and flows after the actions and pages."""
    words = query.casefold().split()
    most = MOST if words else MOST_UNASKED
    rows = [*_candidates(member, query, most), *_flows(member, query, most)]
    fixed = [*_actions(member), *_pages(member)]
    if not words:
        return [*fixed, *rows]
    found = [entry for entry in fixed if _rank(entry, words) is not None]
    ranked = [_ranked(entry, words) for entry in (*rows, *found)]
    return sorted(ranked, key=lambda entry: (entry.rank, list(Kind).index(entry.kind)))


def _candidates(member: TeamMember, query: str, most: int) -> list[Entry]:
    found = candidates_seen_by(member, CandidateFilter(text=query), limit=most, offset=0)
    return [
        Entry(
            Kind.CANDIDATE,
            one.full_name or one.email,
            url_for("candidates.show", candidate_id=one.id),
            " · ".join(part for part in (one.email if one.full_name else "", one.flow.title) if part),
        )
        for one in found
    ]


def _flows(member: TeamMember, query: str, most: int) -> list[Entry]:
    found = flows_seen_by(member, FlowFilter(text=query), limit=most, offset=0)
    return [Entry(Kind.FLOW, flow.title, url_for("flows.show", flow_id=flow.id), flow.org_name) for flow in found]


def _actions(member: TeamMember) -> list[Entry]:
    entries = [
        Entry(Kind.ACTION, "Your profile", url_for("accounts.profile")),
        Entry(Kind.ACTION, "Your sessions", url_for("accounts.sessions")),
        Entry(Kind.ACTION, "Keyboard shortcuts", "#key-sheet", keys="?"),
    ]
    if member.role is Role.VIEWER:
        return entries
    return [
        Entry(Kind.ACTION, "Invite candidates", url_for("outreach.invite")),
        Entry(Kind.ACTION, "Create a flow", url_for("flows.new")),
        Entry(Kind.ACTION, "Start a flow from a template", url_for("flows.templates")),
        Entry(Kind.ACTION, "Question bank", url_for("library.bank"), "Flows"),
        Entry(Kind.ACTION, "Create an interview", url_for("interviews.new")),
        *entries,
    ]


def _pages(member: TeamMember) -> list[Entry]:
    pages = []
    for section in links_of(member):
        for link in section.below or (section,):
            keys = f"g {link.key}" if link.key else ""
            detail = section.text if section.below else ""
            pages.append(Entry(Kind.PAGE, link.text, url_for(link.endpoint), detail, keys))
    return pages


def _ranked(entry: Entry, words: list[str]) -> Entry:
    rank = _rank(entry, words)
    return replace(entry, rank=3 if rank is None else rank)


def _rank(entry: Entry, words: list[str]) -> int | None:
    """0: the text begins with the query; 1: words of it begin with each word; 2: all words are found; None: not."""
    text = entry.text.casefold()
    if text.startswith(" ".join(words)):
        return 0
    if all(any(part.startswith(word) for part in text.split()) for word in words):
        return 1
    whole = f"{text} {entry.detail.casefold()}"
    return 2 if all(word in whole for word in words) else None
