"""What organizations use: interviews with a result, minutes recorded; quotas, and word when one is near its end."""

from app.core.rooms import Room

ROOM = Room(
    tables="app.accounts.usage.models",
    sweeps=("app.accounts.usage.jobs.tell",),
)
