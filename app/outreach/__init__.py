"""Mail to candidates: invitations, reminders and notices before a link ends, each step once per interview."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.outreach.pages.pages",),
    tables="app.outreach.models",
    sweeps=("app.outreach.jobs.sweep",),
    parts=("apply_links",),
)
