"""What candidates ask of the people behind an interview: something different, a review, a deletion, and the answers."""

from app.core.rooms import Room

ROOM = Room(blueprints=("app.candidate_requests.pages.pages",), tables="app.candidate_requests.models")
