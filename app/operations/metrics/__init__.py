"""Figures of the running installation, in the Prometheus format."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=("app.operations.metrics.pages.pages",),
)
