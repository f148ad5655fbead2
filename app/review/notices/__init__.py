"""Notices to members by mail, and to Slack and Microsoft Teams: a result is ready, a request waits, a webhook fails."""

from app.core.rooms import Job, Room

SPREAD_NOTICE = Job(
    "notices.jobs.spread",
    "app.review.notices.jobs.spread",
    "letters",
    60,
    overdue="app.review.notices.queries.unspread",
)
SEND_DIGEST = Job(
    "notices.jobs.digest",
    "app.review.notices.jobs.digest",
    "letters",
    60,
    overdue="app.review.notices.jobs.digests_due",
)
SEND_NOTICES = Job(
    "notices.jobs.send", "app.review.notices.jobs.send", "webhooks", 180, overdue="app.review.notices.jobs.overdue"
)

ROOM = Room(
    blueprints=("app.review.notices.pages.pages",),
    tables="app.review.notices.models",
    notices="app.review.notices.actions",
    jobs=(SPREAD_NOTICE, SEND_DIGEST, SEND_NOTICES),
    sweeps=("app.review.notices.jobs.sweep", "app.review.notices.jobs.prune"),
)
