"""Large changes of the list: made by a job piece by piece, with a page for their progress, and undone the same way."""

from app.core.rooms import Job, Room

MAKE_CHANGE = Job(
    "candidates.bulk_changes.jobs.make",
    "app.candidates.bulk_changes.jobs.make",
    "letters",
    360,
    overdue="app.candidates.bulk_changes.queries.due",
)

ROOM = Room(
    blueprints=("app.candidates.bulk_changes.pages.pages",),
    jobs=(MAKE_CHANGE,),
    sweeps=("app.candidates.bulk_changes.jobs.sweep",),
)
