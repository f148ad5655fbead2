"""Legal holds: what may not be deleted for now, whoever asks for it."""

from app.core.rooms import Room

ROOM = Room(tables="app.legal_holds.models")
