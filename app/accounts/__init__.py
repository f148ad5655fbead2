"""Organizations, teams, members, API keys and sessions."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.accounts.pages.pages",),
    api=("app.accounts.api.blp",),
    tables="app.accounts.models",
    sweeps=(
        "app.accounts.jobs.check_audit_logs",
        "app.accounts.jobs.watch_old_keys",
        "app.accounts.jobs.forget_old_attempts",
    ),
    parts=("usage",),
)
