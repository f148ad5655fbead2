"""Emails to candidates: invitations, reminders and expiry notices."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.outreach.pages.pages",),
    views=("app.outreach.api",),
    tables="app.outreach.models",
    sweeps=("app.outreach.jobs.sweep",),
    parts=("apply_links", "cvs", "messages"),
)
