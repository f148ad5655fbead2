"""What the law asks for beyond the product's own purpose: erasing an interview, and the proof of it."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.privacy.pages.pages",),
    tables="app.privacy.models",
    sweeps=(
        "app.privacy.jobs.sweep",
        "app.privacy.jobs.keep_journal",
        "app.privacy.jobs.apply_retention",
    ),
    parts=("own_page",),
)
