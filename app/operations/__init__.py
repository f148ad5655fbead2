"""What runs Parley and looks after it: commands, processes, metrics, backups, the demo."""

from app.core.rooms import Room

ROOM = Room(
    parts=(
        "metrics",
        "stopped_jobs",
    ),
)
