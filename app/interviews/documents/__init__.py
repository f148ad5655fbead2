"""What candidates add: files that are accepted by their content, and their text, read in a process of its own."""

from app.core.rooms import Job, Room

READ_DOCUMENT = Job(
    "interviews.jobs_reading.read_document",
    "app.interviews.documents.jobs.read_document",
    "speech",
    180,
    overdue="app.interviews.documents.queries.unread_documents",
)

ROOM = Room(
    jobs=(READ_DOCUMENT,),
    sweeps=("app.interviews.documents.jobs.sweep",),
)
