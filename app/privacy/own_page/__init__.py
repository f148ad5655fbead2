"""The candidate's own page after the interview: what became of it, everything to read and take away, and rights."""

from app.core.rooms import Room

ROOM = Room(blueprints=("app.privacy.own_page.pages.pages",), tables="app.privacy.own_page.models")
