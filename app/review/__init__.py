"""What recruiters do with results: rate, comment, compare, share, export, and who may see what."""

from app.core.rooms import Room

ROOM = Room(
    views=(
        "app.review.pages.compare",
        "app.review.pages.insights",
        "app.review.pages.triage",
    ),
    parts=(
        "dashboard",
        "exports",
        "flow_access",
        "notes",
        "ratings",
        "share_links",
    ),
)
