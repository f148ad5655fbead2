"""Members' notes about an interview, and the colleagues they mention."""

from app.core.rooms import Room

ROOM = Room(blueprints=("app.review.notes.pages.pages",), tables="app.review.notes.models")
