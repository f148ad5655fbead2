"""A flow's own link: whoever opens it names themselves and gets an interview of their own."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=(
        "app.outreach.apply_links.pages.link.pages",
        "app.outreach.apply_links.pages.apply.apply",
    ),
    tables="app.outreach.apply_links.models",
    sweeps=("app.outreach.apply_links.jobs.sweep",),
)
