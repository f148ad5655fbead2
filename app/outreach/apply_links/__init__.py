"""Apply links: anyone who opens a flow's own link can enter their name and get an interview."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=(
        "app.outreach.apply_links.pages.link.pages",
        "app.outreach.apply_links.pages.apply.apply",
    ),
    tables="app.outreach.apply_links.models",
    sweeps=("app.outreach.apply_links.jobs.sweep",),
)
