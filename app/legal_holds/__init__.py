"""Legal holds: data that must not be deleted for now, by anyone."""

from app.core.rooms import Room

ROOM = Room(tables="app.legal_holds.models")
