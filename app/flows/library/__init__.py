"""What an organization keeps to write flows from: its own templates and its question bank."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.flows.library.pages.pages",),
    tables="app.flows.library.models",
)
