"""The feed of changes: which objects of ``/v1`` have changed, in an order that misses none."""

from app.core.rooms import Room

ROOM = Room(
    api=("app.webhooks.changes.api.blp",),
    tables="app.webhooks.changes.models",
    sweeps=("app.webhooks.changes.jobs.forget_old_deletions",),
)
