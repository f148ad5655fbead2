"""The candidate's interview in the browser."""

from app.core.rooms import Room

ROOM = Room(
    blueprints=(
        "app.conversation.pages.interview.pages",
        "app.conversation.pages.accessibility.statement",
        "app.conversation.detector.files",
        "app.conversation.access.protocol",
        "app.conversation.preview.pages.pages",
        "app.conversation.preview.readable.pages",
    ),
    views=(
        "app.conversation.pages.before",
        "app.conversation.pages.after",
        "app.conversation.protocol.chunks",
        "app.conversation.protocol.documents",
        "app.conversation.protocol.silences",
        "app.conversation.protocol.sound",
        "app.conversation.protocol.state",
        "app.conversation.protocol.turns",
        "app.conversation.preview.documents",
        "app.conversation.preview.talk",
    ),
    tables="app.conversation.models",
    sweeps=("app.conversation.jobs.sweep_sittings",),
)
