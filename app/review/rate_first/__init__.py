"""Rate first: members see the scores of a result only after they have rated it, where the flow asks for it."""

from app.core.rooms import Room

ROOM = Room(
    tables="app.review.rate_first.models",
    rate_first="app.review.rate_first.queries",
)
