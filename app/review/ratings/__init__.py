"""Members' ratings of an interview, shown next to the AI's scores and never mixed with them."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.review.ratings.pages.pages",),
    tables="app.review.ratings.models",
    ratings="app.review.ratings.queries",
)
