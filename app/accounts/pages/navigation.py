"""The main navigation in two levels: who gets which links, and which one the page shown belongs to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from flask import request

from app.accounts.models import Role, TeamMember


@dataclass(frozen=True)
class Link:
    """A page, or a section if it has pages ``below``: a section leads to the first of them.

    ``key``: the letter that leads here after ``g``, empty for none.
    """

    text: str
    endpoint: str
    icon: str = ""
    key: str = ""
    is_for_admins: bool = False
    below: tuple["Link", ...] = ()

    @property
    def current(self) -> str | None:
        """The value of ``aria-current``: ``page`` for the page shown, ``true`` for what it is below, or None."""
        if self.below:
            return "true" if any(link.current for link in self.below) else None
        if request.endpoint == self.endpoint:
            return "page"
        return "true" if _home(request.endpoint or "") == self.endpoint else None


def _section(text: str, icon: str, *below: Link) -> Link:
    return Link(text, below[0].endpoint, icon, below=below)


SECTIONS = (
    Link("Home", "interviews.dashboard", "home", "h"),
    _section(
        "Candidates",
        "people",
        Link("All candidates", "candidates.index", key="c"),
        Link("Board", "candidates.board", key="b"),
        Link("Triage", "interviews.triage", key="t"),
        Link("Interviews", "interviews.index", key="i"),
        Link("Emails", "outreach.log", key="e"),
    ),
    Link("Flows", "flows.index", "flow", "f"),
    Link("Insights", "interviews.numbers", "chart", "n"),
    _section(
        "Inbox",
        "inbox",
        Link("Requests", "candidate_requests.index", key="r"),
        Link("Mentions", "notes.mentions", key="m"),
    ),
    _section(
        "Settings",
        "gear",
        Link("Organization", "accounts.organization", key="s", is_for_admins=True),
        Link("Members", "accounts.team", key="p"),
        Link("Statuses", "candidates.statuses", is_for_admins=True),
        Link("Emails and schedule", "outreach.plan", is_for_admins=True),
        Link("Message templates", "messages.templates", is_for_admins=True),
        Link("Reply deadlines", "candidate_requests.deadlines", is_for_admins=True),
        Link("Retention", "privacy.retention_rule", is_for_admins=True),
        Link("API keys", "accounts.api_keys", key="k", is_for_admins=True),
        Link("Webhooks", "webhooks.index", key="w"),
        Link("Slack and Microsoft Teams", "notices.index", is_for_admins=True),
        Link("Usage", "dashboard.usage", key="u", is_for_admins=True),
        Link("Audit log", "accounts.audit", key="a", is_for_admins=True),
        Link("Background jobs", "dashboard.jobs", key="j", is_for_admins=True),
    ),
)


def pages_of(sections: Iterable[Link]) -> list[Link]:
    """The pages that the sections lead to, in the order shown."""
    return [page for section in sections for page in section.below or (section,)]


LINKS = tuple(pages_of(SECTIONS))

_ENDPOINTS = frozenset(link.endpoint for link in LINKS)
_BELOW = {
    "interviews.show": "interviews.index",
    "interviews.new": "interviews.index",
    "interviews.document_text": "interviews.index",
    "ratings.scorecard": "interviews.index",
    "share_links.index": "interviews.index",
    "exports.report": "interviews.index",
    "interviews.compare": "candidates.index",
    "candidates.reasons": "candidates.statuses",
    # The same pages with what was refused.
    **{
        f"candidates.{verb}_{thing}": "candidates.statuses"
        for verb in ("add", "rename", "shift", "remove")
        for thing in ("reason", "status")
    },
    "candidates.require_reasons": "candidates.statuses",
    "candidates.mean_status": "candidates.statuses",
    "outreach.words": "outreach.plan",
    "outreach.keep_words": "outreach.plan",
    "messages.template": "messages.templates",
    "messages.add_template": "messages.templates",
    "messages.sent": "outreach.log",
    "accounts.member": "accounts.team",
    "notices.add": "notices.index",
    "notices.show": "notices.index",
    "flows.branding": "accounts.organization",
    "flows.keep_branding": "accounts.organization",
    "flow_access.index": "flows.index",
    "flow_access.show": "flows.index",
    "flow_access.give": "flows.index",
}
_BLUEPRINTS = {
    "bulk_changes": "candidates.index",
    "candidates": "candidates.index",
    "outreach": "candidates.index",
    "messages": "candidates.index",
    "cvs": "candidates.index",
    "adverts": "flows.index",
    "flows": "flows.index",
    "library": "flows.index",
    "candidate_requests": "candidate_requests.index",
    "notes": "notes.mentions",
    "rescoring": "interviews.index",
    "webhooks": "webhooks.index",
}
"""Where all other pages of a blueprint belong."""


def links_of(member: TeamMember | None) -> list[Link]:
    """The sections with the pages that the member may open, in the order shown."""
    is_admin = member is not None and member.role == Role.ADMIN
    return [_narrowed(section, is_admin=is_admin) for section in SECTIONS]


def _narrowed(section: Link, *, is_admin: bool) -> Link:
    below = tuple(link for link in section.below if is_admin or not link.is_for_admins)
    return replace(section, below=below, endpoint=below[0].endpoint) if below else section


def _home(endpoint: str) -> str | None:
    if endpoint in _ENDPOINTS:
        return endpoint
    return _BELOW.get(endpoint) or _BLUEPRINTS.get(endpoint.split(".", maxsplit=1)[0])
