"""Exports of one interview: data, captions, a table, a report, and everything as one archive."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.review.exports.pages.pages",),
)
