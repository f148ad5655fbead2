"""The command palette: candidates, flows, pages and actions in one ranked list."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.review.palette.pages.pages",),
)
