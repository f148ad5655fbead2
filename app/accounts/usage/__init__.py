"""Usage of organizations: interviews with a result, minutes recorded, quotas, and mails when one is nearly used up."""

from app.core.rooms import Room

ROOM = Room(
    tables="app.accounts.usage.models",
    sweeps=("app.accounts.usage.jobs.tell",),
)
