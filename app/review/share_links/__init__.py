"""Parts of an interview shown to people without an account, at a secret address that ends."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=(
        "app.review.share_links.pages.links.pages",
        "app.review.share_links.pages.shared.pages",
    ),
    tables="app.review.share_links.models",
)
