"""Mail that Parley sends: stored as rows until a worker has handed it to the mail server."""

from app.core.rooms import Job, Room

SEND_MAIL = Job("letters.jobs.send", "app.mail_outbox.jobs.send", "letters", 360, overdue="app.mail_outbox.queries.due")

ROOM = Room(
    tables="app.mail_outbox.models",
    jobs=(SEND_MAIL,),
    sweeps=("app.mail_outbox.jobs.sweep",),
)
