"""Seeing the whole: what waits for a member, in every room at once, and what has stopped."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.review.dashboard.pages.pages",),
)
