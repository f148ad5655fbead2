"""The links of the main navigation: who gets which, and which one the page shown belongs to."""

from dataclasses import dataclass

from flask import request

from app.accounts.models import Role, TeamMember


@dataclass(frozen=True)
class Link:
    text: str
    icon: str
    endpoint: str
    is_for_admins: bool = False

    @property
    def current(self) -> str | None:
        """The value of ``aria-current``: ``page`` for the page itself, ``true`` for one below it, None for the rest."""
        if request.endpoint == self.endpoint:
            return "page"
        return "true" if _home(request.endpoint or "") == self.endpoint else None


LINKS = (
    Link("Dashboard", "home", "interviews.dashboard"),
    Link("Interviews", "talk", "interviews.index"),
    Link("Candidates", "people", "candidates.index"),
    Link("Requests", "inbox", "candidate_requests.index"),
    Link("Mentions", "at", "notes.mentions"),
    Link("Insights", "chart", "interviews.numbers"),
    Link("Flows", "flow", "flows.index"),
    Link("Webhooks", "hook", "webhooks.index"),
    Link("Members", "team", "accounts.team"),
    Link("Usage", "chart", "dashboard.usage", is_for_admins=True),
    Link("Jobs", "repeat", "dashboard.jobs", is_for_admins=True),
    Link("API keys", "key", "accounts.api_keys", is_for_admins=True),
    Link("Audit log", "lock", "accounts.audit", is_for_admins=True),
)

_BELOW = {
    "interviews.show": "interviews.index",
    "interviews.new": "interviews.index",
    "interviews.document_text": "interviews.index",
    "ratings.scorecard": "interviews.index",
    "share_links.index": "interviews.index",
    "exports.report": "interviews.index",
    "interviews.triage": "candidates.index",
    "interviews.compare": "candidates.index",
    "accounts.member": "accounts.team",
    "flow_access.index": "flows.index",
    "flow_access.show": "flows.index",
    "flow_access.give": "flows.index",
}
_BLUEPRINTS = {
    blueprint: link.endpoint
    for link in LINKS
    if (blueprint := link.endpoint.split(".")[0]) not in {"interviews", "accounts", "dashboard"}
}
"""Blueprints with one link, which all their pages belong to."""


def links_of(member: TeamMember | None) -> list[Link]:
    """What the member may open, in the order shown."""
    is_admin = member is not None and member.role == Role.ADMIN
    return [link for link in LINKS if is_admin or not link.is_for_admins]


def _home(endpoint: str) -> str | None:
    return _BELOW.get(endpoint) or _BLUEPRINTS.get(endpoint.split(".", maxsplit=1)[0])
