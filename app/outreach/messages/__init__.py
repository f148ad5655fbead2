"""Emails that members write to candidates, one or many at once, from the organization's templates."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.outreach.messages.pages.pages",),
    tables="app.outreach.messages.models",
    decision_mail="app.outreach.messages.actions",
)
