"""Stopped jobs: what they are, why they stopped, and how to retry them."""

from app.core.rooms import Room

ROOM = Room(
    views=("app.operations.stopped_jobs.pages",),
)
