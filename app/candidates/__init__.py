"""People in the pipeline of a recruitment flow."""

from app.core.rooms import ChangeKind, Room

ROOM = Room(
    blueprints=("app.candidates.pages.pages",),
    api=("app.candidates.api.blp",),
    tables="app.candidates.models",
    parts=("bulk_changes",),
    changes=(
        ChangeKind("candidate", "app.candidates.changes.shown_candidates", "app.candidates.schemas.CandidateSchema"),
        ChangeKind("status", "app.candidates.changes.shown_statuses", "app.candidates.schemas.StatusSchema"),
    ),
)
