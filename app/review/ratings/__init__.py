"""What people make of an interview: their own ratings beside those of the machine, never mixed with them."""

from app.core.rooms import Room

ROOM = Room(blueprints=("app.review.ratings.pages.pages",), tables="app.review.ratings.models")
