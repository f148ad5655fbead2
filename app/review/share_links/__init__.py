"""Links that show parts of an interview to people without an account, for a limited time."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=(
        "app.review.share_links.pages.links.pages",
        "app.review.share_links.pages.shared.pages",
    ),
    tables="app.review.share_links.models",
)
