"""What customers' systems learn: events that they receive, and the feed of changes that they read."""

from app.core.rooms import Job, Room

TEST_EVENT = "evt_test_"
"""Prefix of the ids of test events and of events about test interviews."""

DRAIN_WEBHOOKS = Job(
    "webhooks.jobs.drain", "app.webhooks.jobs.drain", "webhooks", 900, overdue="app.webhooks.jobs.overdue"
)

ROOM = Room(
    blueprints=("app.webhooks.pages.pages",),
    api=("app.webhooks.api.blp",),
    openapi="app.webhooks.schemas.describe",
    tables="app.webhooks.models",
    outbox="app.webhooks.actions",
    jobs=(DRAIN_WEBHOOKS,),
    parts=("changes",),
    sweeps=("app.webhooks.jobs.tick", "app.webhooks.jobs.prune"),
)
