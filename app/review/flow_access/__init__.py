"""Access of individual members to individual flows: granted, removed, and requested."""

from app.core.rooms import Room

ROOM = Room(blueprints=("app.review.flow_access.pages.pages",), tables="app.review.flow_access.models")
