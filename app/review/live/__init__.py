"""What is new since a page was opened, for tabs that ask now and then."""

from app.core.rooms import Room

ROOM = Room(blueprints=("app.review.live.pages.pages",))
