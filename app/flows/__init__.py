"""Interview flows: the scripts that organizations write."""

from app.core.rooms import ChangeKind, Job, Room

PREPARE_SPEECH = Job(
    "flows.jobs.prepare_speech", "app.flows.jobs.prepare_speech", "speech", 600, overdue="app.flows.queries.unspoken"
)

ROOM = Room(
    blueprints=("app.flows.pages.pages",),
    api=("app.flows.api.blp",),
    views=("app.flows.extensions",),
    tables="app.flows.models",
    flows="app.flows.queries",
    jobs=(PREPARE_SPEECH,),
    sweeps=("app.flows.jobs.sweep_voices",),
    changes=(ChangeKind("interview_flow", "app.flows.changes.shown", "app.flows.schemas.InterviewFlowSchema"),),
    parts=("library",),
)
