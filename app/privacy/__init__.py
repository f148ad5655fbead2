"""Privacy: erasing interviews and proving it, retention, legal holds, and the candidate's own page."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.privacy.pages.pages",),
    tables="app.privacy.models",
    erasures="app.privacy.jobs.restores",
    sweeps=(
        "app.privacy.jobs.sweeps.sweep",
        "app.privacy.jobs.sweeps.keep_journal",
        "app.privacy.jobs.sweeps.apply_retention",
        "app.privacy.jobs.sweeps.apply_decision_rules",
    ),
    parts=("own_page",),
)
