"""Flows that begin with a job advert: a language model drafts, rules refuse what is forbidden, a member approves."""

from app.core.rooms import Room

ROOM = Room(blueprints=("app.adverts.pages.pages",))
