"""The candidate's own page after the interview: its status, its result, a download, and the candidate's rights."""

from app.core.rooms import Room

ROOM = Room(blueprints=("app.privacy.own_page.pages.pages",), tables="app.privacy.own_page.models")
