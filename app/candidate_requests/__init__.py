"""Requests of candidates: accommodations, corrections, reviews, withdrawals and deletions, with the answers."""

from app.core.rooms import Room

ROOM = Room(blueprints=("app.candidate_requests.pages.pages",), tables="app.candidate_requests.models")
