"""Candidates' documents: files are checked by their content, and their text is read in a separate process."""

from app.core.rooms import Job, Room

READ_DOCUMENT = Job(
    "interviews.jobs_reading.read_document",
    "app.interviews.documents.jobs.read_document",
    "speech",
    180,
    overdue="app.interviews.documents.queries.unread_documents",
)

ROOM = Room(
    tables="app.interviews.documents.models",
    jobs=(READ_DOCUMENT,),
    sweeps=("app.interviews.documents.jobs.sweep",),
)
