"""One interview, from creation to result."""

from app.core.rooms import ChangeKind, Job, Room

PROCESS_INTERVIEW = Job(
    "interviews.jobs.process_interview",
    "app.interviews.jobs.processing.process_interview",
    "interviews",
    3600,
    overdue="app.interviews.jobs.processing.unprocessed",
)
PROCESS_VIDEO = Job(
    "interviews.jobs.process_video",
    "app.interviews.jobs.processing.process_video",
    "media",
    7200,
    overdue="app.interviews.queries.overdue_videos",
)
PLAY_TEST = Job(
    "trials.jobs.play",
    "app.operations.test_interviews.jobs.playing.play",
    "media",
    900,
    overdue="app.interviews.jobs.processing.unplayed",
)
HEAR_AGAIN = Job(
    "interviews.jobs.hear_again",
    "app.interviews.jobs.hearing.hear_again",
    "speech",
    1800,
    overdue="app.interviews.queries.unheard",
)
SWEEP = Job("interviews.jobs.sweep", "app.interviews.jobs.processing.sweep", "interviews", 300)

ROOM = Room(
    blueprints=("app.interviews.pages.pages",),
    api=("app.interviews.api.blp",),
    views=("app.interviews.extensions",),
    tables="app.interviews.models",
    external_ids="app.interviews.metadata",
    jobs=(
        PROCESS_INTERVIEW,
        PROCESS_VIDEO,
        PLAY_TEST,
        HEAR_AGAIN,
        SWEEP,
    ),
    sweeps=(
        "app.interviews.jobs.processing.sweep",
        "app.interviews.jobs.revocation.sweep",
    ),
    changes=(
        ChangeKind("interview", "app.interviews.changes.shown", "app.interviews.schemas.InterviewSchema"),
        ChangeKind(
            "interview_metadata",
            "app.interviews.changes.shown_metadata",
            "app.interviews.schemas.InterviewMetadataSchema",
        ),
        ChangeKind(
            "score_version", "app.interviews.changes.shown_versions", "app.interviews.schemas.ScoreVersionSchema"
        ),
    ),
    parts=(
        "documents",
        "recordings",
        "rescoring",
    ),
)
