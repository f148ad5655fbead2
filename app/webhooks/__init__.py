"""Telling customers' systems what happened."""

from app.core.rooms import Job, Room

TEST_EVENT = "evt_test_"
"""How the id of an event begins that is only a test, or about a test interview."""

DRAIN_WEBHOOKS = Job(
    "webhooks.jobs.drain", "app.webhooks.jobs.drain", "webhooks", 900, overdue="app.webhooks.jobs.overdue"
)

ROOM = Room(
    blueprints=("app.webhooks.pages.pages",),
    openapi="app.webhooks.schemas.describe",
    tables="app.webhooks.models",
    outbox="app.webhooks.actions",
    jobs=(DRAIN_WEBHOOKS,),
    sweeps=(
        "app.webhooks.jobs.tick",
        "app.webhooks.jobs.tell",
    ),
)
