"""What members write to each other about an interview, and whom they name in it."""

from app.core.rooms import Room

ROOM = Room(blueprints=("app.review.notes.pages.pages",), tables="app.review.notes.models")
