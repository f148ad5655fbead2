"""Work that has stopped: what it is, why, and how it is tried again."""

from app.core.rooms import Room

ROOM = Room(
    views=("app.operations.stopped_jobs.pages",),
)
