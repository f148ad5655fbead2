"""Scoring results again: what it would take, the runs and their progress, and the new versions side by side."""

from app.core.rooms import Job, Room

RESCORE = Job(
    "interviews.rescoring.jobs.rescore",
    "app.interviews.rescoring.jobs.rescore",
    "interviews",
    1800,
    overdue="app.interviews.rescoring.queries.unscored",
)

ROOM = Room(
    blueprints=("app.interviews.rescoring.pages.pages",),
    tables="app.interviews.rescoring.models",
    jobs=(RESCORE,),
    sweeps=("app.interviews.rescoring.jobs.sweep",),
    scores="app.interviews.rescoring.queries",
)
