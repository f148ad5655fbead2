"""Figures of the running installation, for Prometheus and whatever else reads its format."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.operations.metrics.pages.pages",),
)
