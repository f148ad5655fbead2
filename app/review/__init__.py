"""What recruiters do with results: rate, comment, compare, share and export them, and manage access to flows."""

from app.core.rooms import Room

ROOM = Room(
    views=(
        "app.review.pages.candidate",
        "app.review.pages.compare",
        "app.review.pages.insights",
        "app.review.pages.triage",
    ),
    parts=(
        "dashboard",
        "exports",
        "flow_access",
        "live",
        "notes",
        "notices",
        "palette",
        "rate_first",
        "ratings",
        "share_links",
    ),
)
