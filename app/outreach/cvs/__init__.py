"""CVs uploaded by recruiters: read, checked by a person, and turned into interviews."""

from app.core.rooms import Job, Room

READ_CV = Job(
    "outreach.cvs.jobs.read_cv",
    "app.outreach.cvs.jobs.read_cv",
    "media",
    600,
    overdue="app.outreach.cvs.queries.unread",
)
INVITE_CV = Job(
    "outreach.cvs.jobs.invite_cv",
    "app.outreach.cvs.jobs.invite_cv",
    "letters",
    180,
    overdue="app.outreach.cvs.queries.uninvited",
)

ROOM = Room(
    blueprints=("app.outreach.cvs.pages.pages",),
    tables="app.outreach.cvs.models",
    jobs=(READ_CV, INVITE_CV),
    sweeps=("app.outreach.cvs.jobs.sweep",),
)
