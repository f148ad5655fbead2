"""People in the pipeline of a recruitment flow."""

from app.core.rooms import Room

ROOM = Room(blueprints=("app.candidates.pages.pages",), tables="app.candidates.models")
