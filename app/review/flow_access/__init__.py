"""Rights of single members to single flows: given, taken, and asked for."""

from app.core.rooms import Room

ROOM = Room(blueprints=("app.review.flow_access.pages.pages",), tables="app.review.flow_access.models")
