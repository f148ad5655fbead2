"""One interview to take away: as data, as captions, as a table, as a report, and everything as one archive."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.review.exports.pages.pages",),
)
