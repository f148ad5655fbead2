"""Interview flows: the scripts that organizations write."""

from app.core.rooms import Job, Room

PREPARE_SPEECH = Job(
    "flows.jobs.prepare_speech", "app.flows.jobs.prepare_speech", "speech", 600, overdue="app.flows.queries.unspoken"
)

ROOM = Room(
    blueprints=("app.flows.pages.pages",),
    api=("app.flows.api.blp",),
    tables="app.flows.models",
    jobs=(PREPARE_SPEECH,),
    sweeps=("app.flows.jobs.sweep_voices",),
)
