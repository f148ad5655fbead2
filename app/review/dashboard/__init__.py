"""The parts of the dashboard that cover the whole product: a member's first steps and tasks, usage and quota."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.review.dashboard.pages.pages",),
)
